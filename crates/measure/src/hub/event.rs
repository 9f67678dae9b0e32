//! What a caller is told while files are looked for.

use std::sync::Arc;
use std::time::Duration;

/// What a caller is told. Names are as they may be shown.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum HubEvent<'a> {
    /// Files will be fetched: how many, and how many bytes of them are still to come.
    Fetching {
        /// The repository and commit.
        what: &'a str,
        /// Files.
        files: usize,
        /// Bytes still to come.
        bytes: u64,
        /// Where to.
        cache: &'a std::path::Path,
    },
    /// Bytes came.
    Came {
        /// The file.
        file: &'a str,
        /// Bytes of it that are there.
        done: u64,
        /// Its bytes, 0 where they are not known.
        of: u64,
        /// Bytes that are there, of all files.
        all_done: u64,
        /// Bytes of all files.
        all_of: u64,
    },
    /// All is there.
    Fetched {
        /// The repository and commit.
        what: &'a str,
    },
    /// A try failed and another follows.
    Again {
        /// What was asked.
        url: &'a str,
        /// Why it failed.
        reason: &'a str,
        /// How long is waited.
        wait: Duration,
    },
    /// Another process fetches the same file.
    Waits {
        /// The file.
        file: &'a str,
    },
    /// The Hub gave no hash of a file, so that only its size was checked.
    Unchecked {
        /// The file.
        file: &'a str,
    },
    /// The Hub could not be asked which files there are, so that those in the cache were taken.
    Partial {
        /// The repository and commit.
        what: &'a str,
        /// How many there are.
        files: usize,
    },
}

/// Called from any thread.
pub type HubListener = Arc<dyn Fn(HubEvent<'_>) + Send + Sync>;
