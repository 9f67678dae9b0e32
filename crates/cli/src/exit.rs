//! Exit codes, and errors as the user sees them: what and where, then what to do next.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::process::ExitCode;

use crate::terminal::{self, Style};

/// All went well.
pub(crate) const OK: u8 = 0;
/// The work failed, though the input was good: a full disk, a fault of an engine.
pub(crate) const FAILURE: u8 = 1;
/// The command line makes no sense. The number is clap's.
pub(crate) const USAGE: u8 = 2;
/// The input cannot be used as it is: a model, a text, a folder, an option.
pub(crate) const REFUSED: u8 = 3;
/// Stopped by the user: 128 + SIGINT, as shells count.
pub(crate) const INTERRUPTED: u8 = 130;

/// Ends the help of the program: how to begin, and the codes.
pub(crate) const HELP: &str = "\
Examples:
  relscale demo
  relscale measure --model gpt2 gpt2-medium gpt2-large --corpus test.txt --out study
  relscale fit study
  relscale report study

Exit codes:
  0    done
  1    failed, though the input was good: a full disk, a fault
  2    wrong arguments
  3    input refused: a model, a text, a folder, an option
  130  stopped by Ctrl-C; the same command goes on";

/// A refusal of the program itself.
#[derive(Debug)]
pub(crate) struct Refusal {
    what: String,
    hint: String,
}

impl Refusal {
    /// Refuses: what and where, and what to do next.
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.hint)
    }
}

impl StdError for Refusal {}

/// Prints what clap says of the arguments, or the help that was asked for, and returns its exit
/// code.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Its own printing has colours, and repeats arguments as they are.
    let plain = std::env::args_os().all(|argument| {
        argument.to_str().is_some_and(|text| !text.contains(relscale_records::shell::is_unseen))
    });
    match plain {
        true => drop(error.print()),
        false => terminal::complaint(error.to_string().trim_end()),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE))
}

/// Prints an error and returns its exit code.
pub(crate) fn print_error(error: &anyhow::Error) -> ExitCode {
    // Whoever reads our output has seen enough (`relscale fit study | head`).
    if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::from(OK);
    }
    let code = code_of(error);
    let (what, mut hint) = split_hint(&chain(error));
    if let Some(more) = advice(error) {
        hint = Some(hint.map_or(more.to_owned(), |hint| format!("{hint}; {more}")));
    }
    let title = if code == INTERRUPTED { "stopped:" } else { "error:" };
    let what = what
        .strip_prefix("stopped")
        .map_or(what.as_str(), |rest| rest.trim_start_matches([':', ',', ' ']));
    if !what.is_empty() {
        terminal::titled(title, Style::Error, what);
    }
    if let Some(hint) = hint {
        let (title, style) =
            if what.is_empty() { (title, Style::Error) } else { ("hint:", Style::Strong) };
        terminal::titled(title, style, &hint);
    }
    ExitCode::from(code)
}

/// The error and its causes in one text; a cause that is in the text already is not told again.
fn chain(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Words with which our messages begin to say what to do, after a colon.
const IMPERATIVES: [&str; 13] = [
    "check", "choose", "delete", "free", "give", "move", "put", "rename", "restore", "run", "take",
    "use", "wait",
];

/// Our messages say what and where first, then what to do: after a semicolon, as a new sentence, or
/// after a colon. Cuts there, outside of brackets and quotation marks.
fn split_hint(message: &str) -> (String, Option<String>) {
    let mut depth = 0usize;
    let mut quoted = false;
    for (at, letter) in message.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '`' => quoted = !quoted,
            ';' | '.' | ':' if depth == 0 && !quoted => {
                let Some(rest) = message[at + 1..].strip_prefix(' ') else { continue };
                let word = rest.split([' ', ',']).next().unwrap_or_default();
                let cut = match letter {
                    ';' => true,
                    '.' => word.starts_with(char::is_uppercase),
                    _ => IMPERATIVES.contains(&word),
                };
                if cut {
                    return (message[..at].to_owned(), Some(uncapitalised(rest.trim())));
                }
            }
            _ => {}
        }
    }
    (message.to_owned(), None)
}

