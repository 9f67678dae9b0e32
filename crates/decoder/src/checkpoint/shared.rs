//! One open file that several threads read at places of their own.

use std::fs::File;
use std::io;

/// An open file without a cursor.
#[derive(Debug)]
pub(super) struct SharedFile {
    #[cfg(unix)]
    file: File,
    /// Elsewhere a read moves the cursor, so one thread reads at a time.
    #[cfg(not(unix))]
    file: std::sync::Mutex<File>,
}

#[cfg(unix)]
impl SharedFile {
    pub(super) fn new(file: File) -> Self {
        Self { file }
    }

    /// Fills `bytes` from byte `start` of the file on.
    pub(super) fn read_exact_at(&self, bytes: &mut [u8], start: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, start)
    }
}

#[cfg(not(unix))]
impl SharedFile {
    pub(super) fn new(file: File) -> Self {
        Self { file: std::sync::Mutex::new(file) }
    }

    /// Fills `bytes` from byte `start` of the file on.
    pub(super) fn read_exact_at(&self, bytes: &mut [u8], start: u64) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(bytes)
    }
}
