//! `relscale stages`: accuracy from compute by way of a loss, and straight from compute.

use std::path::PathBuf;

use relscale_laws::two_stage::{HeldOut, StagesOptions, fit_stages};
use relscale_laws::{StagesFit, StagesGroup};
use relscale_report::shown::{self, At};

use super::json::{self, Json};
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal;

/// Predict accuracy in two stages: compute to loss by a power law with a floor, loss to accuracy by a sigmoid.
///
/// The largest models are held out and predicted from the others: the loss, the accuracy given the loss, the accuracy by both stages, and beside
/// them two that know no loss: -ln accuracy as a power law of x, and the accuracy as a sigmoid of ln x. "predictable" is R² of a parabola of the
/// loss in ln x: group by a prompt's format to compare formats.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The table (.csv, .tsv, .jsonl, .parquet): one row a model, and a task where there are several
    #[arg(long, value_name = "FILE")]
    table: PathBuf,

    /// Column of compute (or size, or tokens), or a product of columns and numbers as "6*params*tokens"; what the table lacks is looked up in
    /// --models
    #[arg(long, value_name = "X")]
    x: String,

    /// A manifest of the models (.toml, .csv, .tsv, .jsonl, .parquet): model, params, tokens, flops with their conventions
    #[arg(long, value_name = "FILE")]
    models: Option<PathBuf>,

    /// Column of losses
    #[arg(long, value_name = "COLUMN")]
    loss: String,

    /// Column of accuracies, shares from 0 to 1
    #[arg(long, value_name = "COLUMN")]
    accuracy: String,

    /// Columns to group by, e.g. task or format
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    group: Vec<String>,

    /// Hold out the N largest x [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "hold_out")]
    held_out: Option<u32>,

    /// Hold out the rows that have this value
    #[arg(long, value_name = "COLUMN=VALUE", value_parser = condition)]
    hold_out: Option<(String, String)>,

    /// Accuracy by chance, e.g. 0.25: the lower limit of the sigmoids [default: fitted]
    #[arg(long, value_name = "SHARE")]
    chance: Option<f64>,

    /// Predict the accuracy at these x, from all rows
    #[arg(long, value_name = "X", value_delimiter = ',')]
    at: Vec<f64>,

    /// Column that names a model [default: model, name or run, where there is one]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,

    /// Take the rows that have this value only; may be given again
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = condition)]
    only: Vec<(String, String)>,

    /// Write the result as JSON to a file, or to standard output (-); the report shows STUDY/stages.json and STUDY/stages-NAME.json
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

const EXAMPLES: &str = "\
Examples:
  relscale stages --table points.csv --x flops --loss bpb --accuracy acc --chance 0.25
  relscale stages --table points.csv --x flops --loss bpb --accuracy acc --group format --held-out 2
  relscale stages --table study/choices.csv --where level=distribution --where distribution=stem --x params --loss gold_bpb --accuracy accuracy \\
      --group format --json study/stages.json
  relscale stages --table final.tsv --x \"6*params*tokens\" --loss mmlu_stem_test_bpb --accuracy mmlu_stem_test_acc --hold-out size=3B";

fn condition(text: &str) -> Result<(String, String), String> {
    let (column, value) = text.split_once('=').ok_or("expected COLUMN=VALUE")?;
    Ok((column.trim().to_owned(), value.trim().to_owned()))
}

/// Carries the command out.
///
/// # Errors
/// What the table is refused for; no curve could be fitted.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let options = StagesOptions {
        group: arguments.group.clone(),
        label: arguments.label.clone(),
        only: arguments.only.clone(),
        models: arguments.models.clone(),
        held_out: match &arguments.hold_out {
            Some((column, value)) => HeldOut::Where(column.clone(), value.clone()),
            None => HeldOut::Largest(arguments.held_out.unwrap_or(1)),
        },
        chance: arguments.chance,
        at: arguments.at.clone(),
        ..StagesOptions::new(&arguments.x, &arguments.loss, &arguments.accuracy)
    };
    let inputs = Input::paths([&arguments.table].into_iter().chain(&arguments.models));
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    let fit = fit_stages(&arguments.table, &options)?;
    json::deliver(&fit, arguments.json.as_ref(), || {
        terminal::print(&terminal::shown(&shown::stages(&At::file("stages.json", &fit))))
    })?;
    refuse_if_empty(&fit)
}

/// Refuses when there is not one curve of either stage.
fn refuse_if_empty(fit: &StagesFit) -> anyhow::Result<()> {
    let curves =
        |group: &StagesGroup| group.curves.loss.fit().is_some() || group.curves.accuracy.fit().is_some();
    if fit.groups.iter().any(curves) {
        return Ok(());
    }
    let reason = fit.groups.first().and_then(|group| group.flags.first());
    let reason = reason.map_or("", |flag| flag.message.as_str());
    let hint = "give at least five rows of different x a group";
    Err(Refusal::new(format!("no stage could be fitted: {reason}"), hint).into())
}
