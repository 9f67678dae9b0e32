//! Result files of lm-evaluation-harness (`results_*.json`, as its 0.4 line writes them; older ones with plain metric names too).
//!
//! An accuracy is taken as a share of successes, a perplexity as `exp` of a cross entropy. The files do not know S: it comes
//! from a table of sizes, or, with a caution, from `config.model_num_parameters`, which counts embeddings.
//!
//! | file | what |
//! |---|---|
//! | `file` | one result file: its model, and what it says of each task |
//! | `unlike` | whether the models of a law were evaluated alike |
//!
//! Invariants: each model of the files is in each law of its group, as a point or left out with the reason.

mod file;
mod unlike;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::error::TableError;
use super::fit::{self, Given, Observation};
use super::kind::Kind;
use super::sizes::Sizes;
use crate::error::LawsError;
use crate::result::{RESULT_FORMAT, TableFit};
use file::Results;
use unlike::Evaluation;

/// What a user may choose about the fit of results.
#[derive(Debug, Clone, PartialEq)]
pub struct HarnessOptions {
    /// Tasks to fit; empty = all.
    pub tasks: Vec<String>,
    /// Metrics to fit (`acc`, `perplexity`, with or without the filter behind a comma); empty = all whose kind is known.
    pub metrics: Vec<String>,
    /// What the metrics are, for those whose name does not say it: one for all that are asked for, or one for each.
    pub kinds: Vec<Kind>,
    /// A table with the size of each model.
    pub sizes: Option<PathBuf>,
    /// Columns of the table of sizes to group by.
    pub group: Vec<String>,
    /// Leave models out whose value is NaN or infinite, by name, instead of refusing them.
    pub leave_out_nan: bool,
    /// Nominal coverage of every interval.
    pub level: f64,
}

impl Default for HarnessOptions {
    fn default() -> Self {
        Self {
            tasks: Vec::new(),
            metrics: Vec::new(),
            kinds: Vec::new(),
            sizes: None,
            group: Vec::new(),
            leave_out_nan: false,
            level: 0.95,
        }
    }
}

/// Fits a power law to each metric of each task over the models of several result files.
///
/// A folder stands for all `*.json` files below it whose name begins with `results`.
///
/// # Errors
/// [`LawsError::Table`]: no result file, a model without a size, the same model twice for one task, a value that cannot be;
/// nothing that was asked for. [`LawsError::Option`] for a level that is no probability.
pub fn fit_harness(paths: &[PathBuf], options: &HarnessOptions) -> Result<TableFit, LawsError> {
    let level = super::check_level(options.level)?;
    if !options.kinds.is_empty() && ![1, options.metrics.len()].contains(&options.kinds.len()) {
        let (kinds, columns) = (options.kinds.len(), options.metrics.len());
        return Err(TableError::KindCount { kinds, columns }.into());
    }
    if options.sizes.is_none() && !options.group.is_empty() {
        return Err(LawsError::Option {
            option: "group",
            value: options.group.join(", "),
            expected: "a table of sizes (--sizes) with these columns; results do not name families",
        });
    }
    let sizes = options.sizes.as_deref().map(Sizes::read).transpose()?;
    let mut files = Vec::new();
    for path in paths {
        result_files(path, &mut files)?;
    }
    // A folder and a file in it may both be named.
    let mut seen = BTreeSet::new();
    files.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    let mut found: Vec<Found> = Vec::new();
    let mut there = Vec::new();
    let read: Vec<Results> = files.iter().map(|path| Results::read(path)).collect::<Result<_, _>>()?;
    for results in &read {
        results.observations(options, sizes.as_ref(), &mut found, &mut there)?;
    }
    if found.iter().all(|found| matches!(found.observation.given, Given::None { .. })) {
        there.sort();
        there.dedup();
        let wanted = [options.tasks.join(" or "), options.metrics.join(" or ")].join(" ");
        let wanted = if wanted.trim().is_empty() { "a metric of a known kind" } else { wanted.trim() };
        return Err(TableError::NoResults { wanted: wanted.to_owned(), there }.into());
    }
    twice(&found)?;
    say_unlike(&mut found);
    let missing = missing(&read, &found, options, sizes.as_ref());
    let observations = found.into_iter().map(|found| found.observation).chain(missing).collect();
    Ok(TableFit {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        files: files.iter().chain(&options.sizes).map(|path| path.display().to_string()).collect(),
        x: "S".to_owned(),
        level,
        groups: fit::groups(observations, "S", level),
    })
}

