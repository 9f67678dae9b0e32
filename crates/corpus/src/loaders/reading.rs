//! What goes along while files are read: a flag that ends the reading, and what it has to say besides documents.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Goes along with a reading; clones share the flag and the notices.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    stop: Arc<AtomicBool>,
    notices: Arc<Mutex<Vec<Notice>>>,
}

impl Reading {
    /// A reading that ends with [`crate::CorpusError::Stopped`] soon after `stop` is set by another thread.
    pub fn until(stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..Self::default() }
    }

    /// What was said since the last call, each once.
    pub fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says something, once.
    pub(crate) fn tell(&self, notice: Notice) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }

    /// A reader that fails as soon as the flag is set.
    pub(super) fn watch<R>(&self, inner: R) -> Watched<R> {
        Watched { inner, stop: Arc::clone(&self.stop) }
    }
}

/// What a user should know about the files of a corpus; its `Display` is the sentence to show. Names are relative to what was given.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Files of a folder that are not part of the corpus.
    LeftOut {
        /// What was read.
        kind: &'static str,
        /// Files that were read.
        read: usize,
        /// Extension with its dot (or what stands for none) -> files.
        files: BTreeMap<String, usize>,
    },
    /// Folders that links lead to more than once: read at the first place.
    MetAgain {
        /// The places passed over.
        folders: Vec<String>,
    },
    /// Bytes after the last member of a compressed file.
    AfterTheEnd {
        /// The file.
        file: String,
        /// How many.
        bytes: u64,
        /// Whether they are zeros: padding, as tapes and some stores add it.
        padding: bool,
    },
    /// Rows with null in a field that was asked for, passed over as `null=skip` says.
    NullRows {
        /// The file.
        file: String,
        /// How many.
        rows: u64,
    },
    /// A table that was read as plain text.
    TableAsText {
        /// The file.
        file: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut { kind, read, files } => {
                let all: usize = files.values().sum();
                let each: Vec<String> = files.iter().map(|(name, count)| format!("{count} {name}")).collect();
                write!(f, "{read} files of {kind} are read, {all} others left out ({})", each.join(", "))
            }
            Self::MetAgain { folders } => write!(
                f,
                "links lead to folders that are read already, so these are passed over: {}",
                folders.join(", ")
            ),
            Self::AfterTheEnd { file, bytes, padding } => {
                let what = if *padding { "zeros (padding)" } else { "that are not compressed data" };
                write!(f, "{file}: after its last member come {bytes} bytes {what}; they are passed over")
            }
            Self::NullRows { file, rows } => {
                write!(f, "{file}: {rows} rows have null in a field that is asked for; they are passed over")
            }
            Self::TableAsText { file } => write!(
                f,
                "{file} is read as plain text, commas, quotation marks and header included; for a column of it, write the table as JSONL or Parquet"
            ),
        }
    }
}

/// Fails when a flag is set.
pub(super) struct Watched<R> {
    inner: R,
    stop: Arc<AtomicBool>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other(StopRequested));
        }
        self.inner.read(buffer)
    }
}

/// Why a [`Watched`] reader failed.
#[derive(Debug)]
struct StopRequested;

impl fmt::Display for StopRequested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped on request")
    }
}

impl std::error::Error for StopRequested {}

/// Whether an error is a flag that was set.
pub(super) fn is_stop(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<StopRequested>())
}
