//! A file that appears whole or not at all.
//!
//! Bytes go to `NAME.tmp` beside the target. [`AtomicFile::commit`] syncs the bytes, renames, and syncs the folder,
//! so after a power cut the final name is either absent or complete. Dropping without a commit removes the `.tmp`.
//! A process that is killed leaves its `.tmp`; [`remove_leftovers`] clears those at the next start.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Ending of files that are being written.
const ASIDE: &str = ".tmp";

/// A file being written aside.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    aside: PathBuf,
    target: PathBuf,
    committed: bool,
}

impl AtomicFile {
    /// Starts `target.tmp`, replacing what an earlier attempt left.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn create(target: &Path) -> Result<Self> {
        let mut aside = target.as_os_str().to_owned();
        aside.push(ASIDE);
        let aside = PathBuf::from(aside);
        let file = File::create(&aside).map_err(Error::write(&aside))?;
        Ok(Self { file, aside, target: target.to_path_buf(), committed: false })
    }

    /// Makes the file appear under its final name.
    ///
    /// # Errors
    /// [`Error::Write`]; nothing appears then.
    pub fn commit(mut self) -> Result<()> {
        self.file.sync_all().map_err(Error::write(&self.aside))?;
        fs::rename(&self.aside, &self.target).map_err(Error::write(&self.target))?;
        self.committed = true;
        if let Some(folder) = self.target.parent() {
            // A bare file name has the empty path for its folder, which cannot be opened.
            sync_folder(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })?;
        }
        Ok(())
    }

    /// Where the bytes go until the commit; what errors should name.
    pub fn aside(&self) -> &Path {
        &self.aside
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.committed {
            // Nothing better to do about a failure here: the next start removes leftovers again.
            let _ = fs::remove_file(&self.aside);
        }
    }
}

/// Writes a whole small file atomically; leaves it alone when it already holds these bytes.
///
/// # Errors
/// [`Error::Write`]; the old file stays then.
pub fn write_whole(target: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(target).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let mut file = AtomicFile::create(target)?;
    let aside = file.aside().to_path_buf();
    file.write_all(bytes).map_err(Error::write(&aside))?;
    file.commit()
}

/// Removes `*.tmp` that a killed writer left in a folder. Only for the holder of the folder's lock.
///
/// # Errors
/// [`Error::Read`], [`Error::Write`].
pub fn remove_leftovers(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::read(folder))? {
        let path = entry.map_err(Error::read(folder))?.path();
        if path.as_os_str().as_encoded_bytes().ends_with(ASIDE.as_bytes()) {
            fs::remove_file(&path).map_err(Error::write(&path))?;
        }
    }
    Ok(())
}

/// Makes a rename in `folder` durable. Only Unix has (and needs) a way to sync a folder.
fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let opened = File::open(folder).map_err(Error::read(folder))?;
        opened.sync_all().map_err(Error::write(folder))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_file_never_appears() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.json");
        let mut file = AtomicFile::create(&target).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_committed_file_replaces_the_old_one_whole() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.json");
        fs::write(&target, b"a longer old content").unwrap();
        write_whole(&target, b"new").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn leftovers_go_and_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("part-00000.parquet"), b"kept").unwrap();
        fs::write(folder.path().join("part-00001.parquet.tmp"), b"cut").unwrap();
        remove_leftovers(folder.path()).unwrap();
        assert!(folder.path().join("part-00000.parquet").exists());
        assert!(!folder.path().join("part-00001.parquet.tmp").exists());
    }

    /// A disk that is really full, as the kernel plays it.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_named_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run.json");
        std::os::unix::fs::symlink("/dev/full", folder.path().join("run.json.tmp")).unwrap();
        let message = write_whole(&target, b"{}").unwrap_err().to_string();
        assert!(message.contains("run.json.tmp"), "{message}");
        assert!(message.contains("disk is full"), "{message}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
