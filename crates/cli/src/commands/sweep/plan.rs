//! `relscale sweep plan`: budgets and a recipe become exact runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use relscale_records::atomic;
use relscale_records::units::FlopsConvention;
use relscale_sweep::export::{self, Exported};
use relscale_sweep::plan::presets::PRESETS;
use relscale_sweep::plan::recipe::Widths;
use relscale_sweep::plan::time::TimeBasis;
use relscale_sweep::plan::{self, Plan, PlannedRun, SweepRecipe};
use relscale_sweep::train::timing;

use crate::commands::Threads;
use crate::commands::json::Json;
use crate::exit::Refusal;
use crate::spare::spare;
use crate::terminal::{self, Style, count, several, size};

/// Plan an IsoFLOP sweep: from budgets and a recipe to exact runs
///
/// For each budget the recipe's widths become models; each gets a batch, a learning rate and so
/// many steps that it costs its budget within 1 %, or is dropped with the reason. FLOPs are counted
/// product by product, the head included, all positions of attention and not only the causal half
/// (see `flops_formula` in the JSON); training is three times the forward pass. What a budget
/// counts is always said: Marin's count forward FLOPs, most others training FLOPs.
///
/// S are the parameters that are not embeddings, N all of them; lr is the peak learning rate, off
/// what a run misses its budget by. On a narrow terminal columns are left out.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recipe; `relscale sweep list` tells what each is for
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(PRESETS.map(|(name, _)| name)))]
    preset: String,

    /// Budgets instead of the recipe's, FLOPs
    #[arg(long, value_name = "C", value_delimiter = ',')]
    budgets: Vec<f64>,

    /// What the budgets count: forward passes, or forward and backward [default: as the recipe]
    #[arg(long, value_name = "fwd|train", value_parser = convention)]
    flops: Option<FlopsConvention>,

    /// Widths for every budget instead of the recipe's
    #[arg(long, value_name = "d", value_delimiter = ',')]
    widths: Vec<usize>,

    /// Entries of the vocabulary instead of the recipe's
    #[arg(long, value_name = "V")]
    vocabulary: Option<usize>,

    /// Tokens of a sequence instead of the recipe's
    #[arg(long, value_name = "T")]
    sequence: Option<usize>,

    /// Tokens that attention looks back at most, or `none` for the whole sequence, instead of the
    /// recipe's
    #[arg(long, value_name = "W|none", value_parser = window)]
    window: Option<Window>,

    /// Add this factor times the z-loss, the squared logarithm of the softmax's normaliser
    /// [default: 0, none]
    #[arg(long, value_name = "FACTOR")]
    z_loss: Option<f64>,

    /// Seed of weights and order of the text instead of the recipe's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Tell how long each run takes on this machine: a few steps of each are timed
    #[arg(long, group = "how_long")]
    time: bool,

    /// Tell how long each run takes at this many tokens a second
    #[arg(long, value_name = "RATE", group = "how_long")]
    tokens_per_second: Option<f64>,

    /// Tell how long each run takes at this many training FLOPs a second
    #[arg(long, value_name = "RATE", group = "how_long")]
    flops_per_second: Option<f64>,

    /// Write the plan: a .json file, or a folder for plan.json
    #[arg(long, value_name = "FILE|FOLDER")]
    out: Option<PathBuf>,

    /// Write a file a run for other trainers into OUT/FORM: YAML for Levanter, TOML for torchtitan,
    /// JSON
    #[arg(long, value_name = "FORM", value_delimiter = ',', requires = "out", value_parser = clap::builder::PossibleValuesParser::new(export::FORMS))]
    export: Vec<String>,

    /// Write the plan as JSON to a file, or to standard output (-) and nothing else there
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,

    #[command(flatten)]
    threads: Threads,
}

const EXAMPLES: &str = "\
Examples:
  relscale sweep plan --preset marin
  relscale sweep plan --preset marin --budgets 3e21 --flops train
  relscale sweep plan --preset marin --out sweep --export levanter,torchtitan
  relscale sweep plan --preset small --time --out plan.json";

/// How far attention looks back.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Window {
    /// So many tokens.
    Tokens(usize),
    /// As far as the sequence goes.
    Whole,
}

