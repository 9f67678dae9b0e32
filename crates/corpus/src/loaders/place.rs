//! What stands at a path that a user gives: a file, a folder, or the files that a pattern names.

use std::path::{Path, PathBuf};

use super::pattern;
use super::walk::walk;
use crate::error::{CorpusError, Result};

/// What stands at a path.
pub(super) enum At {
    File,
    Folder,
    Pattern,
}

/// Looks at a path.
///
/// # Errors
/// Nothing is there, and it is no pattern.
pub(super) fn at(path: &Path) -> Result<At> {
    match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => Ok(At::Folder),
        Ok(_) => Ok(At::File),
        Err(_) if pattern::is_pattern(path) => Ok(At::Pattern),
        Err(source) => Err(CorpusError::Read { path: path.to_owned(), source }),
    }
}

/// All files at a path, whatever they are: the file itself, those below the folder, those that the
/// pattern names.
///
/// # Errors
/// Nothing there, or a folder that cannot be listed.
pub(super) fn everything(path: &Path) -> Result<Vec<PathBuf>> {
    Ok(match at(path)? {
        At::File => vec![path.to_owned()],
        At::Folder => walk(path)?.files,
        At::Pattern => pattern::matches(path)?.files,
    })
}

/// All files at a path, and the table that an option names.
///
/// # Errors
/// Those of [`everything`].
pub(super) fn with_table(path: &Path, table: Option<&Path>) -> Result<Vec<PathBuf>> {
    let mut files = everything(path)?;
    files.extend(table.map(Path::to_owned));
    Ok(files)
}
