//! `relscale predict`: what the laws of a study say of sizes that were not measured.

use std::path::{Path, PathBuf};

use relscale_laws::Saved as _;
use relscale_laws::predict::{Question, Size, Target, predict};
use relscale_laws::{
    Basis, Flag, GroupPredictions, Interval, LawsError, Outcome, Predictions, SizePrediction, StudyFit,
    ValuePrediction,
};

use super::fit::LAWS;
use super::json::{self, Json};
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal;

/// Predict from the laws of a study: the value at a size, or the size for a target.
///
/// Reads STUDY/laws.json, which `relscale fit` makes. Each answer has two intervals, that of one new model and that of the law; the
/// answers of the forms that the points leave open (Akaike's weight at least 0.01) beside it; and its distance beyond the measured
/// sizes. The chance of N tokens right in a row comes from windows that were counted (`relscale fit --emergence-n`), else from
/// independent tokens; the notes say which.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The study folder, or a laws.json
    study: PathBuf,

    /// Sizes to predict values at: 7e9, 7B, 125M, or 10x for ten times the largest model
    /// [default without --target: 10x,100x]
    #[arg(long, value_name = "S", value_delimiter = ',', value_parser = size)]
    at: Vec<Size>,

    /// A value to be reached: "RBP_1 = 0.6", "CE = 2.5", "p_20 = 0.5 at k = 10" (20 tokens in a row); may be given again
    #[arg(long, value_name = "TARGET", value_parser = target)]
    target: Vec<Target>,

    /// The k of RBP_k, and of targets that name none [default: 1, 10, 100 for values, 1 for targets]
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

fn size(text: &str) -> Result<Size, String> {
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
    let laws = file(&arguments.study);
    let inputs = [Input::Path(laws.clone()), Input::Study(arguments.study.clone())];
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    let laws = StudyFit::load(&laws)?;
    let predictions = predict(&laws, &question)?;
    json::deliver(&predictions, arguments.json.as_ref(), || show(&predictions))?;
    refuse_if_empty(&predictions)
}

fn file(study: &Path) -> PathBuf {
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

fn show(predictions: &Predictions) -> anyhow::Result<()> {
    let several = predictions.groups.windows(2).any(|pair| pair[0].family != pair[1].family);
    let title = |group: &GroupPredictions| match several {
        true => format!("{} on {}", group.family, group.corpus),
        false => group.corpus.clone(),
    };
    let percent = format!("{:.0} %", 100.0 * predictions.level);
    let (model, law) = (format!("one model, {percent}"), format!("the law, {percent}"));
    let groups = |rows: fn(&GroupPredictions) -> Vec<Vec<String>>| -> Vec<Vec<Vec<String>>> {
        let titled = |group: &GroupPredictions| {
            let mut rows = rows(group);
            for (at, row) in rows.iter_mut().enumerate() {
                row.insert(0, if at == 0 { title(group) } else { String::new() });
            }
            rows
        };
        predictions.groups.iter().map(titled).filter(|rows| !rows.is_empty()).collect()
    };
    let values = groups(value_rows);
    if !values.is_empty() {
        let header = ["corpus", "quantity", "S", "value", &model, &law, "other forms", "decades beyond"];
        terminal::print(&terminal::table(&header, 2, &values))?;
    }
    let sizes = groups(size_rows);
    if !sizes.is_empty() {
        if !values.is_empty() {
            terminal::print("")?;
        }
        let header = ["corpus", "target", "S", &law, &model, "other forms", "decades beyond"];
        terminal::print(&terminal::table(&header, 2, &sizes))?;
    }
    terminal::print(&notes(predictions, &title))
}

fn value_rows(group: &GroupPredictions) -> Vec<Vec<String>> {
    let row = |value: &ValuePrediction| {
        let mut row = vec![value.quantity.symbol(), size_of(value.parameters)];
        match &value.outcome {
            Outcome::Refused { .. } => row.extend(dashes(5)),
            Outcome::Fitted(found) => row.extend([
                number(found.value.value),
                interval(&found.value.interval, number),
                interval(&found.law_interval, number),
                span(found.rivals.iter().filter(|r| possible(r.weight)).map(|r| r.value), number),
                decades(value.decades_beyond),
            ]),
        }
        row
    };
    group.values.iter().map(row).collect()
}

fn size_rows(group: &GroupPredictions) -> Vec<Vec<String>> {
    let row = |size: &SizePrediction| {
        let mut row = vec![size.quantity.reaching(size.target)];
        match &size.outcome {
            Outcome::Refused { .. } => row.extend(dashes(5)),
            Outcome::Fitted(found) => row.extend([
                size_of(found.parameters.value),
                interval(&found.parameters.interval, size_of),
                interval(&found.for_one_model, size_of),
                span(
                    found.rivals.iter().filter(|r| possible(r.weight)).filter_map(|r| r.parameters),
                    size_of,
                ),
                decades(found.decades_beyond),
            ]),
        }
        row
    };
    group.sizes.iter().map(row).collect()
}

fn dashes(n: usize) -> impl Iterator<Item = String> {
    std::iter::repeat_n("-".to_owned(), n)
}

fn interval(interval: &Interval, form: fn(f64) -> String) -> String {
    interval.bounds().map_or("none".to_owned(), |(low, high)| format!("[{}, {}]", form(low), form(high)))
}

/// Whether the points leave a form open: its weight is a hundredth at least, or unknown.
fn possible(weight: Option<f64>) -> bool {
    weight.is_none_or(|weight| weight >= 0.01)
}

/// From the least to the greatest.
fn span(values: impl Iterator<Item = f64>, form: fn(f64) -> String) -> String {
    let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
        Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    });
    match ends.map(|(low, high)| (form(low), form(high))) {
        None => "-".to_owned(),
        Some((low, high)) if low == high => low,
        Some((low, high)) => format!("{low} to {high}"),
    }
}

