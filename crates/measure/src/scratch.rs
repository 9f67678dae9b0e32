//! Bytes that live as long as a session: in memory up to a bound, beyond it in a file without a
//! name.
//!
//! What a measurement reads again and again and cannot bound by itself, a tokenised text above all,
//! is appended to a [`Writer`] and read back from the [`Bytes`] that it becomes, by position. Both
//! sides are the same to a caller whether there is a file or not.
//!
//! **The file** stands in the study's folder, since a disk with room for results has room for half
//! as much again, which a folder for temporary files (often memory itself) may not have. It is made
//! as `text.tmp` and its name removed at once, so that the system frees it when its last user ends,
//! in whatever way: no file of an earlier start is ever there to be taken for one of this. Where a
//! system cannot remove the name of an open file, that is done at the end, and after a kill by the
//! next writer of the study, as with every `.tmp`.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use relscale_records::atomic;

use crate::error::{Error, Result};

/// Bytes of one text that stay in memory, before they go to a file: two million tokens, as many as
/// a usual limit asks for.
pub const MEMORY: usize = 16 << 20;

/// Bytes that are collected before they are written to the file.
const CHUNK: usize = 1 << 20;

/// Where bytes go, and how many stay in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The folder of the file.
    pub folder: PathBuf,
    /// Bytes that stay in memory.
    pub memory: usize,
}

impl Place {
    /// A folder, with the usual [`MEMORY`].
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), memory: MEMORY }
    }
}

/// Bytes that are being written.
#[derive(Debug)]
pub struct Writer {
    place: Place,
    /// What is not in the file.
    pending: Vec<u8>,
    file: Option<Unnamed>,
    written: u64,
}

impl Writer {
    /// Nothing yet; no file is made before it is needed.
    pub fn new(place: Place) -> Self {
        Self { place, pending: Vec::new(), file: None, written: 0 }
    }

    /// How many bytes there are.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Appends.
    ///
    /// # Errors
    /// [`Error::Keep`] when the file cannot be made or the disk is full.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.pending.extend_from_slice(bytes);
        self.written += bytes.len() as u64;
        let bound = if self.file.is_some() { CHUNK } else { self.place.memory };
        if self.pending.len() > bound { self.spill() } else { Ok(()) }
    }

    /// The bytes, to be read.
    ///
    /// # Errors
    /// As [`Writer::write`].
    pub fn finish(mut self) -> Result<Bytes> {
        if self.file.is_some() {
            self.spill()?;
        }
        self.pending.shrink_to_fit();
        Ok(Bytes {
            memory: self.pending,
            file: self.file,
            folder: self.place.folder,
            length: self.written,
        })
    }

    /// What failed while bytes were to be kept.
    pub(crate) fn unwritable(&self, source: io::Error) -> Error {
        Error::Keep { folder: self.place.folder.clone(), bytes: self.written, source }
    }

    fn spill(&mut self) -> Result<()> {
        self.try_spill().map_err(|source| self.unwritable(source))
    }

    fn try_spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(Unnamed::create(&self.place.folder)?),
        };
        let mut open = &*file.file.lock().unwrap_or_else(PoisonError::into_inner);
        open.write_all(&self.pending)?;
        // The first time this is all that was kept in memory: that room is given back.
        self.pending = Vec::with_capacity(CHUNK);
        Ok(())
    }
}

/// Bytes that were written, to be read by position.
#[derive(Debug)]
pub struct Bytes {
    /// All of them, where there is no file.
    memory: Vec<u8>,
    file: Option<Unnamed>,
    folder: PathBuf,
    length: u64,
}

impl Bytes {
    /// How many there are.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether they are in a file.
    pub fn on_disk(&self) -> bool {
        self.file.is_some()
    }

    /// Reads on from a position.
    pub fn reader(&self, at: u64) -> Reader<'_> {
        Reader { bytes: self, at }
    }

    /// What failed while they were read.
    pub(crate) fn unreadable(&self, source: io::Error) -> Error {
        Error::ReadBack { folder: self.folder.clone(), source }
    }
}

/// Reads [`Bytes`] from a position; unbuffered.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a Bytes,
    at: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match &self.bytes.file {
            Some(unnamed) => {
                let mut file = &*unnamed.file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(self.at))?;
                file.read(buffer)?
            }
            None => {
                let from = usize::try_from(self.at).map_or(self.bytes.memory.len(), |at| at);
                self.bytes.memory.get(from..).unwrap_or_default().read(buffer)?
            }
        };
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Reader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.bytes.length.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

/// A file whose name is gone, or goes with it.
#[derive(Debug)]
struct Unnamed {
    /// One place of reading and writing for all: whoever uses it holds the lock, and seeks first.
    file: Mutex<File>,
    /// Its name, where that could not be removed.
    path: Option<PathBuf>,
}

impl Unnamed {
    fn create(folder: &Path) -> io::Result<Self> {
        let (file, path) = atomic::unnamed(&folder.join("text"))?;
        Ok(Self { file: Mutex::new(file), path })
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Nothing better to do about a failure here: the next start removes leftovers again.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &Path, memory: usize) -> Place {
        Place { folder: folder.to_path_buf(), memory }
    }

    /// A few megabytes of every length of piece, read back from everywhere, whatever stays in
    /// memory.
    #[test]
    fn what_was_written_is_read_back_from_any_position() {
        let folder = tempfile::tempdir().unwrap();
        let all: Vec<u8> =
            (0..3_000_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for (memory, on_disk) in [(0, true), (1_000, true), (2_999_999, true), (3_000_000, false)] {
            let mut writer = Writer::new(place(folder.path(), memory));
            let (mut rest, mut size) = (all.as_slice(), 1);
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(size.min(rest.len()));
                writer.write(piece).unwrap();
                (rest, size) = (after, size * 3 % 700_001);
            }
            assert_eq!(writer.written(), 3_000_000);
            let bytes = writer.finish().unwrap();
            assert_eq!((bytes.on_disk(), bytes.length()), (on_disk, 3_000_000), "{memory}");
            for at in [0, 1, 999, 1 << 20, 2_999_999, 3_000_000, 3_000_001] {
                let mut read = Vec::new();
                bytes.reader(at as u64).read_to_end(&mut read).unwrap();
                assert!(read == all[at.min(all.len())..], "{memory} {at}");
            }
            // Two readers by turns do not disturb each other.
            let (mut one, mut other) = (bytes.reader(7), bytes.reader(2_000_000));
            for step in 0..20 {
                let mut four = [0; 4];
                one.read_exact(&mut four).unwrap();
                assert_eq!(four, all[7 + 4 * step..11 + 4 * step]);
                other.read_exact(&mut four).unwrap();
                assert_eq!(four, all[2_000_000 + 4 * step..2_000_004 + 4 * step]);
            }
            // The folder shows nothing, while the file is in use and afterwards.
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        let mut writer = Writer::new(place(&gone, 4));
        writer.write(b"four").unwrap();
        let message = writer.write(b"!").unwrap_err().to_string();
        assert!(
            message.contains("gone") && message.contains("nothing that was measured is lost"),
            "{message}"
        );
    }
}
