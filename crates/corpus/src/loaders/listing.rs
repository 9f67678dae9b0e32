//! The files of a corpus: one, all of a kind below a folder, or those that a pattern names; in
//! order, each with its name.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::loader::{Kind, Kinds, Place};
use super::open::{file_name, regular};
use super::pattern;
use super::place::{At, at, everything};
use super::reading::Reading;
use super::stream::{Documents, until_error};
use super::walk::{Walked, entries, walk};
use crate::error::{CorpusError, Result};

/// Where the files of a kind are: a file, a folder or a pattern.
#[derive(Debug, Clone)]
pub(super) struct Files {
    pub(super) path: PathBuf,
    kind: &'static Kind,
    kinds: &'static Kinds,
}

impl Files {
    /// Those of a kind at a place.
    pub(super) fn new(place: Place<'_>, kind: &'static Kind) -> Self {
        Self { path: place.path(), kind, kinds: place.kinds }
    }

    /// All files at the place, of this kind or not.
    ///
    /// # Errors
    /// Nothing there.
    pub(super) fn everything(&self) -> Result<Vec<PathBuf>> {
        everything(&self.path)
    }

    /// The files of the kind; what else is in a folder is told.
    ///
    /// # Errors
    /// Nothing there; something that is no file; no file of the kind in a folder; a name that is
    /// not UTF-8.
    pub(super) fn listing(&self, reading: &Reading) -> Result<Listing> {
        let Self { path, kind, kinds } = self;
        match at(path)? {
            At::File => Listing::one(path),
            // A pattern names its files: each is meant.
            At::Pattern => {
                let found = pattern::matches(path)?;
                let root = pattern::root(path);
                tell_of_folders_met_again(&found, &root, reading);
                let files = found
                    .files
                    .into_iter()
                    .map(|file| named(&root, file))
                    .collect::<Result<Vec<_>>>()?;
                Ok(Listing { files, single: false })
            }
            At::Folder => {
                let takes = |files: &[PathBuf]| {
                    let kinds = kinds.of_files(files).into_iter();
                    kinds
                        .filter(|(_, found)| *found == Some(*kind))
                        .map(|(path, _)| path.clone())
                        .collect()
                };
                let listing = Listing::below(path, kind.name, takes, reading)?;
                if !listing.files.is_empty() {
                    return Ok(listing);
                }
                let wanted: Vec<String> = kind.extensions.iter().map(|e| format!(".{e}")).collect();
                let reason = format!(
                    "no file of {} in this folder ({}, plain or compressed); name the files with a pattern such as '{}/*.EXT', or say kind=",
                    kind.name,
                    wanted.join(", "),
                    file_name(path)
                );
                Err(CorpusError::BadLayout { path: path.clone(), reason })
            }
        }
    }
}

/// Files with their names.
#[derive(Debug)]
pub(super) struct Listing {
    /// In order of path.
    pub(super) files: Vec<Named>,
    /// Whether a single file was given: its documents then have no tag `file`.
    pub(super) single: bool,
}

/// A file and its name: its path from the folder that was given, with `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) path: PathBuf,
    pub(super) name: String,
}

impl Listing {
    /// The only file of a place that is one.
    pub(super) fn one(path: &Path) -> Result<Self> {
        regular(path)?;
        let named = Named { path: path.to_owned(), name: file_name(path) };
        Ok(Self { files: vec![named], single: true })
    }

    /// The files below a folder that `takes` chooses, given all that there are; the others are
    /// told. Perhaps none.
    pub(super) fn below(
        folder: &Path,
        kind: &'static str,
        takes: impl FnOnce(&[PathBuf]) -> HashSet<PathBuf>,
        reading: &Reading,
    ) -> Result<Self> {
        Self::chosen(folder, walk(folder)?, kind, takes, reading)
    }

    /// As [`Listing::below`], of what is in a folder itself; folders in it count as left out.
    pub(super) fn in_folder(
        folder: &Path,
        kind: &'static str,
        takes: impl FnOnce(&[PathBuf]) -> HashSet<PathBuf>,
        reading: &Reading,
    ) -> Result<Self> {
        Self::chosen(folder, Walked::from_files(entries(folder)?), kind, takes, reading)
    }

    fn chosen(
        folder: &Path,
        found: Walked,
        kind: &'static str,
        takes: impl FnOnce(&[PathBuf]) -> HashSet<PathBuf>,
        reading: &Reading,
    ) -> Result<Self> {
        tell_of_folders_met_again(&found, folder, reading);
        let taken = takes(&found.files);
        let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
        let mut files = Vec::new();
        for path in found.files {
            if taken.contains(&path) {
                regular(&path)?;
                files.push(named(folder, path)?);
            } else {
                *left_out.entry(label(&path)).or_default() += 1;
            }
        }
        if !left_out.is_empty() && !files.is_empty() {
            let all: usize = left_out.values().sum();
            let each: Vec<String> =
                left_out.iter().map(|(name, count)| format!("{count} {name}")).collect();
            let (read, each) = (files.len(), each.join(", "));
            reading.add_notice(format!(
                "{read} files of {kind} are read, {all} others left out ({each})"
            ));
        }
        Ok(Self { files, single: false })
    }

    /// The documents of all files, one file after another, opened when it is its turn. Where a
    /// folder or a pattern was given, each has a tag `file`, if it has none of its own.
    pub(super) fn documents(
        self,
        mut open: impl FnMut(&Named) -> Result<Documents> + Send + 'static,
    ) -> Result<Documents> {
        if let ([only], true) = (self.files.as_slice(), self.single) {
            return open(only);
        }
        let documents = self.files.into_iter().flat_map(move |file| match open(&file) {
            Ok(documents) => Box::new(documents.map(move |document| {
                let mut document = document?;
                document.tags.entry("file".to_owned()).or_insert_with(|| file.name.clone());
                Ok(document)
            })) as Documents,
            Err(error) => Box::new(std::iter::once(Err(error))),
        });
        Ok(until_error(documents))
    }
}

/// Says which folders links lead to more than once: they are read at the first place.
fn tell_of_folders_met_again(found: &Walked, root: &Path, reading: &Reading) {
    if !found.again.is_empty() {
        let name = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
        let names: Vec<String> = found.again.iter().map(name).collect();
        let names = names.join(", ");
        reading.add_notice(format!(
            "links lead to folders that are read already, so these are passed over: {names}"
        ));
    }
}

/// A file with its name. Documents are named by it, so it must be one that can be written.
fn named(root: &Path, path: PathBuf) -> Result<Named> {
    let Some(name) = path.strip_prefix(root).unwrap_or(&path).to_str() else {
        let reason =
            "its name is not UTF-8, and its documents could not be named; rename it".to_owned();
        return Err(CorpusError::BadLayout { path, reason });
    };
    let name = name.replace('\\', "/");
    Ok(Named { path, name })
}

/// How a file that is left out is counted.
fn label(path: &Path) -> String {
    let name = file_name(path);
    if path.is_dir() {
        return "folders".to_owned();
    }
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && !extension.is_empty() => {
            format!(".{extension}")
        }
        _ => "without extension".to_owned(),
    }
}
