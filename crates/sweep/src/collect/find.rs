//! Which runs lie in a folder or file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::apart::{self, Placed};
use super::logged::Logged;
use super::metrics::{self, Table, is_common};
use super::run::{CollectedRun, collected_run};
use super::wandb::Objects;
use super::{CollectOptions, huggingface, levanter, own, tensorboard, wandb};
use crate::error::{Error, Result};
use crate::train::sweep::Status;

/// How deep folders are searched for runs.
const DEPTH: usize = 8;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collected {
    /// The runs of all sources, in their order; in a folder by name.
    pub runs: Vec<CollectedRun>,
    /// What lies in a source and is no run, although it might have been one.
    pub passed_over: Vec<PassedOver>,
}

/// A file or folder that is no run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// Where it lies.
    pub path: PathBuf,
    /// Why it was passed over.
    pub reason: String,
}

/// Collects the runs of all sources, in their order; in a folder by name.
///
/// Files that are read by their name or ending are `plan.json`, `run.json`, `training.json`,
/// `tracker_metrics.jsonl`, `trainer_state.json`, `events.out.tfevents.*`, `*.jsonl`, `*.ndjson`,
/// `*.csv`, `*.tsv`. A damaged file in a folder stops nothing: its run is listed as unfinished,
/// with the reason, and what names no run is passed over by name. A file that was named itself is
/// refused.
///
/// # Errors
/// [`Error::NoRuns`]: a source in which there is none. [`Error::Metrics`]: a file that does not
/// follow its format, with the place, where it is all there is. [`Error::SameRun`]: two runs of one
/// group with one name, in one place or in tables.
pub fn collect(options: &CollectOptions) -> Result<Collected> {
    let mut all: Vec<Placed> = Vec::new();
    let mut passed_over = Vec::new();
    for (group, path) in &options.sources {
        let mut search = Search::new(options);
        if path.is_file() {
            search.file(path)?;
        } else {
            // What cannot be opened at all is no folder without runs.
            fs::read_dir(path).map_err(|source| Error::Read { path: path.clone(), source })?;
            search.folder(path, DEPTH, false);
        }
        if search.runs.is_empty() || (search.unread == search.runs.len() && search.first.is_some())
        {
            return Err(search.first.take().unwrap_or(Error::NoRuns { path: path.clone() }));
        }
        passed_over.append(&mut search.passed_over);
        all.extend(search.runs.into_iter().map(|(mut run, place)| {
            run.group = group.clone().or(run.group);
            (run, place)
        }));
    }
    apart::name_apart(&mut all);
    let mut runs: Vec<CollectedRun> = Vec::new();
    for (run, place) in all {
        if runs.iter().any(|other| other.run == run.run && other.group == run.group) {
            let path = place
                .or_else(|| options.sources.last().map(|(_, path)| path.clone()))
                .unwrap_or_default();
            return Err(Error::SameRun { path, run: run.run });
        }
        runs.push(run);
    }
    Ok(Collected { runs, passed_over })
}

/// The search of one source.
struct Search<'a> {
    options: &'a CollectOptions,
    runs: Vec<Placed>,
    passed_over: Vec<PassedOver>,
    /// Runs of which nothing could be read.
    unread: usize,
    /// The first thing that could not be.
    first: Option<Error>,
    /// Folders that were searched: a link may lead back to one.
    seen: BTreeSet<PathBuf>,
}

impl<'a> Search<'a> {
    fn new(options: &'a CollectOptions) -> Self {
        Self {
            options,
            runs: Vec::new(),
            passed_over: Vec::new(),
            unread: 0,
            first: None,
            seen: BTreeSet::new(),
        }
    }

    /// A run that is all of a folder or file.
    fn add(&mut self, logged: &Logged, place: &Path) {
        self.runs.push((collected_run(logged, self.options), Some(full(place))));
    }

    /// A run of which nothing could be read: it is there, and takes no part.
    fn broken(&mut self, name: String, place: &Path, error: Error) {
        let notes = vec![error.to_string()];
        let run = CollectedRun {
            run: name,
            status: Some(Status::Unfinished),
            notes,
            ..CollectedRun::default()
        };
        self.runs.push((run, Some(full(place))));
        self.unread += 1;
        self.first.get_or_insert(error);
    }

    fn pass(&mut self, path: &Path, reason: impl Into<String>) {
        self.passed_over.push(PassedOver { path: path.to_owned(), reason: reason.into() });
    }

