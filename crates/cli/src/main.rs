//! The `relscale` program: arguments in, tables and messages out. The work is done by the crates to
//! its left.
//!
//! | file | what |
//! |---|---|
//! | `commands/` | a command a file; its doc comment is its help |
//! | `book` | tests: the documents show commands that there are |
//! | `inputs` | which models and texts the arguments mean |
//! | `progress` | bars on a terminal, plain lines elsewhere |
//! | `spare` | outputs that are not inputs |
//! | `lists` | arguments with commas or spaces between the values of a list |
//! | `terminal` | tables and numbers as people read them |
//! | `exit` | exit codes, errors, hints |
//! | `interrupt` | Ctrl-C: once to stop well, twice to stop at once |
//! | `version` | the version, and the kernels that this processor gets |
//!
//! Results go to standard output; progress, notes and errors to standard error. Only this crate
//! prints or exits.

#![forbid(unsafe_code)]

#[cfg(test)]
mod book;
mod commands;
mod commas;
mod exit;
mod inputs;
mod interrupt;
mod lists;
mod progress;
mod spare;
mod terminal;
mod version;

use std::process::ExitCode;

use commands::Command;
use terminal::Loudness;

/// Measures how language models rank the right token, and fits the laws by which that changes with
/// scale.
#[derive(Debug, clap::Parser)]
#[command(version, long_version = version::long(), max_term_width = 100, after_help = exit::HELP)]
struct Program {
    #[command(flatten)]
    loudness: Loud,

    #[command(subcommand)]
    command: Command,
}

/// How much is said.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Loud {
    /// Tell everything: every k, every finding, every caution
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    verbose: bool,

    /// Tell nothing but errors, and the JSON that was asked for
    #[arg(long, short, global = true)]
    quiet: bool,
}

impl From<Loud> for Loudness {
    fn from(loud: Loud) -> Self {
        match loud {
            Loud { quiet: true, .. } => Self::Quiet,
            Loud { verbose: true, .. } => Self::Verbose,
            _ => Self::Short,
        }
    }
}

fn main() -> ExitCode {
    let program = match lists::parse(std::env::args_os()) {
        Ok(program) => program,
        Err(error) => return exit::usage(&error),
    };
    terminal::set_loudness(program.loudness.into());
    let cancel = match interrupt::watch(progress::say) {
        Ok(cancel) => cancel,
        Err(error) => return exit::print_error(&error),
    };
    match program.command.run(&cancel) {
        Ok(()) => ExitCode::from(exit::OK),
        Err(error) => exit::print_error(&error),
    }
}
