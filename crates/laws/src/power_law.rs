//! What the rank law and the cross-entropy law share: from measured points to a [`Law`].
//!
//! The line of `ln value` on `ln S` is unweighted, as in the paper: models scatter about a law by far more than
//! the text sample's noise, so weights from that noise would be false precision (the weighted exponent is
//! given beside it). What is told first is for texts like this one and models like these, both random (`line`); beside it stand
//! both parts by themselves: the Student t interval for this very text, and that of the text's noise with the models held fixed.

use relscale_stats::bootstrap::Sample;
use relscale_stats::forms::power::Power;
use relscale_stats::goodness::hotelling_tail;
use relscale_stats::interval::student::StudentInterval;
use relscale_stats::optimise::correlated;
use relscale_stats::{StatsError, outcome::Caution};

use crate::audit;
use crate::judged;
use crate::line::{DocumentSizes, Fit, text_noise};
use crate::result::{
    ChiSquared, Flag, FlagCode, Interval, Law, LawPoint, LeftOut, Outcome, PowerLaw, Quantity, Rivals,
    TextNoise,
};
use crate::rivals;
use crate::verdict;

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
    pub(crate) quantity: Quantity,
    /// Coverage of the intervals.
    pub(crate) level: f64,
    /// Scored tokens of each document.
    pub(crate) sizes: &'a DocumentSizes,
}

/// Chance below which the scatter is said to exceed the sample's noise.
pub(crate) const BEYOND_NOISE: f64 = 0.01;

/// Fits the law. `doubts` names what forbids to claim a slope; any such flag makes the fit unclaimed.
pub(crate) fn law(
    setting: Setting<'_>,
    measured: Vec<Measured<'_>>,
    left_out: Vec<LeftOut>,
    doubts: impl Fn(&[LawPoint]) -> Vec<Flag>,
) -> Law {
    let sizes: Vec<f64> = measured.iter().map(|m| m.parameters as f64).collect();
    let values: Vec<f64> = measured.iter().map(|m| m.value).collect();
    let left_out_values: Vec<&[f64]> = measured.iter().map(|m| m.left_out.as_slice()).collect();
    let text = text_noise(&sizes, &left_out_values, setting.sizes);
    let fit = Fit::new(&sizes, &values, text.as_ref());
    let points = points(&measured, fit.as_ref().ok().map(|fit| &fit.power));

    let mut flags = doubts(&points);
    let claimed = flags.is_empty();
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|left| left.model.as_str()).collect();
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
    let rivals =
        fit.is_ok().then(|| rivals::compare(&points, setting.quantity.unit(), setting.level, claimed));
    let outcome = match fit {
        Err(refusal) => Outcome::Refused { reason: refused(&points, refusal) },
        Ok(fit) => {
            let law = describe(&fit, setting, text.as_ref(), &points, claimed);
            flags.extend(judge(&law, &fit.power, setting.quantity, &points));
            flags.extend(few_documents(&law, text.as_ref()));
            flags.extend(rivals.as_ref().and_then(bend));
            flags.extend(too_few(points.len()));
            Outcome::Fitted(Box::new(law))
        }
    };
    let mut law = Law {
        quantity: setting.quantity,
        unit: setting.quantity.unit().to_owned(),
        points,
        left_out,
        outcome,
        rivals,
        text,
        flags,
        breakdown: None,
        verdict: String::new(),
    };
    law.verdict = verdict::of_law(&law);
    law
}

/// A flag when a resample had no value for some model: what it would have added to the error is missing.
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

fn refused(points: &[LawPoint], refusal: StatsError) -> String {
    match points {
        [] => "no model has a point".to_owned(),
        [only] => format!("one model ({}) cannot show how the quantity changes with size", only.model),
        _ => refusal.to_string(),
    }
}

