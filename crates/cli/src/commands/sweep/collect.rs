//! `relscale sweep collect`: runs read back into one table.

use std::path::PathBuf;

use relscale_records::units::{FlopsConvention, ParameterConvention};
use relscale_sweep::collect::{self, CollectOptions, Collected, CollectedRun};
use relscale_sweep::train::sweep::Status;

use crate::commands::json::{self, AsJson, Json};
use crate::spare::{Input, spare};
use crate::terminal::{self, Style};
use relscale_records::digits;

/// Read runs back, ours or others', into the table that `relscale sweep fit` takes.
///
/// Known are folders of `relscale sweep train`; Hugging Face folders (config.json,
/// trainer_state.json); metrics as JSONL or CSV, a line a step; Levanter's tracker_metrics.jsonl;
/// tables of runs, as exported from Weights & Biases (CSV, JSONL, Parquet); event files of
/// TensorBoard. A number that a run has not logged is an empty cell, and its note says what is
/// missing. A damaged file in a folder stops nothing: its run is listed as unfinished, and what is
/// no run is told by name.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Folders, which are searched, and files; GROUP=PATH puts its runs in a group, e.g. a dataset
    #[arg(value_name = "PATH", required = true, value_parser = source)]
    sources: Vec<Source>,

    /// The table to write (.csv, .jsonl, .parquet)
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// The metric that is the loss, nats a token
    /// [default: the first known name of a held-out loss, as eval/loss]
    #[arg(long, value_name = "NAME")]
    loss: Option<String>,

    /// The metric that counts tokens [default: a known name, as throughput/total_tokens]
    #[arg(long, value_name = "NAME")]
    tokens: Option<String>,

    /// What params count where the architecture is known: non-embedding, non-embedding-and-head,
    /// total
    #[arg(long, value_name = "COUNT", default_value = "total", value_parser = params)]
    params: ParameterConvention,

    /// What logged params count where the log does not say it
    #[arg(long, value_name = "COUNT", value_parser = params)]
    logged_params: Option<ParameterConvention>,

    /// What logged FLOPs count where the log does not say it: fwd or train
    #[arg(long, value_name = "fwd|train", value_parser = flops)]
    logged_flops: Option<FlopsConvention>,

    /// Budgets, FLOPs as the runs count them: a run within 5 % of one belongs to it
    /// [default: each run's own FLOPs]
    #[arg(long, value_name = "FLOPS", value_delimiter = ',', value_parser = above_zero)]
    budgets: Vec<f64>,

    #[command(flatten)]
    json: AsJson,
}

const EXAMPLES: &str = "\
Examples:
  relscale sweep collect sweep --out runs.csv
  relscale sweep collect comma=runs/comma dclm=runs/dclm --out runs.parquet
  relscale sweep collect wandb_export.csv --loss eval/paloma/c4_en/loss --budgets 1e18,3e18,6e18 --out runs.csv";

type Source = (Option<String>, PathBuf);

fn source(text: &str) -> Result<Source, String> {
    Ok(match text.split_once('=') {
        // A path may have the sign too.
        Some((group, path))
            if !group.is_empty()
                && !group.contains(['/', '\\'])
                && !PathBuf::from(text).exists() =>
        {
            (Some(group.to_owned()), path.into())
        }
        _ => (None, text.into()),
    })
}

fn params(text: &str) -> Result<ParameterConvention, String> {
    let names = || ParameterConvention::ALL.map(ParameterConvention::name).join(", ");
    ParameterConvention::named(text).ok_or_else(|| format!("expected one of {}", names()))
}

fn flops(text: &str) -> Result<FlopsConvention, String> {
    FlopsConvention::named(text).ok_or_else(|| "expected fwd or train".to_owned())
}

fn above_zero(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number
        .filter(|number| *number > 0.0 && number.is_finite())
        .ok_or_else(|| "expected a number above 0".to_owned())
}

/// Carries the command out.
///
/// # Errors
/// A source without runs, a file that does not follow its format; the table cannot be written.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let inputs = Input::paths(arguments.sources.iter().map(|(_, path)| path));
    spare(&[Json::file(arguments.json.destination()), Some(&arguments.out)], &inputs)?;
    let options = CollectOptions {
        sources: arguments.sources.clone(),
        loss: arguments.loss.clone(),
        tokens: arguments.tokens.clone(),
        params: arguments.params,
        logged_params: arguments.logged_params,
        logged_flops: arguments.logged_flops,
        budgets: arguments.budgets.clone(),
    };
    let Collected { runs, passed_over } = collect::collect(&options)?;
    for passed in &passed_over {
        let path = passed.path.display();
        terminal::message(&format!(
            "{} {path}: {}",
            terminal::paint("not read:", Style::Strong),
            passed.reason
        ));
    }
    collect::write(&arguments.out, &runs)?;
    json::hand_over(&runs, arguments.json.destination(), || terminal::print(&shown(&runs)))?;
    terminal::message(&format!("wrote {}", arguments.out.display()));
    Ok(())
}

/// The runs, and how they ended.
fn shown(runs: &[CollectedRun]) -> String {
    let header = ["run", "group", "budget", "params", "tokens", "loss", "status", "notes"];
    let number = |number: Option<f64>| number.map_or("-".to_owned(), digits::number);
    let place = |number: Option<f64>| number.map_or("-".to_owned(), digits::given);
    let with = |number: String, convention: Option<&str>| match convention {
        Some(convention) if number != "-" => format!("{number} {convention}"),
        _ => number,
    };
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|run| {
            vec![
                run.run.clone(),
                run.group.clone().unwrap_or_else(|| "-".to_owned()),
                with(place(run.budget), run.flops_convention.map(FlopsConvention::name)),
                with(place(run.params), run.params_convention.map(ParameterConvention::name)),
                place(run.tokens),
                number(run.loss),
                run.status.map_or("-", Status::name).to_owned(),
                run.notes.len().to_string(),
            ]
        })
        .collect();
    let count = |status| runs.iter().filter(|run| run.status == status).count();
    let mut lines = vec![
        terminal::table(&header, 2, &[rows]),
        String::new(),
        format!(
            "{} runs: {} finished, {} diverged, {} unfinished, {} of which it is not known; {} have all that a fit needs (params, tokens, loss).",
            runs.len(),
            count(Some(Status::Finished)),
            count(Some(Status::Diverged)),
            count(Some(Status::Unfinished)),
            count(None),
            runs.iter().filter(|run| run.params.and(run.tokens).and(run.loss).is_some()).count()
        ),
    ];
    for (note, of) in notes(runs) {
        let of = match of.as_slice() {
            [one] => (*one).to_owned(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
            [] => continue,
        };
        lines.push(terminal::paragraph("  note: ", &format!("({of}) {note}")));
    }
    lines.join("\n")
}

/// Each note once, with the runs that have it.
fn notes(runs: &[CollectedRun]) -> Vec<(&str, Vec<&str>)> {
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for run in runs {
        for note in &run.notes {
            match notes.iter_mut().find(|(there, _)| there == note) {
                Some((_, of)) => of.push(&run.run),
                None => notes.push((note, vec![&run.run])),
            }
        }
    }
    notes
}
