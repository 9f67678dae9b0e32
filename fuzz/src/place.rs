//! A folder in memory, in which a reader finds the bytes as a file: readers take paths.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Where Linux has a file system in memory; elsewhere, and without it, the usual folder for such
/// files.
const IN_MEMORY: &str = "/dev/shm";

thread_local! {
    static FOLDER: TempDir = {
        let begin = tempfile::Builder::new().prefix("relscale-fuzz-").to_owned();
        begin.tempdir_in(IN_MEMORY).or_else(|_| begin.tempdir()).expect("a folder for files")
    };
}

/// A folder of this thread with nothing in it but what is put there.
pub struct Place {
    folder: PathBuf,
}

impl Place {
    /// The folder of a target; what an earlier input left there is gone.
    ///
    /// # Panics
    /// The folder cannot be emptied: the machine's fault, not the input's.
    pub fn of(target: &str) -> Self {
        let folder = FOLDER.with(|all| all.path().join(target));
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("an empty folder");
        }
        fs::create_dir_all(&folder).expect("a folder");
        Self { folder }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Puts a file there, in folders below it where its name has such.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder");
        }
        fs::write(&path, bytes).expect("a file");
        path
    }
}

/// What the house asks of every refusal: it names the file (by the last part of its path), here or
/// in one of its causes, and says more than that.
///
/// # Panics
/// It does not.
pub fn check_refusal(error: &dyn Error, path: &Path) {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        said.push_str(&error.to_string());
        cause = error.source();
    }
    assert!(said.contains(&name), "the refusal does not name {name}: {said}");
}
