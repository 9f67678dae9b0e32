//! Where a result goes that machines will read.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

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

/// Says that a file was written.
pub(super) fn told(path: &Path) {
    terminal::message(&format!("wrote {}", path.display()));
}
