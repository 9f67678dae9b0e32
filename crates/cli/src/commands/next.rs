//! `relscale next`: which measurement would tell most for its cost.

use std::path::PathBuf;

use relscale_laws::advice::{AdviceOptions, advise};
use relscale_laws::predict::Size;
use relscale_laws::{Narrowed, Saved as _, StudyFit};
use relscale_report::shown::{self, At};

use super::json::{self, Json};
use super::predict::{laws_file, size};
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal;

/// Tell what to measure next: which model, or how much more text, narrows a law most for its cost.
///
/// Reads STUDY/laws.json, which `relscale fit` makes. Studies are drawn from each law as it is
/// fitted, with its models' scatter and its text's noise, today's and with one thing more; the
/// interval of the exponent, and of a prediction at ten times the largest model, are told as parts
/// of today's. More text helps where the text's share is large, another model where the models
/// scatter. Costs are 2 S FLOPs for each scored token, the output head apart.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  relscale next study
  relscale next study --model 7B,13B --times 5 --k 1,10
  relscale next study --training-tokens 300e9")]
pub(crate) struct Arguments {
    /// The study folder, or a laws.json
    study: PathBuf,

    /// Models that could be measured: 7e9, 7B, 125M, or 10x for ten times the largest [default:
    /// some about the measured ones]
    #[arg(long = "model", value_name = "S", value_delimiter = ',', value_parser = size)]
    models: Vec<Size>,

    /// How many times the text could be scored, what is there included
    #[arg(long, value_name = "TIMES", value_delimiter = ',', default_value = "2,4,10")]
    times: Vec<f64>,

    /// Which interval is to narrow: that of the exponent, or of a prediction at ten times the
    /// largest model
    #[arg(long, value_name = "INTERVAL", default_value = "exponent", value_parser = narrowed)]
    of: Narrowed,

    /// A new model must first be trained on so many tokens: 6 S FLOPs each
    #[arg(long, value_name = "TOKENS")]
    training_tokens: Option<f64>,

    /// The k of RBP_k; the cross entropy is looked at as well
    #[arg(long, value_name = "K", value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    k: Vec<u32>,

    /// This family only
    #[arg(long)]
    family: Option<String>,

    /// This corpus only
    #[arg(long)]
    corpus: Option<String>,

    /// Studies drawn behind each width
    #[arg(long, value_name = "N", default_value_t = AdviceOptions::default().draws)]
    draws: u32,

    /// Seed of the drawing
    #[arg(long, value_name = "N", default_value_t = AdviceOptions::default().seed)]
    seed: u64,

    /// Write the result as JSON to a file, or to standard output (-)
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

fn narrowed(text: &str) -> Result<Narrowed, String> {
    match text {
        "exponent" => Ok(Narrowed::Exponent),
        "prediction" => Ok(Narrowed::Prediction),
        _ => Err("it is exponent or prediction".to_owned()),
    }
}

/// Carries the command out.
///
/// # Errors
/// There are no laws; a family or corpus that the study does not have; no law can be advised on.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let laws = laws_file(&arguments.study);
    let inputs = [Input::Path(laws.clone()), Input::Study(arguments.study.clone())];
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    let options = AdviceOptions {
        family: arguments.family.clone(),
        corpus: arguments.corpus.clone(),
        k: arguments.k.clone(),
        sizes: arguments.models.clone(),
        times: arguments.times.clone(),
        of: arguments.of,
        training_tokens: arguments.training_tokens,
        draws: arguments.draws,
        seed: arguments.seed,
    };
    let advice = advise(&StudyFit::load(&laws)?, &options)?;
    json::deliver(&advice, arguments.json.as_ref(), || {
        terminal::print_result(&shown::advice(&At::file("advice.json", &advice)))
    })?;
    let refused = advice.laws.iter().map(|law| law.outcome.refused().map(|_| &law.verdict));
    let refused: Option<Vec<_>> = refused.collect();
    match refused.as_deref().and_then(<[_]>::first) {
        None => Ok(()),
        Some(first) => {
            let what = format!("nothing can be advised: {}", first.trim_end_matches('.'));
            Err(Refusal::new(what, "see what `relscale fit` says of this law").into())
        }
    }
}
