//! Text columns of Parquet files made elsewhere, for the corpus loaders.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::format;
use crate::error::{Error, Result};

/// Rows decoded at a time; small, since a row may be a whole book.
const READ_BATCH: usize = 256;

/// Streams the named text columns, row by row, in the order the names were given; `None` is a null.
///
/// Every text type is read: what a writer called utf8, large utf8, string view or a dictionary of
/// strings is the same "string" in Parquet. Only the named columns are decoded.
///
/// # Errors
/// At once: [`Error::Read`], [`Error::Damaged`], [`Error::NoColumn`] (lists the columns there are),
/// [`Error::NotText`] (lists the columns of text). Later, as an item: [`Error::Damaged`].
pub fn read_text_columns(
    path: &Path,
    columns: &[&str],
) -> Result<impl Iterator<Item = Result<Vec<Option<String>>>> + use<>> {
    let file = File::open(path).map_err(Error::read(path))?;
    // Without the writer's Arrow hints all text columns come as plain utf8, whatever they were in memory there.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
        .map_err(|source| format::unreadable(path, source))?;
    check(path, builder.schema(), columns)?;
    let roots: Vec<usize> = columns
        .iter()
        .filter_map(|name| builder.schema().fields().iter().position(|f| f.name() == name))
        .collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
    let batches = builder
        .with_projection(mask)
        .with_batch_size(READ_BATCH)
        .build()
        .map_err(|source| format::unreadable(path, source))?;
    Ok(TextRows {
        batches,
        batch: None,
        row: 0,
        path: path.to_path_buf(),
        columns: columns.iter().map(|&name| name.to_owned()).collect(),
        failed: false,
    })
}

fn check(path: &Path, schema: &Schema, columns: &[&str]) -> Result<()> {
    for &column in columns {
        let field = schema.fields().iter().find(|field| field.name() == column);
        match field.map(|field| field.data_type()) {
            Some(DataType::Utf8) => {}
            Some(found) => {
                let text =
                    |field: &&std::sync::Arc<arrow_schema::Field>| *field.data_type() == DataType::Utf8;
                return Err(Error::NotText {
                    path: path.to_path_buf(),
                    column: column.to_owned(),
                    found: found.to_string(),
                    text_columns: names(schema.fields().iter().filter(text)),
                });
            }
            None => {
                return Err(Error::NoColumn {
                    path: path.to_path_buf(),
                    column: column.to_owned(),
                    there: names(schema.fields().iter()),
                });
            }
        }
    }
    Ok(())
}

fn names<'a>(fields: impl Iterator<Item = &'a std::sync::Arc<arrow_schema::Field>>) -> Vec<String> {
    fields.map(|field| field.name().clone()).collect()
}

/// The iterator behind [`read_text_columns`].
struct TextRows {
    batches: ParquetRecordBatchReader,
    batch: Option<RecordBatch>,
    row: usize,
    path: PathBuf,
    columns: Vec<String>,
    failed: bool,
}

impl TextRows {
    fn damaged(&mut self, reason: String) -> Option<Result<Vec<Option<String>>>> {
        self.failed = true;
        Some(Err(Error::Damaged { path: self.path.clone(), reason }))
    }
}

impl Iterator for TextRows {
    type Item = Result<Vec<Option<String>>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        while self.batch.as_ref().is_none_or(|batch| self.row >= batch.num_rows()) {
            match self.batches.next()? {
                Ok(batch) => (self.batch, self.row) = (Some(batch), 0),
                Err(source) => return self.damaged(source.to_string()),
            }
        }
        let batch = self.batch.as_ref()?;
        let cell = |name: &String| {
            let column = batch.column_by_name(name)?.as_string_opt::<i32>()?;
            Some(column.is_valid(self.row).then(|| column.value(self.row).to_owned()))
        };
        match self.columns.iter().map(cell).collect() {
            Some(cells) => {
                self.row += 1;
                Some(Ok(cells))
            }
            None => self.damaged("a batch lacks one of the columns".into()),
        }
    }
}
