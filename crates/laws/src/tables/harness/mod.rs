//! Result files of lm-evaluation-harness (`results_*.json`, as its 0.4 line writes them; older ones
//! with plain metric names too).
//!
//! An accuracy is taken as a share of successes, a perplexity as `exp` of a cross entropy. The
//! files do not know S: it comes from a table of sizes, or, with a caution, from
//! `config.model_num_parameters`, which counts embeddings.
//!
//! | file | what |
//! |---|---|
//! | `file` | one result file: its model, and what it says of each task |
//! | `unlike` | whether the models of a law were evaluated alike |
//!
//! Invariants: each model of the files is in each law of its group, as a point or left out with the
//! reason.

mod file;
mod unlike;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::beside::Beside;
use super::manifest::ModelNumbers;
use super::observation::{Given, Observation};
use super::product::Product;
use super::select::Select;
use crate::error::{LawsError, TableError};
use file::Results;
use unlike::Evaluation;

/// What is asked of result files.
struct Asked<'a> {
    /// Empty = all.
    tasks: &'a [String],
    /// Metrics stand in the place of columns of values.
    select: &'a Select,
    x: Product,
    beside: Beside,
}

/// What was read.
pub(crate) struct Evaluations {
    pub(crate) observations: Vec<Observation>,
    /// The files, in the order in which they were read.
    pub(crate) files: Vec<PathBuf>,
    /// What a manifest has told of the models, where there was one.
    pub(crate) models: Option<ModelNumbers>,
}

/// Reads the results of each metric of each task over the models of several files. A folder stands
/// for all `*.json` files below it whose name begins with `results`.
///
/// # Errors
/// [`LawsError::Table`]: no result file, a model without a size, the same model twice for one
/// task, a value that cannot be; nothing that was asked for. [`LawsError::Option`]: groups that
/// no file names.
pub(crate) fn read(
    paths: &[PathBuf],
    tasks: &[String],
    select: &Select,
) -> Result<Evaluations, LawsError> {
    if !select.kinds.is_empty() && ![1, select.y.len()].contains(&select.kinds.len()) {
        let (kinds, columns) = (select.kinds.len(), select.y.len());
        return Err(TableError::KindCount { kinds, columns }.into());
    }
    let looked_up = select.sizes.is_some() || select.models.is_some();
    if !looked_up && !select.group.is_empty() {
        return Err(LawsError::Option {
            option: "group",
            value: select.group.join(", "),
            expected: "a table of sizes (--sizes) or a manifest (--models) with these columns; \
                       results do not name families",
        });
    }
    let mut files = Vec::new();
    for path in paths {
        result_files(path, &mut files)?;
    }
    // A folder and a file in it may both be named.
    let mut seen = BTreeSet::new();
    files.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    // A table of sizes that is wrong is told before results that are.
    let sizes = Beside::read(select, Vec::new(), std::iter::empty())?;
    let read: Vec<Results> =
        files.iter().map(|path| Results::read(path)).collect::<Result<_, _>>()?;
    let x = Product::parse(select.x.first().map_or("S", String::as_str));
    let beside = match select.models {
        Some(_) => {
            Beside::read(select, read.iter().map(|of| of.model.clone()).collect(), x.columns())?
        }
        None => sizes,
    };
    let asked = Asked { tasks, select, x, beside };
    let mut found: Vec<Found> = Vec::new();
    let mut there = Vec::new();
    for results in &read {
        results.observations(&asked, &mut found, &mut there)?;
    }
    if !found.iter().any(|found| found.observation.given.is_number()) {
        there.sort();
        there.dedup();
        let wanted = [tasks.join(" or "), select.y.join(" or ")].join(" ");
        let wanted =
            if wanted.trim().is_empty() { "a metric of a known kind" } else { wanted.trim() };
        return Err(TableError::NoResults { wanted: wanted.to_owned(), there }.into());
    }
    twice(&found)?;
    say_unlike(&mut found);
    let missing = missing(&read, &found, &asked);
    let observations = found.into_iter().map(|found| found.observation).chain(missing).collect();
    Ok(Evaluations { observations, files, models: asked.beside.numbers().cloned() })
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
        if let Some(first) = seen.insert((observation.name(), &observation.column), path) {
            return Err(TableError::Twice {
                model: observation.name().to_owned(),
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
        if observation.given.is_number() {
            laws.entry((observation.group.clone(), observation.column.clone()))
                .or_default()
                .push(at);
        }
    }
    for places in laws.into_values() {
        let models: Vec<(&str, &Evaluation)> =
            places.iter().map(|at| (found[*at].observation.name(), &found[*at].how)).collect();
        let flag = unlike::flag(&models);
        found[places[0]].observation.flags.extend(flag);
    }
}

/// Models that have no value in a law of their group; one that has none in any, in all of them.
fn missing(read: &[Results], found: &[Found], asked: &Asked<'_>) -> Vec<Observation> {
    let has = |model: &str, column: &str| {
        found
            .iter()
            .any(|found| found.observation.name() == model && found.observation.column == column)
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
        let group = first.group(asked).unwrap_or_else(|_| "not given".to_owned());
        let of_group = |column: &str| laws.contains(&(group.as_str(), column));
        let columns: BTreeSet<&str> = laws.iter().map(|(_, column)| *column).collect();
        let alone = !columns.iter().any(|column| of_group(column));
        for column in
            columns.into_iter().filter(|column| (alone || of_group(column)) && !has(model, column))
        {
            // Any observation of the column knows its task and kind.
            let Some(like) = found.iter().find(|found| found.observation.column == column) else {
                continue;
            };
            let has = files
                .iter()
                .map(|file| format!("{} has {}", file.path.display(), file.has_of(&like.task)));
            missing.push(Observation {
                row: found.len() + missing.len(),
                place: format!("results, {}", like.task),
                label: Some(model.to_owned()),
                group: group.clone(),
                x: first.x(asked).ok().map(|(x, _)| x).into_iter().collect(),
                given: Given::Lacking {
                    reason: format!("it has no {column}: {}", has.collect::<Vec<_>>().join(", ")),
                    number: None,
                },
                samples: None,
                flags: Vec::new(),
                ..like.observation.clone()
            });
        }
    }
    missing
}
