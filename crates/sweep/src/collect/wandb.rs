//! Tables exported from Weights & Biases, and tables of runs like them, ours among them.
//!
//! * *Runs*: a row a run. The first of `Name`, `run`, `name`, `ID` names it, `State` says how it
//!   ended; any column may be empty.
//! * *A chart*: `Step`, then `RUN - METRIC` for each run, with `RUN - METRIC__MIN` and `__MAX`
//!   beside it. Runs of one chart have different steps, so most cells are empty; and what is
//!   exported is a sample of what was logged, so the last step may be missing.

use std::collections::BTreeMap;
use std::path::Path;

use relscale_records::written::number::Reading;
use serde_json::Value;

use super::lives::{self, Step, Written};
use super::logged::Logged;
use super::metrics::{self, Table};
use crate::error::{Error, Result};

/// Columns that name a run.
pub(super) const NAMES: [&str; 7] =
    ["Name", "run", "name", "run_name", "display_name", "ID", "run_id"];

/// What tells a table of ours, in which `loss` is the held-out one.
const OURS: [&str; 3] = ["flops_convention", "params_convention", "status"];

/// The rows as runs; `None` when no column names them. Where a column counts steps and a name comes
/// again, the rows of a name are the steps of a run.
///
/// # Errors
/// [`Error::Metrics`]: a row without a name, a name twice.
pub(super) fn runs(path: &Path, table: &Table, step: Option<usize>) -> Result<Option<Vec<Logged>>> {
    let Some(at) = table.column(&NAMES) else { return Ok(None) };
    let ours = OURS.iter().all(|name| table.column(&[name]).is_some());
    let mut names: Vec<&str> = Vec::new();
    let mut twice = None;
    for (number, row) in table.rows.iter().enumerate() {
        let name = row.get(at).map(String::as_str).unwrap_or_default();
        if name.is_empty() {
            return Err(refuse(path, number, format!("column `{}` is empty", table.columns[at])));
        }
        match names.contains(&name) {
            true => _ = twice.get_or_insert((number, name)),
            false => names.push(name),
        }
    }
    if let (Some(step), Some(_)) = (step, twice) {
        let of = |name: &&str| {
            let rows = table.rows.iter().filter(|row| row[at] == *name);
            metrics::history((*name).to_owned(), table, step, rows)
        };
        return Ok(Some(names.iter().map(of).collect()));
    }
    if let Some((number, name)) = twice {
        return Err(refuse(
            path,
            number,
            format!("run `{name}` is there twice; give each row a name of its own"),
        ));
    }
    let of_row = |row: &Vec<String>| {
        let mut logged = Logged::new(row[at].clone());
        for (number, (column, text)) in table.columns.iter().zip(row).enumerate() {
            let name = if ours && column == "loss" { "held_out_loss" } else { column.as_str() };
            match table.reading(row, number) {
                Reading::Number(value) => logged.add(name, None, value),
                Reading::Ambiguous => {
                    logged
                        .notes
                        .push(format!("{column} is `{text}`, which can be read in two ways"));
                }
                Reading::Nothing | Reading::Text => {}
            }
            match text.as_str() {
                "" => {}
                _ if ours && column == "note" => logged.notes.push(text.clone()),
                _ => _ = logged.texts.insert(column.clone(), text.clone()),
            }
        }
        logged
    };
    Ok(Some(table.rows.iter().map(of_row).collect()))
}

fn refuse(path: &Path, number: usize, reason: String) -> Error {
    Error::Metrics { path: path.to_owned(), place: format!("row {}", number + 1), reason }
}

/// What the objects of a file are.
pub(super) enum Objects {
    /// Each is a run.
    Runs(Vec<Logged>),
    /// Steps, by the name of the run that each says it is of.
    Steps(Vec<(String, Vec<Value>)>),
    /// Steps of one run.
    OneRun,
}