/// A sentence as it stands after a colon; a name in capitals keeps them.
fn uncapitalised(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// The exit code of an error, by its type.
fn code_of(error: &anyhow::Error) -> u8 {
    use relscale_measure::Error as Measure;
    use relscale_report::ReportError as Report;
    use relscale_sweep::Error as Sweep;
    if let Some(error) = error.downcast_ref::<Measure>() {
        return match error {
            Measure::Cancelled => INTERRUPTED,
            Measure::Records(error) => records_code(error),
            Measure::Engine { .. } | Measure::BadAnswer { .. } | Measure::BadWindows { .. } => {
                FAILURE
            }
            Measure::Hub(error) => hub_code(error),
            _ => REFUSED,
        };
    }
    if let Some(error) = error.downcast_ref::<Sweep>() {
        return match error {
            Sweep::Cancelled { .. } | Sweep::Stopped => INTERRUPTED,
            Sweep::Write { .. } | Sweep::Diverged { .. } => FAILURE,
            Sweep::Records(error) => records_code(error),
            _ => REFUSED,
        };
    }
    if let Some(error) = error.downcast_ref::<relscale_records::Error>() {
        return records_code(error);
    }
    if let Some(error) = error.downcast_ref::<relscale_laws::LawsError>() {
        return if matches!(error, relscale_laws::LawsError::Write { .. }) {
            FAILURE
        } else {
            REFUSED
        };
    }
    if error.is::<relscale_laws::tables::TableError>() {
        return REFUSED;
    }
    if let Some(error) = error.downcast_ref::<Report>() {
        return match error {
            Report::Records(error) => records_code(error),
            Report::Place(error) => records_code(error),
            Report::Result(_) | Report::Foreign { .. } | Report::Nothing { .. } => REFUSED,
            _ => FAILURE,
        };
    }
    if matches!(error.downcast_ref(), Some(relscale_corpus::CorpusError::Stopped)) {
        return INTERRUPTED;
    }
    if error.is::<relscale_corpus::CorpusError>() || error.is::<Refusal>() {
        REFUSED
    } else {
        FAILURE
    }
}

/// What to do, where the error's own words do not say it.
fn advice(error: &anyhow::Error) -> Option<&'static str> {
    use relscale_corpus::CorpusError as Corpus;
    use relscale_measure::Error as Measure;
    use relscale_records::Error as Records;
    const PATH: &str = "see that the path is right and that you may read it";
    if let Some(Corpus::Read { .. }) = error.downcast_ref() {
        return Some(PATH);
    }
    match error.downcast_ref()? {
        Measure::Corpus(Corpus::Read { .. }) => Some(PATH),
        Measure::Records(Records::WriteParquet { .. }) => {
            Some("see that there is room on the disk and run the same command again to go on")
        }
        _ => None,
    }
}

/// A name is refused; what a network or disk does to it is a failure.
fn hub_code(error: &relscale_measure::error::HubError) -> u8 {
    use relscale_measure::error::HubError as Hub;
    match error {
        Hub::Status { .. }
        | Hub::NoConnection { .. }
        | Hub::Cut { .. }
        | Hub::Wrong { .. }
        | Hub::Keep { .. } => FAILURE,
        _ => REFUSED,
    }
}

fn records_code(error: &relscale_records::Error) -> u8 {
    use relscale_records::Error as Records;
    match error {
        Records::Write { .. } | Records::WriteParquet { .. } | Records::Serialise { .. } => FAILURE,
        _ => REFUSED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_what_follows_the_first_semicolon_or_sentence() {
        let cut = |message| {
            let (what, hint) = split_hint(message);
            (what, hint.unwrap_or_default())
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            cut("a.txt: not UTF-8; convert the file"),
            pair("a.txt: not UTF-8", "convert the file")
        );
        assert_eq!(
            cut("no config.json in m. Give a folder"),
            pair("no config.json in m", "give a folder")
        );
        assert_eq!(
            cut("out: is not empty: give another"),
            pair("out: is not empty", "give another")
        );
        assert_eq!(cut("`a; b` (c; d) is wrong"), pair("`a; b` (c; d) is wrong", ""));
        assert_eq!(cut("tensor model.Embed is missing"), pair("tensor model.Embed is missing", ""));
        assert_eq!(cut("one; two; three"), pair("one", "two; three"));
    }

    #[test]
    fn a_cause_is_told_once() {
        let source =
            relscale_records::Error::Read { path: "x".into(), source: io::Error::other("gone") };
        let error = anyhow::Error::from(relscale_measure::Error::from(source));
        assert_eq!(chain(&error), "x: cannot read: gone");
        assert_eq!(code_of(&error), REFUSED);
        let error = anyhow::Error::msg("below").context("above");
        assert_eq!(chain(&error), "above: below");
    }

    #[test]
    fn the_help_names_every_code() {
        for code in [OK, FAILURE, USAGE, REFUSED, INTERRUPTED] {
            assert!(HELP.contains(&format!("\n  {code} ")), "{code}");
        }
    }
}
