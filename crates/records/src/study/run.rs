//! One run: its folder, its record, its parts, its end.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::computed::{self, ComputedOn};
use super::partition::{Slice, SliceOf};
use super::{format_of, read_json, write_json};
use crate::atomic::{self, remove_leftovers};
use crate::error::{Error, Result};
use crate::parquet::{
    DocumentRow, DocumentWriter, PartMeta, PartRange, TokenReader, TokenWriter, read_documents,
    stream_documents, write_documents,
};
use crate::provenance::{Provenance, canonical_json, sha256_bytes, sha256_file};
use crate::tally::DocumentTally;
use crate::units::{Nats, word_perplexity};
use crate::version::{self, FORMAT};

const RUN_FILE: &str = "run.json";
pub(super) const DONE_FILE: &str = "done.json";
const DOCUMENTS_FILE: &str = "documents.parquet";

/// How a run is cut into parts: a function of the corpus, never of time, batch or threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPlan {
    /// Documents of the corpus that the run covers, from the first.
    pub documents: u32,
    /// Positions that it scores in them.
    pub scored: u64,
    /// A part takes whole documents until it has at least this many positions.
    pub part_tokens: u64,
    /// Parts that follow from this.
    pub parts: u32,
}

/// `run.json`: what a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the format.
    pub format: u32,
    /// [`Provenance::key`] of `provenance`.
    pub key: String,
    /// Everything that decided the numbers.
    pub provenance: Provenance,
    /// How it is cut into parts.
    pub plan: RunPlan,
    /// The documents that this folder covers, where it is a slice of the run, to be merged with the
    /// others; the plan is that of the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<Slice>,
    /// What computed it, sorted, none twice; empty where the engine does not say, and in records of
    /// earlier versions. Neither in the key nor in the parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub computed_on: Vec<ComputedOn>,
}

impl RunRecord {
    /// The record of a run with this provenance and plan.
    pub fn new(provenance: Provenance, plan: RunPlan) -> Self {
        let key = provenance.key();
        Self { format: FORMAT, key, provenance, plan, slice: None, computed_on: Vec::new() }
    }

    /// Name of the folder in which the run lives: `<model>--<corpus>--<first 12 of the key>`, and
    /// of a slice `--<index>-of-<count>` behind it.
    pub fn folder_name(&self) -> String {
        let name = super::Study::run_name(&self.provenance);
        match self.slice {
            Some(Slice { which: SliceOf { index, of }, .. }) => format!("{name}--{index}-of-{of}"),
            None => name,
        }
    }
}

/// Counts over a whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Documents covered, those without a scored position included.
    pub documents: u64,
    /// Documents in which no position could be scored (one token, or no scored span).
    pub unscored_documents: u64,
    /// Positions with a finite score.
    pub scored: u64,
    /// Source bytes of those positions.
    pub bytes: u64,
    /// Positions with a non-finite logit.
    pub nonfinite: u64,
}

/// A part as `done.json` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartFile {
    /// Name in the run's folder.
    pub file: String,
    /// Size in bytes.
    pub size: u64,
    /// sha256 of the file, hexadecimal: `sha256sum` gives the same.
    pub sha256: String,
    /// What the part says about itself.
    pub part: PartMeta,
}

/// `done.json`: a run is finished when this exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Version of the format.
    pub format: u32,
    /// Key of the run.
    pub key: String,
    /// Counts over all parts.
    pub totals: Totals,
    /// The parts, in order.
    pub parts: Vec<PartFile>,
}

impl Done {
    /// sha256 over what the parts say of themselves, the hash over their rows included: which rows
    /// sums were counted in.
    pub fn rows_sha256(&self) -> String {
        let parts: Vec<&PartMeta> = self.parts.iter().map(|file| &file.part).collect();
        // Numbers and texts, which JSON always has.
        let parts = serde_json::to_value(parts).unwrap_or_default();
        sha256_bytes(canonical_json(&parts).as_bytes())
    }
}

/// What is there of a part.
#[derive(Debug)]
pub enum PartState {
    /// Nothing.
    Missing,
    /// Whole: read to its end, rows as they were written.
    Finished(PartMeta),
    /// Cut or damaged: it has to be measured again. The reason names the file.
    Damaged(Error),
}

/// The folder of one run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    record: RunRecord,
}

impl RunFolder {
    pub(super) fn start(path: &Path, record: &RunRecord) -> Result<Self> {
        atomic::inner_folder(path)?;
        remove_leftovers(path)?;
        if let Some(there) = Self::open(path)? {
            if there.record.key != record.key {
                return Err(Error::RunMismatch {
                    path: path.to_path_buf(),
                    found: there.record.key,
                    wanted: record.key.clone(),
                });
            }
            return Ok(there);
        }
        write_json(&path.join(RUN_FILE), record)?;
        Ok(Self { path: path.to_path_buf(), record: record.clone() })
    }

