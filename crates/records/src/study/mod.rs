//! The study folder: the one place where measurements, fits and reports of one question live.
//!
//! **Actors.** [`Study`] is the folder: opened to read by anybody, or held by one writer at a time.
//! [`RunFolder`] is one model x corpus in it. [`RunRecord`] (`run.json`) says what a run is and how
//! it is cut into parts, [`Done`] (`done.json`) that it is finished. The sums of its rows
//! (`tally.parquet`) are read or made by `tallied`.
//!
//! **Files.** See the [crate's door](crate). `study.json` maps `<model> x <corpus>` to the run that
//! is *current*: measuring the same pair with other weights, text or protocol makes a new run, and
//! once that is finished the old one stays on disk, listed but superseded.
//!
//! **Invariants.**
//! * A folder that holds something else is refused, not written into.
//! * At most one writer: an operating-system lock on `.lock`, which dies with its process.
//! * A run is current only when it is finished, so a reader never sees half a run.

mod commands;
mod computed;
mod merge;
mod names;
mod partition;
mod run;
mod tallied;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::atomic::{self, remove_leftovers, write_whole};
use crate::error::{Error, Result};
use crate::parquet::{read_vocabulary, write_vocabulary};
use crate::provenance::{Provenance, ToolProvenance};
use crate::version::{self, FORMAT};
use crate::vocabulary::Vocabulary;

use crate::lock::{LOCK_FILE, Lock};
pub use commands::{commands, remember};
pub use computed::ComputedOn;
pub use merge::{MergedRun, merge};
pub use names::{is_plain_name, safe_name};
pub use partition::{Slice, SliceOf, parts};
pub use run::{Done, PartFile, PartState, RunFolder, RunPlan, RunRecord, Totals};

/// Name of the file that makes a folder a study.
const STUDY_FILE: &str = "study.json";
/// Name of the folder with the runs.
const RUNS: &str = "runs";
/// Name of the folder with the tokenizers' vocabularies.
const VOCABULARIES: &str = "vocabularies";

/// `study.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StudyRecord {
    format: u32,
    tool: ToolProvenance,
    /// `<model> x <corpus>` -> name of the run's folder under `runs/`.
    current: BTreeMap<String, String>,
    /// Model -> family, where it was set after measuring; wins over the run's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    families: BTreeMap<String, String>,
}

impl StudyRecord {
    fn empty() -> Self {
        Self {
            format: FORMAT,
            tool: ToolProvenance::this(),
            current: BTreeMap::new(),
            families: BTreeMap::new(),
        }
    }

    fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(STUDY_FILE);
        let value: serde_json::Value = read_json(&path)?;
        // The version first: a newer file may well lack or add members.
        version::check(&path, format_of(&value))?;
        let record: Self = serde_json::from_value(value)
            .map_err(|source| Error::Json { path: path.clone(), source })?;
        // A study may come from anybody: a run lies in its `runs` and nowhere else.
        match record.current.values().find(|name| !is_plain_name(name)) {
            Some(name) => Err(Error::NotPlain { path, what: "the run", name: name.clone() }),
            None => Ok(record),
        }
    }
}

/// One run of a study, as [`Study::runs`] lists them.
#[derive(Debug, Clone)]
pub struct RunEntry {
    /// Name of its folder under `runs/`.
    pub folder: String,
    /// What it is.
    pub record: RunRecord,
    /// Its totals, if it is finished.
    pub done: Option<Done>,
    /// Whether it is the one that counts for its model x corpus.
    pub current: bool,
}

/// A study folder, open to read or held to write.
#[derive(Debug)]
pub struct Study {
    path: PathBuf,
    record: StudyRecord,
    lock: Option<Lock>,
}

impl Study {
    /// Holds a study to write to it, making the folder if need be.
    ///
    /// # Errors
    /// [`Error::NotAStudy`] when the folder holds something else; [`Error::Locked`] when another
    /// program writes to it; [`Error::InTheWay`] where a link stands in it for a file or folder;
    /// [`Error::NewerFormat`]; [`Error::Write`].
    pub fn create_or_open(path: &Path) -> Result<Self> {
        if !path.join(STUDY_FILE).exists() {
            refuse_foreign(path)?;
        }
        atomic::folder(path)?;
        let lock = Lock::take(path)?;
        remove_leftovers(path)?;
        // Looked at again under the lock: another writer may have made it in between.
        let record = match path.join(STUDY_FILE).exists() {
            true => StudyRecord::read(path)?,
            false => StudyRecord::empty(),
        };
        let runs = path.join(RUNS);
        atomic::inner_folder(&runs)?;
        let study = Self { path: path.to_path_buf(), record, lock: Some(lock) };
        study.save()?;
        Ok(study)
    }

