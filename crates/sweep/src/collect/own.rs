//! Folders that `relscale sweep train` made: of a plan's runs (`run.json`), and of families
//! (`training.json`).

use std::path::Path;

use relscale_records::units::{FlopsConvention, ParameterConvention};
use relscale_records::written::json;

use super::CollectOptions;
use super::logged::Logged;
use super::metrics::{folder_name, text_of};
use super::run::{CollectedRun, give_budget, say_missing};
use crate::error::{Error, Result};
use crate::plan::{Plan, PlannedRun};
use crate::train::sweep::{RunRecord, Status};

/// The record of a member of a family.
pub(super) const TRAINING: &str = "training.json";
/// The plan of a sweep.
pub(super) const PLAN: &str = "plan.json";
/// The record of a run of a plan.
pub(super) const RUN: &str = "run.json";

/// All runs of a sweep's plan: those that ended, by their records, and the others, among them those
/// whose record is damaged, which is noted.
///
/// # Errors
/// The plan cannot be read.
pub(super) fn sweep(folder: &Path, options: &CollectOptions) -> Result<Vec<CollectedRun>> {
    let plan = Plan::read(&folder.join(PLAN))?;
    let mut runs: Vec<CollectedRun> = Vec::new();
    for planned in &plan.runs {
        runs.push(match record(&folder.join(&planned.name)) {
            Ok(Some(record)) => ended(&record, options),
            none => {
                let mut run = row(planned, plan.recipe.flops, options);
                run.status = Some(Status::Unfinished);
                // What a plan wants is not what was done.
                (run.tokens, run.steps) = (None, None);
                run.notes.push(match none {
                    Err(error) => error.to_string(),
                    Ok(_) => format!("not ended: no {RUN}; planned are {} steps", planned.steps),
                });
                say_missing(&mut run);
                run
            }
        });
    }
    // All runs of a folder are trained on one text, those to come too.
    let group = runs.iter().find_map(|run| run.group.clone());
    runs.iter_mut().for_each(|run| run.group.clone_from(&group));
    Ok(runs)
}

/// A run that ended.
///
/// # Errors
/// The record cannot be read.
pub(super) fn run(folder: &Path, options: &CollectOptions) -> Result<Option<CollectedRun>> {
    Ok(record(folder)?.map(|record| ended(&record, options)))
}

/// The record of a run. A file of this name may be anybody's, so that nobody is told to remove it.
fn record(folder: &Path) -> Result<Option<RunRecord>> {
    RunRecord::read(folder).map_err(|error| match error {
        Error::Checkpoint { path, reason } => Error::Metrics {
            path,
            place: "the file".to_owned(),
            reason: format!("no record of `relscale sweep train`: {reason}"),
        },
        other => other,
    })
}

fn ended(record: &RunRecord, options: &CollectOptions) -> CollectedRun {
    let mut run = row(&record.run, record.flops_convention, options);
    run.status = Some(record.status);
    run.group = Some(record.text.corpora.clone()).filter(|group| !group.is_empty());
    run.steps = Some(f64::from(record.steps_taken));
    run.tokens = Some(
        record.run.tokens as f64 * f64::from(record.steps_taken)
            / f64::from(record.run.steps.max(1)),
    );
    run.notes.extend(record.note.clone());
    run.loss = match options.loss.as_deref() {
        None | Some("held_out_loss") => record.held_out_loss,
        Some("train_loss") => record.train_loss,
        Some(_) => None,
    };
    if run.loss.is_none() && record.status == Status::Finished {
        run.notes.push("no such loss; a run of ours has held_out_loss and train_loss".to_owned());
    }
    run
}

fn row(
    planned: &PlannedRun,
    convention: FlopsConvention,
    options: &CollectOptions,
) -> CollectedRun {
    let counts = &planned.parameters;
    let params = match options.params {
        ParameterConvention::NonEmbedding => counts.non_embedding,
        ParameterConvention::NonEmbeddingAndHead => counts.non_embedding_and_head,
        ParameterConvention::Total => counts.total,
    };
    let mut run = CollectedRun {
        run: planned.name.clone(),
        flops_convention: Some(convention),
        params: Some(params as f64),
        params_convention: Some(options.params),
        tokens: Some(planned.tokens as f64),
        batch: Some(planned.batch as f64),
        steps: Some(f64::from(planned.steps)),
        learning_rate: Some(planned.optimiser.learning_rate),
        width: Some(planned.architecture.width as f64),
        layers: Some(planned.architecture.layers as f64),
        ..CollectedRun::default()
    };
    give_budget(&mut run, planned.budget, options);
    run
}

/// A member of a family. It has no held-out loss; `--loss final_loss` takes that of its last steps
/// of training.
///
/// # Errors
/// [`Error::Metrics`]: the record is no JSON.
pub(super) fn member(folder: &Path) -> Result<Logged> {
    let path = folder.join(TRAINING);
    let value = json::parse(&text_of(&path)?).map_err(|error| Error::Metrics {
        path: path.clone(),
        place: "the file".to_owned(),
        reason: format!("no JSON: {error}"),
    })?;
    let mut logged = Logged::new(folder_name(&path));
    for (name, number) in [
        ("tokens", &value["tokens"]),
        ("final_loss", &value["final_loss"]),
        ("steps", &value["recipe"]["steps"]),
        ("batch", &value["recipe"]["batch"]),
    ] {
        if let Some(number) = json::number(number) {
            logged.add(name, None, number);
        }
    }
    for point in value["curve"].as_array().into_iter().flatten() {
        logged.add_object(point, "", ".", json::number(&point["step"]));
    }
    logged.config = Some(folder.join("config.json")).filter(|path| path.is_file());
    Ok(logged)
}
