//! For tests: a disk that is full, as the kernel plays it, and one that loses what folders hold. A
//! file aside is always a new one, so none can be put in its place from outside.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static FULL: Paths = Paths(Mutex::new(Vec::new()));
static DYING: Paths = Paths(Mutex::new(Vec::new()));

/// Where a fault is wanted.
#[derive(Debug)]
struct Paths(Mutex<Vec<PathBuf>>);

impl Paths {
    fn with<T>(&self, of: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
        of(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn hold(&self, path: &Path) -> bool {
        self.with(|paths| paths.iter().any(|there| there == path))
    }
}

/// As long as it lives, the disk has a fault at one place.
#[doc(hidden)]
#[derive(Debug)]
pub struct Fault(&'static Paths, PathBuf);

impl Fault {
    fn at(paths: &'static Paths, path: &Path) -> Self {
        paths.with(|paths| paths.push(path.to_path_buf()));
        Self(paths, path.to_path_buf())
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        self.0.with(|paths| paths.retain(|there| *there != self.1));
    }
}

/// Lets the disk be full for `target`, on systems that have `/dev/full`.
#[doc(hidden)]
pub fn full(target: &Path) -> Fault {
    Fault::at(&FULL, target)
}

/// Lets syncing of `folder` fail: whoever writes into it and does not hear of that has not synced
/// it.
#[doc(hidden)]
pub fn dying(folder: &Path) -> Fault {
    Fault::at(&DYING, folder)
}

/// The kernel's full disk, where a test wants it.
pub(super) fn full_disk(target: &Path) -> Option<io::Result<File>> {
    FULL.hold(target).then(|| OpenOptions::new().read(true).write(true).open("/dev/full"))
}

/// Syncs an open folder.
pub(super) fn sync(folder: &Path, opened: &File) -> io::Result<()> {
    if DYING.hold(folder) {
        return Err(io::Error::other("the disk died while the folder was synced"));
    }
    opened.sync_all()
}