fn points(measured: &[Measured<'_>], fit: Option<&Power>) -> Vec<LawPoint> {
    let error = |replicates: &Result<Vec<f64>, &str>, of: fn(f64) -> f64| {
        let replicates = replicates.as_ref().ok()?;
        Sample::new(replicates.iter().copied().map(of)).standard_error().ok()
    };
    measured
        .iter()
        .enumerate()
        .map(|(point, m)| LawPoint {
            model: m.model.clone(),
            parameters: m.parameters,
            value: m.value,
            standard_error: error(&m.replicates, |value| value),
            log_value: m.value.ln(),
            log_standard_error: error(&m.replicates, f64::ln),
            tokens: m.tokens,
            hits: m.hits,
            misses: m.hits.map(|hits| m.tokens - hits),
            fitted: fit.map(|fit| fit.at(m.parameters as f64)),
            log_residual: fit.map(|fit| fit.line.residuals[point]),
            leverage: fit.map(|fit| fit.line.leverage[point]),
        })
        .collect()
}

fn describe(
    fit: &Fit,
    setting: Setting<'_>,
    text: Option<&TextNoise>,
    points: &[LawPoint],
    claimed: bool,
) -> PowerLaw {
    let Setting { quantity, level, .. } = setting;
    let unit = quantity.unit();
    let sizes: Vec<f64> = points.iter().map(|point| point.parameters as f64).collect();
    let sampling = fit.exponent_of_these_models(text, &sizes, UNKNOWN_TEXT, level);
    let line = &fit.power.line;
    PowerLaw {
        exponent: fit.exponent(level),
        exponent_of_this_text: Some(fit.exponent_of_this_text(level)),
        exponent_sampling_error: sampling.standard_error,
        exponent_sampling_interval: sampling,
        correlation: fit.correlation(),
        prefactor: fit.prefactor(unit, "S", level),
        centre_parameters: fit.power.centre(),
        at_centre: fit.at_centre(unit, level),
        r_squared: line.r_squared,
        residual_standard_deviation: line.residual_variance().map(f64::sqrt),
        models: points.len() as u32,
        parameter_range: (
            points.first().map_or(0, |point| point.parameters),
            points.last().map_or(0, |point| point.parameters),
        ),
        claimed,
        chi_squared: text.and_then(|text| chi_squared(points, text)),
        leave_one_out: audit::leave_one_out(points, unit, level),
        audit: audit::extrapolation(points, unit, level),
    }
}

/// Why the noise of a text is not known.
pub(crate) const UNKNOWN_TEXT: &str =
    "no error from the text: fewer than three documents, or one that holds all misses (or hits) of a model";

/// The residuals against the noise of the text sample, by a fit that knows how the models err together.
fn chi_squared(points: &[LawPoint], text: &TextNoise) -> Option<ChiSquared> {
    let log_sizes: Vec<f64> = points.iter().map(|point| (point.parameters as f64).ln()).collect();
    let log_values: Vec<f64> = points.iter().map(|point| point.value.ln()).collect();
    let fit = correlated::line(&log_sizes, &log_values, &text.covariance).ok()?;
    // As many even documents as know the noise as well.
    let units = (text.degrees_of_freedom + 1.0).floor() as usize;
    Some(ChiSquared {
        value: fit.chi_squared,
        degrees_of_freedom: fit.degrees_of_freedom as u32,
        weighted_exponent: 0.0 - fit.slope,
        p_value: hotelling_tail(fit.chi_squared, fit.degrees_of_freedom, units)?,
    })
}

/// Share of the variance of an exponent from which on more text is the cure.
const MOSTLY_TEXT: f64 = 0.5;

/// One document's share of the text's part from which on it is named: others like the text may hold none, or two.
const LOUD: f64 = 0.3;

/// A flag when the text, not the models, makes the interval wide: with how many documents it would not.
fn few_documents(law: &PowerLaw, text: Option<&TextNoise>) -> Option<Flag> {
    let share = law.exponent.interval.text_share().filter(|share| *share > MOSTLY_TEXT)?;
    let text = text?;
    // Its variance falls as documents are added; a third of the models' adds a seventh to the interval.
    let enough = (text.documents as f64 * 3.0 * share / (1.0 - share)).ceil();
    let enough = if enough < 1e6 { format!("about {enough:.0} like them") } else { "far more".to_owned() };
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

/// What must be said about a fit that exists.
fn judge(law: &PowerLaw, fit: &Power, quantity: Quantity, points: &[LawPoint]) -> Vec<Flag> {
    let mut flags = Vec::new();
    if fit.line.cautions.contains(&Caution::NoScatter) {
        flags.push(Flag::new(
            FlagCode::NoInterval,
            format!("{}: a slope only", StatsError::NoDegreesOfFreedom),
        ));
    }
    let symbol = quantity.symbol();
    match law.exponent.bounds() {
        _ if law.exponent.value <= 0.0 => flags.push(Flag::new(
            FlagCode::NotFalling,
            format!("{symbol} does not fall with size: exponent {:.4}", law.exponent.value),
        )),
        Some((low, high)) if low <= 0.0 => flags.push(Flag::new(
            FlagCode::NotFalling,
            format!("{symbol} may not fall with size: the exponent's interval [{low:.4}, {high:.4}] holds 0"),
        )),
        _ => {}
    }
    if let Some(chi) = law.chi_squared
        && chi.p_value < BEYOND_NOISE
    {
        flags.push(Flag::new(
            FlagCode::ScatterBeyondNoise,
            format!(
                "the models scatter about the line by more than the text sample's noise (chi² {:.1} on {} degrees \
                 of freedom): more text alone will not mend it",
                chi.value, chi.degrees_of_freedom
            ),
        ));
    }
    if !fit.line.cautions.contains(&Caution::Exact) {
        flags.extend(audit::outliers(points).into_iter().map(|(model, error)| {
            Flag::new(
                FlagCode::Outlier,
                format!("{model} lies {:+.1} % from where the other models predict it", 100.0 * error),
            )
        }));
        let sizes: Vec<f64> = points.iter().map(|point| point.parameters as f64).collect();
        let values: Vec<f64> = points.iter().map(|point| point.value).collect();
        flags.extend(judged::lumped(&sizes, &values, "models"));
    }
    flags
}

/// Models from which on the form can be tested.
const ENOUGH: usize = relscale_stats::judge::FEWEST_FOR_BEND;

/// A flag when the models are too few to say whether they follow a power law rather than another.
fn too_few(models: usize) -> Option<Flag> {
    (models < ENOUGH).then(|| {
        Flag::new(
            FlagCode::TooFewPoints,
            format!("undecided whether the law is a power law: {models} models, {ENOUGH} are needed"),
        )
    })
}

/// The power law's own lack of fit, as its test found it.
pub(crate) fn bend(rivals: &Rivals) -> Option<Flag> {
    judged::bends(rivals.test.as_ref()?, "S")
}

/// A Student t interval as it is stored, or the reason for none.
pub(crate) fn student_t(interval: Result<StudentInterval, StatsError>) -> Interval {
    match interval {
        // The ends of an interval over orders of magnitude may leave the range of a double.
        Ok(found) if !(found.low.is_finite() && found.high.is_finite()) => {
            Interval::None { reason: "the interval exceeds the range of numbers".to_owned() }
        }
        Ok(found) => Interval::StudentT {
            low: found.low,
            high: found.high,
            level: found.level,
            degrees_of_freedom: found.degrees_of_freedom as u32,
        },
        Err(refusal) => Interval::None { reason: refusal.to_string() },
    }
}

/// A percentile interval over resampled documents as it is stored, or the reason for none.
pub(crate) fn percentiles(sample: &Result<Sample, &str>, level: f64) -> Interval {
    let reason = match sample {
        Ok(sample) => match sample.interval(level) {
            Ok((low, high)) => {
                return Interval::DocumentBootstrap {
                    low,
                    high,
                    level,
                    resamples: sample.replicates() as u32,
                };
            }
            Err(refusal) => refusal.to_string(),
        },
        Err(reason) => (*reason).to_owned(),
    };
    Interval::None { reason }
}
