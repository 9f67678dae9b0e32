//! Which text of a crate is meant: one of three kinds, on one of two sides.

use std::fmt;
use std::str::FromStr;

use super::{code, prose};
use crate::error::CorpusError;

/// One of the three kinds of text in the sources of a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distribution {
    /// Rust code without comments (`*.rs`).
    Code,
    /// The prose of doc comments, without their code examples (`*.rs`).
    Docs,
    /// Markdown files (`*.md`), licences and codes of conduct left out.
    Markdown,
}

impl Distribution {
    /// All distributions, in the order in which they are reported.
    pub const ALL: [Self; 3] = [Self::Code, Self::Docs, Self::Markdown];

    /// The name used in `crates:NAME` and in tags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Docs => "docs",
            Self::Markdown => "markdown",
        }
    }

    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Code | Self::Docs => "rs",
            Self::Markdown => "md",
        }
    }

    pub(super) fn extract(self, source: &str) -> String {
        match self {
            Self::Code => code::without_comments(source),
            Self::Docs => prose::doc_comments(source),
            Self::Markdown => source.to_owned(),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Distribution {
    type Err = CorpusError;

    fn from_str(name: &str) -> Result<Self, CorpusError> {
        Self::ALL
            .into_iter()
            .find(|d| d.name() == name)
            .ok_or_else(|| CorpusError::UnknownDistribution { name: name.to_owned() })
    }
}

/// Which side of the train / measure wall a crate is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Split {
    /// Crates whose text a model of the shipped family may have been trained on.
    Train,
    /// Crates kept for measuring.
    HeldOut,
}

impl Split {
    /// The name used in `crates:code?split=NAME`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::HeldOut => "held-out",
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
