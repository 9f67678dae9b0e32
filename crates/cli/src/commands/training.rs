//! `relscale training`: what checkpoints say of the laws while models learn.

use std::path::PathBuf;

use relscale_laws::manifest::Manifest;
use relscale_laws::relative::{ErrorMeasure, HitUnit, counted_ranks};
use relscale_laws::training::{TrainingSource, fit_training};
use relscale_laws::{FitOptions, Quantity};
use relscale_report::shown::{self, At};

use super::json::{self, Json};
use super::measured::{Choice, tag, tags};
use super::table::condition;
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal;

/// Fit the laws over training: errors of checkpoints along size, along tokens, and over both.
///
/// For the cross entropy and -ln RBP_k at every k: slopes along ln S at each number of tokens and
/// along ln D at each size, the surface E + A S^-alpha + B D^-beta, how far plane and surface miss
/// the largest size and the last tokens unseen, how early checkpoints tell the end of their runs,
/// and how far runs of different seeds scatter beside the noise of the text. Checkpoints of a run
/// are never counted as independent.
///
/// The study is one of checkpoints whose run and tokens a manifest tells: `sweep train --keep`
/// makes both.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  relscale sweep train small --keep 8 --out family
  relscale measure --model family/checkpoints --corpus crates:code --tokens 60000 --out study
  relscale training study --models family/checkpoints/models.toml")]
pub(crate) struct Arguments {
    /// The study folder that `relscale measure` made, of checkpoints that --models lists
    study: PathBuf,

    /// A manifest of the models (.toml, .csv, .tsv, .jsonl, .parquet): model, run, tokens
    #[arg(long, value_name = "FILE")]
    models: PathBuf,

    /// This family only
    #[arg(long)]
    family: Option<String>,

    /// The tag whose values are the distributions, e.g. tag:domain [default: each corpus is one]
    #[arg(long, value_name = "TAG", value_parser = tag)]
    by: Option<String>,

    /// Condition on a tag of the documents; may be given again
    #[arg(long = "where", value_name = "TAG=VALUE", value_parser = condition)]
    only: Vec<(String, String)>,

    /// The k of RBP_k [default: all that were counted]
    #[arg(long, value_name = "K", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    k: Vec<u32>,

    /// Write the result as JSON to a file, or to standard output (-) [default: STUDY/training.json]
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

/// File of a study that holds its laws over training.
const TRAINING: &str = "training.json";

/// Nominal coverage of every interval.
const LEVEL: f64 = 0.95;

/// Carries the command out.
///
/// # Errors
/// A study or manifest that cannot be read, a model without tokens, a k that was not counted; no
/// slope could be had.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let inputs = [Input::Path(arguments.models.clone()), Input::Study(arguments.study.clone())];
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    let manifest = Manifest::read(&arguments.models)?;
    let FitOptions { resamples, seed, .. } = FitOptions::default();
    let only = tags(&arguments.only);
    let choice = Choice {
        error: ErrorMeasure::CrossEntropy,
        x: Some("params"),
        manifest: Some(&manifest),
        family: arguments.family.as_deref(),
        by: arguments.by.as_deref(),
        only: &only,
        resamples,
        seed,
    };
    let measured = choice.read(&arguments.study)?;
    let Some(tokens) = choice.axis(&measured.runs, Some("tokens"))? else {
        return Err(Refusal::new("a study knows no tokens of its models", "give --models").into());
    };
    let counted = counted_ranks(&measured.runs);
    let ks = if arguments.k.is_empty() { &counted } else { &arguments.k };
    let mut errors = vec![(Quantity::CrossEntropy, choice.errors(&measured)?)];
    for &k in ks {
        let choice = Choice { error: ErrorMeasure::Rbp { unit: HitUnit::Token, k }, ..choice };
        errors.push((Quantity::Rank { k }, choice.errors(&measured)?));
    }
    let source =
        TrainingSource { errors: &errors, tokens: &tokens, manifest: &manifest, level: LEVEL };
    let fit = fit_training(&source)?;
    let default = Json::Own(arguments.study.join(TRAINING));
    json::deliver(&fit, Some(arguments.json.as_ref().unwrap_or(&default)), || {
        terminal::print_result(&shown::training(&At::file(TRAINING, &fit)))
    })?;
    let mut laws = fit.groups.iter().flat_map(|group| &group.laws);
    let some = laws.any(|law| {
        law.split.along_size.slope.is_some()
            || law.split.along_tokens.slope.is_some()
            || law.split.plane.fit().is_some()
    });
    if some {
        return Ok(());
    }
    let hint =
        "give at least three sizes with as many tokens, or three numbers of tokens for a size";
    Err(Refusal::new("no slope along size or tokens could be had", hint).into())
}
