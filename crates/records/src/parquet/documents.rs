//! The table of a run's documents: what each ordinal in the parts stands for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use serde::{Deserialize, Serialize};

use super::format;
use super::guard::Batches;
use crate::atomic::AtomicFile;
use crate::error::{Error, Result};
use crate::provenance::Provenance;

/// `relscale.kind` of the table.
const KIND: &str = "documents";

/// One document of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRow {
    /// Ordinal in the corpus, from 0: `document` of a part's rows.
    pub ordinal: u32,
    /// The loader's name for it.
    pub id: String,
    /// Its tags (column `tags`: a JSON object).
    pub tags: BTreeMap<String, String>,
    /// Its tokens.
    pub tokens: u64,
    /// Its bytes of text.
    pub bytes: u64,
    /// What stands between white space in its text, as lm-evaluation-harness counts words; `None`
    /// of ids, and in older tables.
    #[serde(default)]
    pub words: Option<u64>,
    /// How many positions of it the run scores; 0 where there is none (one token, no span).
    pub scored: u64,
}

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        Field::new("ordinal", DataType::UInt32, false),
        Field::new("id", DataType::Utf8, false),
        Field::new("tags", DataType::Utf8, false),
        Field::new("tokens", DataType::UInt64, false),
        Field::new("bytes", DataType::UInt64, false),
        Field::new("scored", DataType::UInt64, false),
        Field::new("words", DataType::UInt64, true),
    ]))
}

/// Rows that are handed to the library at a time. Its pages are closed between groups of 1024 rows,
/// so that any multiple gives the same bytes.
const WRITE_BATCH: usize = 1 << 13;

/// Writes the table row by row: aside, and under its name only once it is whole.
pub struct DocumentWriter {
    writer: ArrowWriter<AtomicFile>,
    path: PathBuf,
    rows: Vec<DocumentRow>,
}

impl DocumentWriter {
    /// Starts the table `path` (as `path.tmp`).
    ///
    /// # Errors
    /// [`Error::Write`] when the file cannot be made.
    pub fn create(path: &Path, provenance: &Provenance) -> Result<Self> {
        let file = AtomicFile::create(path)?;
        let properties = format::properties(KIND, provenance)?;
        let writer = ArrowWriter::try_new(file, schema(), Some(properties))
            .map_err(|source| format::unwritable(path, source))?;
        Ok(Self { writer, path: path.to_path_buf(), rows: Vec::new() })
    }

    /// Adds a row; ordinals ascend.
    ///
    /// # Errors
    /// [`Error::Write`]; the `.tmp` is removed when the writer is dropped.
    pub fn write(&mut self, row: DocumentRow) -> Result<()> {
        self.rows.push(row);
        if self.rows.len() == WRITE_BATCH { self.flush() } else { Ok(()) }
    }

    /// Writes what is left, syncs, and gives the table its name.
    ///
    /// # Errors
    /// [`Error::Write`]; the table does not appear then.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        let path = self.path;
        self.writer.into_inner().map_err(|source| format::unwritable(&path, source))?.commit()
    }

    fn flush(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let batch = to_batch(&self.rows).map_err(|source| Error::WriteParquet {
            path: self.path.clone(),
            reason: source.to_string(),
        })?;
        self.rows.clear();
        self.writer.write(&batch).map_err(|source| format::unwritable(&self.path, source))
    }
}

/// Writes a table that is in memory.
///
/// # Errors
/// As [`DocumentWriter`]; the table does not appear then.
pub fn write_documents(path: &Path, provenance: &Provenance, rows: &[DocumentRow]) -> Result<()> {
    let mut writer = DocumentWriter::create(path, provenance)?;
    for row in rows {
        writer.write(row.clone())?;
    }
    writer.finish()
}

fn to_batch(rows: &[DocumentRow]) -> Result<RecordBatch, ArrowError> {
    let count = |get: fn(&DocumentRow) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(get)))
    };
    let tags: Vec<String> = rows
        .iter()
        .map(|row| serde_json::to_string(&row.tags))
        .collect::<Result<_, _>>()
        .map_err(|source| ArrowError::ExternalError(Box::new(source)))?;
    RecordBatch::try_new(
        schema(),
        vec![
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.ordinal))),
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.id))),
            Arc::new(StringArray::from_iter_values(tags)),
            count(|row| row.tokens),
            count(|row| row.bytes),
            count(|row| row.scored),
            Arc::new(UInt64Array::from_iter(rows.iter().map(|row| row.words))),
        ],
    )
}

