//! One writer at a time in a folder: a study, or a sweep.
//!
//! The lock is the operating system's, on the open file `.lock`: when the holder dies, even by `kill -9`, the
//! system frees it, so there is no stale lock to judge. The file also names the holder's process, for the message only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// Name of the file.
pub const LOCK_FILE: &str = ".lock";

/// The held lock; freed when dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock of a folder that is there.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process holds it; [`Error::Write`].
    pub fn take(folder: &Path) -> Result<Self> {
        let path = folder.join(LOCK_FILE);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(Error::write(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let process = match file.read_to_string(&mut text) {
                    Ok(_) => text.trim().parse().ok(),
                    Err(_) => None,
                };
                return Err(Error::Locked { path: folder.to_path_buf(), process });
            }
            Err(TryLockError::Error(source)) => return Err(Error::write(&path)(source)),
        }
        file.set_len(0).map_err(Error::write(&path))?;
        writeln!(file, "{}", std::process::id()).map_err(Error::write(&path))?;
        Ok(Self { file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file stays (removing it would race with a waiting writer), the note goes. Closing frees the lock.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}