    /// Searches a folder. `below`: it lies in the folder of a run, whose own logs are not read as
    /// runs again.
    fn folder(&mut self, path: &Path, depth: usize, below: bool) {
        if !self.seen.insert(full(path)) {
            return self.pass(path, "a link to a folder that was searched already");
        }
        let (files, folders) = match listed(path) {
            Ok(listed) => listed,
            Err(error) => {
                self.pass(path, error.to_string());
                self.first.get_or_insert(error);
                return;
            }
        };
        let has = |name: &str| {
            files.iter().any(|file| file.file_name().is_some_and(|there| there == name))
        };
        let state = huggingface::state(path);
        let before = self.runs.len();
        let mut own_folders: Vec<PathBuf> = Vec::new();
        let planned = has(own::PLAN) && self.plan(path, &mut own_folders);
        if planned {
            // Its runs are those of the plan.
        } else if has(own::RUN) {
            self.record(path);
        } else if has(own::TRAINING) {
            self.read(path, &path.join(own::TRAINING), own::member(path));
        } else if has(levanter::FILE) {
            self.read(path, &path.join(levanter::FILE), levanter::read(&path.join(levanter::FILE)));
        } else if let Some(state) = state {
            own_folders = folders.iter().filter(|folder| is_checkpoint(folder)).cloned().collect();
            self.read(path, &state, huggingface::read(path, &state));
        }
        let is_run = self.runs.len() > before;
        for (file, reason) in files.iter().filter_map(|file| Some((file, unread(file)?))) {
            self.pass(file, reason);
        }
        let events: Vec<PathBuf> =
            files.iter().filter(|file| tensorboard::is_events(file)).cloned().collect();
        let logs: Vec<PathBuf> = files.iter().filter(|file| is_log(file)).cloned().collect();
        if is_run || below {
            // A trainer's folder has its own event files too, and a sweep its table.
            let named =
                |file: &&PathBuf| !file.ends_with(levanter::FILE) && !file.ends_with("runs.csv");
            for file in events.iter().chain(&logs).filter(named) {
                self.pass(
                    file,
                    "it lies in the folder of a run that is read from another file; name it to read it too",
                );
            }
        } else if events.is_empty() {
            for file in &logs {
                if let Err(error) = self.file(file) {
                    self.wrong(file, error);
                }
            }
        } else {
            match tensorboard::read(path, &events) {
                // Profiles and images have files of events as well.
                Ok(logged) if logged.numbers.is_empty() => {
                    events.iter().for_each(|file| self.pass(file, "no scalar in it"));
                }
                read => self.read(path, &events[0], read.map(|logged| beside(logged, path))),
            }
            for file in &logs {
                self.pass(
                    file,
                    "it lies beside event files, which are read; name it to read it too",
                );
            }
        }
        for folder in folders.iter().filter(|folder| !own_folders.contains(folder)) {
            let hidden =
                folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            match depth {
                _ if hidden => self.pass(folder, "a hidden folder; name it to search it"),
                0 => self.pass(
                    folder,
                    format!("it lies more than {DEPTH} folders deep; name it to search it"),
                ),
                _ => self.folder(folder, depth - 1, (is_run && !planned) || below),
            }
        }
    }

    /// What was read of a run, or that it could not be.
    fn read(&mut self, folder: &Path, file: &Path, read: Result<Logged>) {
        match read {
            Ok(logged) => self.add(&logged, folder),
            Err(error) => self.broken(metrics::folder_name(&folder.join("file")), file, error),
        }
    }

    /// A sweep of ours; `false` where its plan is somebody else's file.
    fn plan(&mut self, path: &Path, own_folders: &mut Vec<PathBuf>) -> bool {
        match own::sweep(path, self.options) {
            Ok(runs) => {
                own_folders.extend(runs.iter().map(|run| path.join(&run.run)));
                self.runs.extend(runs.into_iter().map(|run| (run, None)));
                true
            }
            Err(error) => {
                self.pass(&path.join(own::PLAN), error.to_string());
                self.first.get_or_insert(error);
                false
            }
        }
    }

    /// A run of a sweep by itself.
    fn record(&mut self, path: &Path) {
        match own::run(path, self.options) {
            Ok(run) => self.runs.extend(run.map(|run| (run, None))),
            Err(error) => self.broken(metrics::folder_name(&path.join("file")), path, error),
        }
    }

