//! Lines of a text file, plain or compressed, checked to be UTF-8.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use super::open::{Expected, Opened, broken, open};
use super::reading::Reading;
use crate::document;
use crate::error::{CorpusError, Result};

/// Bytes of a line whose memory is not kept for the next one.
const LONG_LINE: usize = 1 << 20;

/// A file read line by line. Errors say which line.
pub(super) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    compression: Option<&'static str>,
    rows: u64,
    buffer: Vec<u8>,
}

impl Lines {
    /// Opens a file; gzip and zstd are undone on the way.
    pub(super) fn open(path: &Path, reading: &Reading) -> Result<Self> {
        let Opened { reader, compression } = open(path, Expected::Text, reading)?;
        Ok(Self { path: path.to_owned(), reader, compression, rows: 0, buffer: Vec::new() })
    }

    /// The next line with its newline, and its number from 1; `None` at the end. A byte-order mark
    /// at the very beginning is an encoding's signature, not text, and goes.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &str)>> {
        self.buffer.clear();
        self.release();
        let mut line = (&mut self.reader).take(document::LONGEST as u64 + 1);
        line.read_until(b'\n', &mut self.buffer)
            .map_err(|source| broken(&self.path, self.compression, self.rows, source))?;
        document::check_length(&self.path, self.rows + 1, self.buffer.len())?;
        if self.buffer.is_empty() {
            return Ok(None);
        }
        self.rows += 1;
        let line = std::str::from_utf8(&self.buffer).map_err(|error| CorpusError::NotUtf8 {
            path: self.path.clone(),
            row: self.rows,
            byte: error.valid_up_to(),
        })?;
        let line = if self.rows == 1 { line.trim_start_matches('\u{FEFF}') } else { line };
        Ok(Some((self.rows, line)))
    }

    /// Gives back the memory of a long line; the document made of it may be about to take much
    /// itself.
    pub(super) fn release(&mut self) {
        if self.buffer.capacity() > LONG_LINE {
            self.buffer = Vec::new();
        }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// A line that is no JSON object, with what the parser says; it counts lines within the line, which
/// is one.
pub(super) fn not_an_object(
    path: &Path,
    row: u64,
    line: &str,
    error: &serde_json::Error,
) -> CorpusError {
    let path = path.to_owned();
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    if error.is_syntax()
        && (what.contains("surrogate") || what.contains("hex escape"))
        && has_surrogate(line)
    {
        return CorpusError::LoneSurrogate { path, row, column: error.column() };
    }
    // Beyond the line's own newline stands nothing: the line ended early.
    let place = if error.line() > 1 {
        "at its end".to_owned()
    } else {
        format!("at column {}", error.column())
    };
    let hint = match line.trim_start().chars().next() {
        Some('[') => "; a JSON array is made JSONL by `jq -c '.[]' FILE > FILE.jsonl`",
        Some('{') if row == 1 && error.is_eof() => {
            "; JSONL has one object on each line: `jq -c . FILE > FILE.jsonl` writes it so"
        }
        _ => "",
    };
    CorpusError::Json { path, row, reason: format!("{what} {place}{hint}") }
}

/// Whether a line escapes half of a pair of UTF-16, with or without the other half.
fn has_surrogate(line: &str) -> bool {
    let escapes = line.match_indices("\\u").filter_map(|(at, _)| line.get(at + 2..at + 4));
    escapes.into_iter().any(|digits| {
        u8::from_str_radix(digits, 16).is_ok_and(|high| (0xD8..=0xDF).contains(&high))
    })
}

/// A line without its line ending (`\n` or `\r\n`).
pub(super) fn without_newline(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}
