//! Tables of numbers and text of any columns, for results that other programs read;
//! [`read_cells`](super::read_cells) reads them back.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;

use super::format;
use crate::atomic::AtomicFile;
use crate::error::{Error, Result};

/// Metadata key: number of rows, so that a reader need not trust the footer alone.
const ROWS: &str = "relscale.rows";

/// A column; `None` is a null.
#[derive(Debug, Clone, PartialEq)]
pub enum TableColumn {
    /// Doubles.
    Numbers(Vec<Option<f64>>),
    /// Texts.
    Text(Vec<Option<String>>),
}

impl TableColumn {
    fn rows(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }
}

/// Writes columns of equal length under their names (aside, then renamed); `kind` goes into the
/// metadata as `relscale.kind`.
///
/// # Errors
/// [`Error::Write`], [`Error::WriteParquet`] (columns of different lengths among it); the table
/// does not appear then.
pub fn write_table(path: &Path, kind: &str, columns: &[(&str, TableColumn)]) -> Result<()> {
    let field = |(name, column): &(&str, TableColumn)| {
        let kind = match column {
            TableColumn::Numbers(_) => DataType::Float64,
            TableColumn::Text(_) => DataType::Utf8,
        };
        Field::new(*name, kind, true)
    };
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, column)| -> ArrayRef {
        match column {
            TableColumn::Numbers(values) => {
                Arc::new(Float64Array::from_iter(values.iter().copied()))
            }
            TableColumn::Text(values) => {
                Arc::new(StringArray::from_iter(values.iter().map(Option::as_deref)))
            }
        }
    });
    let batch = RecordBatch::try_new(schema.clone(), arrays.collect()).map_err(|source| {
        Error::WriteParquet { path: path.to_path_buf(), reason: source.to_string() }
    })?;
    let file = AtomicFile::create(path)?;
    let rows = columns.first().map_or(0, |(_, column)| column.rows()).to_string();
    let properties = format::properties_with(kind, (ROWS, rows));
    let unwritable = |source| format::unwritable(path, source);
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(unwritable)?;
    writer.write(&batch).map_err(unwritable)?;
    writer.into_inner().map_err(unwritable)?.commit()
}
