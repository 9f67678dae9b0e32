//! `relscale completions`: what a shell must know to complete our options.

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::{Program, terminal};

/// Print the script by which a shell completes commands and options.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  relscale completions bash > ~/.local/share/bash-completion/completions/relscale
  relscale completions zsh > ~/.zfunc/_relscale
  relscale completions fish > ~/.config/fish/completions/relscale.fish")]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

/// Carries the command out.
///
/// # Errors
/// Standard output is closed.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut Program::command(), "relscale", &mut script);
    terminal::print(String::from_utf8(script)?.trim_end())
}
