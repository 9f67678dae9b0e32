//! The table of a run's documents: what each ordinal in the parts stands for.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use serde::{Deserialize, Serialize};

use super::format;
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
    ]))
}

/// Writes the table (aside, then renamed).
///
/// # Errors
/// [`Error::Write`]; the table does not appear then.
pub fn write_documents(path: &Path, provenance: &Provenance, rows: &[DocumentRow]) -> Result<()> {
    let file = AtomicFile::create(path)?;
    let properties = format::properties(KIND, provenance)?;
    let unwritable = |source| format::unwritable(path, source);
    let mut writer = ArrowWriter::try_new(file, schema(), Some(properties)).map_err(unwritable)?;
    for chunk in rows.chunks(format::ROW_GROUP) {
        let batch = to_batch(chunk)
            .map_err(|source| Error::WriteParquet { path: path.to_path_buf(), reason: source.to_string() })?;
        writer.write(&batch).map_err(unwritable)?;
    }
    writer.into_inner().map_err(unwritable)?.commit()
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
        ],
    )
}

/// Reads the whole table; it has a row a document, so it is small beside the parts.
///
/// # Errors
/// [`Error::Read`], [`Error::Damaged`], [`Error::NotOurs`], [`Error::NewerFormat`].
pub fn read_documents(path: &Path) -> Result<Vec<DocumentRow>> {
    let (builder, _) = format::open_ours(path, KIND)?;
    let damaged = |reason: String| Error::Damaged { path: path.to_path_buf(), reason };
    let mut rows = Vec::new();
    let batches = builder.build().map_err(|source| format::unreadable(path, source))?;
    for batch in batches {
        let batch = batch.map_err(|source| damaged(source.to_string()))?;
        let column =
            |name: &str| batch.column_by_name(name).ok_or_else(|| damaged(format!("no column `{name}`")));
        let wrong = |name: &str| damaged(format!("column `{name}` has another type"));
        let text = |name: &str| column(name)?.as_string_opt::<i32>().ok_or_else(|| wrong(name));
        let count = |name: &str| column(name)?.as_primitive_opt::<UInt64Type>().ok_or_else(|| wrong(name));
        let ordinal = column("ordinal")?.as_primitive_opt::<UInt32Type>().ok_or_else(|| wrong("ordinal"))?;
        let (id, tags) = (text("id")?, text("tags")?);
        let (tokens, bytes, scored) = (count("tokens")?, count("bytes")?, count("scored")?);
        for i in 0..batch.num_rows() {
            rows.push(DocumentRow {
                ordinal: ordinal.value(i),
                id: id.value(i).to_owned(),
                tags: serde_json::from_str(tags.value(i))
                    .map_err(|source| Error::Json { path: path.to_path_buf(), source })?,
                tokens: tokens.value(i),
                bytes: bytes.value(i),
                scored: scored.value(i),
            });
        }
    }
    Ok(rows)
}
