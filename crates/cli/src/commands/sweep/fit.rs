//! `relscale sweep fit`: the optimum of each budget, how it grows, and the surface of the loss.

use std::path::{Path, PathBuf};

use relscale_laws::isoflop::{IsoflopOptions, Point, PointError, Residual, fit_isoflop};
use relscale_laws::tables::TableError;
use relscale_laws::{IsoflopFit, IsoflopGroup, LawsError};
use relscale_records::units::{FlopsConvention, ParameterConvention};
use relscale_report::shown::{self, At};

use crate::commands::json::{self, Json};
use crate::commands::table::TableArguments;
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal;

/// Find the best size and tokens of each budget, their growth, and the surface of the loss.
///
/// Per budget the minimum of a cubic (and of a parabola beside it) in the logarithm of tokens and
/// of parameters, through all runs, those of one size as its seeds; it is quoted where the best
/// size lies between others, with the interval in which the scatter leaves it and the bias that the
/// surface shows. Through the minima go N* = A C^a, D* = A C^a and the least loss, as k C^-b + E
/// where they tell a floor. Beside them the surface L = E + A N^-alpha + B D^-beta, by variable
/// projection and by Huber's loss, from all runs. Intervals are 95 %, with Student's t: of the
/// minima about their line, and of scatter or weights of the runs drawn again.
///
/// --at N=7e9,D=1e12 tells the loss of one further run there, over-trained ones too: by that
/// surface and by the one with alpha = beta, E + (a M^eta + b M^-eta) C^-eta, each both ways; with
/// how far that is from the runs, and how well each told runs that were left out.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
#[command(mut_arg("table", |table| table.help("A table of runs instead (.csv, .tsv, .jsonl, .parquet, .toml)")))]
#[command(mut_arg("x", |x| x.help("The columns of parameters and of tokens, in this order: --x N --x D")))]
#[command(mut_arg("y", |y| y.help("Column of losses")))]
#[command(mut_arg("kinds", |kinds| kinds.help("What the losses are: loss, ce or bpb (as given), perplexity (its ln) [default: loss]")))]
#[command(mut_arg("group", |group| group.help("Columns to group by, e.g. the dataset [default: group or dataset, where there is one]")))]
#[command(mut_arg("label", |label| label.help("Column that names a run [default: run, model or name, where there is one]")))]
#[command(mut_arg("leave_out_nan", |nan| nan.hide(true)))]
pub(crate) struct Arguments {
    /// The sweep's folder, with the table runs.csv (or .tsv, .jsonl, .parquet) that `sweep train`
    /// or `sweep collect` wrote, or the table itself
    #[arg(required_unless_present = "table", conflicts_with = "table")]
    sweep: Option<PathBuf>,

    /// Column of a run's FLOPs, or a product as "1e9*gflops"; a table without one gives the surface
    /// alone [default: budget, where it is there]
    #[arg(long, value_name = "COLUMN")]
    budget: Option<String>,

    /// FLOPs of one unit of that column, e.g. 1e9 where it counts GFLOPs
    #[arg(long, value_name = "FLOPS", default_value_t = 1.0)]
    budget_unit: f64,

    /// Compute the FLOPs of a run and gather runs into budgets by them: 6 N D (training) or 2 N D
    /// (the forward pass); refused where they do not gather
    #[arg(long, value_name = "6nd|2nd", value_parser = formula, conflicts_with_all = ["budget", "budget_unit"])]
    budget_from: Option<FlopsConvention>,

    /// How far apart the FLOPs of runs of one budget may lie
    /// [default: 0.02; 0.05 with --budget-from]
    #[arg(long, value_name = "SHARE")]
    budget_tolerance: Option<f64>,

    /// Column of parameters, or a product; with --tokens in the place of two --x
    #[arg(long, value_name = "COLUMN", default_value = "params", conflicts_with = "x")]
    params: String,

    /// Column of training tokens, or a product as "2097152*step"
    #[arg(long, value_name = "COLUMN", default_value = "tokens", conflicts_with = "x")]
    tokens: String,

    /// Column of losses; the same as --y
    #[arg(long, value_name = "COLUMN", default_value = "loss", conflicts_with = "y")]
    loss: String,

