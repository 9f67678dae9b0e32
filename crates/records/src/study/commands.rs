//! The commands that made a study, as they were typed: what a reader pastes to do it again. Nothing
//! depends on them.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::atomic::write_whole;
use crate::error::{Error, Result};
use crate::shell;

/// Name of the file: a command a line.
const FILE: &str = "commands.txt";

/// Lines that are kept; the oldest go.
const MOST: usize = 1_000;

/// Adds a command to those of a study. One that is there moves to the end; of the commands that
/// `replaces` names by their first word, the last alone stays, as each makes the same file anew.
///
/// # Errors
/// The file cannot be read or written.
pub fn remember<W: AsRef<OsStr>>(study: &Path, words: &[W], replaces: bool) -> Result<()> {
    let quoted = words.iter().map(|word| shell::word(word.as_ref()));
    let line = quoted.collect::<Vec<_>>().join(" ");
    let mut lines = commands(study)?;
    let first = words.first().map(|word| shell::word(word.as_ref())).unwrap_or_default();
    lines.retain(|known| {
        *known != line && !(replaces && known.split(' ').next() == Some(first.as_str()))
    });
    lines.push(line);
    lines.drain(..lines.len().saturating_sub(MOST));
    write_whole(&study.join(FILE), (lines.join("\n") + "\n").as_bytes())
}

/// The commands that made a study, without the program's name, in the order in which they were last
/// given; none where nobody kept them.
///
/// # Errors
/// The file is there and cannot be read.
pub fn commands(study: &Path) -> Result<Vec<String>> {
    let path = study.join(FILE);
    match fs::read(&path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(Error::Read { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_kept_once_in_order() {
        let home = tempfile::tempdir().unwrap();
        let study = home.path();
        assert_eq!(commands(study).unwrap(), Vec::<String>::new());
        for (words, replaces) in [
            (["measure", "--model", "a b"], false),
            (["fit", "study", "--seed"], true),
            (["measure", "--model", "c"], false),
            (["measure", "--model", "a b"], false),
            (["fit", "study", "-v"], true),
            (["relative", "a\nb", ""], false),
        ] {
            remember(study, &words, replaces).unwrap();
        }
        assert_eq!(
            commands(study).unwrap(),
            [
                "measure --model c",
                "measure --model 'a b'",
                "fit study -v",
                // Whatever stands in a name, a line is a command.
                r"relative $'a\x0ab' ''"
            ]
        );
    }
}
