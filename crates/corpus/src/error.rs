//! What can go wrong between a file of text and windows of token ids.

use std::path::PathBuf;

/// Errors of this crate. Each message says what is wrong, where, and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A corpus without a single document.
    #[error("the corpus `{corpus}` has no documents; check its path and options")]
    EmptyCorpus {
        /// The corpus as asked for.
        corpus: String,
    },
    /// `crates:NAME` with a name that is not one of the three.
    #[error("`crates:{name}` is unknown; use crates:code, crates:docs or crates:markdown")]
    UnknownDistribution {
        /// The name given.
        name: String,
    },
    /// No `Cargo.toml` to start from.
    #[error(
        "no Cargo.toml at {}; the crate sources corpus needs a workspace with a lock file: name its Cargo.toml or run inside it",
        given.as_deref().map_or_else(|| "or above the current directory".into(), |p| p.display().to_string())
    )]
    NoManifest {
        /// The path the user gave, if any.
        given: Option<PathBuf>,
    },
    /// A manifest, but no lock file beside or above it.
    #[error("no Cargo.lock beside or above {}; run `cargo generate-lockfile` there", manifest.display())]
    NoLockFile {
        /// The manifest.
        manifest: PathBuf,
    },
    /// A lock file that is not one.
    #[error("{} is not a lock file that can be read: {source}", path.display())]
    LockFile {
        /// The lock file.
        path: PathBuf,
        /// What the TOML parser says.
        source: Box<toml::de::Error>,
    },
    /// A held-out list that is not one.
    #[error("the list of held-out crates is broken: {source}")]
    HeldOutList {
        /// What the TOML parser says.
        source: Box<toml::de::Error>,
    },
    /// No usable crate at all.
    #[error("no crate sources were found by {found_by}; run `cargo fetch` in the workspace first")]
    NoCrates {
        /// How they were looked for.
        found_by: String,
    },
}
