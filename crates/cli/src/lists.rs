//! Lists of values: commas between them, or spaces, or both.
//!
//! An option whose values have commas between them takes one word, so that what follows may be the
//! study (`--emergence-k 1,10 study`). Where the arguments make no sense that way, every such
//! option takes all words that follow it (`study --emergence-k 1 10`); what makes sense neither way
//! is refused in the words of the first.
//! What may have commas itself, paths and texts, is separated in `commas`.

use std::ffi::OsString;

use clap::{CommandFactory as _, Error, FromArgMatches as _, Parser as _};

use crate::Program;

/// The program's arguments.
///
/// # Errors
/// They make no sense, or help was asked for.
pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Program, Error> {
    let words: Vec<OsString> = words.collect();
    let error = match Program::try_parse_from(&words) {
        Err(error) if error.exit_code() != 0 => error,
        parsed => return parsed,
    };
    let spaced = with_spaces(Program::command());
    let matches = spaced.try_get_matches_from(words.iter().map(without_comma)).ok();
    matches.and_then(|matches| Program::from_arg_matches(&matches).ok()).ok_or(error)
}

/// A word as it stands in `1, 10, 100`.
fn without_comma(word: &OsString) -> OsString {
    let trimmed = word.to_str().map(|text| text.trim_end_matches(','));
    trimmed.map_or_else(|| word.clone(), OsString::from)
}

/// The command with lists that go on as long as words follow.
fn with_spaces(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| match argument.get_value_delimiter() {
        Some(_) if !argument.is_positional() => argument.num_args(1..),
        _ => argument,
    });
    command.mut_subcommands(with_spaces)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::commands::Command;

    fn parsed(line: &str) -> Result<Command, Error> {
        parse(line.split_whitespace().map(OsString::from)).map(|program| program.command)
    }

    #[test]
    fn commas_and_spaces_are_the_same() {
        let shown = |line| format!("{:?}", parsed(line).unwrap());
        let one = shown("relscale fit study --emergence-k 1,10,100 --emergence-n 5,20");
        for line in [
            "relscale fit study --emergence-k 1 10 100 --emergence-n 5 20",
            "relscale fit study --emergence-k 1, 10,100 --emergence-n 5 20",
            "relscale fit --emergence-k 1,10,100 --emergence-n 5,20 study",
        ] {
            assert!(shown(line) == one, "{line}");
        }
        let swept = shown(
            "relscale sweep plan --preset small --budgets 1e18,1e19 --widths 512,768 --out plan",
        );
        assert!(
            swept
                == shown(
                    "relscale sweep plan --preset small --budgets 1e18 1e19 --widths 512 768 --out plan"
                )
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_the_first_words() {
        let error = parsed("relscale fit study --emergence-k 1 ten").unwrap_err().to_string();
        assert!(error.contains("unexpected argument 'ten'"), "{error}");
    }
}