    /// A file in a folder that could not be read: the log of a run, or no log at all.
    fn wrong(&mut self, file: &Path, error: Error) {
        if ending(file).starts_with("json") || ending(file) == "ndjson" || is_common(file) {
            self.broken(metrics::run_name(file), file, error);
        } else {
            self.pass(file, error.to_string());
            self.first.get_or_insert(error);
        }
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // A run is called as its file, or as the folder of a file with a common name.
        let place = if is_common(path) { folder.to_owned() } else { path.with_extension("") };
        let logged = match ending(path).as_str() {
            _ if tensorboard::is_events(path) => {
                self.add(&beside(tensorboard::read(folder, &[path.to_owned()])?, folder), folder);
                return Ok(());
            }
            _ if name == levanter::FILE => {
                self.add(&levanter::read(path)?, folder);
                return Ok(());
            }
            _ if name == huggingface::STATE => {
                self.add(&huggingface::read(folder, path)?, folder);
                return Ok(());
            }
            "jsonl" | "ndjson" => {
                let found = metrics::jsonl(path)?;
                match wandb::objects(path, &found.objects)? {
                    Objects::Runs(runs) => runs,
                    Objects::Steps(runs) => {
                        let of = |(name, objects)| metrics::steps(name, found.with(objects));
                        runs.into_iter().map(of).collect()
                    }
                    Objects::OneRun => {
                        let logged = metrics::steps(metrics::run_name(path), found);
                        self.add(&beside(logged, folder), &place);
                        return Ok(());
                    }
                }
            }
            "csv" | "tsv" | "parquet" => {
                let table = if ending(path) == "parquet" {
                    metrics::parquet(path)?
                } else {
                    metrics::table(path)?
                };
                match self.table(path, &table, &place)? {
                    Some(runs) => runs,
                    None => return Ok(()),
                }
            }
            _ => return Err(Error::NoRuns { path: path.to_owned() }),
        };
        let options = self.options;
        self.runs.extend(logged.iter().map(|logged| (collected_run(logged, options), None)));
        Ok(())
    }

    /// The runs that a table names; `None` where it is the log of one, which is added.
    fn table(&mut self, path: &Path, table: &Table, place: &Path) -> Result<Option<Vec<Logged>>> {
        let step = table.column(&metrics::STEP);
        if let Some(runs) = step.and_then(|step| wandb::chart(table, step)) {
            return Ok(Some(runs));
        }
        match (wandb::runs(path, table, step)?, step) {
            (Some(runs), _) => Ok(Some(runs)),
            (None, Some(step)) => {
                let logged =
                    metrics::history(metrics::run_name(path), table, step, table.rows.iter());
                self.add(&beside(logged, path.parent().unwrap_or(Path::new("."))), place);
                Ok(None)
            }
            (None, None) => {
                let reason = format!(
                    "neither a column of steps (step, Step, _step) nor of runs (Name, run); the columns are: {}",
                    table.columns.join(", ")
                );
                Err(metrics::refuse(path, 1, reason))
            }
        }
    }
}

/// Files and folders of a folder, by name.
fn listed(path: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let refuse = |source| Error::Read { path: path.to_owned(), source };
    let entries = fs::read_dir(path).map_err(refuse)?;
    let mut entries: Vec<PathBuf> =
        entries.map(|entry| Ok(entry.map_err(refuse)?.path())).collect::<Result<_>>()?;
    entries.sort();
    let (folders, others): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.into_iter().partition(|entry| entry.is_dir());
    Ok((others.into_iter().filter(|entry| entry.is_file()).collect(), folders))
}

/// Whether a folder is one of the Hugging Face trainer's checkpoints.
fn is_checkpoint(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("checkpoint-"))
}

/// Whether a file's ending is one of those that metrics have.
fn is_log(path: &Path) -> bool {
    !tensorboard::is_events(path)
        && matches!(ending(path).as_str(), "jsonl" | "ndjson" | "csv" | "tsv")
}

/// Why a file that may hold a log is not read from a folder.
fn unread(path: &Path) -> Option<&'static str> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase())?;
    let packed = [".gz", ".zst", ".bz2", ".xz"].iter().any(|packed| name.ends_with(packed));
    match ending(path).as_str() {
        // Ours, beside a run's record.
        "parquet" if name != "curve.parquet" => {
            Some("a Parquet file; name it to read it as a table of runs")
        }
        "wandb" => Some("Weights & Biases' own format; export the runs as CSV"),
        _ if packed
            && [".jsonl", ".csv", ".ndjson", "tfevents"].iter().any(|log| name.contains(log)) =>
        {
            Some("compressed; unpack it to read it")
        }
        _ => None,
    }
}

/// A run with the configuration that lies beside its log.
fn beside(logged: Logged, folder: &Path) -> Logged {
    let config = Some(folder.join("config.json")).filter(|path| path.is_file());
    Logged { config, ..logged }
}

fn full(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}
