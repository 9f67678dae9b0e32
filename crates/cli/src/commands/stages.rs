//! `relscale stages`: accuracy from compute by way of a loss, and straight from compute.

use relscale_laws::two_stage::{HeldOut, StagesOptions, fit_stages};
use relscale_laws::{StagesFit, StagesGroup};
use relscale_report::shown::{self, At};

use super::json::{self, Json};
use super::table::{TableArguments, condition};
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal;

/// Predict accuracy in two stages: compute to loss by a power law with a floor, loss to accuracy by
/// a sigmoid.
///
/// The largest models are held out and predicted from the others: the loss, the accuracy given the
/// loss, the accuracy by both stages, and beside them two that know no loss: -ln accuracy as a
/// power law of x, and the accuracy as a sigmoid of ln x. "predictable" is R² of a parabola of the
/// loss in ln x: group by a prompt's format to compare formats.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
#[command(mut_arg("table", |table| table.required(true)))]
#[command(mut_arg("x", |x| x.required(true)))]
#[command(mut_arg("y", |y| y.help("The columns of losses and of accuracies, with a comma between them")))]
#[command(mut_arg("kinds", |kinds| kinds.help("What they are, one each: a kind for the loss (perplexity: its ln; loss, ce, bpb: as given), and accuracy [default: loss,accuracy]")))]
#[command(mut_arg("group", |group| group.help("Columns to group by, e.g. task or format, of the table or of --models")))]
pub(crate) struct Arguments {
    /// Column of losses
    #[arg(
        long,
        value_name = "COLUMN",
        required_unless_present = "y",
        conflicts_with = "y",
        requires = "accuracy"
    )]
    loss: Option<String>,

    /// Column of accuracies, shares from 0 to 1
    #[arg(long, value_name = "COLUMN", conflicts_with = "y", requires = "loss")]
    accuracy: Option<String>,

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

    #[command(flatten)]
    of: TableArguments,

    /// Write the result as JSON to a file, or to standard output (-); the report shows
    /// STUDY/stages.json and STUDY/stages-NAME.json
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

/// Carries the command out.
///
/// # Errors
/// What the table is refused for; no curve could be fitted.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Some(file) = &arguments.of.table else { return Ok(()) };
    let values: Vec<&str> =
        arguments.loss.iter().chain(&arguments.accuracy).map(String::as_str).collect();
    let options = StagesOptions {
        select: arguments.of.select(&[], &values),
        held_out: match &arguments.hold_out {
            Some((column, value)) => HeldOut::Where(column.clone(), value.clone()),
            None => HeldOut::Largest(arguments.held_out.unwrap_or(1)),
        },
        chance: arguments.chance,
        at: arguments.at.clone(),
        ..StagesOptions::default()
    };
    let inputs = Input::paths(arguments.of.files());
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    let fit = fit_stages(file, &options)?;
    json::deliver(&fit, arguments.json.as_ref(), || {
        terminal::print_result(&shown::stages(&At::file("stages.json", &fit)))
    })?;
    refuse_if_empty(&fit)
}

/// Refuses when there is not one curve of either stage.
fn refuse_if_empty(fit: &StagesFit) -> anyhow::Result<()> {
    let curves = |group: &StagesGroup| {
        group.curves.loss.fit().is_some() || group.curves.accuracy.fit().is_some()
    };
    if fit.groups.iter().any(curves) {
        return Ok(());
    }
    let reason = fit.groups.first().and_then(|group| group.flags.first());
    let reason = reason.map_or("", |flag| flag.message.as_str());
    let hint = "give at least five rows of different x a group";
    Err(Refusal::new(format!("no stage could be fitted: {reason}"), hint).into())
}
