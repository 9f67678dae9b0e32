//! Parquet files made elsewhere: opened alike, walked row by row.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::format;
use super::guard::{Batches, guarded};
use crate::error::{Error, Result};

/// Opens a file so that every kind of text comes as plain utf8: without the writer's Arrow hints it does, whatever it was in
/// memory there (large, a view, a dictionary).
///
/// # Errors
/// [`Error::Read`], [`Error::Damaged`].
pub(super) fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>> {
    let file = File::open(path).map_err(Error::read(path))?;
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    guarded(|| ParquetRecordBatchReaderBuilder::try_new_with_options(file, options))
        .map_err(|source| format::unreadable(path, source))
}

/// The rows of a file as values of the named columns, in the order of the names; ends after the first error.
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
        Self { batches, batch: None, row: 0, path: path.to_path_buf(), columns, value, failed: false }
    }

    fn damaged(&mut self, reason: String) -> Option<Result<Vec<T>>> {
        self.failed = true;
        Some(Err(Error::Damaged { path: self.path.clone(), reason }))
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
                Err(source) => return self.damaged(source.to_string()),
            }
        }
        let batch = self.batch.as_ref()?;
        let named = |name: &String| (self.value)(batch.column_by_name(name)?.as_ref(), self.row);
        match self.columns.iter().map(named).collect() {
            Some(values) => {
                self.row += 1;
                Some(Ok(values))
            }
            None => self.damaged("a batch lacks one of the columns".into()),
        }
    }
}
