//! Tables exported from Weights & Biases, and tables of runs like them, ours among them.
//!
//! * *Runs*: a row a run. The first of `Name`, `run`, `name`, `ID` names it, `State` says how it ended; any column may be empty.
//! * *A chart*: `Step`, then `RUN - METRIC` for each run, with `RUN - METRIC__MIN` and `__MAX` beside it. Runs of one chart have different steps, so
//!   most cells are empty; and what is exported is a sample of what was logged, so the last step may be missing.

use std::collections::BTreeMap;
use std::path::Path;

use super::logged::Logged;
use super::metrics::{Table, cell};
use crate::error::{Error, Result};

/// Columns that name a run.
const NAMES: [&str; 5] = ["Name", "run", "name", "run_name", "ID"];

/// The rows as runs; `None` when no column names them.
///
/// # Errors
/// [`Error::Metrics`]: a row without a name, a name twice.
pub(super) fn runs(path: &Path, table: &Table) -> Result<Option<Vec<Logged>>> {
    let name = NAMES.iter().find_map(|name| table.columns.iter().position(|column| column == name));
    let Some(at) = name else { return Ok(None) };
    // In a table that we wrote, `loss` is the held-out one.
    let ours = ["flops_convention", "params_convention", "status"]
        .iter()
        .all(|name| table.columns.iter().any(|column| column == name));
    let mut runs: Vec<Logged> = Vec::new();
    for (number, row) in table.rows.iter().enumerate() {
        let refuse = |reason: String| {
            Err(Error::Metrics { path: path.to_owned(), place: format!("row {}", number + 1), reason })
        };
        let name = row.get(at).map(String::as_str).unwrap_or_default();
        if name.is_empty() {
            return refuse(format!("column `{}` is empty", table.columns[at]));
        }
        if runs.iter().any(|run| run.name == name) {
            return refuse(format!("run `{name}` is there twice; give each row a name of its own"));
        }
        let mut logged = Logged::new(name);
        for (column, text) in table.columns.iter().zip(row).filter(|(_, text)| !text.is_empty()) {
            match cell(text) {
                Some(value) if ours && column == "loss" => logged.add("held_out_loss", None, value),
                Some(value) => logged.add(column, None, value),
                None if ours && column == "note" => logged.notes.push(text.clone()),
                None => {
                    logged.texts.insert(column.clone(), text.clone());
                }
            }
        }
        runs.push(logged);
    }
    Ok(Some(runs))
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
        let mut empty = 0;
        for row in &table.rows {
            match (cell(&row[step]), row.get(at).and_then(|text| cell(text))) {
                (Some(step), Some(value)) => logged.add(metric, Some(step), value),
                _ => empty += 1,
            }
        }
        if empty > 0 {
            let note = format!("{metric}: {empty} of {} exported rows are empty", table.rows.len());
            logged.notes.push(note);
        }
    }
    (!runs.is_empty()).then(|| runs.into_values().collect())
}
