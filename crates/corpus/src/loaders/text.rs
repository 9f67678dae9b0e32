//! Plain text, and Markdown and everything else that is text: a file, or all files of a folder.

use std::path::{Path, PathBuf};

use regex::Regex;

use super::lines::{Lines, without_newline};
use super::{Documents, file_name, until_error};
use crate::document::Document;
use crate::error::{CorpusError, Result};

/// The title line of a Wikipedia article in the WikiText corpora: ` = Title = `, but no section (` = = Section = = `).
pub const WIKITEXT_TITLE: &str = "^ = [^=].* = $";

/// Extensions of the files taken from a folder.
pub const FOLDER_EXTENSIONS: [&str; 2] = ["txt", "md"];

/// Where one document ends and the next begins.
#[derive(Debug, Clone)]
pub enum TextSplit {
    /// The whole file is one document, byte for byte.
    File,
    /// Each line that is not blank, without its line ending.
    Lines,
    /// Each run of lines without a blank one between them, without the last line ending.
    Paragraphs,
    /// A line that matches starts a document and belongs to it; what stands before the first is one of its own.
    Titles(Box<Regex>),
}

impl TextSplit {
    /// Documents start at lines (without their ending) that match `pattern`.
    ///
    /// # Errors
    /// What the regular expression's parser says.
    pub fn at_titles(pattern: &str) -> std::result::Result<Self, String> {
        Regex::new(pattern).map(|regex| Self::Titles(Box::new(regex))).map_err(|error| error.to_string())
    }
}

/// Streams the documents of a text file, plain or compressed, or of all `.txt` and `.md` files below a folder, in order of
/// path.
///
/// Nothing of a text is changed but a byte-order mark at a file's beginning, which goes. Ids are `FILE` or `FILE:LINE`;
/// documents split at titles have a tag `title`, those of a folder a tag `file`. `folders` names tags for the levels below the folder,
/// outermost first: with `[variety, genre]`, `us/news/a.txt` is tagged `variety = us`, `genre = news`.
///
/// # Errors
/// At once: nothing there, or not readable; `folders` for a single file. As an item, with the row: text that is not UTF-8, compressed
/// data that end early; with the file: one that is not inside as many levels as `folders` names.
pub fn read(path: &Path, split: &TextSplit, folders: &[String]) -> Result<Documents> {
    if !path.is_dir() {
        if !folders.is_empty() {
            let reason = "folders= tags the files of a folder, and this is a file".to_owned();
            return Err(CorpusError::BadLayout { path: path.to_owned(), reason });
        }
        return one_file(path, file_name(path), split);
    }
    let mut files = Vec::new();
    list(path, &mut files)?;
    files.sort();
    let (root, split, folders) = (path.to_owned(), split.clone(), folders.to_owned());
    let documents = files.into_iter().flat_map(move |file| {
        let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        match level_tags(&file, &name, &folders)
            .and_then(|tags| Ok((tags, one_file(&file, name.clone(), &split)?)))
        {
            Ok((tags, documents)) => Box::new(documents.map(move |document| {
                let mut document = document?.with_tag("file", name.clone());
                document.tags.extend(tags.clone());
                Ok(document)
            })) as Documents,
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    });
    Ok(until_error(documents))
}

/// The tags of a file's folders; `name` is its path from the root.
fn level_tags(path: &Path, name: &str, folders: &[String]) -> Result<Vec<(String, String)>> {
    let mut levels: Vec<&str> = name.split('/').collect();
    levels.pop();
    if levels.len() < folders.len() {
        let reason = format!("it is inside {} folders, and folders= names {}", levels.len(), folders.len());
        return Err(CorpusError::BadLayout { path: path.to_owned(), reason });
    }
    Ok(folders.iter().zip(levels).map(|(tag, level)| (tag.clone(), level.to_owned())).collect())
}

fn one_file(path: &Path, name: String, split: &TextSplit) -> Result<Documents> {
    let mut pieces =
        Pieces { lines: Lines::open(path)?, name, split: split.clone(), held: None, done: false };
    Ok(until_error(std::iter::from_fn(move || pieces.next().transpose())))
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(CorpusError::read(folder))? {
        let path = entry.map_err(CorpusError::read(folder))?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| FOLDER_EXTENSIONS.contains(&e)) {
            files.push(path);
        }
    }
    Ok(())
}

/// The documents of one file, cut as its lines arrive.
struct Pieces {
    lines: Lines,
    name: String,
    split: TextSplit,
    /// The document that is being read: its first row, its text, its title.
    held: Option<(u64, String, Option<String>)>,
    done: bool,
}

impl Pieces {
    fn next(&mut self) -> Result<Option<Document>> {
        while !self.done {
            let Some((row, line)) = self.lines.next()? else {
                self.done = true;
                break;
            };
            let bare = without_newline(line);
            let blank = bare.trim().is_empty();
            let finished = match &self.split {
                TextSplit::File => {
                    self.held.get_or_insert_with(|| (1, String::new(), None)).1.push_str(line);
                    None
                }
                TextSplit::Lines if blank => None,
                TextSplit::Lines => Some((row, bare.to_owned(), None)),
                TextSplit::Paragraphs if blank => self.held.take(),
                TextSplit::Paragraphs => {
                    self.held.get_or_insert_with(|| (row, String::new(), None)).1.push_str(line);
                    None
                }
                TextSplit::Titles(title) if title.is_match(bare) => self.held.replace((
                    row,
                    line.to_owned(),
                    Some(bare.trim_matches([' ', '=', '#']).to_owned()),
                )),
                TextSplit::Titles(_) => {
                    self.held.get_or_insert_with(|| (row, String::new(), None)).1.push_str(line);
                    None
                }
            };
            if let Some(document) = finished.and_then(|piece| self.document(piece)) {
                return Ok(Some(document));
            }
        }
        Ok(self.held.take().and_then(|piece| self.document(piece)))
    }

    /// A piece as a document; blank ones before the first title or paragraph are none.
    fn document(&self, (row, text, title): (u64, String, Option<String>)) -> Option<Document> {
        let (id, text) = match self.split {
            TextSplit::File => (self.name.clone(), text),
            TextSplit::Paragraphs => (format!("{}:{row}", self.name), without_newline(&text).to_owned()),
            _ => (format!("{}:{row}", self.name), text),
        };
        if text.trim().is_empty() && !matches!(self.split, TextSplit::File) {
            return None;
        }
        let document = Document::new(id, text);
        Some(match title {
            Some(title) => document.with_tag("title", title),
            None => document,
        })
    }
}
