//! The cache's layout, as `huggingface_hub` has it.
//!
//! ```text
//! models--OWNER--NAME/refs/main                     the commit of a revision, without a line feed
//! models--OWNER--NAME/snapshots/COMMIT/config.json  -> ../../blobs/ETAG
//! models--OWNER--NAME/blobs/ETAG                    the bytes; ETAG.incomplete until they are whole
//! models--OWNER--NAME/.no_exist/COMMIT/FILE         an empty file: the commit has no such file
//! .locks/models--OWNER--NAME/ETAG.lock              held by whoever fetches the blob
//! ```
//!
//! Where there are no links the snapshot holds the files themselves.

use std::path::{Path, PathBuf};

use relscale_records::atomic;

use super::name::{Repository, is_commit};
use crate::error::Result;

/// What backup programs look for, by the Cache Directory Tagging Standard.
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# This file marks a cache (of the Hugging Face Hub); see https://bford.info/cachedir/\n";

/// The cache.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
    links: bool,
}

impl Cache {
    /// The cache in a folder, which need not be there; with or without links.
    pub fn new(root: &Path, links: bool) -> Self {
        Self { root: root.to_owned(), links }
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn name(repository: &Repository) -> String {
        format!("{}--{}", repository.kind.folder(), repository.id.replace('/', "--"))
    }

    fn folder(&self, repository: &Repository) -> PathBuf {
        self.root.join(Self::name(repository))
    }

    /// The commit that the cache has of a revision; a commit is its own where a snapshot is there.
    pub fn commit(&self, repository: &Repository) -> Option<String> {
        let wanted = repository.wanted();
        let commit = match is_commit(wanted) {
            true => wanted.to_owned(),
            false => {
                let path = self.folder(repository).join("refs").join(wanted);
                let commit = std::fs::read_to_string(path).ok()?.trim().to_owned();
                is_commit(&commit).then_some(commit)?
            }
        };
        self.snapshot(repository, &commit).is_dir().then_some(commit)
    }

    /// The folder of a commit.
    pub fn snapshot(&self, repository: &Repository, commit: &str) -> PathBuf {
        self.folder(repository).join("snapshots").join(commit)
    }

    /// Where the bytes of a file are.
    pub fn blob(&self, repository: &Repository, etag: &str) -> PathBuf {
        self.folder(repository).join("blobs").join(etag)
    }

    /// Where they are while they come.
    pub fn incomplete(&self, repository: &Repository, etag: &str) -> PathBuf {
        self.folder(repository).join("blobs").join(format!("{etag}.incomplete"))
    }

    /// What is locked while they are fetched.
    pub fn lock(&self, repository: &Repository, etag: &str) -> PathBuf {
        self.root.join(".locks").join(Self::name(repository)).join(format!("{etag}.lock"))
    }

    /// Makes a file's folder, and the cache with its tag.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make_folder_of(&self, path: &Path) -> Result<()> {
        atomic::folder(path.parent().unwrap_or(&self.root))?;
        let tag = self.root.join("CACHEDIR.TAG");
        if !tag.exists() {
            atomic::write_whole(&tag, TAG.as_bytes())?;
        }
        Ok(())
    }

    /// Notes which commit a revision is.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_ref(&self, repository: &Repository, commit: &str) -> Result<()> {
        let wanted = repository.wanted();
        if wanted == commit {
            return Ok(());
        }
        let path = self.folder(repository).join("refs").join(wanted);
        self.make_folder_of(&path)?;
        Ok(atomic::write_whole(&path, commit.as_bytes())?)
    }

    /// Lets a file of a snapshot stand for a blob, which is `new` where nobody else uses it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn point(
        &self,
        repository: &Repository,
        commit: &str,
        file: &str,
        etag: &str,
        new: bool,
    ) -> Result<()> {
        let pointer = self.snapshot(repository, commit).join(file);
        if pointer.exists() {
            return Ok(());
        }
        self.make_folder_of(&pointer)?;
        // A link whose blob is gone.
        atomic::remove_dead_link(&pointer)?;
        let up = "../".repeat(2 + file.matches('/').count());
        let relative = PathBuf::from(format!("{up}blobs/{etag}"));
        let blob = self.blob(repository, etag);
        Ok(atomic::point(&pointer, &blob, &relative, self.links, new)?)
    }

    fn absence(&self, repository: &Repository, commit: &str, file: &str) -> PathBuf {
        self.folder(repository).join(".no_exist").join(commit).join(file)
    }

    /// Whether it is known that a commit has no such file.
    pub fn is_absent(&self, repository: &Repository, commit: &str, file: &str) -> bool {
        self.absence(repository, commit, file).exists()
    }

    /// Notes that a commit has no such file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_absence(&self, repository: &Repository, commit: &str, file: &str) -> Result<()> {
        let path = self.absence(repository, commit, file);
        self.make_folder_of(&path)?;
        Ok(atomic::write_with(&path, |_| Ok(()))?)
    }

    /// The files of a snapshot, as the Hub names them, sorted.
    pub fn files(&self, repository: &Repository, commit: &str) -> Vec<String> {
        let mut files = Vec::new();
        below(&self.snapshot(repository, commit), "", &mut files);
        files.sort();
        files
    }
}

/// Files below a folder; links to folders are none of this layout.
fn below(folder: &Path, before: &str, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let name = format!("{before}{name}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => below(&entry.path(), &format!("{name}/"), files),
            // Through the link: one whose blob is gone is no file.
            _ if entry.path().is_file() => files.push(name),
            _ => {}
        }
    }
}
