//! The parts of a run: rows of [`ScoredToken`], streamed in and out.
//!
//! Columns, all 32 bits wide: `document`, `position`, `token`, `bytes`, `context` (never null) and
//! `rank`, `ties`, `nll`, `entropy`, `argmax` (all null in a row whose logits were not all finite;
//! `ties`, `entropy`, `argmax` null in every row where the engine does not tell them).
//! Rows come by document, then position.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt32Type};
use arrow_array::{Array, ArrayRef, Float32Array, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::file::metadata::KeyValue;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::format;
use super::guard::Batches;
use crate::atomic::AtomicFile;
use crate::error::{Error, Result};
use crate::provenance::{Provenance, canonical_json};
use crate::token::{Score, ScoredToken};

/// `relscale.kind` of a part.
const KIND: &str = "tokens";

/// Rows decoded at a time.
const READ_BATCH: usize = 1 << 13;

/// The columns in order, and whether they may be null.
const COLUMNS: [(&str, DataType, bool); 10] = [
    ("document", DataType::UInt32, false),
    ("position", DataType::UInt32, false),
    ("token", DataType::UInt32, false),
    ("bytes", DataType::UInt32, false),
    ("context", DataType::UInt32, false),
    ("rank", DataType::UInt32, true),
    ("ties", DataType::UInt32, true),
    ("nll", DataType::Float32, true),
    ("entropy", DataType::Float32, true),
    ("argmax", DataType::UInt32, true),
];

/// Which part of a run: its number and the documents that it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRange {
    /// Number of the part, from 0.
    pub index: u32,
    /// Ordinal of its first document.
    pub first_document: u32,
    /// One past the ordinal of its last document.
    pub end_document: u32,
}

/// What a part says about itself (metadata `relscale.part`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartMeta {
    /// Its place in the run.
    #[serde(flatten)]
    pub range: PartRange,
    /// Rows with a finite score.
    pub scored: u64,
    /// Source bytes of those rows.
    pub bytes: u64,
    /// Rows with a non-finite logit.
    pub nonfinite: u64,
    /// sha256 over the rows. Parquet's own pages carry no checksum here, so this is what
    /// tells a flipped bit from a number.
    pub rows_sha256: String,
}

/// Counts and hash over the rows, the same when writing and when reading.
#[derive(Default)]
struct Account {
    scored: u64,
    bytes: u64,
    nonfinite: u64,
    hash: Sha256,
}

impl Account {
    fn add(&mut self, row: &ScoredToken) {
        // Little-endian words in the order of the columns; absent scores are marked by the first
        // one.
        let mut words = [0u32; 11];
        words[..5].copy_from_slice(&[
            row.document,
            row.position,
            row.token,
            row.bytes,
            row.context,
        ]);
        if let Some(score) = row.score {
            let Score { rank, ties, nll, entropy, argmax } = score;
            // What is not told is a zero, and a bit of the mark tells it from a zero that is.
            let untold = [ties.is_none(), entropy.is_none(), argmax.is_none()];
            let mark = untold.iter().rev().fold(0, |mark, &untold| mark << 1 | u32::from(untold));
            words[5..].copy_from_slice(&[
                1 | mark << 1,
                rank,
                ties.unwrap_or(0),
                nll.to_bits(),
                entropy.unwrap_or(0.0).to_bits(),
                argmax.unwrap_or(0),
            ]);
            self.scored += 1;
            self.bytes += u64::from(row.bytes);
        } else {
            self.nonfinite += 1;
        }
        let mut bytes = [0u8; 44];
        for (four, word) in bytes.chunks_exact_mut(4).zip(words) {
            four.copy_from_slice(&word.to_le_bytes());
        }
        self.hash.update(bytes);
    }

    fn finish(self, range: PartRange) -> PartMeta {
        let rows_sha256 = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        PartMeta {
            range,
            scored: self.scored,
            bytes: self.bytes,
            nonfinite: self.nonfinite,
            rows_sha256,
        }
    }
}

fn schema() -> Arc<Schema> {
    let fields: Vec<Field> = COLUMNS
        .into_iter()
        .map(|(name, kind, nullable)| Field::new(name, kind, nullable))
        .collect();
    Arc::new(Schema::new(fields))
}

/// Writes one part: aside, and under its name only once it is whole.
pub struct TokenWriter {
    writer: ArrowWriter<AtomicFile>,
    path: PathBuf,
    rows: Vec<ScoredToken>,
    account: Account,
}