    /// As [`start`](Self::start), for a run that is about to be written whole: what the folder
    /// holds of it under another `run.json` (other versions, other sizes of parts) gives way.
    pub(super) fn restart(path: &Path, record: &RunRecord) -> Result<Self> {
        let there = Self::start(path, record)?;
        if there.record == *record {
            return Ok(there);
        }
        // `done.json` first: what is cut off here is no finished run.
        let mut files = vec![path.join(DONE_FILE)];
        for entry in fs::read_dir(path).map_err(Error::read(path))? {
            files.push(entry.map_err(Error::read(path))?.path());
        }
        let ours = |file: &PathBuf| {
            file.ends_with(DONE_FILE) || file.extension().is_some_and(|e| e == "parquet")
        };
        for file in files.into_iter().filter(|file| ours(file) && file.exists()) {
            fs::remove_file(&file).map_err(Error::write(&file))?;
        }
        write_json(&path.join(RUN_FILE), record)?;
        Ok(Self { path: path.to_path_buf(), record: record.clone() })
    }

    /// `None` when the folder has no `run.json`.
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        let file = path.join(RUN_FILE);
        if !file.exists() {
            return Ok(None);
        }
        let record: RunRecord = read_checked(&file)?;
        // An edited provenance would be believed by everything downstream: hash it again.
        let key = record.provenance.key();
        if key != record.key {
            return Err(Error::RunMismatch {
                path: path.to_path_buf(),
                found: record.key,
                wanted: key,
            });
        }
        Ok(Some(Self { path: path.to_path_buf(), record }))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name of the folder.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// What the run is.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Records that (more of) the run is computed on this.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn add_computed_on(&mut self, one: &ComputedOn) -> Result<()> {
        if computed::add(&mut self.record.computed_on, one) {
            write_json(&self.path.join(RUN_FILE), &self.record)?;
        }
        Ok(())
    }

    pub(super) fn into_record(self) -> RunRecord {
        self.record
    }

    /// Where a part is, or will be.
    pub fn part_path(&self, index: u32) -> PathBuf {
        self.path.join(part_name(index))
    }

    /// Starts to write a part.
    ///
    /// # Errors
    /// As [`TokenWriter::create`].
    pub fn part_writer(&self, index: u32) -> Result<TokenWriter> {
        TokenWriter::create(&self.part_path(index), &self.record.provenance)
    }

    /// Looks at a part, reading all of it: finished, missing or damaged.
    ///
    /// # Errors
    /// [`Error::ForeignPart`] for a good part of another run or another place;
    /// [`Error::NewerFormat`]; [`Error::Read`].
    pub fn part_state(&self, range: PartRange) -> Result<PartState> {
        let path = self.part_path(range.index);
        if !path.exists() {
            return Ok(PartState::Missing);
        }
        let state = self.open_part(range.index).and_then(TokenReader::verify);
        match state {
            Ok(meta) if meta.range == range => Ok(PartState::Finished(meta)),
            Ok(meta) => Err(Error::ForeignPart {
                path,
                reason: format!("it holds {:?}, the plan says {range:?}", meta.range),
            }),
            Err(reason @ (Error::Damaged { .. } | Error::NotOurs { .. } | Error::Json { .. })) => {
                Ok(PartState::Damaged(reason))
            }
            Err(error) => Err(error),
        }
    }

    /// Opens a part to stream it, and checks that it belongs to this run.
    ///
    /// # Errors
    /// As [`TokenReader::open`], and [`Error::ForeignPart`].
    pub fn open_part(&self, index: u32) -> Result<TokenReader> {
        let path = self.part_path(index);
        let reader = TokenReader::open(&path)?;
        if *reader.provenance() != self.record.provenance {
            let reason = if reader.provenance().key() == self.record.key {
                "same key, but names or versions differ from run.json".to_owned()
            } else {
                format!(
                    "its key is {}, run.json has {}",
                    reader.provenance().key(),
                    self.record.key
                )
            };
            return Err(Error::ForeignPart { path, reason });
        }
        Ok(reader)
    }

    /// Writes the table of documents.
    ///
    /// # Errors
    /// As [`write_documents`].
    pub fn write_documents(&self, rows: &[DocumentRow]) -> Result<()> {
        write_documents(&self.path.join(DOCUMENTS_FILE), &self.record.provenance, rows)
    }

    /// Starts to write the table of documents, row by row.
    ///
    /// # Errors
    /// As [`DocumentWriter::create`].
    pub fn document_writer(&self) -> Result<DocumentWriter> {
        DocumentWriter::create(&self.path.join(DOCUMENTS_FILE), &self.record.provenance)
    }

    /// Whether the table of documents is there and can be read to its end.
    pub fn has_documents(&self) -> bool {
        stream_documents(&self.path.join(DOCUMENTS_FILE))
            .is_ok_and(|mut rows| rows.all(|rows| rows.is_ok()))
    }

    /// Reads the table of documents.
    ///
    /// # Errors
    /// As [`read_documents`].
    pub fn documents(&self) -> Result<Vec<DocumentRow>> {
        read_documents(&self.path.join(DOCUMENTS_FILE))
    }

    /// Streams the table of documents; `None` where there is none.
    pub(super) fn stream_documents(
        &self,
    ) -> Result<Option<impl Iterator<Item = Result<Vec<DocumentRow>>> + use<>>> {
        let path = self.path.join(DOCUMENTS_FILE);
        if !path.exists() {
            return Ok(None);
        }
        stream_documents(&path).map(Some)
    }

    /// Perplexity a word of a finished run with these totals, as lm-evaluation-harness defines it;
    /// `None` unless every token of every document was scored (but the first where nothing stands
    /// before it), and all documents came as text.
    ///
    /// # Errors
    /// As [`RunFolder::documents`].
    pub fn word_perplexity(&self, totals: &DocumentTally) -> Result<Option<f64>> {
        let unscored = u64::from(self.record.provenance.protocol.prefix.is_none());
        let mut words = 0;
        for row in self.documents()? {
            match row.words {
                // A text of nothing has no token and no say.
                _ if row.tokens == 0 => {}
                Some(here) if row.scored + unscored >= row.tokens => words += here,
                _ => return Ok(None),
            }
        }
        let finite = totals.nonfinite == 0;
        Ok(word_perplexity(Nats(totals.sum_nll), words).filter(|_| finite))
    }

    /// Declares the run finished: hashes its parts and writes `done.json`.
    ///
    /// # Errors
    /// [`Error::Read`] when a part is gone; [`Error::Write`].
    pub fn finish(&self, parts: Vec<PartMeta>, unscored_documents: u64) -> Result<Done> {
        let mut totals = Totals {
            documents: u64::from(match self.record.slice {
                Some(slice) => slice.documents(),
                None => self.record.plan.documents,
            }),
            unscored_documents,
            ..Totals::default()
        };
        let mut files = Vec::with_capacity(parts.len());
        for part in parts {
            totals.scored += part.scored;
            totals.bytes += part.bytes;
            totals.nonfinite += part.nonfinite;
            let path = self.part_path(part.range.index);
            files.push(PartFile {
                file: part_name(part.range.index),
                size: fs::metadata(&path).map_err(Error::read(&path))?.len(),
                sha256: sha256_file(&path)?,
                part,
            });
        }
        let done = Done { format: FORMAT, key: self.record.key.clone(), totals, parts: files };
        write_json(&self.path.join(DONE_FILE), &done)?;
        Ok(done)
    }

    /// The run's totals; `None` while it is not finished.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Json`], [`Error::NewerFormat`].
    pub fn done(&self) -> Result<Option<Done>> {
        let path = self.path.join(DONE_FILE);
        if !path.exists() {
            return Ok(None);
        }
        read_checked(&path).map(Some)
    }

    /// Streams all rows of a finished run, part by part in order, checking each part against
    /// `done.json`.
    ///
    /// # Errors
    /// [`Error::Unfinished`]; as items: [`Error::Damaged`], [`Error::ForeignPart`],
    /// [`Error::Read`].
    pub fn rows(
        &self,
    ) -> Result<impl Iterator<Item = Result<Vec<crate::token::ScoredToken>>> + '_> {
        let done = self.done()?.ok_or_else(|| Error::Unfinished { path: self.path.clone() })?;
        Ok(done.parts.into_iter().flat_map(move |file| {
            let opened = self.open_listed(&file);
            let (reader, error) = match opened {
                Ok(reader) => (Some(reader), None),
                Err(error) => (None, Some(Err(error))),
            };
            error.into_iter().chain(reader.into_iter().flatten())
        }))
    }

    fn open_listed(&self, file: &PartFile) -> Result<TokenReader> {
        let path = self.part_path(file.part.range.index);
        if !path.exists() {
            return Err(Error::MissingPart { path });
        }
        let size = fs::metadata(&path).map_err(Error::read(&path))?.len();
        if size != file.size {
            let reason = format!("it has {size} bytes, done.json says {}", file.size);
            return Err(Error::Damaged { path, reason });
        }
        let reader = self.open_part(file.part.range.index)?;
        if *reader.meta() != file.part {
            let reason = "its counts or rows are not those that done.json lists".to_owned();
            return Err(Error::ForeignPart { path, reason });
        }
        Ok(reader)
    }
}

fn part_name(index: u32) -> String {
    format!("part-{index:05}.parquet")
}

/// Reads a JSON file of ours, its format first.
fn read_checked<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let value: serde_json::Value = read_json(path)?;
    version::check(path, format_of(&value))?;
    serde_json::from_value(value).map_err(|source| Error::Json { path: path.to_path_buf(), source })
}
