//! The one place where files are written: whole or not at all, into their own folder and nowhere
//! else.
//!
//! **How.** Bytes go to `NAME.tmp` beside the target, or to `NAME.1.tmp` and so on where another
//! process is at the same target. Such a file is always a new one (`O_EXCL`), so nothing that lies
//! there, a link above all, is ever written through. Its writer holds a lock of the operating
//! system on it. [`AtomicFile::commit`] syncs the bytes, renames, and syncs the folder, so after a
//! power cut the final name is either absent or complete. Dropping without a commit removes the
//! file aside.
//!
//! **After a kill** the file aside stays, and its lock is free: the next writer of the same target
//! takes its place, and [`remove_leftovers`] clears a whole folder. A file that somebody still
//! holds is left alone by both.
//!
//! **Links.** A study or a sweep may come from anybody. What this program itself names in it is
//! refused where it is a link ([`Error::InTheWay`]), file or folder ([`inner_folder`]). A file that
//! a *user* names may be a link, a device or a pipe, and is written as the user means it
//! ([`write_named`]).
//!
//! | what is written | by |
//! |---|---|
//! | a file of a study, sweep or report | [`write_whole`], [`write_with`], [`AtomicFile`] |
//! | a file that an option names | [`write_named`], [`write_named_with`] |
//! | a folder that a user names, one inside it | [`folder`], [`inner_folder`] |
//! | bytes that end with their process | [`unnamed`] |
//! | a file that grows over several runs, and what points to it | [`GrownFile`], [`point`] |

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

pub mod faults;
mod grown;
mod named;

pub use grown::{GrownFile, point, remove_dead_link};
pub use named::{place, write_named, write_named_with};

/// Ending of files that are being written.
const ASIDE: &str = ".tmp";

/// Processes that may write to one target at the same time.
const MOST: u32 = 1_000;

/// What the names of our files end with; `text` is a text that a measurement keeps aside.
const ENDINGS: [&str; 11] = [
    ".json",
    ".jsonl",
    ".parquet",
    ".csv",
    ".html",
    ".pdf",
    ".svg",
    ".png",
    ".safetensors",
    ".toml",
    "text",
];

/// A file being written aside.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    aside: PathBuf,
    target: PathBuf,
    committed: bool,
}

impl AtomicFile {
    /// Starts to write aside of `target`.
    ///
    /// # Errors
    /// [`Error::Write`]; [`Error::InTheWay`] when the target is a link.
    pub fn create(target: &Path) -> Result<Self> {
        refuse_link(target)?;
        let (file, aside) = aside(target).map_err(Error::write(&name_aside(target, 0)))?;
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
        sync_folder(parent(&self.target))
    }

    /// As [`commit`](Self::commit), of what another program wrote under the name
    /// [`aside`](Self::aside), in place of our file or into it.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn commit_as_written(self) -> Result<()> {
        let there = File::open(&self.aside).and_then(|file| file.sync_all());
        there.map_err(Error::write(&self.aside))?;
        self.commit()
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
        if !self.committed && fs::symlink_metadata(&self.aside).is_ok_and(|there| there.is_file()) {
            // Nothing better to do about a failure here: the next start removes leftovers again.
            let _ = fs::remove_file(&self.aside);
        }
    }
}

/// Writes a whole small file atomically; leaves it alone when it already holds these bytes.
///
/// # Errors
/// [`Error::Write`], [`Error::InTheWay`]; the old file stays then.
pub fn write_whole(target: &Path, bytes: &[u8]) -> Result<()> {
    refuse_link(target)?;
    if fs::read(target).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    write_with(target, |out| out.write_all(bytes))
}

/// Writes a file atomically, piece by piece.
///
/// # Errors
/// As [`write_whole`].
pub fn write_with(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let mut file = AtomicFile::create(target)?;
    let aside = file.aside().to_path_buf();
    let mut out = BufWriter::new(&mut file);
    let written = write(&mut out).and_then(|()| out.flush());
    drop(out);
    written.map_err(Error::write(&aside))?;
    file.commit()
}

/// A file without a name, in the folder of `target`, readable and writable: the system frees it
/// with its last user. Where the name of an open file cannot be removed, it is given back, to be
/// removed at the end.
///
/// # Errors
/// The folder cannot be written to.
pub fn unnamed(target: &Path) -> io::Result<(File, Option<PathBuf>)> {
    let (file, path) = aside(target)?;
    let named = fs::remove_file(&path).is_err();
    Ok((file, named.then_some(path)))
}

