//! Lines of a text file, plain or compressed, checked to be UTF-8.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::error::{CorpusError, Result};

/// A file read line by line. Errors say which line.
pub(super) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    compression: Option<&'static str>,
    rows: u64,
    buffer: Vec<u8>,
}

impl Lines {
    /// Opens a file; `.gz` and `.zst` are decompressed on the way.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let (reader, compression) = decompressed(path)?;
        Ok(Self { path: path.to_owned(), reader, compression, rows: 0, buffer: Vec::new() })
    }

    /// The next line with its newline, and its number from 1; `None` at the end. A byte-order mark at the very
    /// beginning is an encoding's signature, not text, and goes.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &str)>> {
        self.buffer.clear();
        if let Err(source) = self.reader.read_until(b'\n', &mut self.buffer) {
            let path = self.path.clone();
            return Err(match self.compression {
                Some(compression) => CorpusError::Compression { path, compression, rows: self.rows, source },
                None => CorpusError::Read { path, source },
            });
        }
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

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// A reader, and the name of the compression that it undoes.
pub(super) type Decompressed = (Box<dyn BufRead + Send>, Option<&'static str>);

/// Opens a file; `.gz` and `.zst` are decompressed on the way.
pub(super) fn decompressed(path: &Path) -> Result<Decompressed> {
    let file = File::open(path).map_err(CorpusError::read(path))?;
    // Opening a folder succeeds on Unix; the first read would fail with less to go by.
    if file.metadata().map_err(CorpusError::read(path))?.is_dir() {
        return Err(CorpusError::Read {
            path: path.to_owned(),
            source: std::io::Error::other("it is a folder, not a file"),
        });
    }
    Ok(match path.extension().and_then(|e| e.to_str()) {
        Some("gz") => (Box::new(BufReader::new(flate2::read::MultiGzDecoder::new(file))), Some("gzip")),
        Some("zst") => {
            let decoder = zstd::stream::read::Decoder::new(file).map_err(CorpusError::read(path))?;
            (Box::new(BufReader::new(decoder)), Some("zstd"))
        }
        _ => (Box::new(BufReader::new(file)), None),
    })
}

/// What the parser says about a line that is not what it should be; it counts lines within the line, which is one.
pub(super) fn json_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    // Beyond the line's own newline stands nothing: the line ended early.
    if error.line() > 1 {
        format!("{what} at its end")
    } else {
        format!("{what} at column {}", error.column())
    }
}

/// A line without its line ending (`\n` or `\r\n`).
pub(super) fn without_newline(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}