    /// Opens a study to read; a writer may be at work at the same time.
    ///
    /// # Errors
    /// [`Error::NoStudy`], [`Error::NewerFormat`], [`Error::Json`], [`Error::NotPlain`],
    /// [`Error::Read`].
    pub fn open(path: &Path) -> Result<Self> {
        if !path.join(STUDY_FILE).exists() {
            return Err(Error::NoStudy { path: path.to_path_buf() });
        }
        Ok(Self { path: path.to_path_buf(), record: StudyRecord::read(path)?, lock: None })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name of the folder in which a run with this provenance lives:
    /// `<model>--<corpus>--<first 12 of the key>`.
    pub fn run_name(provenance: &Provenance) -> String {
        let key = provenance.key();
        let short = key.get(..12).unwrap_or(&key);
        let model = safe_name(&provenance.model.name);
        let corpus = safe_name(&provenance.corpus.name);
        format!("{model}--{corpus}--{short}")
    }

    /// Starts a run or goes on with it: makes its folder and `run.json`, clears what a killed
    /// writer left.
    ///
    /// A run that was started before keeps the `run.json` it has, also when it was started by
    /// another version of the program or with another size of parts: use [`RunFolder::record`] from
    /// here on.
    ///
    /// # Errors
    /// [`Error::RunMismatch`] when the folder's `run.json` has another key; [`Error::Write`].
    pub fn start(&mut self, record: &RunRecord) -> Result<RunFolder> {
        let path = self.path.join(RUNS).join(record.folder_name());
        RunFolder::start(&path, record)
    }

    /// Starts a run that is about to be written whole, in place of what there is of it.
    fn restart(&mut self, record: &RunRecord) -> Result<RunFolder> {
        RunFolder::restart(&self.path.join(RUNS).join(record.folder_name()), record)
    }

    /// Makes a finished run the current one of its model x corpus; a slice is none by itself.
    ///
    /// # Errors
    /// [`Error::Unfinished`]; [`Error::Write`].
    pub fn set_current(&mut self, run: &RunFolder) -> Result<()> {
        if run.done()?.is_none() || run.record().slice.is_some() {
            return Err(Error::Unfinished { path: run.path().to_path_buf() });
        }
        let provenance = &run.record().provenance;
        self.record.current.insert(pair(provenance), run.name());
        self.save()
    }

    /// Sets the family of a model for all its runs, measured and to come; it wins over the one in
    /// `run.json`.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn set_family(&mut self, model: &str, family: &str) -> Result<()> {
        self.record.families.insert(model.to_owned(), family.to_owned());
        self.save()
    }

    /// The family of a run's model: as it was set, or as it was measured.
    pub fn family_of<'a>(&'a self, provenance: &'a Provenance) -> &'a str {
        let model = &provenance.model;
        self.record.families.get(&model.name).unwrap_or(&model.family)
    }

    /// All runs: current, superseded and unfinished, by folder name.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Json`], [`Error::NewerFormat`].
    pub fn runs(&self) -> Result<Vec<RunEntry>> {
        let runs = self.path.join(RUNS);
        let mut entries = Vec::new();
        for entry in fs::read_dir(&runs).map_err(Error::read(&runs))? {
            let path = entry.map_err(Error::read(&runs))?.path();
            // A folder without run.json was made by a writer that was killed at once.
            let Some(run) = RunFolder::open(&path)? else { continue };
            let folder = run.name();
            let current = self.record.current.get(&pair(&run.record().provenance));
            let current = current == Some(&folder);
            entries.push(RunEntry {
                folder,
                done: run.done()?,
                record: run.into_record(),
                current,
            });
        }
        entries.sort_by(|a, b| a.folder.cmp(&b.folder));
        Ok(entries)
    }

