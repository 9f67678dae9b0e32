//! The files of a corpus: one, all of a kind below a folder, or those that a pattern names; in order, each with its name.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::file_kind::{FileKind, JsonShape, by_content, extension};
use super::open::regular;
use super::reading::{Notice, Reading};
use super::{Documents, file_name, pattern, until_error};
use crate::error::{CorpusError, Result};

/// Files with their names.
#[derive(Debug)]
pub(crate) struct Listing {
    /// In order of path.
    pub(crate) files: Vec<Named>,
    /// Whether a single file was given: its documents then have no tag `file`.
    pub(crate) single: bool,
}

/// A file and its name: its path from the folder that was given, with `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
}

/// What a place is.
enum Place {
    File,
    Folder,
    Pattern,
}

fn place(path: &Path) -> Result<Place> {
    match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => Ok(Place::Folder),
        Ok(_) => Ok(Place::File),
        Err(_) if pattern::is_pattern(path) => Ok(Place::Pattern),
        Err(source) => Err(CorpusError::Read { path: path.to_owned(), source }),
    }
}

impl Listing {
    /// The files of a kind at a place; what else is in a folder is told.
    ///
    /// # Errors
    /// Nothing there; something that is no file; no file of the kind in a folder; a name that is not UTF-8.
    pub(crate) fn of_kind(path: &Path, kind: FileKind, reading: &Reading) -> Result<Self> {
        match place(path)? {
            Place::File => Self::one(path),
            // A pattern names its files: each is meant.
            Place::Pattern => {
                let found = pattern::matches(path)?;
                let root = pattern::root(path);
                found.met_again(&root, reading);
                let files = found.files.into_iter().map(|file| named(&root, file)).collect::<Result<Vec<_>>>()?;
                Ok(Self { files, single: false })
            }
            Place::Folder => Self::below(path, kind.name(), of_folder(kind), reading).and_then(|listing| {
                if !listing.files.is_empty() {
                    return Ok(listing);
                }
                let wanted: Vec<String> = kind.extensions().iter().map(|e| format!(".{e}")).collect();
                let reason = format!(
                    "no file of {} in this folder ({}, plain or compressed); name the files with a pattern such as '{}/*.EXT', or say kind=",
                    kind.name(),
                    wanted.join(", "),
                    file_name(path)
                );
                Err(CorpusError::BadLayout { path: path.to_owned(), reason })
            }),
        }
    }

    /// The only file of a place that is one.
    pub(crate) fn one(path: &Path) -> Result<Self> {
        regular(path)?;
        let named = Named { path: path.to_owned(), name: file_name(path) };
        Ok(Self { files: vec![named], single: true })
    }

    /// The files below a folder that `takes` chooses, given all that there are; the others are told. Perhaps none.
    pub(crate) fn below(
        folder: &Path,
        kind: &'static str,
        takes: impl FnOnce(&[PathBuf]) -> HashSet<PathBuf>,
        reading: &Reading,
    ) -> Result<Self> {
        Self::chosen(folder, walk(folder)?, kind, takes, reading)
    }

    /// As [`Listing::below`], of what is in a folder itself; folders in it count as left out.
    pub(crate) fn in_folder(
        folder: &Path,
        kind: &'static str,
        takes: impl FnOnce(&[PathBuf]) -> HashSet<PathBuf>,
        reading: &Reading,
    ) -> Result<Self> {
        let found = Walked { files: entries(folder)?, ..Walked::default() };
        Self::chosen(folder, found, kind, takes, reading)
    }

