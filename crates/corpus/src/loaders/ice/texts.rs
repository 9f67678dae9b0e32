//! The texts of one file in ICE's markup.

use std::path::Path;

use super::code::{self, TextCode};
use super::markup::{self, Stripping};
use crate::document::Document;
use crate::error::{CorpusError, Result};
use crate::loaders::open::file_name;

/// What is kept, and what the texts are called.
#[derive(Debug, Clone, Default)]
pub(super) struct IceOptions {
    /// The variety of all texts, in place of what files and folders say.
    pub(super) variety: Option<String>,
    /// What is kept of the markup's content.
    pub(super) stripping: Stripping,
}

/// All texts of one file, which lies in `folder`.
///
/// # Errors
/// With the file and row: no text code in the name or the text, no variety, nothing left when the
/// markup is gone.
pub(super) fn documents(
    path: &Path,
    bytes: &[u8],
    folder: Option<&str>,
    options: &IceOptions,
) -> Result<Vec<Document>> {
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
            return Err(wrong(
                part.row,
                "nothing is left of this text when its markup is stripped",
            ));
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
