//! Which runs lie in a folder or file.

use std::fs;
use std::path::{Path, PathBuf};

use super::logged::Logged;
use super::run::{CollectedRun, of_logged};
use super::{CollectOptions, huggingface, levanter, metrics, own, tensorboard, wandb};
use crate::error::{Error, Result};

/// How deep folders are searched for runs.
const DEPTH: usize = 4;

/// Collects the runs of all sources, in their order; in a folder by name.
///
/// A folder that is a run of some kind is not searched further; files that are read by their name or ending are `plan.json`, `run.json`,
/// `training.json`, `tracker_metrics.jsonl`, `trainer_state.json`, `events.out.tfevents.*`, `*.jsonl`, `*.csv`.
///
/// # Errors
/// [`Error::NoRuns`]: a source in which there is none. [`Error::Metrics`]: a file that does not follow its format, with the place.
/// [`Error::SameRun`]: two runs of one group with one name.
pub fn collect(options: &CollectOptions) -> Result<Vec<CollectedRun>> {
    let mut runs: Vec<CollectedRun> = Vec::new();
    for (group, path) in &options.sources {
        let mut found = Vec::new();
        search(path, options, DEPTH, &mut found)?;
        if found.is_empty() {
            return Err(Error::NoRuns { path: path.clone() });
        }
        for mut run in found {
            run.group = group.clone().or(run.group);
            if runs.iter().any(|other| other.run == run.run && other.group == run.group) {
                return Err(Error::SameRun { path: path.clone(), run: run.run });
            }
            runs.push(run);
        }
    }
    Ok(runs)
}

fn search(path: &Path, options: &CollectOptions, depth: usize, found: &mut Vec<CollectedRun>) -> Result<()> {
    if path.is_file() {
        return file(path, options, found);
    }
    let has = |name: &str| path.join(name).is_file();
    let mut add = |logged: Logged| found.push(of_logged(&logged, options));
    if has(own::PLAN) {
        found.extend(own::sweep(path, options)?);
    } else if has(own::RUN)
        && let Some(run) = own::run(path, options)?
    {
        found.push(run);
    } else if has(own::TRAINING) {
        add(own::member(path)?);
    } else if has(levanter::FILE) {
        add(levanter::read(&path.join(levanter::FILE))?);
    } else if let Some(state) = huggingface::state(path) {
        add(huggingface::read(path, &state)?);
    } else {
        let read = fs::read_dir(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        let mut entries: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        let events: Vec<PathBuf> = entries
            .iter()
            .filter(|entry| tensorboard::is_events(entry) && entry.is_file())
            .cloned()
            .collect();
        if !events.is_empty() {
            add(beside(tensorboard::read(path, &events)?, path));
            return Ok(());
        }
        let logs = |entry: &&PathBuf| entry.is_file() && matches!(ending(entry).as_str(), "jsonl" | "csv");
        for entry in entries.iter().filter(logs) {
            file(entry, options, found)?;
        }
        for entry in entries.iter().filter(|entry| entry.is_dir() && depth > 0) {
            search(entry, options, depth - 1, found)?;
        }
    }
    Ok(())
}

fn file(path: &Path, options: &CollectOptions, found: &mut Vec<CollectedRun>) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let logged = match ending(path).as_str() {
        _ if tensorboard::is_events(path) => {
            vec![beside(tensorboard::read(folder, &[path.to_owned()])?, folder)]
        }
        _ if name == levanter::FILE => vec![levanter::read(path)?],
        _ if name == huggingface::STATE => vec![huggingface::read(folder, path)?],
        "jsonl" | "ndjson" => vec![beside(metrics::jsonl(path)?, folder)],
        "csv" => {
            let table = metrics::table(path)?;
            let step =
                metrics::STEP.iter().find_map(|name| table.columns.iter().position(|column| column == name));
            match step.and_then(|step| wandb::chart(&table, step)) {
                Some(runs) => runs,
                None => match (wandb::runs(path, &table)?, step) {
                    (Some(runs), _) => runs,
                    (None, Some(step)) => vec![beside(metrics::history(path, &table, step), folder)],
                    (None, None) => {
                        let reason = format!(
                            "neither a column of steps (step, Step, _step) nor of runs (Name, run); the columns are: {}",
                            table.columns.join(", ")
                        );
                        return Err(Error::Metrics {
                            path: path.to_owned(),
                            place: "line 1".to_owned(),
                            reason,
                        });
                    }
                },
            }
        }
        _ => return Err(Error::NoRuns { path: path.to_owned() }),
    };
    found.extend(logged.iter().map(|logged| of_logged(logged, options)));
    Ok(())
}

/// A run with the configuration that lies beside its log.
fn beside(logged: Logged, folder: &Path) -> Logged {
    let config = Some(folder.join("config.json")).filter(|path| path.is_file());
    Logged { config, ..logged }
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}
