//! The files below a folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::error::{CorpusError, Result};

/// Files that were found, sorted, and folders that were met again.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) files: Vec<PathBuf>,
    pub(super) again: Vec<PathBuf>,
    seen: HashSet<Identity>,
}

impl Walked {
    /// Files that were found in another way.
    pub(super) fn from_files(files: Vec<PathBuf>) -> Self {
        Self { files, ..Self::default() }
    }

    /// Adds all files below a folder, in order of path. Links are followed; a folder is entered
    /// once, however many links lead to it.
    pub(super) fn enter(&mut self, folder: &Path) -> Result<()> {
        if !self.seen.insert(identity(folder).map_err(CorpusError::read(folder))?) {
            self.again.push(folder.to_owned());
            return Ok(());
        }
        for path in entries(folder)? {
            if path.is_dir() {
                self.enter(&path)?;
            } else {
                self.files.push(path);
            }
        }
        Ok(())
    }
}

/// What is in a folder, by name.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(CorpusError::read(folder))?;
    let mut paths = entries
        .map(|entry| Ok(entry.map_err(CorpusError::read(folder))?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// All files below a folder.
pub(super) fn walk(folder: &Path) -> Result<Walked> {
    let mut walked = Walked::default();
    walked.enter(folder)?;
    walked.files.sort();
    Ok(walked)
}

/// What a folder is, under whatever name.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = PathBuf;

#[cfg(unix)]
fn identity(folder: &Path) -> std::io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    let there = std::fs::metadata(folder)?;
    Ok((there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn identity(folder: &Path) -> std::io::Result<Identity> {
    folder.canonicalize()
}
