//! Texts of the International Corpus of English (ICE), or in its markup: a file a text, the markup stripped.
//!
//! The corpora are licensed, so users bring theirs. One document is one text: a file, or in the files of ICE-East Africa (one a
//! category) what stands between two lines that are text codes. Tags: `variety`, `text_code` (`S1A-001`), `category` (`S1A`), `register`
//! (what the design calls that category and number), `mode` (`spoken`, `written`).
//!
//! * The text code is the file's name if that is one, else that of the first text unit.
//! * The variety is `variety=`, else what the text units say (`<ICE-SIN:...>` gives `SIN`), else the folder that the file is in.
//! * Bytes that are not UTF-8 are read as ISO-8859-1, a file as a whole; NUL bytes and carriage returns go.
//!
//! What each mark becomes is a table in [`mod@markup`]. The program carries a few invented texts in that markup ([`fn@sample`]), so that the
//! loader can be tried without a licence.

pub mod code;
mod entities;
pub mod markup;
mod sample;

use std::path::{Path, PathBuf};

use super::file_kind::extension;
use super::listing::Listing;
use super::open::{Expected, whole};
use super::reading::Reading;
use super::{Documents, file_name, until_error};
use crate::document::Document;
use crate::error::{CorpusError, Result};
use code::TextCode;
use markup::Stripping;
pub use sample::sample;

/// How ICE files are read.
#[derive(Debug, Clone, Default)]
pub struct IceOptions {
    /// The variety of all texts, in place of what files and folders say.
    pub variety: Option<String>,
    /// What is kept of the markup's content.
    pub stripping: Stripping,
}

/// Streams the texts of a file, or of all `.txt` files (any case) below a folder, by path.
///
/// # Errors
/// At once: nothing to read. As an item, with the file: no text code in the name or the text, no variety, nothing left when the markup is
/// gone.
pub fn read(path: &Path, options: IceOptions, reading: &Reading) -> Result<Documents> {
    let is_text = |path: &&PathBuf| extension(path).as_deref() == Some("txt");
    let takes = |files: &[PathBuf]| files.iter().filter(is_text).cloned().collect();
    let files = match path.is_dir() {
        true => Listing::below(path, "ICE", takes, reading)?.files,
        false => Listing::one(path)?.files,
    };
    if files.is_empty() {
        let reason = "no .txt file; ICE has one a text".to_owned();
        return Err(CorpusError::BadLayout { path: path.to_owned(), reason });
    }
    let reading = reading.clone();
    let root = if path.is_dir() { path.to_owned() } else { path.parent().unwrap_or(path).to_owned() };
    let documents =
        files.into_iter().flat_map(move |file| match texts(&root, &file.path, &options, &reading) {
            Ok(documents) => documents.into_iter().map(Ok).collect::<Vec<_>>(),
            Err(error) => vec![Err(error)],
        });
    Ok(until_error(documents))
}

fn texts(root: &Path, path: &Path, options: &IceOptions, reading: &Reading) -> Result<Vec<Document>> {
    let bytes = whole(path, Expected::Text, reading)?;
    let folder = path.parent().filter(|folder| *folder != root).map(file_name);
    documents(path, &bytes, folder.as_deref(), options)
}

/// All texts of one file, which lies in `folder`.
fn documents(path: &Path, bytes: &[u8], folder: Option<&str>, options: &IceOptions) -> Result<Vec<Document>> {
    let content = decoded(bytes);
    let wrong = |row: u64, reason: &str| CorpusError::BadRow {
        path: path.to_owned(),
        row,
        reason: reason.to_owned(),
    };
    let mut documents = Vec::new();
    for part in parts(path, &content) {
        let units = code::of_units(&part.text);
        let code = part.code.or_else(|| units.as_ref().map(|(_, code)| code.clone())).ok_or_else(|| {
            wrong(part.row, "no text code, neither as the file's name (S1A-001.txt) nor in a text unit (<ICE-SIN:S1A-001#1:1:A>)")
        })?;
        let variety = options
            .variety
            .clone()
            .or_else(|| units.map(|(variety, _)| variety))
            .or_else(|| folder.map(str::to_owned))
            .ok_or_else(|| {
                wrong(part.row, "nothing says which variety this is; name it with variety=NAME")
            })?;
        let text = markup::strip(&part.text, code.is_east_african(), options.stripping);
        if text.is_empty() {
            return Err(wrong(part.row, "nothing is left of this text when its markup is stripped"));
        }
        let mut document = Document::new(format!("{variety}/{code}"), text)
            .with_tag("variety", variety)
            .with_tag("text_code", code.to_string())
            .with_tag("category", code.category())
            .with_tag("mode", code.mode());
        if let Some(register) = code.register() {
            document = document.with_tag("register", register);
        }
        documents.push(document);
    }
    Ok(documents)
}

/// A text with the code that a file's name, or a line of its own, gives it.
struct Part {
    row: u64,
    code: Option<TextCode>,
    text: String,
}

/// A file as one text, or as many where lines are text codes and the file's name is none.
fn parts(path: &Path, content: &str) -> Vec<Part> {
    let name = file_name(path);
    let stem = name.split('.').next().unwrap_or(&name);
    if let Some(code) = TextCode::parse(stem) {
        return vec![Part { row: 1, code: Some(code), text: content.to_owned() }];
    }
    let mut parts: Vec<Part> = Vec::new();
    for (row, line) in (1..).zip(content.split_inclusive('\n')) {
        match TextCode::parse(line.trim()) {
            Some(code) => parts.push(Part { row, code: Some(code), text: String::new() }),
            None => match parts.last_mut() {
                Some(part) => part.text.push_str(line),
                None if line.trim().is_empty() => {}
                None => parts.push(Part { row, code: None, text: line.to_owned() }),
            },
        }
    }
    if parts.is_empty() {
        parts.push(Part { row: 1, code: None, text: String::new() });
    }
    parts
}

/// UTF-8 if it is, else ISO-8859-1, whose 256 bytes are the first 256 characters.
fn decoded(bytes: &[u8]) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{FEFF}').to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    };
    text.replace('\0', "").replace("\r\n", "\n").replace('\r', "\n")
}