    fn chosen(
        folder: &Path,
        found: Walked,
        kind: &'static str,
        takes: impl FnOnce(&[PathBuf]) -> HashSet<PathBuf>,
        reading: &Reading,
    ) -> Result<Self> {
        found.met_again(folder, reading);
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
            reading.tell(Notice::LeftOut { kind, read: files.len(), files: left_out });
        }
        Ok(Self { files, single: false })
    }

    /// The documents of all files, one file after another, opened when it is its turn. Where a folder or a pattern was given, each has a
    /// tag `file`, if it has none of its own.
    pub(crate) fn documents(
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

/// Those files of a folder that are of a kind.
fn of_folder(kind: FileKind) -> impl FnOnce(&[PathBuf]) -> HashSet<PathBuf> {
    move |files| {
        let kinds = kinds(files);
        let of_kind = kinds.into_iter().filter(|(_, found)| *found == Some(kind));
        of_kind.map(|(path, _)| path.clone()).collect()
    }
}

/// The kinds of a folder's files. A `.json` file counts as JSONL when its lines are objects; with one line only, which may be settings
/// as well, when nothing else in the folder is data.
fn kinds(files: &[PathBuf]) -> Vec<(&PathBuf, Option<FileKind>)> {
    let by_name: Vec<Option<FileKind>> = files.iter().map(|path| FileKind::by_name(path)).collect();
    let data = by_name.iter().flatten().any(|kind| *kind != FileKind::Text);
    let of = |path: &PathBuf, kind: Option<FileKind>| match kind {
        None if extension(path).as_deref() == Some("json") => match JsonShape::of(path) {
            JsonShape::Lines => Some(FileKind::Jsonl),
            JsonShape::OneLine if !data => Some(FileKind::Jsonl),
            _ => None,
        },
        kind => kind,
    };
    files.iter().zip(by_name).map(|(path, kind)| (path, of(path, kind))).collect()
}

/// The kind that a place's files say they are.
///
/// # Errors
/// [`CorpusError::BadLayout`]: a folder or pattern with several; JSON that is not JSONL.
pub(crate) fn kind_of(path: &Path) -> Result<FileKind> {
    let wrong = |reason: String| CorpusError::BadLayout { path: path.to_owned(), reason };
    let files = match place(path) {
        // Opening will say what is wrong with it.
        Err(_) if extension(path).as_deref() == Some("json") => return Ok(FileKind::Jsonl),
        Err(_) => return Ok(FileKind::by_name(path).unwrap_or(FileKind::Text)),
        Ok(Place::File) => return kind_of_file(path),
        Ok(Place::Folder) => walk(path)?.files,
        Ok(Place::Pattern) => {
            let files = pattern::matches(path)?.files;
            // Each is meant, so each has a kind.
            let of = |file: &PathBuf| kind_of_file(file);
            return the_only(files.iter().map(of).collect::<Result<Vec<_>>>()?, &wrong);
        }
    };
    the_only(kinds(&files).into_iter().filter_map(|(_, kind)| kind).collect(), &wrong)
}

fn the_only(kinds: Vec<FileKind>, wrong: &dyn Fn(String) -> CorpusError) -> Result<FileKind> {
    let mut counts: BTreeMap<FileKind, usize> = BTreeMap::new();
    kinds.into_iter().for_each(|kind| *counts.entry(kind).or_default() += 1);
    let only = counts.keys().next().copied().unwrap_or(FileKind::Text);
    if counts.len() < 2 {
        return Ok(only);
    }
    let each: Vec<String> =
        counts.iter().map(|(kind, count)| format!("{count} of {}", kind.name())).collect();
    let says: Vec<String> = counts.keys().map(|kind| format!("kind={}", kind.name())).collect();
    Err(wrong(format!("files of several kinds ({}); say which with {}", each.join(", "), says.join(" or "))))
}

fn kind_of_file(path: &Path) -> Result<FileKind> {
    if let Some(kind) = FileKind::by_name(path) {
        return Ok(kind);
    }
    if extension(path).as_deref() != Some("json") {
        return Ok(by_content(path).unwrap_or(FileKind::Text));
    }
    let wrong =
        |reason: &str| Err(CorpusError::BadLayout { path: path.to_owned(), reason: reason.to_owned() });
    match JsonShape::of(path) {
        JsonShape::Array => wrong(
            "a JSON array, and rows are read one a line; write it as JSONL with `jq -c '.[]' FILE > FILE.jsonl`, or read it as it stands with kind=text",
        ),
        JsonShape::Value => wrong(
            "one JSON value over several lines, and rows are read one a line; write its rows as JSONL with jq -c, or read it as it stands with kind=text",
        ),
        // What else it is, its first row will say.
        _ => Ok(by_content(path).unwrap_or(FileKind::Jsonl)),
    }
}

/// Files that were found, sorted, and folders that were met again.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) files: Vec<PathBuf>,
    again: Vec<PathBuf>,
    seen: HashSet<Identity>,
}

impl Walked {
    fn met_again(&self, root: &Path, reading: &Reading) {
        if !self.again.is_empty() {
            let name = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
            reading.tell(Notice::MetAgain { folders: self.again.iter().map(name).collect() });
        }
    }

    /// Adds all files below a folder, in order of path. Links are followed; a folder is entered once, however many links lead to it.
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
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(CorpusError::read(folder))?;
    let mut paths = entries
        .map(|entry| Ok(entry.map_err(CorpusError::read(folder))?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// All files below a folder.
pub(crate) fn walk(folder: &Path) -> Result<Walked> {
    let mut walked = Walked::default();
    walked.enter(folder)?;
    walked.files.sort();
    Ok(walked)
}

/// All files at a place, whatever they are: the file itself, those below the folder, those that the pattern names.
pub(crate) fn everything(path: &Path) -> Result<Vec<PathBuf>> {
    Ok(match place(path)? {
        Place::File => vec![path.to_owned()],
        Place::Folder => walk(path)?.files,
        Place::Pattern => pattern::matches(path)?.files,
    })
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

/// A file with its name. Documents are named by it, so it must be one that can be written.
fn named(root: &Path, path: PathBuf) -> Result<Named> {
    let Some(name) = path.strip_prefix(root).unwrap_or(&path).to_str() else {
        let reason = "its name is not UTF-8, and its documents could not be named; rename it".to_owned();
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
        Some((stem, extension)) if !stem.is_empty() && !extension.is_empty() => format!(".{extension}"),
        _ => "without extension".to_owned(),
    }
}
