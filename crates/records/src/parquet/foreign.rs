//! Parquet and Arrow files made elsewhere: opened alike, walked row by row.
//!
//! Whatever is wrong with such a file is [`Error::Foreign`]: it is the user's, and advice for parts
//! of ours would cost their data.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use super::format::io_reason;
use super::guard::{Batches, guarded};
use crate::content::{Content, HEAD};
use crate::error::{Error, Result};

/// How the file of Arrow begins; its stream begins otherwise.
const ARROW_FILE: &[u8] = b"ARROW1";

/// An open file of columns.
pub(super) enum Columns {
    /// Every kind of text comes as plain utf8: without the writer's Arrow hints it does, whatever
    /// it was in memory there (large, a view, a dictionary).
    Parquet(ParquetRecordBatchReaderBuilder<File>),
    /// Columns as they were in memory.
    Arrow(PathBuf, SchemaRef),
}

impl Columns {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Foreign`].
    pub(super) fn open(path: &Path) -> Result<Self> {
        let mut file = regular(path)?;
        if recognised(path, &mut file)? == Content::Arrow {
            let schema =
                guarded(|| Ok(arrow(&file, None)?.0)).map_err(|source| unreadable(path, source))?;
            return Ok(Self::Arrow(path.to_path_buf(), schema));
        }
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        guarded(|| ParquetRecordBatchReaderBuilder::try_new_with_options(file, options))
            .map(Self::Parquet)
            .map_err(|source| unreadable(path, source))
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        match self {
            Self::Parquet(builder) => builder.schema(),
            Self::Arrow(_, schema) => schema,
        }
    }

    /// The batches of some columns, by their places; a Parquet file's of so many rows.
    ///
    /// # Errors
    /// As [`Columns::open`].
    pub(super) fn batches(
        self,
        path: &Path,
        roots: Vec<usize>,
        rows: Option<usize>,
    ) -> Result<Batches> {
        let batches = match self {
            Self::Parquet(builder) => {
                let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
                let builder = builder.with_projection(mask);
                Batches::from_builder(match rows {
                    Some(rows) => builder.with_batch_size(rows),
                    None => builder,
                })
            }
            Self::Arrow(path, _) => {
                let file = File::open(&path).map_err(Error::read(&path))?;
                let mut roots = roots;
                roots.sort_unstable();
                roots.dedup();
                guarded(|| Ok(Batches::any(arrow(&file, Some(roots))?.1)))
            }
        };
        batches.map_err(|source| unreadable(path, source))
    }
}

/// Opens what is a file: a pipe would hang, a device never end.
fn regular(path: &Path) -> Result<File> {
    let there = std::fs::metadata(path).map_err(Error::read(path))?;
    if !there.is_file() {
        return Err(Error::Foreign {
            path: path.to_path_buf(),
            reason: "it is no file that could be read twice".to_owned(),
            todo: "write what it gives into a file, and give that".to_owned(),
        });
    }
    File::open(path).map_err(Error::read(path))
}

/// What a file is, where it can be read; else the refusal that says what it is instead.
fn recognised(path: &Path, file: &mut File) -> Result<Content> {
    let mut head = Vec::with_capacity(HEAD);
    file.take(HEAD as u64).read_to_end(&mut head).map_err(Error::read(path))?;
    let foreign = |reason: &str, todo: &str| Error::Foreign {
        path: path.to_path_buf(),
        reason: reason.to_owned(),
        todo: todo.to_owned(),
    };
    let packed = |what: &str, how: &str| {
        foreign(
            &format!("{what}, and this is read from any place of it"),
            &format!("unpack it first: `{how}`"),
        )
    };
    match Content::detect(&head) {
        Content::Arrow => return Ok(Content::Arrow),
        Content::Gzip => return Err(packed("packed with gzip", "gunzip -k")),
        Content::Zstd => return Err(packed("packed with zstd", "zstd -dk")),
        Content::Unreadable { what, hint } => return Err(foreign(&format!("it is {what}"), hint)),
        Content::Parquet => {}
        Content::Other if head.is_empty() => {
            return Err(foreign("it is empty", "fetch or write it again"));
        }
        Content::Other => {
            let todo = "see what it is; a download may have given a page that says why it failed";
            return Err(foreign("not a Parquet file: it does not begin with PAR1", todo));
        }
    }
    let mut tail = [0; 4];
    let length = file.seek(SeekFrom::End(0)).map_err(Error::read(path))?;
    if length >= 8 {
        file.seek(SeekFrom::End(-4))
            .and_then(|_| file.read_exact(&mut tail))
            .map_err(Error::read(path))?;
    }
    match &tail {
        b"PAR1" => Ok(Content::Parquet),
        b"PARE" => {
            Err(foreign("the Parquet file is encrypted", "write it anew without encryption"))
        }
        _ => Err(foreign(
            "the Parquet file is cut: it begins as one and does not end as one",
            "fetch or write it again",
        )),
    }
}

type AnyBatches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// Schema and batches of an Arrow file or stream, from its beginning.
fn arrow(
    file: &File,
    columns: Option<Vec<usize>>,
) -> Result<(SchemaRef, AnyBatches), ParquetError> {
    let mut file = file.try_clone()?;
    let mut head = [0; ARROW_FILE.len()];
    file.rewind()?;
    let is_file = file.read_exact(&mut head).is_ok() && head == *ARROW_FILE;
    file.rewind()?;
    if is_file {
        let reader = FileReader::try_new_buffered(file, columns)?;
        return Ok((reader.schema(), Box::new(reader)));
    }
    let reader = StreamReader::try_new_buffered(file, columns)?;
    Ok((reader.schema(), Box::new(reader)))
}

/// A reading error of a file that is not ours.
fn unreadable(path: &Path, source: ParquetError) -> Error {
    match io_reason(source) {
        Ok(source) if source.kind() != std::io::ErrorKind::UnexpectedEof => {
            Error::Read { path: path.to_path_buf(), source }
        }
        Ok(source) => damaged(path, &source.to_string()),
        Err(source) => damaged(path, &source.to_string()),
    }
}

/// What the library says of a file that is not ours, and what its owner can do.
fn damaged(path: &Path, said: &str) -> Error {
    let lower = said.to_lowercase();
    let (reason, todo) = if lower.contains("utf-8") || lower.contains("utf8") {
        (
            "a column of text holds bytes that are not UTF-8",
            "write that column as UTF-8, or as another type",
        )
    } else if lower.contains("nyi")
        || lower.contains("disabled feature")
        || lower.contains("unsupported")
    {
        (
            "it is written in a way that is not read here",
            "write it anew, for example with pyarrow and its defaults",
        )
    } else {
        ("the file is cut or damaged", "fetch or write it again")
    };
    let (reason, todo) = (format!("{reason}: {said}"), todo.to_owned());
    Error::Foreign { path: path.to_path_buf(), reason, todo }
}

/// The rows of a file as values of the named columns, in the order of the names; ends after the
/// first error.
pub(super) struct Rows<T> {
    batches: Batches,
    batch: Option<RecordBatch>,
    row: usize,
    path: PathBuf,
    columns: Vec<String>,
    /// The value of a column in a row, `None` for a type that it cannot read.
    value: fn(&dyn Array, usize) -> Option<T>,
    failed: bool,
}

impl<T> Rows<T> {
    pub(super) fn new(
        path: &Path,
        batches: Batches,
        columns: &[&str],
        value: fn(&dyn Array, usize) -> Option<T>,
    ) -> Self {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Self {
            batches,
            batch: None,
            row: 0,
            path: path.to_path_buf(),
            columns,
            value,
            failed: false,
        }
    }

    fn damaged(&mut self, reason: &str) -> Option<Result<Vec<T>>> {
        self.failed = true;
        Some(Err(damaged(&self.path, reason)))
    }
}

impl<T> Iterator for Rows<T> {
    type Item = Result<Vec<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        while self.batch.as_ref().is_none_or(|batch| self.row >= batch.num_rows()) {
            match self.batches.next()? {
                Ok(batch) => (self.batch, self.row) = (Some(batch), 0),
                Err(source) => return self.damaged(&source.to_string()),
            }
        }
        let batch = self.batch.as_ref()?;
        let named = |name: &String| (self.value)(batch.column_by_name(name)?.as_ref(), self.row);
        match self.columns.iter().map(named).collect() {
            Some(values) => {
                self.row += 1;
                Some(Ok(values))
            }
            None => self.damaged("a batch lacks one of the columns"),
        }
    }
}
