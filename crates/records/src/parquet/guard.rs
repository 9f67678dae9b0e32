//! The Parquet library panics on some damaged files where it should refuse them. Here a panic is
//! damage, as any other.

use std::fs::File;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

/// Runs a call into the library; a panic is its error. What the call was given is not to be used
/// after one.
pub(super) fn guarded<T>(
    call: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, ParquetError> {
    crate::guard::guarded(call).unwrap_or_else(|said| {
        Err(ParquetError::General(format!("the Parquet library gave up ({said})")))
    })
}

/// The batches of a file; they end after the first error.
pub(super) struct Batches(Option<Reader>);

type Reader = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

impl Batches {
    /// Those that a builder asks for.
    pub(super) fn from_builder(
        builder: ParquetRecordBatchReaderBuilder<File>,
    ) -> Result<Self, ParquetError> {
        guarded(|| builder.build()).map(|reader| Self::any(Box::new(reader)))
    }

    /// Those of any reader.
    pub(super) fn any(reader: Reader) -> Self {
        Self(Some(reader))
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.0.as_mut()?;
        let next = guarded(|| reader.next().transpose().map_err(ParquetError::from)).transpose();
        if !matches!(next, Some(Ok(_))) {
            self.0 = None;
        }
        next.map(|batch| batch.map_err(ArrowError::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_panics_are_errors() {
        assert!(guarded(|| Ok(1)).is_ok_and(|one| one == 1));
        let said = guarded::<()>(|| panic!("at {}", 7)).unwrap_err().to_string();
        assert!(said.contains("the Parquet library gave up (at 7)"), "{said}");
    }
}