    /// What the FLOPs count, where no column flops_convention says it
    #[arg(long, value_name = "fwd|train", value_parser = flops)]
    flops: Option<FlopsConvention>,

    /// What the parameters count, where no column params_convention says it
    #[arg(long, value_name = "non-embedding|non-embedding-and-head|total", value_parser = count)]
    count: Option<ParameterConvention>,

    /// Leave the N runs with the highest losses out
    #[arg(long, value_name = "N", default_value_t = 0)]
    leave_out_highest: u32,

    /// Fit the curves of a budget by Huber's loss with this threshold, in units of the loss, and
    /// not by least squares
    #[arg(long, value_name = "DELTA")]
    curve_huber: Option<f64>,

    /// Refuse minima whose place the scatter of the runs leaves open on both sides; they are noted,
    /// and in the laws, otherwise
    #[arg(long)]
    refuse_flat: bool,

    /// Threshold of Huber's loss for the surface; one far above all residuals makes it least
    /// squares
    #[arg(long, value_name = "DELTA", default_value_t = IsoflopOptions::default().huber_delta)]
    huber_delta: f64,

    /// Of what Huber's loss for the surface is: the logarithm of the loss, or the loss
    #[arg(long, value_name = "log|loss", default_value = "log", value_parser = residual, hide_possible_values = true)]
    huber_of: Residual,

    /// Hold N* = A C^a at this exponent a, and D* at 1 - a, by every method (0.5: alpha = beta)
    #[arg(long, value_name = "A")]
    size_exponent: Option<f64>,

    /// Tell the optimum at these budgets, beside that of the largest; or the loss of a run that was
    /// not trained, by two of N, D, C and M = D / N, as N=7e9,D=1e12 or C=1e21,M=40 (once a run)
    #[arg(long, value_name = "FLOPS|N=..,D=..", value_parser = asked)]
    at: Vec<Asked>,

    /// How often scatter, or weights, of the runs are drawn again behind each interval
    #[arg(long, value_name = "N", default_value_t = IsoflopOptions::default().resamples)]
    resamples: u32,

    /// Seed of that
    #[arg(long, value_name = "N", default_value_t = IsoflopOptions::default().seed)]
    seed: u64,

    #[command(flatten)]
    of: TableArguments,

