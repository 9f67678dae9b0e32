//! Why records cannot be turned into laws.

use std::io;
use std::path::PathBuf;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LawsError {
    /// An option has a value that no fit can use.
    #[error("option `{option}` is {value}; expected: {expected}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// The value given.
        value: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// The result cannot be written.
    #[error("cannot write {path}: {source}; check that the folder exists and has room")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A stored result cannot be read.
    #[error("cannot read {path}: {source}; `relscale fit` makes this file")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A stored result is not what [`StudyFit::save`](crate::StudyFit::save) writes.
    #[error("{path} is no result of `relscale fit`: {source}; run `relscale fit` again")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why parsing stopped.
        source: serde_json::Error,
    },
    /// A stored result has another layout.
    #[error(
        "{path} has layout {found}, this program reads layout {expected}; run `relscale fit` again"
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Layout version in the file.
        found: u32,
        /// Layout version of this program.
        expected: u32,
    },
}