    /// Opens a run of this study by the name of its folder.
    ///
    /// # Errors
    /// [`Error::Unfinished`] when there is no `run.json`; [`Error::NotPlain`], [`Error::Json`],
    /// [`Error::NewerFormat`].
    pub fn run(&self, folder: &str) -> Result<RunFolder> {
        if !is_plain_name(folder) {
            let path = self.path.join(STUDY_FILE);
            return Err(Error::NotPlain { path, what: "the run", name: folder.to_owned() });
        }
        let path = self.path.join(RUNS).join(folder);
        RunFolder::open(&path)?.ok_or(Error::Unfinished { path })
    }

    /// The current run of each model x corpus, by that pair's name.
    ///
    /// # Errors
    /// As [`Study::run`].
    pub fn current(&self) -> Result<Vec<RunFolder>> {
        self.record.current.values().map(|folder| self.run(folder)).collect()
    }

    /// Keeps a tokenizer's vocabulary, once: where it is there and whole, nothing is written.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write_vocabulary(&mut self, vocabulary: &Vocabulary) -> Result<()> {
        debug_assert!(self.lock.is_some(), "only a writer writes");
        let folder = self.path.join(VOCABULARIES);
        atomic::inner_folder(&folder)?;
        remove_leftovers(&folder)?;
        let path = self.vocabulary_path(vocabulary.tokenizer_sha256());
        if read_vocabulary(&path).is_ok_and(|there| there == *vocabulary) {
            return Ok(());
        }
        write_vocabulary(&path, vocabulary)
    }

    /// The vocabulary of the tokenizer with this hash; `None` in studies of earlier versions, and
    /// for token ids.
    ///
    /// # Errors
    /// As [`read_vocabulary`]; [`Error::NotOurs`] when the file is that of another tokenizer.
    pub fn vocabulary(&self, tokenizer_sha256: &str) -> Result<Option<Vocabulary>> {
        let path = self.vocabulary_path(tokenizer_sha256);
        if !path.exists() {
            return Ok(None);
        }
        let vocabulary = read_vocabulary(&path)?;
        if vocabulary.tokenizer_sha256() != tokenizer_sha256 {
            let reason = format!("it is that of tokenizer {}", vocabulary.tokenizer_sha256());
            return Err(Error::NotOurs { path, what: "the vocabulary of this tokenizer", reason });
        }
        Ok(Some(vocabulary))
    }

    fn vocabulary_path(&self, tokenizer_sha256: &str) -> PathBuf {
        let short = tokenizer_sha256.get(..12).unwrap_or(tokenizer_sha256);
        self.path.join(VOCABULARIES).join(format!("{}.parquet", safe_name(short)))
    }

    fn save(&self) -> Result<()> {
        debug_assert!(self.lock.is_some(), "only a writer saves");
        write_json(&self.path.join(STUDY_FILE), &self.record)
    }
}

/// What a run is called in `current`.
fn pair(provenance: &Provenance) -> String {
    format!("{} x {}", provenance.model.name, provenance.corpus.name)
}

/// Refuses a folder that holds anything but what a study that was killed at birth leaves.
fn refuse_foreign(path: &Path) -> Result<()> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::read(path)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::read(path))?.file_name().to_string_lossy().into_owned();
        names.push(name);
    }
    names.sort();
    let newborn = |name: &str| {
        [LOCK_FILE, RUNS].contains(&name)
            || (name.starts_with(STUDY_FILE) && name.ends_with(".tmp"))
    };
    match names.into_iter().find(|name| !newborn(name)) {
        Some(found) => Err(Error::NotAStudy { path: path.to_path_buf(), found }),
        None => Ok(()),
    }
}

/// The `format` member of a JSON file of ours; absent counts as the oldest.
fn format_of(value: &serde_json::Value) -> u32 {
    value
        .get("format")
        .and_then(serde_json::Value::as_u64)
        .map_or(0, |f| f.try_into().unwrap_or(u32::MAX))
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = fs::read(path).map_err(Error::read(path))?;
    serde_json::from_slice(&bytes)
        .map_err(|source| Error::Json { path: path.to_path_buf(), source })
}

fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|source| Error::Serialise { what: "a file of the study", source })?;
    text.push('\n');
    write_whole(path, text.as_bytes())
}
