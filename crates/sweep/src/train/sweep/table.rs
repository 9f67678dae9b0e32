//! `runs.csv`: a row a run, with the columns that `relscale sweep fit` reads.

use super::record::{RunRecord, Status};
use crate::error::{Error, Result};
use crate::plan::{Plan, PlannedRun};
use relscale_records::atomic;
use relscale_records::spreadsheet;
use relscale_records::units::ParameterConvention;
use std::path::Path;

/// Name of the file in the sweep's folder.
pub const FILE: &str = "runs.csv";

/// Its columns. `loss` is the held-out loss, nats a token, empty unless the run finished; `params`
/// are all parameters.
pub const COLUMNS: [&str; 15] = [
    "run",
    "group",
    "budget",
    "flops_convention",
    "params",
    "params_convention",
    "tokens",
    "batch",
    "steps",
    "learning_rate",
    "width",
    "layers",
    "loss",
    "status",
    "note",
];

/// Writes the table of all runs of a plan; `ended` has the records of those that ended, in the
/// plan's order.
///
/// # Errors
/// [`Error::Records`] when it cannot be written.
pub fn write(folder: &Path, plan: &Plan, group: &str, ended: &[Option<RunRecord>]) -> Result<()> {
    let path = folder.join(FILE);
    let problem =
        |error: csv::Error| Error::Checkpoint { path: path.clone(), reason: error.to_string() };
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(COLUMNS).map_err(problem)?;
    for (run, record) in plan.runs.iter().zip(ended) {
        table.write_record(row(plan, run, group, record.as_ref())).map_err(problem)?;
    }
    let bytes = table
        .into_inner()
        .map_err(|error| Error::Checkpoint { path: path.clone(), reason: error.to_string() })?;
    Ok(atomic::write_whole(&path, &bytes)?)
}

fn row(plan: &Plan, run: &PlannedRun, group: &str, record: Option<&RunRecord>) -> [String; 15] {
    let loss = record.and_then(|record| record.held_out_loss);
    let text = |text: &str| spreadsheet::cell(text).into_owned();
    [
        text(&run.name),
        text(group),
        format!("{:e}", run.budget),
        plan.recipe.flops.name().to_owned(),
        run.parameters.total.to_string(),
        ParameterConvention::Total.name().to_owned(),
        run.tokens.to_string(),
        run.batch.to_string(),
        run.steps.to_string(),
        run.optimiser.learning_rate.to_string(),
        run.architecture.width.to_string(),
        run.architecture.layers.to_string(),
        loss.map_or_else(String::new, |loss| loss.to_string()),
        record.map_or(Status::Unfinished, |record| record.status).name().to_owned(),
        text(record.and_then(|record| record.note.as_deref()).unwrap_or_default()),
    ]
}