/// Three or four digits, whatever the magnitude.
fn number(value: f64) -> String {
    if value == 0.0 || (0.001..1000.0).contains(&value.abs()) {
        format!("{value:.4}")
    } else {
        format!("{value:.2e}")
    }
}

/// `7.00B`; sizes beyond all counting by their power of ten.
fn size_of(parameters: f64) -> String {
    if (1.0..1e12).contains(&parameters) {
        terminal::size(parameters.round() as u64)
    } else {
        format!("{parameters:.1e}")
    }
}

fn decades(decades: f64) -> String {
    if decades == 0.0 { "0".to_owned() } else { format!("{decades:+.1}") }
}

/// What must be said: refusals, and each kind of doubt once a group with the first one's words.
fn notes(predictions: &Predictions, title: &dyn Fn(&GroupPredictions) -> String) -> String {
    let mut lines = Vec::new();
    for group in &predictions.groups {
        let mut said: Vec<(Option<&Flag>, String, usize)> = Vec::new();
        let values = group.values.iter().map(|value| match &value.outcome {
            Outcome::Fitted(found) => (value.flags.as_slice(), basis(found.basis), None),
            Outcome::Refused { .. } => (value.flags.as_slice(), None, Some(&value.verdict)),
        });
        let sizes = group.sizes.iter().map(|size| match &size.outcome {
            Outcome::Fitted(found) => (size.flags.as_slice(), basis(found.basis), Some(&size.verdict)),
            Outcome::Refused { .. } => (size.flags.as_slice(), None, Some(&size.verdict)),
        });
        for (flags, basis, verdict) in values.chain(sizes) {
            for line in verdict.into_iter().cloned().chain(basis.map(str::to_owned)) {
                if !said.iter().any(|(_, there, _)| *there == line) {
                    said.push((None, line, 1));
                }
            }
            for flag in flags {
                match said.iter_mut().find(|(there, ..)| there.is_some_and(|there| there.code == flag.code)) {
                    Some((.., times)) => *times += 1,
                    None => said.push((Some(flag), flag.message.clone(), 1)),
                }
            }
        }
        for (_, line, times) in said {
            let more = if times > 1 { format!(" (and {} more)", times - 1) } else { String::new() };
            lines.push(terminal::paragraph("  note: ", &format!("({}) {line}{more}", title(group))));
        }
    }
    lines.join("\n")
}

/// What is said of the law behind a chance of several tokens.
fn basis(basis: Basis) -> Option<&'static str> {
    (basis == Basis::CountedWindows)
        .then_some("chances of tokens in a row are from the law of windows as they were counted")
}
