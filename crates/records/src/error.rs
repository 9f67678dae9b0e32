//! What can go wrong with records, each with what, where, and what to do next.

use std::io;
use std::path::{Path, PathBuf};

use crate::shell;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that this crate refuses or fails at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system said no while reading.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// File or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file system said no while writing.
    #[error("{}: cannot write: {source}; finished parts are intact{}", path.display(), hint(source))]
    Write {
        /// File or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A JSON file of ours does not parse.
    #[error("{}: not valid: {source}; the file was changed or cut: restore it, or measure into a new folder", path.display())]
    Json {
        /// File.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// Something could not be put into JSON.
    #[error("{what}: cannot be written as JSON: {source}")]
    Serialise {
        /// What was to be written.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// A Parquet file of ours cannot be read as such; never said of a file that others made.
    #[error(
        "{}: cut or damaged Parquet file: {reason}; move it away and run the command that wrote it again",
        path.display()
    )]
    Damaged {
        /// File.
        path: PathBuf,
        /// What did not fit.
        reason: String,
    },
    /// A file of columns that others made cannot be read. It may be all there is of their data, so
    /// it is never to be deleted.
    #[error("{}: {reason}; {todo}", path.display())]
    Foreign {
        /// File.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// What to do about it.
        todo: String,
    },
    /// A Parquet file could not be written.
    #[error("{}: cannot write Parquet: {reason}; finished parts are intact", path.display())]
    WriteParquet {
        /// File.
        path: PathBuf,
        /// The writer's reason.
        reason: String,
    },
    /// A part of a finished run that is not there any more.
    #[error(
        "{}: this part of a finished run is gone; run the same `relscale measure` command again: it measures what is missing",
        path.display()
    )]
    MissingPart {
        /// File.
        path: PathBuf,
    },
    /// A good Parquet file, but not one of ours.
    #[error("{}: not a file of {what} by relscale: {reason}", path.display())]
    NotOurs {
        /// File.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
        /// What is missing or different.
        reason: String,
    },
    /// Written by a later version.
    #[error(
        "{}: has format {found}, this program knows up to {known}: use the relscale that wrote it, or a newer one",
        path.display()
    )]
    NewerFormat {
        /// File.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format known here.
        known: u32,
    },
    /// A part's metadata contradicts its run.
    #[error("{}: belongs to another run ({reason}); move it out of the folder and run the same command again", path.display())]
    ForeignPart {
        /// File.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// A vocabulary whose ids are not in order.
    #[error("not a vocabulary: {reason}; ids ascend, each once")]
    Vocabulary {
        /// What is out of order.
        reason: String,
    },
    /// Columns that a foreign Parquet file lacks.
    #[error("{}: has no column `{column}`; its columns are: {}", path.display(), there.join(", "))]
    NoColumn {
        /// File.
        path: PathBuf,
        /// The wanted column.
        column: String,
        /// The columns there are.
        there: Vec<String>,
    },
    /// A column of a foreign Parquet file that is not text, or no label.
    #[error(
        "{}: column `{column}` is {found}, which is no {wanted}; columns that are: {}",
        path.display(),
        if usable.is_empty() { "none".to_owned() } else { usable.join(", ") }
    )]
    NotText {
        /// File.
        path: PathBuf,
        /// The wanted column.
        column: String,
        /// Its type.
        found: String,
        /// What it must be.
        wanted: &'static str,
        /// Columns that could be read.
        usable: Vec<String>,
    },
    /// A column of a foreign Parquet file whose values are neither numbers nor text.
    #[error("{}: column `{column}` is {found}; a column of numbers, text or truth values is needed", path.display())]
    NotCells {
        /// File.
        path: PathBuf,
        /// The wanted column.
        column: String,
        /// Its type.
        found: String,
    },
    /// Something in the place of a file or folder of ours that is not to be written through or
    /// over.
    #[error(
        "{}: {what}, and nothing is written through it; move it away, or put what it leads to in its place, and run the same command again",
        path.display()
    )]
    InTheWay {
        /// What is in the way.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A name in a file of ours that would lead elsewhere.
    #[error(
        "{}: names {what} {name:?}, which is no plain name; the file was changed or made by another program: restore it",
        path.display()
    )]
    NotPlain {
        /// The file.
        path: PathBuf,
        /// What is named.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The output folder holds something else.
    #[error(
        "{}: is not empty and not a relscale study (found `{found}`, no study.json): \
         give a new or an empty folder with --out",
        path.display()
    )]
    NotAStudy {
        /// Folder.
        path: PathBuf,
        /// An entry that was found in it.
        found: String,
    },
    /// There is no study to read.
    #[error("{}: no study here (no study.json); `relscale measure ... --out {}` makes one", path.display(), shell::quoted(path))]
    NoStudy {
        /// Folder.
        path: PathBuf,
    },
    /// Another program is writing to the study or sweep.
    #[error(
        "{}: another relscale{} is writing to this folder: wait until it ends, or use another folder",
        path.display(),
        process.map(|id| format!(" (process {id})")).unwrap_or_default()
    )]
    Locked {
        /// The folder.
        path: PathBuf,
        /// The writer, as it noted itself.
        process: Option<u32>,
    },
    /// A run's folder whose `run.json` says something else than was asked for.
    #[error("{}: run.json has key {found}, wanted {wanted}: the folder was renamed or edited; move it away and run again", path.display())]
    RunMismatch {
        /// Run folder.
        path: PathBuf,
        /// Key in the file.
        found: String,
        /// Key of the run that was asked for.
        wanted: String,
    },
    /// A run that is not finished was asked for its results.
    #[error("{}: this run is not finished: run the same `relscale measure` command again to go on", path.display())]
    Unfinished {
        /// Run folder.
        path: PathBuf,
    },
    /// Sequences that cannot be counted.
    #[error("{what} of sequences are {values:?}; expected: {expected}")]
    SequenceGrid {
        /// Which list.
        what: &'static str,
        /// The values given.
        values: Vec<u32>,
        /// What would be accepted.
        expected: &'static str,
    },
    /// Rows of a run that something needs and that are not there: a study can be copied without
    /// them.
    #[error(
        "{}: {reason}, and the rows of this run (part-*.parquet) are not here: bring them from where it was \
         measured, or run the same `relscale measure` command again with --rows",
        path.display()
    )]
    NeedsRows {
        /// Run folder.
        path: PathBuf,
        /// What they are needed for.
        reason: String,
    },
    /// Studies that do not become one.
    #[error("the studies cannot be merged: {reason}")]
    MergeStudies {
        /// What stands against it.
        reason: String,
    },
    /// Two tallies that do not belong together.
    #[error("tallies cannot be merged: {reason}")]
    Merge {
        /// What differs.
        reason: String,
    },
}

/// What to do about the usual reasons of a failed write, after what was said of it.
pub fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; the disk is full: free some space and run the same command again to go on"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder you may write to"
        }
        _ => "; run the same command again to go on",
    }
}

impl Error {
    /// For `map_err` on reads.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Read { path, source }
    }

    /// For `map_err` on writes.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Write { path, source }
    }
}
