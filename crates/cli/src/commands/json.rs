//! Where a result goes that machines will read.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use relscale_laws::Saved;
use serde::Serialize;

use crate::terminal;

/// The value of `--json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Json {
    /// `-`: standard output, and nothing else there.
    Screen,
    /// A file that the user named; tables go to the screen as ever.
    File(PathBuf),
    /// The file of a study for such results.
    Own(PathBuf),
}

impl Json {
    /// The file that the user named.
    pub(super) fn file(given: Option<&Self>) -> Option<&Path> {
        match given {
            Some(Self::File(path)) => Some(path),
            _ => None,
        }
    }
}

/// A path in JSON, which knows Unicode only.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl FromStr for Json {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "-" { Self::Screen } else { Self::File(text.into()) })
    }
}

/// Hands over a result: to standard output alone, or to the screen by `show` and then to the file,
/// if one was named.
///
/// # Errors
/// The file cannot be written; what `show` refuses.
pub(super) fn deliver(
    result: &impl Saved,
    destination: Option<&Json>,
    show: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if destination == Some(&Json::Screen) {
        return terminal::print_json(&result.to_json()?);
    }
    show()?;
    match destination {
        Some(Json::File(path)) => result.save_named(path)?,
        Some(Json::Own(path)) => result.save(path)?,
        _ => return Ok(()),
    }
    // What stands in a study is on its page, which says how to make it again.
    if let Some(Json::File(path) | Json::Own(path)) = destination
        && let Some(study) = path.parent()
    {
        super::remember(study, matches!(destination, Some(Json::Own(_))));
    }
    if let Some(Json::File(path) | Json::Own(path)) = destination {
        terminal::message(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// The same for what is no result of the laws: a list of files, of runs, of recipes.
///
/// # Errors
/// As [`deliver`].
pub(super) fn hand_over(
    document: &impl Serialize,
    destination: Option<&Json>,
    show: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if destination == Some(&Json::Screen) {
        return terminal::print_json(&serde_json::to_string_pretty(document)?);
    }
    show()?;
    if let Some(Json::File(path) | Json::Own(path)) = destination {
        let text = serde_json::to_string_pretty(document)? + "\n";
        relscale_records::atomic::write_named(path, text.as_bytes())?;
        terminal::message(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// The option by itself, for commands that have nothing else in common.
#[derive(Debug, Default, Clone, clap::Args)]
pub(super) struct AsJson {
    /// Write what was done as JSON to a file, or to standard output (-) and nothing else there
    #[arg(long = "json", value_name = "FILE")]
    pub(super) to: Option<Json>,
}

impl AsJson {
    /// Where it goes.
    pub(super) fn destination(&self) -> Option<&Json> {
        self.to.as_ref()
    }
}
