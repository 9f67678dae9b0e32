//! `relscale sweep fit`: the optimum of each budget, how it grows, and the surface of the loss.

use std::path::{Path, PathBuf};

use relscale_laws::isoflop::{IsoflopColumns, IsoflopOptions, fit_isoflop};
use relscale_laws::{
    Along, Curve, Estimate, IsoflopBudget, IsoflopFit, IsoflopGroup, IsoflopSurface, OptimumAhead,
    PathOutcome, SurfaceOutcome,
};
use relscale_records::units::{FlopsConvention, ParameterConvention};

use crate::commands::json::{self, Json};
use crate::commands::measured::condition;
use crate::exit::Refusal;
use crate::terminal;

/// Find the best size and tokens of each budget, their growth, and the surface of the loss.
///
/// Per budget the minimum of a cubic (and of a parabola beside it) in the logarithm of tokens and of parameters; it is quoted where runs lie on both
/// sides of it. Through the minima go N* = A C^a and D* = A C^a. Beside them the surface L = E + A N^-alpha + B D^-beta, by variable projection and by
/// Huber's loss, from all runs. Intervals are 95 %: Student t of the minima about their line, and runs drawn again for the surface.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The sweep's folder, with the table runs.csv (or .tsv, .jsonl, .parquet) that `sweep train` or `sweep collect` wrote
    #[arg(required_unless_present = "table", conflicts_with = "table")]
    sweep: Option<PathBuf>,

    /// A table of runs instead (.csv, .tsv, .jsonl, .parquet)
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,

    /// Column of a run's FLOPs; a table without one gives the surface alone
    #[arg(long, value_name = "COLUMN", default_value = "budget")]
    budget: String,

    /// Column of parameters
    #[arg(long, value_name = "COLUMN", default_value = "params")]
    params: String,

    /// Column of training tokens
    #[arg(long, value_name = "COLUMN", default_value = "tokens")]
    tokens: String,

    /// Column of losses
    #[arg(long, value_name = "COLUMN", default_value = "loss")]
    loss: String,

    /// Column to group by, e.g. the dataset [default: group, where there is one]
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,

    /// What the FLOPs count, where no column flops_convention says it
    #[arg(long, value_name = "fwd|train", value_parser = flops)]
    flops: Option<FlopsConvention>,

    /// What the parameters count, where no column params_convention says it
    #[arg(long, value_name = "non-embedding|non-embedding-and-head|total", value_parser = count)]
    count: Option<ParameterConvention>,

    /// Take the rows that have this value only; may be given again
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = condition)]
    only: Vec<(String, String)>,

    /// Leave the N runs with the highest losses out
    #[arg(long, value_name = "N", default_value_t = 0)]
    leave_out_highest: u32,

    /// Fit the curves of a budget by Huber's loss with this threshold, in units of the loss, and not by least squares
    #[arg(long, value_name = "DELTA")]
    curve_huber: Option<f64>,

    /// Threshold of Huber's loss for the surface, in logarithms of the loss
    #[arg(long, value_name = "DELTA", default_value_t = IsoflopOptions::default().huber_delta)]
    huber_delta: f64,

    /// Tell the optimum at these budgets, beside that of the largest
    #[arg(long, value_name = "FLOPS", value_delimiter = ',')]
    at: Vec<f64>,

    /// How often runs are drawn again behind each interval
    #[arg(long, value_name = "N", default_value_t = IsoflopOptions::default().resamples)]
    resamples: u32,

    /// Seed of that
    #[arg(long, value_name = "N", default_value_t = IsoflopOptions::default().seed)]
    seed: u64,

    /// Write the result as JSON to a file, or to standard output (-) [default: SWEEP/isoflop.json]
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

const EXAMPLES: &str = "\
Examples:
  relscale sweep fit sweep --at 1e18
  relscale sweep fit --table runs.csv --flops train --count total --group dataset --at 1e24
  relscale sweep fit --table points.csv --leave-out-highest 5     (no budgets: the surface alone)";

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
    let table = match (&arguments.table, &arguments.sweep) {
        (Some(table), _) => table.clone(),
        (None, Some(sweep)) => runs_of(sweep)?,
        (None, None) => return Ok(()),
    };
    let options = IsoflopOptions {
        columns: IsoflopColumns {
            budget: arguments.budget.clone(),
            params: arguments.params.clone(),
            tokens: arguments.tokens.clone(),
            loss: arguments.loss.clone(),
            group: arguments.group.clone(),
        },
        flops: arguments.flops,
        params: arguments.count,
        only: arguments.only.clone(),
        leave_out_highest: arguments.leave_out_highest,
        curve_huber: arguments.curve_huber,
        huber_delta: arguments.huber_delta,
        at: arguments.at.clone(),
        resamples: arguments.resamples,
        seed: arguments.seed,
        ..IsoflopOptions::default()
    };
    let fit = fit_isoflop(&table, &options)?;
    let default = arguments.sweep.as_ref().map(|sweep| Json::File(sweep.join("isoflop.json")));
    json::deliver(&fit, arguments.json.as_ref().or(default.as_ref()), || {
        terminal::print(&title(&fit))?;
        fit.groups.iter().try_for_each(|group| terminal::print(&show(group)))
    })?;
    refuse_if_empty(&fit)
}

