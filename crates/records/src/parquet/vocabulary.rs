//! A tokenizer's vocabulary as a table: one row an entry.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{RecordBatch, StringArray, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;

use super::format;
use super::guard::Batches;
use crate::atomic::AtomicFile;
use crate::error::{Error, Result};
use crate::vocabulary::{Vocabulary, VocabularyEntry};

/// `relscale.kind` of the table.
const KIND: &str = "vocabulary";
/// Metadata key: sha256 of the tokenizer.
const TOKENIZER: &str = "relscale.tokenizer";

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::UInt32, false),
        Field::new("text", DataType::Utf8, false),
        Field::new("kind", DataType::Utf8, false),
    ]))
}

/// Writes the table (aside, then renamed).
///
/// # Errors
/// [`Error::Write`]; the table does not appear then.
pub fn write_vocabulary(path: &Path, vocabulary: &Vocabulary) -> Result<()> {
    let file = AtomicFile::create(path)?;
    let properties =
        format::properties_with(KIND, (TOKENIZER, vocabulary.tokenizer_sha256().to_owned()));
    let unwritable = |source| format::unwritable(path, source);
    let mut writer = ArrowWriter::try_new(file, schema(), Some(properties)).map_err(unwritable)?;
    for chunk in vocabulary.entries().chunks(format::ROW_GROUP) {
        let batch = to_batch(chunk).map_err(|source| Error::WriteParquet {
            path: path.to_path_buf(),
            reason: source.to_string(),
        })?;
        writer.write(&batch).map_err(unwritable)?;
    }
    writer.into_inner().map_err(unwritable)?.commit()
}

fn to_batch(entries: &[VocabularyEntry]) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_new(
        schema(),
        vec![
            Arc::new(UInt32Array::from_iter_values(entries.iter().map(|entry| entry.id))),
            Arc::new(StringArray::from_iter_values(entries.iter().map(|entry| &entry.text))),
            Arc::new(StringArray::from_iter_values(
                entries.iter().map(|entry| entry.kind.to_string()),
            )),
        ],
    )
}

/// Reads the whole table.
///
/// # Errors
/// [`Error::Read`], [`Error::Damaged`], [`Error::NotOurs`], [`Error::NewerFormat`].
pub fn read_vocabulary(path: &Path) -> Result<Vocabulary> {
    let builder = format::open_kind(path, KIND)?;
    let damaged = |reason: String| Error::Damaged { path: path.to_path_buf(), reason };
    let sha256 = format::metadata(&builder, TOKENIZER)
        .ok_or_else(|| damaged(format!("no metadata `{TOKENIZER}`")))?
        .to_owned();
    let mut entries = Vec::new();
    for batch in
        Batches::from_builder(builder).map_err(|source| format::unreadable(path, source))?
    {
        let batch = batch.map_err(|source| damaged(source.to_string()))?;
        let column = |name: &str| {
            batch.column_by_name(name).ok_or_else(|| damaged(format!("no column `{name}`")))
        };
        let wrong = |name: &str| damaged(format!("column `{name}` has another type"));
        let text = |name: &str| column(name)?.as_string_opt::<i32>().ok_or_else(|| wrong(name));
        let id = column("id")?.as_primitive_opt::<UInt32Type>().ok_or_else(|| wrong("id"))?;
        let (spelled, kind) = (text("text")?, text("kind")?);
        for i in 0..batch.num_rows() {
            entries.push(VocabularyEntry {
                id: id.value(i),
                text: spelled.value(i).to_owned(),
                kind: kind.value(i).parse().map_err(damaged)?,
            });
        }
    }
    Vocabulary::new(sha256, entries).map_err(|refusal| damaged(refusal.to_string()))
}
