//! Plain text, and Markdown and everything else that is text: a file, or all files of a folder.

use std::path::PathBuf;

use regex::Regex;

use super::json_shape::JsonShape;
use super::keys::Keys;
use super::lines::{Lines, without_newline};
use super::listing::{Files, Named};
use super::loader::{Kind, Loader};
use super::open::extension;
use super::reading::Reading;
use super::stream::{Documents, until_error};
use crate::document::{self, Document};
use crate::error::{CorpusError, Result};

/// The title line of a Wikipedia article in the WikiText corpora: ` = Title = `, but no section
/// (` = = Section = = `).
const WIKITEXT_TITLE: &str = "^ = [^=].* = $";

/// Where one document ends and the next begins.
#[derive(Debug, Clone)]
enum Split {
    /// The whole file is one document, byte for byte.
    File,
    /// Each line that is not blank, without its line ending.
    Lines,
    /// Each run of lines without a blank one between them, without the last line ending.
    Paragraphs,
    /// A line that matches starts a document and belongs to it; what stands before the first is one
    /// of its own.
    Titles(Box<Regex>),
}

impl Split {
    fn read(keys: &mut Keys) -> std::result::Result<Self, String> {
        let split = keys.one("split")?;
        let title = keys.one("title")?;
        match (split.as_deref(), title) {
            (None | Some("titles"), Some(pattern)) => Self::at_titles(&pattern)
                .map_err(|error| format!("title= is no regular expression: {error}")),
            (Some(_), Some(_)) => Err("title= goes with split=titles only".into()),
            (None | Some("file"), None) => Ok(Self::File),
            (Some("lines"), None) => Ok(Self::Lines),
            (Some("paragraphs"), None) => Ok(Self::Paragraphs),
            (Some("titles"), None) => Self::at_titles(WIKITEXT_TITLE),
            (Some(other), None) => {
                Err(format!("split={other} is not file, lines, paragraphs or titles"))
            }
        }
    }

    /// Documents start at lines (without their ending) that match.
    fn at_titles(pattern: &str) -> std::result::Result<Self, String> {
        Regex::new(pattern)
            .map(|regex| Self::Titles(Box::new(regex)))
            .map_err(|error| error.to_string())
    }
}

/// The tags that a folder's levels are.
fn folder_tags(keys: &mut Keys) -> std::result::Result<Vec<String>, String> {
    let Some(given) = keys.one("folders")? else { return Ok(Vec::new()) };
    let names: Vec<String> = given.split(',').map(|name| name.trim().to_owned()).collect();
    match names.iter().any(String::is_empty) {
        true => Err(format!("folders={given} has an empty name; it is TAG or TAG,TAG")),
        false => Ok(names),
    }
}

/// The kind.
pub(super) static TEXT: Kind = Kind {
    lists: &["folders"],
    help: "  text     (.txt, .md, any other)  split=file|lines|paragraphs|titles  title=REGEX  folders=TAG,TAG (names of a folder's levels)",
    extensions: &["txt", "text", "md", "markdown", "rst"],
    ..Kind::named("text", |place, keys| {
        let files = Files::new(place, &TEXT);
        let cut =
            Cut { split: Split::read(keys)?, folders: folder_tags(keys)?, said: place.kind_said };
        Ok(Box::new(Text { files, cut }))
    })
};

/// Files of text, and how they are cut.
///
/// Nothing of a text is changed but a byte-order mark at a file's beginning, which goes. Ids are
/// `FILE` or `FILE:LINE`; documents split at titles have a tag `title`, those of a folder a tag
/// `file`.
#[derive(Debug)]
struct Text {
    files: Files,
    cut: Cut,
}

/// How text is cut into documents.
#[derive(Debug, Clone)]
struct Cut {
    /// Where documents end.
    split: Split,
    /// Tags that the names of the folder's levels are, outermost first: with `[variety, genre]`,
    /// `us/news/a.txt` is tagged `variety = us`, `genre = news`.
    folders: Vec<String>,
    /// Whether it was said that this is text; else a file that begins as JSONL does is refused.
    said: bool,
}

impl Loader for Text {
    fn files(&self) -> Result<Vec<PathBuf>> {
        self.files.everything()
    }

