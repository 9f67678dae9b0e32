//! Files that grow over several runs of the program, such as downloads: whole under their own name
//! or not there at all, and what came so far is kept aside.
//!
//! Unlike a file aside of [`AtomicFile`](super::AtomicFile), such a file is found again, so its
//! name is given, and whoever grows it holds a lock of its own
//! ([`FileLock`](crate::lock::FileLock)).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{faults, parent, refuse_link, sync_folder, write_with};
use crate::error::{Error, Result};

/// A file that grows aside.
#[derive(Debug)]
pub struct GrownFile {
    file: File,
    aside: PathBuf,
    length: u64,
}

impl GrownFile {
    /// Goes on with the file `aside`, or begins it.
    ///
    /// # Errors
    /// [`Error::Write`]; [`Error::InTheWay`] where it is a link.
    pub fn open(aside: &Path) -> Result<Self> {
        refuse_link(aside)?;
        let failed = || Error::write(aside);
        let mut file = match faults::full_disk(aside) {
            Some(full) => full,
            None => {
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(aside)
            }
        }
        .map_err(failed())?;
        let length = file.metadata().map_err(failed())?.len();
        file.seek(SeekFrom::Start(length)).map_err(failed())?;
        Ok(Self { file, aside: aside.to_path_buf(), length })
    }

    /// Bytes that are there.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Throws away what is there.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn restart(&mut self) -> Result<()> {
        if self.length == 0 {
            return Ok(());
        }
        self.file.set_len(0).map_err(Error::write(&self.aside))?;
        self.file.rewind().map_err(Error::write(&self.aside))?;
        self.length = 0;
        Ok(())
    }

    /// What is there, from the beginning.
    ///
    /// # Errors
    /// [`Error::Read`].
    pub fn reader(&self) -> Result<File> {
        File::open(&self.aside).map_err(Error::read(&self.aside))
    }

    /// Makes the file appear under its final name, in the same folder.
    ///
    /// # Errors
    /// [`Error::Write`]; nothing appears then, and what came stays aside.
    pub fn commit(self, target: &Path) -> Result<()> {
        self.file.sync_all().map_err(Error::write(&self.aside))?;
        drop(self.file);
        fs::rename(&self.aside, target).map_err(Error::write(target))?;
        sync_folder(parent(target))
    }

    /// Takes the file away: nothing of it can be used.
    pub fn discard(self) {
        drop(self.file);
        // What stays is thrown away by the next hash.
        let _ = fs::remove_file(&self.aside);
    }
}

impl Write for GrownFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Removes a link that leads to nothing; anything else stays.
///
/// # Errors
/// [`Error::Write`].
pub fn remove_dead_link(path: &Path) -> Result<()> {
    let link = fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink());
    match link && !path.exists() {
        true => fs::remove_file(path).map_err(Error::write(path)),
        false => Ok(()),
    }
}

/// Makes `pointer` stand for the file `whole`: as a relative link to it where links are wanted and
/// the system has them, else as the file itself, moved there where `moved` allows it, or
/// copied.
///
/// # Errors
/// [`Error::Write`], [`Error::Read`].
pub fn point(
    pointer: &Path,
    whole: &Path,
    relative: &Path,
    links: bool,
    moved: bool,
) -> Result<()> {
    if links && link(relative, pointer).is_ok() {
        return sync_folder(parent(pointer));
    }
    if moved && fs::rename(whole, pointer).is_ok() {
        return sync_folder(parent(pointer));
    }
    let mut from = File::open(whole).map_err(Error::read(whole))?;
    write_with(pointer, |out| io::copy(&mut from, out).map(drop))
}

#[cfg(unix)]
fn link(to: &Path, pointer: &Path) -> io::Result<()> {
    // Another process may be faster, to the same end.
    match std::os::unix::fs::symlink(to, pointer) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            match fs::read_link(pointer).is_ok_and(|there| there == to) {
                true => Ok(()),
                false => Err(error),
            }
        }
        made => made,
    }
}

#[cfg(windows)]
fn link(to: &Path, pointer: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(to, pointer)
}

#[cfg(not(any(unix, windows)))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_came_is_kept_and_appears_whole() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut file = GrownFile::open(&at("x.incomplete")).unwrap();
        file.write_all(b"half ").unwrap();
        drop(file);
        let mut file = GrownFile::open(&at("x.incomplete")).unwrap();
        assert_eq!(file.length(), 5);
        file.write_all(b"and half").unwrap();
        assert_eq!(io::read_to_string(file.reader().unwrap()).unwrap(), "half and half");
        assert!(!at("x").exists());
        file.commit(&at("x")).unwrap();
        assert_eq!(fs::read_to_string(at("x")).unwrap(), "half and half");
        assert!(!at("x.incomplete").exists());

        let mut file = GrownFile::open(&at("y.incomplete")).unwrap();
        file.write_all(b"wrong").unwrap();
        file.restart().unwrap();
        file.write_all(b"ok").unwrap();
        assert_eq!(file.length(), 2);
        file.commit(&at("y")).unwrap();
        assert_eq!(fs::read_to_string(at("y")).unwrap(), "ok");

        std::os::unix::fs::symlink(at("y"), at("z.incomplete")).unwrap();
        assert!(matches!(GrownFile::open(&at("z.incomplete")), Err(Error::InTheWay { .. })));
    }

    /// With links, without them for a new file (moved), without them for one that others use
    /// (copied).
    #[test]
    fn a_pointer_is_a_link_or_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        let relative = Path::new("../blob");
        for (name, links, moved, is_link, stays) in [
            ("deep/linked", true, true, true, true),
            ("deep/copied", false, false, false, true),
            ("deep/moved", false, true, false, false),
        ] {
            fs::write(at("blob"), "bytes").unwrap();
            point(&at(name), &at("blob"), relative, links, moved).unwrap();
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "bytes");
            assert_eq!(fs::symlink_metadata(at(name)).unwrap().is_symlink(), is_link, "{name}");
            assert_eq!(at("blob").exists(), stays, "{name}");
        }
        fs::write(at("blob"), "bytes").unwrap();
        point(&at("deep/linked"), &at("blob"), relative, true, true).unwrap();
        assert_eq!(fs::read_link(at("deep/linked")).unwrap(), relative);
    }
}
