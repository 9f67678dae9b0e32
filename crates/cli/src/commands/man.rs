//! `relscale man`: the manual's pages, of the same words as the help.

use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_mangen::Man;
use relscale_records::atomic;

use crate::{Program, terminal};

/// Print the manual page, or write those of all commands into a folder.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  relscale man | man -l -
  relscale man --out ~/.local/share/man/man1")]
pub(crate) struct Arguments {
    /// Folder for a page a command, as `relscale-fit.1`; made where it is not there
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Carries the command out.
///
/// # Errors
/// A file cannot be written; standard output is closed.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut program = Program::command();
    program.build();
    let page = |command: &clap::Command| -> anyhow::Result<Vec<u8>> {
        let mut page = Vec::new();
        Man::new(command.clone()).render(&mut page)?;
        Ok(page)
    };
    let Some(folder) = &arguments.out else {
        return terminal::print(String::from_utf8(page(&program)?)?.trim_end());
    };
    atomic::folder(folder)?;
    let mut names = vec!["relscale.1".to_owned()];
    atomic::write_named(&folder.join("relscale.1"), &page(&program)?)?;
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("relscale-{}.1", command.get_name());
        let title: &'static str = format!("relscale-{}", command.get_name()).leak();
        atomic::write_named(&folder.join(&name), &page(&command.clone().name(title))?)?;
        names.push(name);
    }
    terminal::message(&format!("wrote {} pages to {}", names.len(), folder.display()));
    Ok(())
}
