//! One result file: its model, and what it says of each task.

use std::fs;
use std::path::{Path, PathBuf};

use relscale_records::written::{Fault, json, text};
use serde_json::Value as Json;

use super::unlike::Evaluation;
use super::{Asked, Found};
use crate::error::TableError;
use crate::kind::Kind;
use crate::result::{Flag, FlagCode};
use crate::tables::observation::{Given, Observation};

/// Members of a task's results that are no metrics.
const NO_METRICS: [&str; 6] = ["alias", "name", "sample_len", "sample_count", "samples", " "];

/// One file.
pub(super) struct Results {
    pub(super) path: PathBuf,
    pub(super) model: String,
    root: Json,
}

impl Results {
    pub(super) fn read(path: &Path) -> Result<Self, TableError> {
        let bytes =
            fs::read(path).map_err(|source| TableError::Read { path: path.to_owned(), source })?;
        let refuse = |reason: String| TableError::NotHarness { path: path.to_owned(), reason };
        let text = text::decode(bytes)
            .map_err(|Fault { line, reason }| refuse(format!("line {line}: {reason}")))?;
        let root: Json = json::parse(&text).map_err(|error| refuse(error.to_string()))?;
        if !root["results"].is_object() {
            return Err(refuse("there is no member `results`".to_owned()));
        }
        let model = model(&root).ok_or_else(|| refuse("it does not name its model".to_owned()))?;
        Ok(Self { path: path.to_owned(), root, model })
    }

    /// Adds what was asked for to `found`, and the name of everything to `there`.
    pub(super) fn observations(
        &self,
        asked: &Asked<'_>,
        found: &mut Vec<Found>,
        there: &mut Vec<String>,
    ) -> Result<(), TableError> {
        for (task, metrics) in self.root["results"].as_object().into_iter().flatten() {
            for (key, value) in metrics.as_object().into_iter().flatten() {
                let (metric, filter) = key.split_once(',').unwrap_or((key, "none"));
                if NO_METRICS.contains(&metric) || metric.ends_with("_stderr") {
                    continue;
                }
                there.push(format!("{task} {metric}"));
                let Some(kind) = self.kind(task, metric, key, asked)? else { continue };
                let given = self.given(task, key, kind, value, asked.select.leave_out_nan)?;
                let (x, mut flags) = match self.x(asked) {
                    Ok((x, flags)) => (vec![x], flags),
                    Err(error) if given.is_number() => return Err(error),
                    Err(_) => (Vec::new(), Vec::new()),
                };
                flags.extend(self.chosen(task, kind));
                let filter = if filter == "none" { String::new() } else { format!(" ({filter})") };
                let column = format!("{task}{} {metric}{filter}", self.shots(task));
                let observation = Observation {
                    row: found.len(),
                    place: format!("results, {task}, {key}"),
                    label: Some(self.model.clone()),
                    group: self.group(asked)?,
                    series: column.clone(),
                    column,
                    kind,
                    x,
                    given,
                    marked: false,
                    along: None,
                    samples: self.root["n-samples"][task]["effective"].as_u64(),
                    flags,
                };
                let how = Evaluation::from_result(&self.root, task);
                found.push(Found { observation, path: self.path.clone(), task: task.clone(), how });
            }
        }
        Ok(())
    }

    /// The value of a metric.
    fn given(
        &self,
        task: &str,
        key: &str,
        kind: Kind,
        value: &Json,
        leave_out_nan: bool,
    ) -> Result<Given, TableError> {
        let lacking = |reason: String| Ok(Given::Lacking { reason, number: None });
        let refuse = |found: String, expected| TableError::Value {
            path: self.path.clone(),
            place: format!("results, {task}, {key} of model `{}`", self.model),
            column: key.to_owned(),
            found,
            expected,
        };
        match json::number(value) {
            // The harness has this word where it computed nothing.
            None if value.is_null() || value == "N/A" || value == "" => {
                lacking(format!("{key} of {task} is not given"))
            }
            None => Err(refuse(value.to_string(), "a number")),
            Some(number) if number.is_finite() => {
                Given::new(kind, number).map_err(|expected| refuse(value.to_string(), expected))
            }
            Some(number) if leave_out_nan => lacking(format!("{key} of {task} is {number}")),
            Some(number) => Err(refuse(
                number.to_string(),
                "a number (--leave-out-nan passes such models over)",
            )),
        }
    }