/// The table inside a sweep's folder.
fn runs_of(sweep: &Path) -> anyhow::Result<PathBuf> {
    let found = ["csv", "tsv", "jsonl", "parquet"].map(|ending| sweep.join(format!("runs.{ending}")));
    found.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let hint =
            "make it with `relscale sweep train` or `relscale sweep collect`, or give a table with --table";
        Refusal::new(format!("{}: there is no table runs.csv in it", sweep.display()), hint).into()
    })
}

fn refuse_if_empty(fit: &IsoflopFit) -> anyhow::Result<()> {
    let found = |group: &IsoflopGroup| {
        group.budgets.iter().flat_map(|budget| &budget.minima).any(|minimum| minimum.found().is_some())
            || group.surfaces.iter().any(|surface| surface.law().is_some())
    };
    if fit.groups.iter().any(found) {
        return Ok(());
    }
    let hint = "a minimum needs four sizes of one budget with the best in between, a surface six runs";
    Err(Refusal::new("neither a minimum nor a surface was found", hint).into())
}

fn title(fit: &IsoflopFit) -> String {
    let flops = match fit.flops.as_str() {
        "fwd" => "FLOPs of the forward pass",
        "train" => "training FLOPs",
        _ => "FLOPs (not stated which)",
    };
    let params = match fit.params.as_str() {
        "not stated" => "parameters (not stated which)".to_owned(),
        "total" => "all parameters".to_owned(),
        convention => {
            format!("{} parameters", convention.replace('-', " ").replace("non embedding", "non-embedding"))
        }
    };
    format!("C counts {flops}, N {params}")
}

fn show(group: &IsoflopGroup) -> String {
    let mut lines = vec![format!("\n{}: {}", group.name, group.verdict)];
    if !group.budgets.is_empty() {
        let header = ["budget", "sizes", "N* cubic", "D* cubic", "loss", "N* parabola", "D* parabola"];
        let many = |budget: &&IsoflopBudget| budget.runs.len() >= SIZES;
        let rows: Vec<Vec<String>> = group.budgets.iter().filter(many).map(minima).collect();
        if !rows.is_empty() {
            lines.push(format!(
                "\n{}",
                terminal::fitting(&header, 0, &[rows], &["D* parabola", "N* parabola"])
            ));
        }
        lines.extend(refusals(group));
        lines.push(format!("\n{}", growth(group)));
    }
    lines.push(format!("\n{}", surfaces(group)));
    lines.extend(group.ahead.iter().map(ahead));
    lines.extend(group.flags.iter().map(|flag| terminal::paragraph("note: ", &flag.message)));
    lines.join("\n")
}

fn minima(budget: &IsoflopBudget) -> Vec<String> {
    let at = |curve, along| {
        let found = budget.minimum(curve, along).and_then(|minimum| minimum.found());
        found.map_or("-".to_owned(), |(at, _)| format!("{at:.3e}"))
    };
    let least = budget.minimum(Curve::Cubic, Along::Tokens).and_then(|minimum| minimum.found());
    vec![
        format!("{:.2e}", budget.budget),
        budget.runs.len().to_string(),
        at(Curve::Cubic, Along::Params),
        at(Curve::Cubic, Along::Tokens),
        least.map_or("-".to_owned(), |(_, loss)| format!("{loss:.4}")),
        at(Curve::Parabola, Along::Params),
        at(Curve::Parabola, Along::Tokens),
    ]
}

/// Sizes of a budget without which it has no minimum and no line in the table.
const SIZES: usize = 4;