impl TokenWriter {
    /// Starts the part `path` (as `path.tmp`).
    ///
    /// # Errors
    /// [`Error::Write`] when the file cannot be made.
    pub fn create(path: &Path, provenance: &Provenance) -> Result<Self> {
        let file = AtomicFile::create(path)?;
        let properties = format::properties(KIND, provenance)?;
        let writer = ArrowWriter::try_new(file, schema(), Some(properties))
            .map_err(|source| format::unwritable(path, source))?;
        Ok(Self { writer, path: path.to_path_buf(), rows: Vec::new(), account: Account::default() })
    }

    /// Adds rows. How many at a time does not matter for the bytes: whole row groups are handed on.
    ///
    /// # Errors
    /// [`Error::Write`] (a full disk, for instance); the `.tmp` is removed when the writer is
    /// dropped.
    pub fn write(&mut self, rows: &[ScoredToken]) -> Result<()> {
        for row in rows {
            self.account.add(row);
            self.rows.push(*row);
            if self.rows.len() == format::ROW_GROUP {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes what is left and the metadata, syncs, and gives the part its name.
    ///
    /// # Errors
    /// [`Error::Write`]; the part does not appear then.
    pub fn finish(mut self, range: PartRange) -> Result<PartMeta> {
        self.flush()?;
        let meta = self.account.finish(range);
        let value = serde_json::to_value(&meta)
            .map_err(|source| Error::Serialise { what: "part metadata", source })?;
        self.writer.append_key_value_metadata(KeyValue {
            key: format::PART.into(),
            value: Some(canonical_json(&value)),
        });
        let path = self.path;
        let file = self.writer.into_inner().map_err(|source| format::unwritable(&path, source))?;
        file.commit()?;
        Ok(meta)
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
        let written = self.writer.write(&batch).and_then(|()| self.writer.flush());
        written.map_err(|source| format::unwritable(&self.path, source))
    }
}

fn to_batch(rows: &[ScoredToken]) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let always = |get: fn(&ScoredToken) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(get)))
    };
    let whole = |get: fn(&Score) -> Option<u32>| -> ArrayRef {
        Arc::new(UInt32Array::from_iter(rows.iter().map(|row| row.score.as_ref().and_then(get))))
    };
    let real = |get: fn(&Score) -> Option<f32>| -> ArrayRef {
        Arc::new(Float32Array::from_iter(rows.iter().map(|row| row.score.as_ref().and_then(get))))
    };
    RecordBatch::try_new(
        schema(),
        vec![
            always(|row| row.document),
            always(|row| row.position),
            always(|row| row.token),
            always(|row| row.bytes),
            always(|row| row.context),
            whole(|score| Some(score.rank)),
            whole(|score| score.ties),
            real(|score| Some(score.nll)),
            real(|score| score.entropy),
            whole(|score| score.argmax),
        ],
    )
}

/// Streams the ids of the right tokens of one part, reading no other column.
///
/// Nothing is compared with the part's metadata here: that is for a [`TokenReader`], which sees all
/// columns.
///
/// # Errors
/// As [`TokenReader::open`]; as items: [`Error::Damaged`].
pub fn read_token_ids(path: &Path) -> Result<impl Iterator<Item = Result<Vec<u32>>>> {
    let (builder, _) = format::open_ours(path, KIND)?;
    let only = ProjectionMask::columns(builder.parquet_schema(), ["token"]);
    let batches = Batches::from_builder(builder.with_projection(only).with_batch_size(READ_BATCH))
        .map_err(|source| format::unreadable(path, source))?;
    let path = path.to_path_buf();
    Ok(batches.map(move |batch| {
        let damaged = |reason: String| Error::Damaged { path: path.clone(), reason };
        let batch = batch.map_err(|source| damaged(source.to_string()))?;
        let column = batch
            .column_by_name("token")
            .and_then(|column| column.as_primitive_opt::<UInt32Type>());
        let column = column.ok_or_else(|| damaged("a batch lacks column `token`".to_owned()))?;
        Ok(column.values().to_vec())
    }))
}

/// Streams one part: an iterator over batches of rows.
///
/// After the last batch the counts and the hash are compared with the metadata; a difference is
/// yielded as the last item, so a part that was read to its end without an error is the part that
/// was written.
pub struct TokenReader {
    batches: Batches,
    path: PathBuf,
    provenance: Provenance,
    meta: PartMeta,
    account: Option<Account>,
}