fn window(text: &str) -> Result<Window, String> {
    match text {
        "none" => Ok(Window::Whole),
        number => number
            .parse()
            .map(Window::Tokens)
            .map_err(|_| "it is a number of tokens or none".to_owned()),
    }
}

fn convention(text: &str) -> Result<FlopsConvention, String> {
    FlopsConvention::named(text).ok_or_else(|| "it is fwd or train".to_owned())
}

/// Carries the command out.
///
/// # Errors
/// Settings from which nothing can be planned; files that cannot be written.
pub(super) fn run(arguments: &Arguments, cancel: &AtomicBool) -> anyhow::Result<()> {
    let out = arguments.out.as_deref();
    let file = out.map(|out| if is_json(out) { out.to_owned() } else { out.join("plan.json") });
    spare(&[Json::file(arguments.json.as_ref()), file.as_deref()], &[])?;
    let mut plan = plan::build(&recipe(arguments)?)?;
    if let Some(basis) = basis(arguments) {
        arguments.threads.set()?;
        let runs = plan.runs.len();
        if arguments.time {
            terminal::message(&format!("timing a few steps of {}", several(runs as u64, "run")));
        }
        timing::estimate(&mut plan, basis, |_| !cancel.load(Ordering::Relaxed))?;
    }
    let forms = forms(arguments, &plan)?;
    if arguments.json == Some(Json::Screen) {
        terminal::print_json(plan.to_json()?.trim_end())?;
    } else {
        show(&plan)?;
    }
    if let Some(Json::File(path)) = &arguments.json {
        write(path, &plan.to_json()?)?;
    }
    if let Some(out) = &arguments.out {
        hand_over(&plan, out, &forms)?;
    }
    Ok(())
}

/// The forms that were asked for, by name. Before anything is shown or written, so that a refusal
/// leaves nothing behind.
fn forms<'a>(arguments: &'a Arguments, plan: &Plan) -> anyhow::Result<Vec<(&'a str, Exported)>> {
    if let Some(out) =
        arguments.out.as_deref().filter(|out| is_json(out) && !arguments.export.is_empty())
    {
        let what = format!("--export writes many files, and {} is one", out.display());
        return Err(Refusal::new(what, "give a folder with --out").into());
    }
    arguments.export.iter().map(|form| Ok((form.as_str(), export::plan(form, plan)?))).collect()
}

/// The plan in its file, and its forms in a folder each beside it.
fn hand_over(plan: &Plan, out: &Path, forms: &[(&str, Exported)]) -> anyhow::Result<()> {
    let path = if is_json(out) { out.to_owned() } else { out.join("plan.json") };
    write(&path, &plan.to_json()?)?;
    for (form, exported) in forms {
        let folder = out.join(form);
        for (name, text) in &exported.files {
            put(&folder.join(name), text)?;
        }
        let files = several(exported.files.len() as u64, "file");
        terminal::message(&format!("wrote {files} to {}", folder.display()));
        for difference in &exported.differences {
            terminal::titled("note:", Style::Strong, &format!("{form}: {difference}"));
        }
    }
    Ok(())
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "json")
}

/// The preset with what the user changed.
fn recipe(arguments: &Arguments) -> anyhow::Result<SweepRecipe> {
    let mut recipe = plan::preset(&arguments.preset)?;
    if !arguments.budgets.is_empty() {
        recipe.budgets.clone_from(&arguments.budgets);
    }
    if !arguments.widths.is_empty() {
        recipe.widths = Widths::Listed { widths: arguments.widths.clone() };
    }
    recipe.flops = arguments.flops.unwrap_or(recipe.flops);
    recipe.vocabulary = arguments.vocabulary.unwrap_or(recipe.vocabulary);
    recipe.sequence = arguments.sequence.unwrap_or(recipe.sequence);
    recipe.z_loss = arguments.z_loss.unwrap_or(recipe.z_loss);
    recipe.seed = arguments.seed.unwrap_or(recipe.seed);
    recipe.window = match arguments.window {
        None => recipe.window,
        Some(Window::Whole) => None,
        Some(Window::Tokens(tokens)) => Some(tokens),
    };
    Ok(recipe)
}