/// What the objects of a file are: runs where each has a name of its own (or none has a step), else
/// steps.
///
/// # Errors
/// [`Error::Metrics`]: a run without a name, a name twice.
pub(super) fn objects(path: &Path, objects: &[Value]) -> Result<Objects> {
    let name_of = |object: &Value| {
        let name = NAMES.iter().find_map(|name| object.get(*name))?;
        name.as_str().map_or_else(
            || name.as_f64().map(|number| number.to_string()),
            |name| Some(name.to_owned()),
        )
    };
    let steps =
        objects.iter().any(|object| metrics::STEP.iter().any(|name| object.get(*name).is_some()));
    let mut by_name: Vec<(String, Vec<Value>)> = Vec::new();
    for object in objects {
        let Some(name) = name_of(object) else { continue };
        match by_name.iter_mut().find(|(there, _)| *there == name) {
            Some((_, of)) => of.push(object.clone()),
            None => by_name.push((name, vec![object.clone()])),
        }
    }
    let named: usize = by_name.iter().map(|(_, of)| of.len()).sum();
    let apart = by_name.len() == objects.len() && by_name.len() > 1;
    if by_name.is_empty() || (steps && !apart && (named < objects.len() || by_name.len() < 2)) {
        return Ok(Objects::OneRun);
    }
    if steps && !apart {
        return Ok(Objects::Steps(by_name));
    }
    let ours =
        OURS[..2].iter().any(|name| objects.iter().any(|object| object.get(*name).is_some()));
    let mut runs: Vec<Logged> = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        let Some(name) = name_of(object) else {
            return Err(refuse(path, number, "no member names the run".to_owned()));
        };
        if runs.iter().any(|run| run.name == name) {
            return Err(refuse(
                path,
                number,
                format!("run `{name}` is there twice; give each a name of its own"),
            ));
        }
        let mut logged = Logged::new(name);
        logged.add_object(object, "", ".", None);
        // As the API of Weights & Biases hands them out.
        for nested in ["summary", "summary_metrics", "config"] {
            if let Some(nested) = object.get(nested) {
                logged.add_object(nested, "", "/", None);
            }
        }
        if let (true, Some(loss)) = (ours, logged.numbers.remove("loss")) {
            logged.numbers.insert("held_out_loss".to_owned(), loss);
        }
        if let (true, Some(note)) = (ours, logged.texts.remove("note")) {
            logged.notes.push(note);
        }
        runs.push(logged);
    }
    Ok(Objects::Runs(runs))
}

/// The columns of a chart as runs; `None` when it is no chart.
pub(super) fn chart(table: &Table, step: usize) -> Option<Vec<Logged>> {
    let mut runs: BTreeMap<&str, Logged> = BTreeMap::new();
    for (at, column) in table.columns.iter().enumerate() {
        let Some((run, metric)) = column.rsplit_once(" - ") else { continue };
        let logged = runs.entry(run).or_insert_with(|| Logged::new(run));
        if metric.ends_with("__MIN") || metric.ends_with("__MAX") {
            continue;
        }
        let (mut steps, mut empty, mut text) = (Vec::new(), 0, None);
        for row in &table.rows {
            match (table.reading(row, step).number(), table.reading(row, at)) {
                (Some(step), Reading::Number(value)) => {
                    steps
                        .push(Step { step: Some(step), numbers: vec![(metric.to_owned(), value)] });
                }
                (step, Reading::Text | Reading::Ambiguous) => text = Some((step, row[at].clone())),
                _ => empty += 1,
            }
        }
        lives::add(logged, steps, Written::Rows);
        if empty > 0 {
            let note = format!("{metric}: {empty} of {} exported rows are empty", table.rows.len());
            logged.notes.push(note);
        }
        if let Some((step, text)) = text {
            logged.notes.push(format!("{metric} has `{text}` among its numbers, which is none"));
            logged.unread.insert(metric.to_owned(), (step, text));
        }
    }
    (!runs.is_empty()).then(|| runs.into_values().collect())
}