/// Makes a folder that a user named, with all above it.
///
/// # Errors
/// [`Error::Write`].
pub fn folder(path: &Path) -> Result<()> {
    // The folder of a bare name is the one that the program runs in.
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    // Every folder above it that is new is an entry of the one above that.
    let above = parent(path);
    if !above.exists() {
        folder(above)?;
    }
    match fs::create_dir(path) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {
            return Ok(());
        }
        made => made.map_err(Error::write(path))?,
    }
    sync_folder(above)
}

/// Makes a folder inside a study or sweep, or finds it there.
///
/// # Errors
/// [`Error::InTheWay`] when it is a link; [`Error::Write`].
pub fn inner_folder(path: &Path) -> Result<()> {
    refuse_link(path)?;
    folder(path)
}

/// Makes a whole folder appear under its name: it was written as `aside`, in the same folder.
///
/// # Errors
/// [`Error::Write`], also where the target is there and not empty.
pub fn publish_folder(aside: &Path, target: &Path) -> Result<()> {
    refuse_link(target)?;
    sync_folder(aside)?;
    fs::rename(aside, target).map_err(Error::write(target))?;
    sync_folder(parent(target))
}

/// Refuses to write where a link lies.
///
/// # Errors
/// [`Error::InTheWay`].
pub fn refuse_link(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_symlink() => Err(Error::InTheWay {
            path: path.to_path_buf(),
            what: "is a link, which leads out of this folder",
        }),
        _ => Ok(()),
    }
}

/// Removes files aside that a killed writer left in a folder. Those that a process still writes
/// stay, and so does what is not named as our files are.
///
/// # Errors
/// [`Error::Read`].
pub fn remove_leftovers(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::read(folder))? {
        let path = entry.map_err(Error::read(folder))?.path();
        if is_aside(&path) {
            remove_left(&path);
        }
    }
    Ok(())
}

/// Whether a name is `NAME.tmp` or `NAME.7.tmp` of a file of ours.
fn is_aside(path: &Path) -> bool {
    let name =
        path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(ASIDE));
    name.is_some_and(|name| {
        let digits =
            |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let name = name
            .rsplit_once('.')
            .filter(|(_, number)| digits(number))
            .map_or(name, |(name, _)| name);
        ENDINGS.iter().any(|ending| name.ends_with(ending))
    })
}

/// `NAME.tmp`, `NAME.1.tmp`, `NAME.2.tmp`, ...
fn name_aside(target: &Path, number: u32) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    if number > 0 {
        name.push(format!(".{number}"));
    }
    name.push(ASIDE);
    name.into()
}

/// A new file aside of `target`, held.
fn aside(target: &Path) -> io::Result<(File, PathBuf)> {
    if let Some(full) = faults::full_disk(target) {
        return full.map(|file| (file, name_aside(target, 0)));
    }
    let mut number = 0;
    loop {
        let path = name_aside(target, number);
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            // Whoever clears leftovers may have been faster than our lock: then the name is not
            // ours, and another try is.
            Ok(file) if hold(&file, &path) => return Ok((file, path)),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MOST => {
                // Only where a lock tells that its writer is gone.
                if !(cfg!(unix) && remove_left(&path)) {
                    number += 1;
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Locks a new file; false where its name went to another in between. A file system without locks
/// has none that clears either.
#[cfg(unix)]
fn hold(file: &File, path: &Path) -> bool {
    let _ = file.lock();
    is_at(file, path)
}

/// Elsewhere a lock would keep out the programs that write for us (the printers of PDF).
#[cfg(not(unix))]
fn hold(_: &File, _: &Path) -> bool {
    true
}

/// Removes a file aside if its writer is gone; whether the name is free now.
#[cfg(unix)]
fn remove_left(path: &Path) -> bool {
    use std::os::unix::fs::OpenOptionsExt;
    if !fs::symlink_metadata(path).is_ok_and(|there| there.is_file()) {
        return false;
    }
    // Neither a link nor a pipe that came in between is opened for long.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else {
        return false;
    };
    file.try_lock().is_ok() && is_at(&file, path) && fs::remove_file(path).is_ok()
}

/// Without locks of files aside, only the holder of the folder's lock clears them.
#[cfg(not(unix))]
fn remove_left(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| there.is_file()) && fs::remove_file(path).is_ok()
}

/// Whether an open file is the one of this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// The folder of a file; a bare file name has the empty path for it, which cannot be opened.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes a rename in `folder` durable. Only Unix has (and needs) a way to sync a folder.
fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let opened = File::open(folder).map_err(Error::read(folder))?;
        faults::sync(folder, &opened).map_err(Error::write(folder))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