fn basis(arguments: &Arguments) -> Option<TimeBasis> {
    if arguments.time {
        return Some(TimeBasis::Measured { threads: arguments.threads.number() });
    }
    let tokens = arguments.tokens_per_second.map(|rate| TimeBasis::TokensPerSecond { rate });
    tokens
        .or_else(|| arguments.flops_per_second.map(|rate| TimeBasis::TrainFlopsPerSecond { rate }))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    put(path, text)?;
    terminal::message(&format!("wrote {}", path.display()));
    Ok(())
}

fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        atomic::folder(folder)?;
    }
    Ok(atomic::write_named(path, text.as_bytes())?)
}

/// The runs as a table, then what they come to and what was dropped.
fn show(plan: &Plan) -> anyhow::Result<()> {
    let mut header = vec!["run", "S", "N", "steps", "tokens", "lr", "beta2", "train FLOPs", "off"];
    if plan.time.is_some() {
        header.push("time");
    }
    let groups: Vec<Vec<Vec<String>>> = plan
        .recipe
        .budgets
        .iter()
        .map(|budget| plan.runs.iter().filter(|run| run.budget == *budget).map(row).collect())
        .filter(|group: &Vec<_>| !group.is_empty())
        .collect();
    if !groups.is_empty() {
        terminal::print(&terminal::fitting(
            &header,
            1,
            &groups,
            &["beta2", "off", "train FLOPs", "lr", "S"],
        ))?;
        terminal::print("")?;
    }
    terminal::print(&terminal::paragraph("", &sum(plan)))?;
    for line in dropped(plan) {
        terminal::print(&terminal::paragraph("- ", &line))?;
    }
    Ok(())
}

fn row(run: &PlannedRun) -> Vec<String> {
    let mut row = vec![
        run.name.clone(),
        size(run.parameters.non_embedding),
        size(run.parameters.total),
        count(run.steps.into()),
        size(run.tokens),
        format!("{:.3e}", run.optimiser.learning_rate),
        format!("{:.4}", run.optimiser.beta2),
        format!("{:.3e}", run.flops.train),
        percent(run.flops.off_budget),
    ];
    row.extend(run.seconds.map(time_of));
    row
}

/// A share with its sign, and none where it is nothing.
fn percent(share: f64) -> String {
    let text = format!("{:+.2} %", 100.0 * share);
    if text.ends_with("0.00 %") { "0.00 %".to_owned() } else { text }
}

fn time_of(seconds: f64) -> String {
    match Duration::try_from_secs_f64(seconds) {
        Ok(span) if seconds < 172_800.0 => terminal::time(span),
        _ => format!("{:.1} days", seconds / 86_400.0),
    }
}

fn sum(plan: &Plan) -> String {
    let counted = match plan.recipe.flops {
        FlopsConvention::Forward => "forward FLOPs, a third of the training FLOPs shown",
        FlopsConvention::Train => "training FLOPs",
    };
    let mut text = format!(
        "{}, {} tokens, {:.3e} training FLOPs. Budgets count {counted}.",
        several(plan.runs.len() as u64, "run"),
        size(plan.tokens()),
        plan.train_flops()
    );
    if let Some(basis) = plan.time {
        let total: f64 = plan.runs.iter().filter_map(|run| run.seconds).sum();
        let by = match basis {
            TimeBasis::Measured { threads } => {
                format!("measured on this machine with {}", several(threads as u64, "thread"))
            }
            TimeBasis::TokensPerSecond { rate } => format!("at the stated {rate} tokens a second"),
            TimeBasis::TrainFlopsPerSecond { rate } => {
                format!("at the stated {rate:e} training FLOPs a second")
            }
        };
        text.push_str(&format!(
            " In all {}, {by}; evaluation and files not counted.",
            time_of(total)
        ));
    }
    text
}

/// A line a budget that has dropped candidates.
fn dropped(plan: &Plan) -> Vec<String> {
    let of = |budget: &f64| {
        let dropped: Vec<_> =
            plan.dropped.iter().filter(|dropped| dropped.budget == *budget).collect();
        let first = dropped.first()?;
        Some(match dropped.len() {
            1 => format!("{budget:e}: width {} makes no run: {}", first.width, first.reason),
            several => format!(
                "{budget:e}: {several} widths make no run; width {}: {} (all reasons are in the JSON)",
                first.width, first.reason
            ),
        })
    };
    plan.recipe.budgets.iter().filter_map(of).collect()
}
