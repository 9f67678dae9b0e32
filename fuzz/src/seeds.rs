//! What inputs grow from: files that the repository has already, and what its own writers write.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes above which a file is no seed: damage would seldom meet what matters.
const LARGEST: usize = 40_000;

/// The seeds of one target.
#[derive(Default)]
pub struct Seeds(Vec<Vec<u8>>);

/// The workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A file of the workspace.
///
/// # Panics
/// It is not there: it was renamed, and the seeds that name it must be too.
pub fn read(name: &str) -> Vec<u8> {
    fs::read(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

impl Seeds {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes as they are.
    #[must_use]
    pub fn bytes(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.0.push(bytes.as_ref().to_vec());
        self
    }

    /// Bytes after a choice ([`crate::input::choice`]).
    #[must_use]
    pub fn chosen(self, choice: u8, bytes: impl AsRef<[u8]>) -> Self {
        self.bytes([&[b'0' + choice], bytes.as_ref()].concat())
    }

    /// All files below a folder of the workspace whose names end so, by name, each after what
    /// `before` says.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn files(mut self, before: &[u8], folder: &str, endings: &[&str]) -> Self {
        let mut found = Vec::new();
        list(&root().join(folder), endings, &mut found);
        found.sort();
        let contents = found.iter().map(|path| fs::read(path).expect("a file that was just listed"));
        let small: Vec<Vec<u8>> = contents.filter(|bytes| bytes.len() <= LARGEST).collect();
        assert!(!small.is_empty(), "no small {endings:?} below {folder}");
        self.0.extend(small.iter().map(|bytes| [before, bytes].concat()));
        self
    }

    /// All of them.
    pub fn all(self) -> Vec<Vec<u8>> {
        self.0
    }
}

fn list(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, endings, found);
        } else if endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)) {
            found.push(path);
        }
    }
}