/// The result files that a path means, in the order of their names.
fn result_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), TableError> {
    let read = |source| TableError::Read { path: path.to_owned(), source };
    if !fs::metadata(path).map_err(read)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let before = files.len();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(read)? {
            let entry = entry.map_err(read)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().map_err(read)?.is_dir() {
                folders.push(entry.path());
            } else if name.starts_with("results") && name.ends_with(".json") {
                files.push(entry.path());
            }
        }
    }
    files[before..].sort();
    if files.len() == before {
        let reason = "no results*.json below this folder".to_owned();
        return Err(TableError::NotHarness { path: path.to_owned(), reason });
    }
    Ok(())
}

/// One value of one file.
struct Found {
    observation: Observation,
    path: PathBuf,
    task: String,
    how: Evaluation,
}

/// Refuses a model that has two results of one column.
fn twice(found: &[Found]) -> Result<(), TableError> {
    let mut seen: BTreeMap<(&str, &str), &PathBuf> = BTreeMap::new();
    for Found { observation, path, .. } in found {
        if let Some(first) = seen.insert((&observation.label, &observation.column), path) {
            return Err(TableError::Twice {
                model: observation.label.clone(),
                column: observation.column.clone(),
                first: first.clone(),
                second: path.clone(),
            });
        }
    }
    Ok(())
}

/// Says of each law whose models were not evaluated alike that they were not.
fn say_unlike(found: &mut [Found]) {
    let mut laws: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (at, Found { observation, .. }) in found.iter().enumerate() {
        if let Given::Value(_) = observation.given {
            laws.entry((observation.group.clone(), observation.column.clone())).or_default().push(at);
        }
    }
    for places in laws.into_values() {
        let models: Vec<(&str, &Evaluation)> =
            places.iter().map(|at| (found[*at].observation.label.as_str(), &found[*at].how)).collect();
        let flag = unlike::flag(&models);
        found[places[0]].observation.doubts.extend(flag);
    }
}

/// Models that have no value in a law of their group; one that has none in any, in all of them.
fn missing(
    read: &[Results],
    found: &[Found],
    options: &HarnessOptions,
    sizes: Option<&Sizes>,
) -> Vec<Observation> {
    let has = |model: &str, column: &str| {
        found.iter().any(|found| found.observation.label == model && found.observation.column == column)
    };
    let laws: BTreeSet<(&str, &str)> = found
        .iter()
        .map(|found| (found.observation.group.as_str(), found.observation.column.as_str()))
        .collect();
    let mut by_model: BTreeMap<&str, Vec<&Results>> = BTreeMap::new();
    for results in read {
        by_model.entry(&results.model).or_default().push(results);
    }
    let mut missing = Vec::new();
    for (model, files) in by_model {
        let first = files[0];
        let group = first.group(options, sizes).unwrap_or_else(|_| "not given".to_owned());
        let of_group = |column: &str| laws.contains(&(group.as_str(), column));
        let columns: BTreeSet<&str> = laws.iter().map(|(_, column)| *column).collect();
        let alone = !columns.iter().any(|column| of_group(column));
        for column in columns.into_iter().filter(|column| (alone || of_group(column)) && !has(model, column))
        {
            // Any observation of the column knows its task and kind.
            let Some(like) = found.iter().find(|found| found.observation.column == column) else { continue };
            let has =
                files.iter().map(|file| format!("{} has {}", file.path.display(), file.has_of(&like.task)));
            missing.push(Observation {
                group: group.clone(),
                column: column.to_owned(),
                kind: like.observation.kind,
                label: model.to_owned(),
                place: format!("results, {}", like.task),
                x: first.size(sizes).ok().map(|(size, _)| size),
                given: Given::None {
                    reason: format!("it has no {column}: {}", has.collect::<Vec<_>>().join(", ")),
                    number: None,
                },
                samples: None,
                doubts: Vec::new(),
            });
        }
    }
    missing
}