/// Reads the whole table; it has a row a document, so it is small beside the parts.
///
/// # Errors
/// [`Error::Read`], [`Error::Damaged`], [`Error::NotOurs`], [`Error::NewerFormat`].
pub fn read_documents(path: &Path) -> Result<Vec<DocumentRow>> {
    let mut rows = Vec::new();
    for batch in stream_documents(path)? {
        rows.extend(batch?);
    }
    Ok(rows)
}

/// Streams the table, a batch of rows at a time.
///
/// # Errors
/// As [`read_documents`]; as items: [`Error::Damaged`], [`Error::Json`].
pub fn stream_documents(
    path: &Path,
) -> Result<impl Iterator<Item = Result<Vec<DocumentRow>>> + use<>> {
    let (builder, _) = format::open_ours(path, KIND)?;
    let batches =
        Batches::from_builder(builder).map_err(|source| format::unreadable(path, source))?;
    let path = path.to_path_buf();
    Ok(batches.map(move |batch| {
        let batch = batch
            .map_err(|source| Error::Damaged { path: path.clone(), reason: source.to_string() })?;
        from_batch(&path, &batch)
    }))
}

fn from_batch(path: &Path, batch: &RecordBatch) -> Result<Vec<DocumentRow>> {
    let damaged = |reason: String| Error::Damaged { path: path.to_path_buf(), reason };
    let column = |name: &str| {
        batch.column_by_name(name).ok_or_else(|| damaged(format!("no column `{name}`")))
    };
    let wrong = |name: &str| damaged(format!("column `{name}` has another type"));
    let text = |name: &str| column(name)?.as_string_opt::<i32>().ok_or_else(|| wrong(name));
    let count =
        |name: &str| column(name)?.as_primitive_opt::<UInt64Type>().ok_or_else(|| wrong(name));
    let ordinal =
        column("ordinal")?.as_primitive_opt::<UInt32Type>().ok_or_else(|| wrong("ordinal"))?;
    let (id, tags) = (text("id")?, text("tags")?);
    let (tokens, bytes, scored) = (count("tokens")?, count("bytes")?, count("scored")?);
    // Tables of before it was counted have no such column.
    let words = match batch.column_by_name("words") {
        Some(column) => {
            Some(column.as_primitive_opt::<UInt64Type>().ok_or_else(|| wrong("words"))?)
        }
        None => None,
    };
    let row = |i: usize| {
        Ok(DocumentRow {
            ordinal: ordinal.value(i),
            id: id.value(i).to_owned(),
            tags: serde_json::from_str(tags.value(i))
                .map_err(|source| Error::Json { path: path.to_path_buf(), source })?,
            tokens: tokens.value(i),
            bytes: bytes.value(i),
            words: words.filter(|words| words.is_valid(i)).map(|words| words.value(i)),
            scored: scored.value(i),
        })
    };
    (0..batch.num_rows()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More rows than a group, with ids that no dictionary holds: row by row, and as whole row
    /// groups.
    #[test]
    fn how_many_rows_at_a_time_does_not_change_the_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let row = |i: u32| DocumentRow {
            ordinal: i,
            id: format!("text.txt:{}", i.wrapping_mul(2_654_435_761)),
            tags: [("kind".to_owned(), (i % 3).to_string())].into(),
            tokens: u64::from(i % 900),
            bytes: u64::from(i % 4_000),
            words: (!i.is_multiple_of(7)).then(|| u64::from(i % 700)),
            scored: u64::from(i % 899),
        };
        let rows: Vec<DocumentRow> = (0..format::ROW_GROUP as u32 + 5_000).map(row).collect();
        let (streamed, whole) = (folder.path().join("a"), folder.path().join("b"));
        write_documents(&streamed, &Provenance::example(), &rows).unwrap();

        let properties = format::properties(KIND, &Provenance::example()).unwrap();
        let file = AtomicFile::create(&whole).unwrap();
        let mut writer = ArrowWriter::try_new(file, schema(), Some(properties)).unwrap();
        for group in rows.chunks(format::ROW_GROUP) {
            writer.write(&to_batch(group).unwrap()).unwrap();
        }
        writer.into_inner().unwrap().commit().unwrap();

        assert!(std::fs::read(&streamed).unwrap() == std::fs::read(&whole).unwrap());
        let read: usize =
            stream_documents(&streamed).unwrap().map(|batch| batch.unwrap().len()).sum();
        assert_eq!(read, rows.len());
    }
}
