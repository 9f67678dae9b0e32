//! Files of token ids: text that was tokenised elsewhere.
//!
//! There is no common format, so the format is said, never guessed. Without text there are no byte
//! counts: bits per byte and spans are not to be had for such a corpus.

use std::io::{BufRead, Read};
use std::path::PathBuf;

use super::keys::Keys;
use super::lines::Lines;
use super::listing::{Files, Named};
use super::loader::{Kind, Loader};
use super::open::{Expected, Opened, broken, open};
use super::reading::Reading;
use super::stream::{Documents, until_error};
use crate::document::Document;
use crate::error::{CorpusError, Result};

/// How ids are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdFormat {
    /// 16-bit unsigned, little-endian.
    U16,
    /// 32-bit unsigned, little-endian.
    U32,
    /// Decimal, separated by white space; a line is a document.
    Text,
}

impl IdFormat {
    fn width(self) -> usize {
        if self == Self::U16 { 2 } else { 4 }
    }
}

/// The kind.
pub(super) static IDS: Kind = Kind {
    described: "token ids",
    help: "  ids      (.ids)       format=u16|u32|text  separator=ID",
    extensions: &["ids"],
    not_joined: Some("token ids have no text to concat"),
    ..Kind::named("ids", |place, keys| Ok(Box::new(TokenIds::read(Files::new(place, &IDS), keys)?)))
};

/// Files of ids. In the binary formats a document ends at each `separator` (which belongs to none)
/// and with its file; without one a whole file is one document.
#[derive(Debug)]
struct TokenIds {
    files: Files,
    format: IdFormat,
    separator: Option<u32>,
}

impl TokenIds {
    fn read(files: Files, keys: &mut Keys) -> std::result::Result<Self, String> {
        let format = match keys.one("format")?.as_deref() {
            Some("u16") => IdFormat::U16,
            Some("u32") => IdFormat::U32,
            Some("text") => IdFormat::Text,
            Some(other) => return Err(format!("format={other} is not u16, u32 or text")),
            None => {
                return Err(
                    "a file of token ids needs format=u16, format=u32 or format=text".to_owned()
                );
            }
        };
        let separator = match keys.one("separator")? {
            Some(text) => {
                Some(text.parse().map_err(|_| format!("separator={text} is not a token id"))?)
            }
            None => None,
        };
        if separator.is_some() && format == IdFormat::Text {
            return Err(
                "separator= is for u16 and u32; in format=text a line is a document".to_owned()
            );
        }
        Ok(Self { files, format, separator })
    }
}

impl Loader for TokenIds {
    fn files(&self) -> Result<Vec<PathBuf>> {
        self.files.everything()
    }

    fn check(&self) -> Result<()> {
        self.files.listing(&Reading::default()).map(drop)
    }

    /// As an item: something that is no id (with its row), a file that ends inside an id.
    fn open(&self, reading: &Reading) -> Result<Documents> {
        let (format, separator, reading) = (self.format, self.separator, reading.clone());
        self.files
            .listing(&reading)?
            .documents(move |file| one_file(file, format, separator, &reading))
    }
}

fn one_file(
    file: &Named,
    format: IdFormat,
    separator: Option<u32>,
    reading: &Reading,
) -> Result<Documents> {
    let file = file.clone();
    if format == IdFormat::Text {
        let mut lines = Lines::open(&file.path, reading)?;
        return Ok(until_error(std::iter::from_fn(move || {
            next_line(&mut lines, &file).transpose()
        })));
    }
    let Opened { reader, compression } = open(&file.path, Expected::Numbers, reading)?;
    let width = format.width();
    let mut ids =
        Binary { file, reader, compression, width, separator, documents: 0, read: 0, done: false };
    Ok(until_error(std::iter::from_fn(move || ids.next_document().transpose())))
}

fn document(file: &Named, number: u64, ids: Vec<u32>) -> Document {
    Document { id: format!("{}:{number}", file.name), ids: Some(ids), ..Document::default() }
}

fn next_line(lines: &mut Lines, file: &Named) -> Result<Option<Document>> {
    while let Some((row, line)) = lines.next()? {
        let ids = line.split_whitespace().map(|word| {
            word.parse().map_err(|_| CorpusError::TokenIds {
                path: file.path.clone(),
                reason: format!("row {row}: `{word}` is not a token id"),
            })
        });
        let ids: Vec<u32> = ids.collect::<Result<_>>()?;
        if !ids.is_empty() {
            return Ok(Some(document(file, row, ids)));
        }
    }
    Ok(None)
}

struct Binary {
    file: Named,
    reader: Box<dyn BufRead + Send>,
    compression: Option<&'static str>,
    width: usize,
    separator: Option<u32>,
    documents: u64,
    /// Ids read so far.
    read: u64,
    done: bool,
}

impl Binary {
    fn next_document(&mut self) -> Result<Option<Document>> {
        let mut ids = Vec::new();
        while !self.done {
            match self.next_id()? {
                Some(id) if Some(id) == self.separator => {
                    if !ids.is_empty() {
                        break;
                    }
                }
                Some(id) => ids.push(id),
                None => self.done = true,
            }
        }
        if ids.is_empty() {
            return Ok(None);
        }
        self.documents += 1;
        Ok(Some(document(&self.file, self.documents, ids)))
    }

    fn next_id(&mut self) -> Result<Option<u32>> {
        let mut bytes = [0; 4];
        let mut filled = 0;
        while filled < self.width {
            match self.reader.read(&mut bytes[filled..self.width]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(broken(&self.file.path, self.compression, self.documents, source));
                }
            }
        }
        if filled == 0 {
            return Ok(None);
        }
        if filled < self.width {
            return Err(CorpusError::TokenIds {
                path: self.file.path.clone(),
                reason: format!(
                    "it ends {filled} bytes into an id of {} bytes after {} ids; the format may be another one",
                    self.width, self.read
                ),
            });
        }
        self.read += 1;
        Ok(Some(u32::from_le_bytes(bytes)))
    }
}
