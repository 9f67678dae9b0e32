//! Where a result goes that machines will read.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use relscale_laws::Saved;

use crate::terminal;

/// The value of `--json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Json {
    /// `-`: standard output, and nothing else there.
    Screen,
    /// A file; tables go to the screen as ever.
    File(PathBuf),
}

impl FromStr for Json {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "-" { Self::Screen } else { Self::File(text.into()) })
    }
}

/// Hands over a result: to standard output alone, or to the screen by `show` and then to the file, if one was named.
///
/// # Errors
/// The file cannot be written; what `show` refuses.
pub(super) fn deliver(
    result: &impl Saved,
    destination: Option<&Json>,
    show: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if destination == Some(&Json::Screen) {
        return terminal::print(&result.to_json()?);
    }
    show()?;
    if let Some(Json::File(path)) = destination {
        result.save(path)?;
        terminal::message(&format!("wrote {}", path.display()));
    }
    Ok(())
}