impl TokenReader {
    /// Opens a part and checks that it is one.
    ///
    /// # Errors
    /// [`Error::Read`]; [`Error::Damaged`] for a cut file; [`Error::NotOurs`] for another file;
    /// [`Error::NewerFormat`].
    pub fn open(path: &Path) -> Result<Self> {
        let (builder, provenance) = format::open_ours(path, KIND)?;
        let not_ours =
            |reason: String| Error::NotOurs { path: path.to_path_buf(), what: KIND, reason };
        let meta = format::metadata(&builder, format::PART)
            .ok_or_else(|| not_ours(format!("no metadata `{}`", format::PART)))?;
        let meta = serde_json::from_str(meta)
            .map_err(|source| Error::Json { path: path.to_path_buf(), source })?;
        for (name, kind, _) in COLUMNS {
            match builder.schema().field_with_name(name) {
                Ok(field) if *field.data_type() == kind => {}
                Ok(field) => {
                    return Err(not_ours(format!("column `{name}` is {}", field.data_type())));
                }
                Err(_) => return Err(not_ours(format!("no column `{name}`"))),
            }
        }
        let batches = Batches::from_builder(builder.with_batch_size(READ_BATCH))
            .map_err(|source| format::unreadable(path, source))?;
        Ok(Self {
            batches,
            path: path.to_path_buf(),
            provenance,
            meta,
            account: Some(Account::default()),
        })
    }

    /// The run that the part belongs to.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// What the part says about itself.
    pub fn meta(&self) -> &PartMeta {
        &self.meta
    }

    /// Reads to the end for the sake of the checks.
    ///
    /// # Errors
    /// As the iterator's items.
    pub fn verify(mut self) -> Result<PartMeta> {
        for batch in self.by_ref() {
            batch?;
        }
        Ok(self.meta)
    }

    fn damaged(&self, reason: impl Into<String>) -> Error {
        Error::Damaged { path: self.path.clone(), reason: reason.into() }
    }

    fn rows(&self, batch: &RecordBatch) -> Result<Vec<ScoredToken>> {
        let lacking = |name: &str| self.damaged(format!("a batch lacks column `{name}`"));
        let whole = |name: &str| {
            let column = batch.column_by_name(name).ok_or_else(|| lacking(name))?;
            column.as_primitive_opt::<UInt32Type>().ok_or_else(|| lacking(name))
        };
        let real = |name: &str| {
            let column = batch.column_by_name(name).ok_or_else(|| lacking(name))?;
            column.as_primitive_opt::<Float32Type>().ok_or_else(|| lacking(name))
        };
        let (document, position, token) = (whole("document")?, whole("position")?, whole("token")?);
        let (bytes, context) = (whole("bytes")?, whole("context")?);
        let (rank, ties, argmax) = (whole("rank")?, whole("ties")?, whole("argmax")?);
        let (nll, entropy) = (real("nll")?, real("entropy")?);
        let rows = 0..batch.num_rows();
        Ok(rows
            .map(|i| ScoredToken {
                document: document.value(i),
                position: position.value(i),
                token: token.value(i),
                bytes: bytes.value(i),
                context: context.value(i),
                score: rank.is_valid(i).then(|| Score {
                    rank: rank.value(i),
                    ties: ties.is_valid(i).then(|| ties.value(i)),
                    nll: nll.value(i),
                    entropy: entropy.is_valid(i).then(|| entropy.value(i)),
                    argmax: argmax.is_valid(i).then(|| argmax.value(i)),
                }),
            })
            .collect())
    }

    /// The comparison after the last batch.
    fn conclude(&mut self) -> Option<Error> {
        let seen = self.account.take()?.finish(self.meta.range);
        (seen != self.meta).then(|| {
            self.damaged(format!(
                "its rows are not those that were written ({} scored and {} non-finite, metadata says {} and {})",
                seen.scored, seen.nonfinite, self.meta.scored, self.meta.nonfinite
            ))
        })
    }
}

impl Iterator for TokenReader {
    type Item = Result<Vec<ScoredToken>>;

    fn next(&mut self) -> Option<Self::Item> {
        // No account: the end or an error was reported already.
        self.account.as_ref()?;
        let rows = match self.batches.next() {
            None => return self.conclude().map(Err),
            Some(Err(source)) => Err(self.damaged(source.to_string())),
            Some(Ok(batch)) => self.rows(&batch),
        };
        match (&rows, &mut self.account) {
            (Ok(rows), Some(account)) => rows.iter().for_each(|row| account.add(row)),
            _ => self.account = None,
        }
        Some(rows)
    }
}
