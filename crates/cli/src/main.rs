//! The `relscale` program: arguments in, tables and messages out. The work is done by the crates to
//! its left.
//!
//! | file | what |
//! |---|---|
//! | `commands/` | a command a file; its doc comment is its help |
//! | `inputs` | which models and texts the arguments mean |
//! | `progress` | bars on a terminal, plain lines elsewhere |
//! | `spare` | outputs that are not inputs |
//! | `terminal` | tables and numbers as people read them |
//! | `exit` | exit codes, errors, hints |
//! | `interrupt` | Ctrl-C: once to stop well, twice to stop at once |
//! | `version` | the version, and the kernels that this processor gets |
//!
//! Results go to standard output; progress, notes and errors to standard error. Only this crate
//! prints or exits.

#![forbid(unsafe_code)]

mod commands;
mod exit;
mod inputs;
mod interrupt;
mod progress;
mod spare;
mod terminal;
mod version;

use std::process::ExitCode;

use clap::Parser;

use commands::Command;

/// Measures how language models rank the right token, and fits the laws by which that changes with
/// scale.
#[derive(Debug, Parser)]
#[command(version, long_version = version::long(), max_term_width = 100, after_help = exit::HELP)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let program = match Program::try_parse() {
        Ok(program) => program,
        Err(error) => return exit::usage(&error),
    };
    let cancel = match interrupt::watch(progress::say) {
        Ok(cancel) => cancel,
        Err(error) => return exit::print_error(&error),
    };
    match program.command.run(&cancel) {
        Ok(()) => ExitCode::from(exit::OK),
        Err(error) => exit::print_error(&error),
    }
}
