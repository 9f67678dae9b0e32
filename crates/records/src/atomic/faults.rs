//! For tests: a disk that is full, as the kernel plays it. A file aside is always a new one, so none can be put in its place from
//! outside.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static FULL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// As long as it lives, the disk is full for one target.
#[doc(hidden)]
#[derive(Debug)]
pub struct Full(PathBuf);

/// Lets the disk be full for `target`, on systems that have `/dev/full`.
#[doc(hidden)]
pub fn full(target: &Path) -> Full {
    FULL.lock().unwrap_or_else(PoisonError::into_inner).push(target.to_path_buf());
    Full(target.to_path_buf())
}

impl Drop for Full {
    fn drop(&mut self) {
        FULL.lock().unwrap_or_else(PoisonError::into_inner).retain(|there| *there != self.0);
    }
}

/// The kernel's full disk, where a test wants it.
pub(super) fn full_disk(target: &Path) -> Option<io::Result<File>> {
    let full = FULL.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|there| there == target);
    full.then(|| OpenOptions::new().read(true).write(true).open("/dev/full"))
}
