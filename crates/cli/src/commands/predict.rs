//! `relscale predict`: what the laws of a study say of sizes that were not measured.

use std::path::{Path, PathBuf};

use relscale_laws::Saved as _;
use relscale_laws::predict::{Question, Size, Target, predict};
use relscale_laws::{LawsError, Predictions, StudyFit};
use relscale_report::shown::{self, At};

use super::fit::LAWS;
use super::json::{self, Json};
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal;

/// Predict from the laws of a study: the value at a size, or the size for a target.
///
/// Reads STUDY/laws.json, which `relscale fit` makes. Each answer has two intervals, that of one
/// new model and that of the law; the answers of the forms that the points leave open (Akaike's
/// weight at least 0.01) beside it; and its distance beyond the measured sizes. The chance of N
/// tokens right in a row comes from windows that were counted (`relscale fit --emergence-n`), else
/// from independent tokens; the notes say which.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The study folder, or a laws.json
    study: PathBuf,

    /// Sizes to predict values at: 7e9, 7B, 125M, or 10x for ten times the largest model
    /// [default without --target: 10x,100x]
    #[arg(long, value_name = "S", value_delimiter = ',', value_parser = size)]
    at: Vec<Size>,

    /// A value to be reached: "RBP_1 = 0.6", "CE = 2.5", "p_20 = 0.5 at k = 10" (20 tokens in a
    /// row); may be given again
    #[arg(long, value_name = "TARGET", value_parser = target)]
    target: Vec<Target>,

    /// The k of RBP_k, and of targets that name none
    /// [default: 1, 10, 100 for values, 1 for targets]
    #[arg(long, value_name = "K", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    k: Vec<u32>,

    /// Predict the chance of so many tokens right in a row as well
    #[arg(long = "in-a-row", value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    in_a_row: Vec<u32>,

    /// This family only
    #[arg(long)]
    family: Option<String>,

    /// This corpus only
    #[arg(long)]
    corpus: Option<String>,

    /// Coverage of the intervals [default: that of the fit]
    #[arg(long, value_name = "SHARE")]
    level: Option<f64>,

    /// Write the predictions as JSON to a file, or to standard output (-)
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

const EXAMPLES: &str = "\
Examples:
  relscale predict study
  relscale predict study --at 7B,70B --k 1,10 --in-a-row 20
  relscale predict study --target \"RBP_1 = 0.6\" --target \"p_20 = 0.5\" --corpus wiki
  relscale predict study --at 1e12 --json - | jq '.groups[].values[].outcome.value'";

/// A size as people write it.
pub(super) fn size(text: &str) -> Result<Size, String> {
    text.parse().map_err(|error| expected(&error))
}

fn target(text: &str) -> Result<Target, String> {
    text.parse().map_err(|error| expected(&error))
}

/// What an option's refusal says is accepted; its name and value are in clap's own words.
fn expected(error: &LawsError) -> String {
    match error {
        LawsError::Option { expected, .. } => format!("expected {expected}"),
        other => other.to_string(),
    }
}

/// Carries the command out.
///
/// # Errors
/// There are no laws; a family or corpus that the study does not have; nothing could be predicted.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let question = Question {
        family: arguments.family.clone(),
        corpus: arguments.corpus.clone(),
        at: arguments.at.clone(),
        targets: arguments.target.clone(),
        k: arguments.k.clone(),
        lengths: arguments.in_a_row.clone(),
        level: arguments.level,
    };
    let laws = laws_file(&arguments.study);
    let inputs = [Input::Path(laws.clone()), Input::Study(arguments.study.clone())];
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    let laws = StudyFit::load(&laws)?;
    let predictions = predict(&laws, &question)?;
    json::deliver(&predictions, arguments.json.as_ref(), || {
        terminal::print_result(&shown::predictions(&At::file("predictions.json", &predictions)))
    })?;
    refuse_if_empty(&predictions)
}

/// The laws of a study, or the file itself.
pub(super) fn laws_file(study: &Path) -> PathBuf {
    if study.is_file() { study.to_owned() } else { study.join(LAWS) }
}

/// Refuses when there is not one answer.
fn refuse_if_empty(predictions: &Predictions) -> anyhow::Result<()> {
    let mut reasons = predictions.groups.iter().flat_map(|group| {
        let values = group.values.iter().map(|value| (value.outcome.refused(), &value.verdict));
        let sizes = group.sizes.iter().map(|size| (size.outcome.refused(), &size.verdict));
        values.chain(sizes).map(|(refused, verdict)| refused.map(|_| verdict))
    });
    match reasons.next() {
        Some(Some(first)) if reasons.all(|reason| reason.is_some()) => {
            let first = first.trim_end_matches('.');
            let hint = "see what `relscale fit` says of this law";
            Err(Refusal::new(format!("nothing could be predicted: {first}"), hint).into())
        }
        _ => Ok(()),
    }
}
