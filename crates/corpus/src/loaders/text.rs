//! Plain text, and Markdown and everything else that is text: a file, or all files of a folder.

use std::path::Path;

use regex::Regex;

use super::file_kind::{FileKind, JsonShape, extension};
use super::lines::{Lines, without_newline};
use super::listing::{Listing, Named};
use super::reading::{Notice, Reading};
use super::{Documents, until_error};
use crate::document::{self, Document};
use crate::error::{CorpusError, Result};

/// The title line of a Wikipedia article in the WikiText corpora: ` = Title = `, but no section (` = = Section = = `).
pub const WIKITEXT_TITLE: &str = "^ = [^=].* = $";

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

/// How text is read.
#[derive(Debug, Clone)]
pub struct TextOptions {
    /// Where documents end.
    pub split: TextSplit,
    /// Tags that the names of the folder's levels are, outermost first.
    pub folders: Vec<String>,
    /// Whether it was said that this is text; else a file that begins as JSONL does is refused.
    pub said: bool,
}

/// Streams the documents of a text file, plain or compressed, or of all files of text below a folder or of a pattern, in order of path.
///
/// Nothing of a text is changed but a byte-order mark at a file's beginning, which goes. Ids are `FILE` or `FILE:LINE`;
/// documents split at titles have a tag `title`, those of a folder a tag `file`. `folders` names tags for the levels below the folder,
/// outermost first: with `[variety, genre]`, `us/news/a.txt` is tagged `variety = us`, `genre = news`.
///
/// # Errors
/// At once: nothing there, or not readable; `folders` for a single file. As an item, with the row: text that is not UTF-8, compressed
/// data that end early; with the file: one whose first line is a JSON object, one that is not inside as many levels as `folders` names.
pub fn read(path: &Path, options: TextOptions, reading: &Reading) -> Result<Documents> {
    let listing = Listing::of_kind(path, FileKind::Text, reading)?;
    if listing.single && !options.folders.is_empty() {
        let reason = "folders= tags the files of a folder, and this is a file".to_owned();
        return Err(CorpusError::BadLayout { path: path.to_owned(), reason });
    }
    let reading = reading.clone();
    listing.documents(move |file| {
        let tags = level_tags(file, &options.folders)?;
        let documents = one_file(file, &options, &reading)?;
        Ok(Box::new(documents.map(move |document| {
            let mut document = document?;
            document.tags.extend(tags.clone());
            Ok(document)
        })))
    })
}

/// The tags of a file's folders; its name is its path from the root.
fn level_tags(file: &Named, folders: &[String]) -> Result<Vec<(String, String)>> {
    let mut levels: Vec<&str> = file.name.split('/').collect();
    levels.pop();
    if levels.len() < folders.len() {
        let reason = format!("it is inside {} folders, and folders= names {}", levels.len(), folders.len());
        return Err(CorpusError::BadLayout { path: file.path.clone(), reason });
    }
    Ok(folders.iter().zip(levels).map(|(tag, level)| (tag.clone(), level.to_owned())).collect())
}

fn one_file(file: &Named, options: &TextOptions, reading: &Reading) -> Result<Documents> {
    check_size(file, &options.split)?;
    let is_table =
        || extension(&file.path).is_some_and(|extension| ["csv", "tsv"].contains(&extension.as_str()));
    if !options.said && is_table() {
        reading.tell(Notice::TableAsText { file: file.name.clone() });
    }
    let mut pieces = Pieces {
        lines: Lines::open(&file.path, reading)?,
        name: file.name.clone(),
        split: options.split.clone(),
        said: options.said,
        held: None,
        done: false,
    };
    Ok(until_error(std::iter::from_fn(move || pieces.next().transpose())))
}

/// Refuses a file that would be one document too long to hold, before it is read; of a compressed one that shows while it is read.
fn check_size(file: &Named, split: &TextSplit) -> Result<()> {
    let size = std::fs::metadata(&file.path).map_err(CorpusError::read(&file.path))?.len();
    match split {
        TextSplit::File if size > document::LONGEST as u64 => {
            document::check_length(&file.path, 1, usize::try_from(size).unwrap_or(usize::MAX))
        }
        _ => Ok(()),
    }
}

/// The documents of one file, cut as its lines arrive.
struct Pieces {
    lines: Lines,
    name: String,
    split: TextSplit,
    said: bool,
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
            if row == 1 && !self.said && JsonShape::is_row(line) {
                let reason = "its first line is a JSON object; read it row by row with kind=jsonl, or as it stands with kind=text";
                let path = self.lines.path().to_owned();
                return Err(CorpusError::BadLayout { path, reason: reason.to_owned() });
            }
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