    /// Write the result as JSON to a file, or to standard output (-) [default: SWEEP/isoflop.json]
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

const EXAMPLES: &str = "\
Examples:
  relscale sweep fit sweep --at 1e18
  relscale sweep fit --table runs.csv --flops train --count total --group dataset --at 1e24
  relscale sweep fit --table runs.csv --budget-from 6nd           (no column of budgets: 6 N D, where runs gather)
  relscale sweep fit runs.csv --at N=7e9,D=1e12 --at C=1e21,M=40  (the loss of such runs)
  relscale sweep fit --table points.csv --leave-out-highest 5     (no budgets: the surface alone)
  relscale sweep fit sweep --size-exponent 0.5                    (N* and D* as the square root of C)";

/// What --at asks for.
#[derive(Debug, Clone)]
enum Asked {
    /// Optima of budgets.
    Budgets(Vec<f64>),
    /// The loss of a run.
    Point(Point),
}

fn asked(text: &str) -> Result<Asked, String> {
    if text.contains('=') {
        return text.parse().map(Asked::Point).map_err(|refusal: PointError| refusal.to_string());
    }
    let budgets: Result<Vec<f64>, _> =
        text.split(',').map(|budget| budget.trim().parse::<f64>()).collect();
    let expected = "expected FLOPs, as 1e21 or 1e20,1e21, or a run, as N=7e9,D=1e12";
    budgets.map(Asked::Budgets).map_err(|_| expected.to_owned())
}

fn formula(text: &str) -> Result<FlopsConvention, String> {
    match text.to_lowercase().as_str() {
        "6nd" => Ok(FlopsConvention::Train),
        "2nd" => Ok(FlopsConvention::Forward),
        _ => Err("expected 6nd or 2nd".to_owned()),
    }
}

fn residual(text: &str) -> Result<Residual, String> {
    match text {
        "log" => Ok(Residual::Logarithm),
        "loss" => Ok(Residual::Loss),
        _ => Err("expected log or loss".to_owned()),
    }
}

fn flops(text: &str) -> Result<FlopsConvention, String> {
    FlopsConvention::named(text).ok_or_else(|| "expected fwd or train".to_owned())
}

fn count(text: &str) -> Result<ParameterConvention, String> {
    let expected = || "expected non-embedding, non-embedding-and-head or total".to_owned();
    ParameterConvention::named(text).ok_or_else(expected)
}

/// Carries the command out.
///
/// # Errors
/// A table that cannot be found, read or used; neither a minimum nor a surface.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let table = match (&arguments.of.table, &arguments.sweep) {
        (Some(table), _) => table.clone(),
        // What `sweep collect --out runs.csv` wrote may be given as it is.
        (None, Some(file)) if file.is_file() => file.clone(),
        (None, Some(sweep)) => runs_of(sweep)?,
        (None, None) => return Ok(()),
    };
    let mut inputs = Input::paths([&table].into_iter().chain(&arguments.of.models));
    let sweep = arguments.sweep.clone().filter(|sweep| !sweep.is_file());
    inputs.extend(sweep.clone().map(Input::Study));
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    let (mut at, mut points) = (Vec::new(), Vec::new());
    for asked in &arguments.at {
        match asked {
            Asked::Budgets(budgets) => at.extend(budgets),
            Asked::Point(point) => points.push(*point),
        }
    }
    let options = IsoflopOptions {
        select: arguments.of.select(&[&arguments.params, &arguments.tokens], &[&arguments.loss]),
        budget: arguments.budget.clone(),
        budget_unit: arguments.budget_unit,
        budget_from: arguments.budget_from,
        budget_tolerance: arguments.budget_tolerance,
        flops: arguments.flops,
        params: arguments.count,
        leave_out_highest: arguments.leave_out_highest,
        curve_huber: arguments.curve_huber,
        refuse_flat: arguments.refuse_flat,
        huber_delta: arguments.huber_delta,
        huber_residual: arguments.huber_of,
        size_exponent: arguments.size_exponent,
        at,
        points,
        resamples: arguments.resamples,
        seed: arguments.seed,
        ..IsoflopOptions::default()
    };
    let fit = fit_isoflop(&table, &options).map_err(with_flags)?;
    let default = sweep.as_ref().map(|sweep| Json::Own(sweep.join("isoflop.json")));
    json::deliver(&fit, arguments.json.as_ref().or(default.as_ref()), || {
        terminal::print_result(&shown::sweep(&At::file("isoflop.json", &fit)))
    })?;
    refuse_if_empty(&fit)
}

/// A column that is not there, with the flags that name columns.
fn with_flags(error: LawsError) -> anyhow::Error {
    match &error {
        LawsError::Table(TableError::Column { there, .. }) => {
            let what = error.to_string();
            let what = what.split_once(';').map_or(what.as_str(), |(what, _)| what);
            let hint = format!(
                "its columns are: {}; name yours with --budget, --params, --tokens, --loss, --group",
                there.join(", ")
            );
            Refusal::new(what, hint).into()
        }
        _ => error.into(),
    }
}

/// The table inside a sweep's folder.
fn runs_of(sweep: &Path) -> anyhow::Result<PathBuf> {
    let found =
        ["csv", "tsv", "jsonl", "parquet"].map(|ending| sweep.join(format!("runs.{ending}")));
    found.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let hint =
            "make it with `relscale sweep train` or `relscale sweep collect`, or give a table with --table";
        Refusal::new(format!("{}: there is no table runs.csv in it", sweep.display()), hint).into()
    })
}

fn refuse_if_empty(fit: &IsoflopFit) -> anyhow::Result<()> {
    let found = |group: &IsoflopGroup| {
        group
            .budgets
            .iter()
            .flat_map(|budget| &budget.minima)
            .any(|minimum| minimum.found().is_some())
            || group.surfaces.iter().any(|surface| surface.law().is_some())
    };
    if fit.groups.iter().any(found) {
        return Ok(());
    }
    let hint =
        "a minimum needs four sizes of one budget with the best in between, a surface six runs";
    Err(Refusal::new("neither a minimum nor a surface was found", hint).into())
}
