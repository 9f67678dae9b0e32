//! What goes along while files are read: a flag that ends the reading, and what it has to say
//! besides documents.

use std::fmt;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Goes along with a reading; clones share the flag and the notices.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    stop: Arc<AtomicBool>,
    notices: Arc<Mutex<Vec<String>>>,
}

impl Reading {
    /// A reading that ends with [`crate::CorpusError::Stopped`] soon after `stop` is set by another
    /// thread.
    pub fn until(stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..Self::default() }
    }

    /// What a user should know about the files that were read, said since the last call, each once:
    /// sentences without a full stop, in which names are relative to what was given.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says something, once.
    pub(super) fn add_notice(&self, notice: String) {
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
