//! What a user should know about the crates that were found, besides the documents.

use std::fmt;

/// A doubt about the crate sources; its `Display` is the sentence to show.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CrateNotice {
    /// `cargo metadata` could not be used, and not all sources are here: the text differs from that of a complete machine.
    SourcesMissing {
        /// Why cargo could not be asked.
        because: String,
        /// `name-version` of the crates that are not here.
        missing: Vec<String>,
    },
    /// Names on the held-out list that the lock file does not have: less held-out text.
    HeldOutAbsent {
        /// The names.
        names: Vec<String>,
    },
}

impl fmt::Display for CrateNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SourcesMissing { because, missing } => write!(
                f,
                "{} of the locked crates are not on this machine ({}, ...), so the crate sources are a smaller text than \
                 elsewhere; `cargo fetch` gets them (cargo itself could not be asked: {because})",
                missing.len(),
                missing.first().map_or("", String::as_str),
            ),
            Self::HeldOutAbsent { names } => {
                write!(f, "held-out crates that this lock file does not have: {}", names.join(", "))
            }
        }
    }
}
