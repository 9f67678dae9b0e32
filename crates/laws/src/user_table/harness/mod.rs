//! Result files of lm-evaluation-harness (`results_*.json`, as its 0.4 line writes them; older ones with plain metric names too).
//!
//! An accuracy is taken as a share of successes, a perplexity as `exp` of a cross entropy. The files do not know S: it comes
//! from a table of sizes, or, with a caution, from `config.model_num_parameters`, which counts embeddings.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::error::TableError;
use super::fit::{self, Observation};
use super::kind::{Kind, Value};
use super::sizes::Sizes;
use crate::error::LawsError;
use crate::result::{Flag, FlagCode, TABLE_FORMAT, TableFit};

/// Members of a task's results that are no metrics.
const NO_METRICS: [&str; 5] = ["alias", "name", "sample_len", "sample_count", "samples"];

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
    let mut found = Vec::new();
    let mut there = Vec::new();
    for path in &files {
        Results::read(path)?.observations(options, sizes.as_ref(), &mut found, &mut there)?;
    }
    if found.is_empty() {
        there.sort();
        there.dedup();
        let wanted = [options.tasks.join(" or "), options.metrics.join(" or ")].join(" ");
        let wanted = if wanted.trim().is_empty() { "a metric of a known kind" } else { wanted.trim() };
        return Err(TableError::NoResults { wanted: wanted.to_owned(), there }.into());
    }
    twice(&found)?;
    let observations = found.into_iter().map(|(observation, _)| observation).collect();
    Ok(TableFit {
        format: TABLE_FORMAT,
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

/// Refuses a model that has two results of one column.
fn twice(found: &[(Observation, PathBuf)]) -> Result<(), TableError> {
    let mut seen: BTreeMap<(&str, &str), &PathBuf> = BTreeMap::new();
    for (observation, path) in found {
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

/// One file.
struct Results<'a> {
    path: &'a Path,
    root: Json,
    model: String,
}

impl<'a> Results<'a> {
    fn read(path: &'a Path) -> Result<Self, TableError> {
        let text =
            fs::read_to_string(path).map_err(|source| TableError::Read { path: path.to_owned(), source })?;
        let refuse = |reason: String| TableError::NotHarness { path: path.to_owned(), reason };
        let root: Json = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        if !root["results"].is_object() {
            return Err(refuse("there is no member `results`".to_owned()));
        }
        let model = model(&root).ok_or_else(|| refuse("it does not name its model".to_owned()))?;
        Ok(Self { path, root, model })
    }

    /// Adds what was asked for to `found`, and the name of everything to `there`.
    fn observations(
        &self,
        options: &HarnessOptions,
        sizes: Option<&Sizes>,
        found: &mut Vec<(Observation, PathBuf)>,
        there: &mut Vec<String>,
    ) -> Result<(), TableError> {
        for (task, metrics) in self.root["results"].as_object().into_iter().flatten() {
            for (key, value) in metrics.as_object().into_iter().flatten() {
                let (metric, filter) = key.split_once(',').unwrap_or((key, "none"));
                if NO_METRICS.contains(&metric) || metric.ends_with("_stderr") {
                    continue;
                }
                there.push(format!("{task} {metric}"));
                let Some(kind) = self.kind(task, metric, key, options)? else { continue };
                let place = format!("results, {task}, {key}");
                let refuse = |expected| TableError::Value {
                    path: self.path.to_owned(),
                    place: place.clone(),
                    column: key.clone(),
                    found: value.to_string(),
                    expected,
                };
                let given = value.as_f64().filter(|v| v.is_finite()).ok_or_else(|| refuse("a number"))?;
                if let Value::Impossible(expected) = kind.value(given) {
                    return Err(refuse(expected));
                }
                let (x, mut doubts) = self.size(sizes)?;
                doubts.extend(self.chosen(task, kind));
                let filter = if filter == "none" { String::new() } else { format!(" ({filter})") };
                let observation = Observation {
                    group: self.group(options, sizes)?,
                    column: format!("{task}{} {metric}{filter}", self.shots(task)),
                    kind,
                    label: self.model.clone(),
                    place,
                    x,
                    given,
                    doubts,
                };
                found.push((observation, self.path.to_owned()));
            }
        }
        Ok(())
    }

    /// What a metric is; `None` when it was not asked for.
    fn kind(
        &self,
        task: &str,
        metric: &str,
        key: &str,
        options: &HarnessOptions,
    ) -> Result<Option<Kind>, TableError> {
        if !options.tasks.is_empty() && !options.tasks.iter().any(|wanted| wanted == task) {
            return Ok(None);
        }
        let asked = options.metrics.iter().position(|wanted| wanted == metric || wanted == key);
        match asked {
            None if options.metrics.is_empty() => Ok(Kind::of_column(metric)),
            None => Ok(None),
            Some(at) => {
                let given = match options.kinds.as_slice() {
                    [one] => Some(*one),
                    each => each.get(at).copied(),
                };
                let kind = given.or_else(|| Kind::of_column(metric));
                kind.map(Some).ok_or_else(|| TableError::UnknownKind { column: metric.to_owned() })
            }
        }
    }

    fn size(&self, sizes: Option<&Sizes>) -> Result<(f64, Vec<Flag>), TableError> {
        if let Some(sizes) = sizes {
            let size = sizes.of(&self.model).ok_or_else(|| sizes.unknown(self.path, &self.model))?;
            return Ok((size, Vec::new()));
        }
        match self.root["config"]["model_num_parameters"].as_f64() {
            Some(total) if total > 0.0 => Ok((total, vec![total_parameters()])),
            _ => Err(TableError::NoSize {
                path: self.path.to_owned(),
                model: self.model.clone(),
                reason: "the file has no config.model_num_parameters".to_owned(),
            }),
        }
    }

    fn group(&self, options: &HarnessOptions, sizes: Option<&Sizes>) -> Result<String, TableError> {
        let Some(sizes) = sizes.filter(|_| !options.group.is_empty()) else { return Ok("all".to_owned()) };
        let values = options.group.iter().map(|column| sizes.name(&self.model, column));
        Ok(values.collect::<Result<Vec<String>, TableError>>()?.join(", "))
    }

    /// `, 5-shot`: results with other numbers of examples in the prompt do not share a law.
    fn shots(&self, task: &str) -> String {
        self.root["n-shot"][task].as_u64().map_or_else(String::new, |shots| format!(", {shots}-shot"))
    }

    /// A doubt about accuracies of choices.
    fn chosen(&self, task: &str, kind: Kind) -> Option<Flag> {
        let choice = self.root["configs"][task]["output_type"] == "multiple_choice";
        (choice && kind == Kind::Accuracy).then(|| {
            Flag::new(
                FlagCode::ChosenAnswers,
                format!(
                    "{task} has answers to choose from: its accuracy has a floor at chance and is no success of a sequence, so \
                     the rank law says nothing about it"
                ),
            )
        })
    }
}

fn total_parameters() -> Flag {
    Flag::new(
        FlagCode::TotalParameters,
        "sizes are model_num_parameters, which counts embeddings: exponents differ from those over S (by up to a third in \
         small models); give the non-embedding counts with --sizes",
    )
}

/// The model's name: as the file gives it, or from the arguments it was loaded with.
fn model(root: &Json) -> Option<String> {
    if let Some(name) = root["model_name"].as_str().filter(|name| !name.is_empty()) {
        return Some(name.to_owned());
    }
    let named = |key: &str| key == "pretrained" || key == "model";
    match &root["config"]["model_args"] {
        Json::String(arguments) => arguments
            .split(',')
            .filter_map(|argument| argument.split_once('='))
            .find_map(|(key, value)| named(key.trim()).then(|| value.trim().to_owned())),
        Json::Object(arguments) => {
            arguments.iter().find_map(|(key, value)| value.as_str().filter(|_| named(key)).map(str::to_owned))
        }
        _ => None,
    }
}