/// Why budgets have no minimum by the default curve, each reason once a budget.
fn refusals(group: &IsoflopGroup) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let few = group.budgets.iter().filter(|budget| budget.runs.len() < SIZES).count();
    if few > 0 {
        let budgets = terminal::several(few as u64, "budget");
        lines.push(format!("note: {budgets} with fewer than {SIZES} sizes: no minimum there"));
    }
    for budget in group.budgets.iter().filter(|budget| budget.runs.len() >= SIZES) {
        for along in Along::ALL {
            let refused = budget.minimum(Curve::Cubic, along).map(|minimum| &minimum.outcome);
            if let Some(relscale_laws::MinimumOutcome::Refused { reason }) = refused {
                let line =
                    terminal::paragraph("note: ", &format!("{:.2e}: no minimum: {reason}", budget.budget));
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
    }
    lines
}

fn growth(group: &IsoflopGroup) -> String {
    let mut rows = Vec::new();
    for path in &group.paths {
        for (what, outcome) in [("N*", &path.params), ("D*", &path.tokens), ("least loss", &path.loss)] {
            let mut row = vec![what.to_owned(), path.curve.name().to_owned()];
            row.extend(match outcome {
                PathOutcome::Refused { .. } => ["-", "-", "-", "-", "-"].map(str::to_owned),
                PathOutcome::Fitted(law) => [
                    format!("{:.4}", law.exponent.value),
                    interval(&law.exponent),
                    interval(&law.exponent_by_runs),
                    format!("{:.3e}", law.prefactor),
                    law.r_squared.map_or("-".to_owned(), |r| {
                        format!("{:.4}", if r < 1.0 { r.min(0.9999) } else { r })
                    }),
                ],
            });
            rows.push(row);
        }
    }
    let header = ["A C^a", "curve", "a", "Student t", "by runs", "A", "R²"];
    terminal::fitting(&header, 2, &[rows], &["by runs", "R²"])
}

fn interval(estimate: &Estimate) -> String {
    estimate.bounds().map_or("none".to_owned(), |(low, high)| format!("[{low:.4}, {high:.4}]"))
}

fn surfaces(group: &IsoflopGroup) -> String {
    let header = ["surface", "E", "A", "B", "alpha", "beta", "a of N*", "95 % interval"];
    let rows: Vec<Vec<String>> = group.surfaces.iter().map(surface).collect();
    let mut text = terminal::fitting(&header, 1, &[rows], &["B", "A"]);
    for surface in &group.surfaces {
        let notes: Vec<String> = match &surface.outcome {
            SurfaceOutcome::Refused { reason } => vec![format!("{}: none, {reason}", surface.method.name())],
            SurfaceOutcome::Fitted(law) => {
                law.flags.iter().map(|flag| format!("{}: {}", surface.method.name(), flag.message)).collect()
            }
        };
        for note in notes {
            text.push('\n');
            text.push_str(&terminal::paragraph("note: ", &note));
        }
    }
    text
}

fn surface(surface: &IsoflopSurface) -> Vec<String> {
    let mut row = vec![surface.method.name().to_owned()];
    row.extend(match surface.law() {
        None => ["-"; 7].map(str::to_owned),
        Some(law) => [
            format!("{:.4}", law.e.value),
            format!("{:.4e}", law.a.value),
            format!("{:.4e}", law.b.value),
            format!("{:.4}", law.alpha.value),
            format!("{:.4}", law.beta.value),
            format!("{:.4}", law.size_exponent.value),
            interval(&law.size_exponent),
        ],
    });
    row
}

fn ahead(optimum: &OptimumAhead) -> String {
    let header = ["method", "N*", "95 % interval", "D*", "95 % interval ", "loss", "95 % interval  "];
    let of = |estimate: &Estimate| {
        let ends = |(low, high): (f64, f64)| format!("[{low:.2e}, {high:.2e}]");
        [format!("{:.3e}", estimate.value), estimate.bounds().map_or("none".to_owned(), ends)]
    };
    let rows: Vec<Vec<String>> = optimum
        .methods
        .iter()
        .map(|method| {
            let mut row = vec![method.method.clone()];
            row.extend(of(&method.params));
            row.extend(of(&method.tokens));
            row.push(format!("{:.4}", method.loss.value));
            row.push(interval(&method.loss));
            row
        })
        .collect();
    let place = match optimum.decades_beyond {
        0.0 => String::new(),
        decades if decades > 0.0 => format!(", {decades:.1} decades beyond the budgets with a minimum"),
        decades => format!(", {:.1} decades below the budgets with a minimum", -decades),
    };
    let table = terminal::fitting(&header, 1, &[rows], &["95 % interval  ", "95 % interval ", "loss"]);
    format!(
        "\nOptimum at C = {:.2e}{place}\n\n{table}\n{}",
        optimum.budget,
        terminal::paragraph("", &optimum.verdict)
    )
}
