//! What all our Parquet files share: properties, metadata, and errors in words.

use std::fs::File;
use std::io;
use std::path::Path;

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::guard::guarded;
use crate::error::{Error, Result};
use crate::provenance::Provenance;
use crate::version;

/// Metadata key: what the rows are.
pub(super) const KIND: &str = "relscale.kind";
/// Metadata key: version of the format.
pub(super) const FORMAT: &str = "relscale.format";
/// Metadata key: the provenance as canonical JSON.
pub(super) const PROVENANCE: &str = "relscale";
/// Metadata key: a part's place and counts.
pub(super) const PART: &str = "relscale.part";

/// Rows of a row group. Fixed, because it shapes the bytes.
pub(super) const ROW_GROUP: usize = 1 << 17;

/// Writer properties of a file of ours. `created_by` is a constant: the library's default holds its
/// version, and a rebuilt program must be able to finish a run with the same bytes.
pub(super) fn properties(kind: &str, provenance: &Provenance) -> Result<WriterProperties> {
    Ok(properties_with(kind, (PROVENANCE, provenance.to_canonical_json()?)))
}

/// As [`properties`], for a file that belongs to no run: one pair of metadata says to what.
pub(super) fn properties_with(kind: &str, belongs: (&str, String)) -> WriterProperties {
    let pair = |key: &str, value: String| KeyValue { key: key.into(), value: Some(value) };
    // The fastest level: ranks and likelihoods are close to noise, there is little to gain above
    // it.
    let level = ZstdLevel::default();
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(format!("relscale format {}", version::FORMAT))
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(vec![
            pair(KIND, kind.into()),
            pair(FORMAT, version::FORMAT.to_string()),
            pair(belongs.0, belongs.1),
        ]))
        .build()
}

/// Opens a Parquet file of any origin.
pub(super) fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>> {
    let file = File::open(path).map_err(Error::read(path))?;
    guarded(|| ParquetRecordBatchReaderBuilder::try_new(file))
        .map_err(|source| unreadable(path, source))
}

/// Opens a file of ours: checks its kind and format, and yields its provenance.
pub(super) fn open_ours(
    path: &Path,
    kind: &'static str,
) -> Result<(ParquetRecordBatchReaderBuilder<File>, Provenance)> {
    let builder = open_kind(path, kind)?;
    let provenance = required(&builder, path, kind, PROVENANCE)?;
    let provenance = serde_json::from_str(provenance)
        .map_err(|source| Error::Json { path: path.to_path_buf(), source })?;
    Ok((builder, provenance))
}

/// Opens a file of ours: checks its kind and format.
pub(super) fn open_kind(
    path: &Path,
    kind: &'static str,
) -> Result<ParquetRecordBatchReaderBuilder<File>> {
    let builder = open(path)?;
    let not_ours = |reason: String| Error::NotOurs { path: path.to_path_buf(), what: kind, reason };
    let found = required(&builder, path, kind, KIND)?;
    if found != kind {
        return Err(not_ours(format!("it holds {found}")));
    }
    let format = required(&builder, path, kind, FORMAT)?;
    let format = format.parse().map_err(|_| not_ours(format!("format is `{format}`")))?;
    version::check(path, format)?;
    Ok(builder)
}

/// The value of a metadata key that every file of this kind has.
fn required<'a>(
    builder: &'a ParquetRecordBatchReaderBuilder<File>,
    path: &Path,
    what: &'static str,
    key: &str,
) -> Result<&'a str> {
    let reason = || format!("no metadata `{key}`");
    metadata(builder, key).ok_or_else(|| Error::NotOurs {
        path: path.to_path_buf(),
        what,
        reason: reason(),
    })
}

/// The value of a metadata key.
pub(super) fn metadata<'a>(
    builder: &'a ParquetRecordBatchReaderBuilder<File>,
    key: &str,
) -> Option<&'a str> {
    let pairs = builder.metadata().file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
}

/// A reading error in our words: the system's, or a file that is cut or damaged.
pub(super) fn unreadable(path: &Path, source: ParquetError) -> Error {
    match io_reason(source) {
        Ok(source) if source.kind() != io::ErrorKind::UnexpectedEof => {
            Error::Read { path: path.to_path_buf(), source }
        }
        Ok(source) => Error::Damaged { path: path.to_path_buf(), reason: source.to_string() },
        Err(source) => Error::Damaged { path: path.to_path_buf(), reason: source.to_string() },
    }
}

/// A writing error in our words.
pub(super) fn unwritable(path: &Path, source: ParquetError) -> Error {
    match io_reason(source) {
        Ok(source) => Error::Write { path: path.to_path_buf(), source },
        Err(source) => Error::WriteParquet { path: path.to_path_buf(), reason: source.to_string() },
    }
}

/// The system's error inside the library's, where there is one.
pub(super) fn io_reason(source: ParquetError) -> Result<io::Error, ParquetError> {
    match source {
        ParquetError::External(inner) => {
            inner.downcast::<io::Error>().map(|inner| *inner).map_err(ParquetError::External)
        }
        other => Err(other),
    }
}
