//! What the rank law, the cross-entropy law and laws of sequences share: from what a study measured
//! to a [`Law`].

use relscale_stats::bootstrap::Sample;

use crate::audit::Form;
use crate::line::{DocumentSizes, text_noise};
use crate::result::{Flag, FlagCode, Law, LeftOut, Outcome, Point, PowerLaw, Quantity, TextNoise};
use crate::series::{self, Words};
use crate::{rivals, verdict};

/// One model's value of the quantity, with its value in every resample of the documents.
pub(crate) struct Measured<'a> {
    pub(crate) model: String,
    pub(crate) parameters: u64,
    pub(crate) tokens: u64,
    pub(crate) hits: Option<u64>,
    /// Above zero.
    pub(crate) value: f64,
    /// In the order of the resamples, or why there are none.
    pub(crate) replicates: Result<Vec<f64>, &'a str>,
    /// The value without each document in turn, in the order of [`Setting::sizes`].
    pub(crate) left_out: Vec<f64>,
}

/// What a fit must know besides its points.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// Coverage of the intervals.
    pub(crate) level: f64,
    /// Scored tokens of each document.
    pub(crate) sizes: &'a DocumentSizes,
}

/// Fits the law. `forbidding` flags what forbids to claim a slope; any such flag makes the fit
/// unclaimed.
pub(crate) fn law(
    quantity: Quantity,
    setting: Setting<'_>,
    measured: Vec<Measured<'_>>,
    left_out: Vec<LeftOut>,
    forbidding: impl Fn(&[Point]) -> Vec<Flag>,
) -> Law {
    let level = setting.level;
    let (symbol, unit) = (quantity.symbol(), quantity.unit());
    let mut points: Vec<Point> = measured.iter().map(point).collect();
    let (sizes, _) = series::numbers(&points);
    let left_out_values: Vec<&[f64]> = measured.iter().map(|m| m.left_out.as_slice()).collect();
    let text = text_noise(&sizes, &left_out_values, setting.sizes);
    let fit = series::fit(&mut points, text.as_ref());

    let mut flags = forbidding(&points);
    let claimed = flags.is_empty();
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|left| left.label.as_str()).collect();
        flags.push(Flag::new(
            FlagCode::PointsLeftOut,
            format!(
                "{} of {} models left out of the fit: {}",
                names.len(),
                names.len() + points.len(),
                names.join(", ")
            ),
        ));
    }
    flags.extend(lost_resamples(&measured));
    let rivals = fit.is_ok().then(|| rivals::compare(&points, unit, level, claimed));
    let outcome = match fit {
        Err(refusal) => {
            let one = ("model", "the quantity changes with size");
            Outcome::refuse(series::refused(&points, &refusal, "no model has a point", one))
        }
        Ok(fit) => {
            let text = text.as_ref();
            let unseen = Some(Form::Open);
            let setting =
                series::Setting { unit, x: "S", level, text, parts: true, unseen, claimed };
            let law = series::describe(&fit, &points, setting);
            let falls = Some((symbol.as_str(), " with size"));
            let words = Words { points: "models", before: "", falls, twins: None, bends: None };
            flags.extend(series::flags(&fit, &law, &points, words, []));
            flags.extend(few_documents(&law, text));
            flags.extend(rivals.as_ref().and_then(series::bend));
            flags.extend(too_few(points.len()));
            Outcome::fitted(law)
        }
    };
    let mut law = Law {
        name: symbol,
        quantity,
        unit: unit.to_owned(),
        points,
        left_out,
        outcome,
        rivals,
        text,
        flags,
        breakdown: None,
        verdict: String::new(),
    };
    law.verdict = verdict::law(&law);
    law
}

fn point(m: &Measured<'_>) -> Point {
    let error = |of: fn(f64) -> f64| {
        let replicates = m.replicates.as_ref().ok()?;
        Sample::new(replicates.iter().copied().map(of)).standard_error().ok()
    };
    Point {
        label: m.model.clone(),
        x: m.parameters as f64,
        value: m.value,
        standard_error: error(|value| value),
        log_standard_error: error(f64::ln),
        tokens: Some(m.tokens),
        hits: m.hits,
        misses: m.hits.map(|hits| m.tokens - hits),
        ..Point::default()
    }
}

/// A flag when a resample had no value for some model: what it would have added to the error is
/// missing.
fn lost_resamples(measured: &[Measured<'_>]) -> Option<Flag> {
    let lost: Vec<String> = measured
        .iter()
        .filter_map(|m| {
            let replicates = m.replicates.as_ref().ok()?;
            let lost = replicates.iter().filter(|value| !value.ln().is_finite()).count();
            (lost > 0).then(|| format!("{} {lost} of {}", m.model, replicates.len()))
        })
        .collect();
    (!lost.is_empty()).then(|| {
        Flag::new(
            FlagCode::LostResamples,
            format!(
                "resamples of the documents without a value, so that errors are too small: {}",
                lost.join(", ")
            ),
        )
    })
}

/// Share of the variance of an exponent from which on more text is the cure.
const MOSTLY_TEXT: f64 = 0.5;

/// One document's share of the text's part from which on it is named: others like the text may hold
/// none, or two.
const LOUD: f64 = 0.3;

/// A flag when the text, not the models, makes the interval wide: with how many documents it would
/// not.
fn few_documents(law: &PowerLaw, text: Option<&TextNoise>) -> Option<Flag> {
    let share = law.exponent.interval.text_share().filter(|share| *share > MOSTLY_TEXT)?;
    let text = text?;
    // Its variance falls as documents are added; a third of the models' adds a seventh to the
    // interval.
    let enough = (text.documents as f64 * 3.0 * share / (1.0 - share)).ceil();
    let enough =
        if enough < 1e6 { format!("about {enough:.0} like them") } else { "far more".to_owned() };
    let uneven = if text.effective_documents < 0.75 * text.documents as f64 {
        format!(" of uneven length, worth {:.0} even ones", text.effective_documents)
    } else {
        String::new()
    };
    let loud = if text.loudest > LOUD {
        format!("; one document makes {:.0} % of the text's part", 100.0 * text.loudest)
    } else {
        String::new()
    };
    Some(Flag::new(
        FlagCode::FewDocuments,
        format!(
            "the text is {:.0} % of the variance of the exponent: {} documents{uneven}, where {enough} would make the models' \
             scatter the larger part by three{loud}",
            100.0 * share,
            text.documents
        ),
    ))
}

/// Models from which on the form can be tested.
const ENOUGH: usize = relscale_stats::judge::FEWEST_FOR_BEND;

/// A flag when the models are too few to say whether they follow a power law rather than another.
fn too_few(models: usize) -> Option<Flag> {
    (models < ENOUGH).then(|| {
        Flag::new(
            FlagCode::TooFewPoints,
            format!(
                "undecided whether the law is a power law: {models} models, {ENOUGH} are needed"
            ),
        )
    })
}
