//! One writer at a time in a folder: a study, a sweep, a family.
//!
//! The lock is the operating system's, on the open file `.lock`: when the holder dies, even by
//! `kill -9`, the system frees it, so there is no stale lock to judge. The file also names the
//! holder's process, for the message only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::atomic::refuse_link;
use crate::error::{Error, Result};

/// Name of the file.
pub const LOCK_FILE: &str = ".lock";

/// The lock of a file of its own, which other programs know as well (`flock`, as Python's
/// `filelock` takes it); freed when dropped. The file stays: to remove it would race with whoever
/// waits.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Takes the lock, or says at once that another holds it. A file system without locks gives
    /// none, and nobody is kept out.
    ///
    /// # Errors
    /// [`Error::Write`]; [`Error::InTheWay`] when the file is a link.
    pub fn try_take(path: &Path) -> Result<Option<Self>> {
        refuse_link(path)?;
        let file = open(path).map_err(Error::write(path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(Self { file })),
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// More than a process's number and a line feed need.
const LONGEST: u64 = 32;

/// The held lock; freed when dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock of a folder that is there.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process holds it; [`Error::InTheWay`] when the file is a link
    /// or none of ours; [`Error::Write`].
    pub fn take(folder: &Path) -> Result<Self> {
        let path = folder.join(LOCK_FILE);
        refuse_link(&path)?;
        let in_the_way = |what| Error::InTheWay { path: path.clone(), what };
        if std::fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
            return Err(in_the_way("is no file"));
        }
        let mut file = open(&path).map_err(Error::write(&path))?;
        let mut text = Vec::new();
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let read = (&file).take(LONGEST).read_to_end(&mut text);
                let process =
                    read.ok().and_then(|_| std::str::from_utf8(&text).ok()?.trim().parse().ok());
                return Err(Error::Locked { path: folder.to_path_buf(), process });
            }
            Err(TryLockError::Error(source)) => return Err(Error::write(&path)(source)),
        }
        // The note replaces what is there: only a note of ours may be.
        (&file).take(LONGEST).read_to_end(&mut text).map_err(Error::read(&path))?;
        let note = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
        if text.len() as u64 == LONGEST || !text.iter().all(note) {
            return Err(in_the_way("is a file of another program"));
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(Error::write(&path))?;
        writeln!(file, "{}", std::process::id()).map_err(Error::write(&path))?;
        Ok(Self { file })
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NOFOLLOW | libc::O_NONBLOCK,
    );
    options.open(path)
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file stays (removing it would race with a waiting writer), the note goes. Closing
        // frees the lock.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_lock_writes_over_nothing_of_others() {
        let (outside, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (precious, lock) = (outside.path().join("precious"), folder.path().join(LOCK_FILE));
        fs::write(&precious, "12345").unwrap();
        std::os::unix::fs::symlink(&precious, &lock).unwrap();
        let message = Lock::take(folder.path()).unwrap_err().to_string();
        assert!(message.contains(".lock: is a link"), "{message}");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "12345");

        for other in ["pid: 12", &"1".repeat(40)] {
            fs::remove_file(&lock).unwrap();
            fs::write(&lock, other).unwrap();
            let error = Lock::take(folder.path()).unwrap_err();
            assert!(matches!(error, Error::InTheWay { .. }), "{error:?}");
            assert_eq!(fs::read_to_string(&lock).unwrap(), other);
        }
        fs::write(&lock, "12345\n").unwrap();
        let held = Lock::take(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&lock).unwrap(), format!("{}\n", std::process::id()));
        let process = Some(std::process::id());
        let error = Lock::take(folder.path()).unwrap_err();
        assert!(
            matches!(error, Error::Locked { process: found, .. } if found == process),
            "{error:?}"
        );
        drop(held);
        Lock::take(folder.path()).unwrap();
    }
}