    /// What a metric is; `None` when it was not asked for.
    fn kind(
        &self,
        task: &str,
        metric: &str,
        key: &str,
        asked: &Asked<'_>,
    ) -> Result<Option<Kind>, TableError> {
        let Asked { tasks, select, .. } = asked;
        if !tasks.is_empty() && !tasks.iter().any(|wanted| wanted == task) {
            return Ok(None);
        }
        let asked = select.y.iter().position(|wanted| wanted == metric || wanted == key);
        match asked {
            None if select.y.is_empty() => Ok(Kind::from_column(metric)),
            None => Ok(None),
            Some(at) => {
                let given = match select.kinds.as_slice() {
                    [one] => Some(*one),
                    each => each.get(at).copied(),
                };
                let kind = given.or_else(|| Kind::from_column(metric));
                kind.map(Some).ok_or_else(|| TableError::UnknownKind { column: metric.to_owned() })
            }
        }
    }

    /// The model's x, with what is to be said of where it comes from.
    pub(super) fn x(&self, asked: &Asked<'_>) -> Result<(f64, Vec<Flag>), TableError> {
        if let Some(size) = asked.beside.size(&self.path, &self.model)? {
            return Ok((size, Vec::new()));
        }
        if asked.beside.numbers().is_some() {
            let x = asked.x.value(|column| asked.beside.number(&self.model, column))?;
            return Ok((x, Vec::new()));
        }
        match self.root["config"]["model_num_parameters"].as_f64() {
            Some(total) if total > 0.0 => Ok((total, vec![total_parameters()])),
            _ => Err(TableError::NoSize {
                path: self.path.clone(),
                model: self.model.clone(),
                reason: "the file has no config.model_num_parameters".to_owned(),
            }),
        }
    }

    /// The model's group, by the file beside the results.
    pub(super) fn group(&self, asked: &Asked<'_>) -> Result<String, TableError> {
        let value = |column: &String| asked.beside.text(&self.path, &self.model, column);
        let values: Vec<String> = asked.select.group.iter().map(value).collect::<Result<_, _>>()?;
        Ok(if values.is_empty() { "all".to_owned() } else { values.join(", ") })
    }

    /// What the file has of a task, in words.
    pub(super) fn has_of(&self, task: &str) -> String {
        let metrics = self.root["results"][task]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key.as_str());
        let metrics = metrics.filter(|key| {
            let metric = key.split(',').next().unwrap_or(key);
            !NO_METRICS.contains(&metric) && !metric.ends_with("_stderr")
        });
        let metrics: Vec<&str> = metrics.collect();
        match (self.root["results"].get(task), metrics.is_empty()) {
            (None, _) => format!("nothing of {task}"),
            (Some(_), true) => format!("no metric of {task}"),
            (Some(_), false) => format!("{}{}", metrics.join(", "), self.shots(task)),
        }
    }

    /// `, 5-shot`: results with other numbers of examples in the prompt do not share a law.
    fn shots(&self, task: &str) -> String {
        let of_task = &self.root["configs"][task]["num_fewshot"];
        let shots = json::number(&self.root["n-shot"][task]).or_else(|| json::number(of_task));
        shots.map_or_else(String::new, |shots| format!(", {shots}-shot"))
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
        Json::Object(arguments) => arguments
            .iter()
            .find_map(|(key, value)| value.as_str().filter(|_| named(key)).map(str::to_owned)),
        _ => None,
    }
}
