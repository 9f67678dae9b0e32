//! Accuracies of models on tasks, from a table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::ForecastOptions;
use crate::error::LawsError;
use crate::kind::Kind;
use crate::tables::{RowIs, Select, Wanted, observe, rows_of};

/// The column that tells chance, where it is there.
const CHANCE: &str = "chance";

/// Accuracies by task and model.
pub(super) struct Targets {
    /// Task -> model -> accuracy.
    pub(super) tasks: BTreeMap<String, BTreeMap<String, f64>>,
    /// Accuracy by chance, by task.
    pub(super) chances: BTreeMap<String, f64>,
    /// Rows without a number.
    pub(super) left_out: Vec<String>,
}

/// Reads them: a column of values and one that names the task, or a column a task.
///
/// # Errors
/// As for any table; a row without a model, a model twice on one task, a task whose chance nothing
/// tells or the table tells in two ways.
pub(super) fn read(path: &Path, options: &ForecastOptions) -> Result<Targets, LawsError> {
    options.select.one_of_a_distribution()?;
    let refuse = |option, value: String, expected| LawsError::Option { option, value, expected };
    let rows = rows_of(path, |_| true)?;
    let long = options.select.distribution.is_some();
    let told = long && rows.has(CHANCE);
    let mut select =
        Select { x: Vec::new(), group: Vec::new(), models: None, ..options.select.clone() };
    if select.kinds.is_empty() {
        select.kinds = vec![Kind::Accuracy; select.y.len()];
    }
    if let Some(kind) = select.kinds.iter().find(|kind| !kind.is_share()) {
        return Err(refuse("as", kind.to_string(), "accuracy, rbp or wrong"));
    }
    if told {
        select.y.push(CHANCE.to_owned());
        select.kinds.push(Kind::Accuracy);
    }
    let wanted = Wanted { row: RowIs::ModelOnDistribution, ..Wanted::default() };
    let table = observe(&rows, &select, &wanted)?;
    let mut found =
        Targets { tasks: BTreeMap::new(), chances: BTreeMap::new(), left_out: Vec::new() };
    for value in &table.observations {
        if told && value.column == CHANCE {
            let Some(chance) = value.number() else { continue };
            let known = *found.chances.entry(value.series.clone()).or_insert(chance);
            if known != chance {
                let value = format!("{known} and {chance} for {}", value.series);
                return Err(refuse(CHANCE, value, "one number a task"));
            }
            continue;
        }
        let Some(model) = &value.label else {
            let expected = "the column that names the model";
            return Err(refuse("label", "not given".to_owned(), expected));
        };
        let Some(accuracy) = value.number() else {
            found.left_out.push(format!("{} on {}", value.name_and_place(), value.series));
            continue;
        };
        let models = found.tasks.entry(value.series.clone()).or_default();
        if models.insert(model.clone(), accuracy).is_some() {
            let value = format!("{model} on {} ({})", value.series, value.place);
            return Err(refuse("table", value, "each model once on each task; --where takes rows"));
        }
    }
    let unknown: BTreeSet<&String> =
        options.chances.keys().filter(|task| !found.tasks.contains_key(*task)).collect();
    if let Some(task) = unknown.first() {
        return Err(refuse(CHANCE, (*task).clone(), "a task of the table"));
    }
    for task in found.tasks.keys() {
        let own = options.chances.get(task).copied();
        let chance = own.or_else(|| found.chances.get(task).copied()).or(options.chance);
        let Some(chance) = chance.filter(|chance| (0.0..1.0).contains(chance)) else {
            let expected =
                "accuracy by chance: --chance 0.25, --chance TASK=0.5, or a column chance";
            return Err(refuse(CHANCE, format!("not given for {task}"), expected));
        };
        found.chances.insert(task.clone(), chance);
    }
    Ok(found)
}