    fn check(&self) -> Result<()> {
        self.files.listing(&Reading::default()).map(drop)
    }

    /// At once also: `folders` for a single file. As an item, with the row: text that is not UTF-8,
    /// compressed data that end early; with the file: one whose first line is a JSON object, one
    /// that is not inside as many levels as `folders` names.
    fn open(&self, reading: &Reading) -> Result<Documents> {
        let listing = self.files.listing(reading)?;
        if listing.single && !self.cut.folders.is_empty() {
            let reason = "folders= tags the files of a folder, and this is a file".to_owned();
            return Err(CorpusError::BadLayout { path: self.files.path.clone(), reason });
        }
        let (cut, reading) = (self.cut.clone(), reading.clone());
        listing.documents(move |file| {
            let tags = level_tags(file, &cut.folders)?;
            let documents = one_file(file, &cut, &reading)?;
            Ok(Box::new(documents.map(move |document| {
                let mut document = document?;
                document.tags.extend(tags.clone());
                Ok(document)
            })))
        })
    }
}

/// The tags of a file's folders; its name is its path from the root.
fn level_tags(file: &Named, folders: &[String]) -> Result<Vec<(String, String)>> {
    let mut levels: Vec<&str> = file.name.split('/').collect();
    levels.pop();
    if levels.len() < folders.len() {
        let reason =
            format!("it is inside {} folders, and folders= names {}", levels.len(), folders.len());
        return Err(CorpusError::BadLayout { path: file.path.clone(), reason });
    }
    Ok(folders.iter().zip(levels).map(|(tag, level)| (tag.clone(), level.to_owned())).collect())
}

fn one_file(file: &Named, cut: &Cut, reading: &Reading) -> Result<Documents> {
    check_size(file, &cut.split)?;
    let is_table = || {
        extension(&file.path).is_some_and(|extension| ["csv", "tsv"].contains(&extension.as_str()))
    };
    if !cut.said && is_table() {
        let name = &file.name;
        reading.add_notice(format!(
            "{name} is read as plain text, commas, quotation marks and header included; for a column of it, write the table as JSONL or Parquet"
        ));
    }
    let mut pieces = Pieces {
        lines: Lines::open(&file.path, reading)?,
        name: file.name.clone(),
        split: cut.split.clone(),
        said: cut.said,
        held: None,
        done: false,
    };
    Ok(until_error(std::iter::from_fn(move || pieces.next().transpose())))
}

/// Refuses a file that would be one document too long to hold, before it is read; of a compressed
/// one that shows while it is read.
fn check_size(file: &Named, split: &Split) -> Result<()> {
    let size = std::fs::metadata(&file.path).map_err(CorpusError::read(&file.path))?.len();
    match split {
        Split::File if size > document::LONGEST as u64 => {
            document::check_length(&file.path, 1, usize::try_from(size).unwrap_or(usize::MAX))
        }
        _ => Ok(()),
    }
}

/// The documents of one file, cut as its lines arrive.
struct Pieces {
    lines: Lines,
    name: String,
    split: Split,
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
                Split::File => {
                    self.held.get_or_insert_with(|| (1, String::new(), None)).1.push_str(line);
                    None
                }
                Split::Lines if blank => None,
                Split::Lines => Some((row, bare.to_owned(), None)),
                Split::Paragraphs if blank => self.held.take(),
                Split::Paragraphs => {
                    self.held.get_or_insert_with(|| (row, String::new(), None)).1.push_str(line);
                    None
                }
                Split::Titles(title) if title.is_match(bare) => self.held.replace((
                    row,
                    line.to_owned(),
                    Some(bare.trim_matches([' ', '=', '#']).to_owned()),
                )),
                Split::Titles(_) => {
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
            Split::File => (self.name.clone(), text),
            Split::Paragraphs => {
                (format!("{}:{row}", self.name), without_newline(&text).to_owned())
            }
            _ => (format!("{}:{row}", self.name), text),
        };
        if text.trim().is_empty() && !matches!(self.split, Split::File) {
            return None;
        }
        let document = Document::new(id, text);
        Some(match title {
            Some(title) => document.with_tag("title", title),
            None => document,
        })
    }
}
