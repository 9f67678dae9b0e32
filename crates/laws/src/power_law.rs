//! What the rank law and the cross-entropy law share: from measured points to a [`Law`].
//!
//! The line of `ln value` on `ln S` is unweighted, as in the paper: models scatter about a law by far more than
//! the text sample's noise, so weights from that noise would be false precision (the weighted exponent is
//! given beside it). Two different uncertainties are kept apart: the Student t interval of the exponent comes from
//! the scatter of the models, the sampling interval from resampled documents with the models held fixed.

use relscale_stats::bootstrap::{Sample, covariance};
use relscale_stats::forms::power::{self, Power};
use relscale_stats::goodness::hotelling_tail;
use relscale_stats::interval::student::StudentInterval;
use relscale_stats::optimise::correlated;
use relscale_stats::{StatsError, outcome::Caution};

use crate::audit;
use crate::judged;
use crate::result::{
    ChiSquared, Estimate, Flag, FlagCode, Interval, Law, LawPoint, LeftOut, Outcome, PowerLaw, Quantity,
    Rivals,
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
}

/// What a fit must know besides its points.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) quantity: Quantity,
    /// Coverage of the intervals.
    pub(crate) level: f64,
    /// Documents behind the replicates.
    pub(crate) documents: u64,
}

/// Chance below which the scatter is said to exceed the sample's noise.
pub(crate) const BEYOND_NOISE: f64 = 0.01;

/// Fits the law. `doubts` names what forbids to claim a slope; any such flag makes the fit unclaimed.
pub(crate) fn law(
    setting: Setting,
    measured: Vec<Measured<'_>>,
    left_out: Vec<LeftOut>,
    doubts: impl Fn(&[LawPoint]) -> Vec<Flag>,
) -> Law {
    let sizes: Vec<f64> = measured.iter().map(|m| m.parameters as f64).collect();
    let values: Vec<f64> = measured.iter().map(|m| m.value).collect();
    let fit = power::fit(&sizes, &values);
    let points = points(&measured, fit.as_ref().ok());

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
            let law = describe(&fit, setting, &measured, &points, claimed);
            flags.extend(judge(&law, &fit, setting.quantity, &points));
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
    fit: &Power,
    setting: Setting,
    measured: &[Measured<'_>],
    points: &[LawPoint],
    claimed: bool,
) -> PowerLaw {
    let Setting { quantity, level, documents } = setting;
    let unit = quantity.unit();
    let sampling = exponents_over_resamples(measured);
    let exponent = |standard_error, interval| Estimate {
        value: fit.exponent(),
        unit: "1".to_owned(),
        standard_error,
        interval,
    };
    let sampling_error = sampling.as_ref().ok().and_then(|s| s.standard_error().ok());
    PowerLaw {
        exponent: exponent(fit.line.slope_standard_error(), student_t(fit.exponent_interval(level))),
        exponent_sampling_error: sampling_error,
        exponent_sampling_interval: exponent(sampling_error, percentiles(&sampling, level)),
        prefactor: prefactor(fit, unit, "S", level),
        centre_parameters: fit.centre(),
        at_centre: at_centre(fit, unit, level),
        r_squared: fit.line.r_squared,
        residual_standard_deviation: fit.line.residual_variance().map(f64::sqrt),
        models: points.len() as u32,
        parameter_range: (
            points.first().map_or(0, |point| point.parameters),
            points.last().map_or(0, |point| point.parameters),
        ),
        claimed,
        chi_squared: chi_squared(measured, documents),
        leave_one_out: audit::leave_one_out(points, unit, level),
        audit: audit::extrapolation(points, unit, level),
    }
}

/// The law's value at `x = 1`, `x` as its unit is to name it; `None` where it exceeds the range of numbers.
pub(crate) fn prefactor(fit: &Power, unit: &str, x: &str, level: f64) -> Option<Estimate> {
    let prefactor = Estimate {
        value: fit.prefactor(),
        unit: format!("{unit} at {x} = 1"),
        // Relative error times value: first order, as any error of an exponential is.
        standard_error: fit
            .line
            .intercept_standard_error()
            .map(|error| error * fit.prefactor())
            .filter(|error| error.is_finite()),
        interval: student_t(fit.prefactor_interval(level)),
    };
    Some(prefactor).filter(|prefactor| prefactor.value.is_finite())
}

/// The law's value at the geometric mean of x, where it is known best.
pub(crate) fn at_centre(fit: &Power, unit: &str, level: f64) -> Estimate {
    let value = fit.at(fit.centre());
    Estimate {
        value,
        unit: unit.to_owned(),
        standard_error: fit.line.mean_standard_error(fit.line.centre_x).map(|error| error * value),
        interval: student_t(fit.mean_interval(fit.centre(), level)),
    }
}

/// The exponent refitted on every resample of the documents.
fn exponents_over_resamples<'a>(measured: &[Measured<'a>]) -> Result<Sample, &'a str> {
    let sizes: Vec<f64> = measured.iter().map(|m| m.parameters as f64).collect();
    let series = measured
        .iter()
        .map(|m| m.replicates.as_deref().map_err(|reason| *reason))
        .collect::<Result<Vec<&[f64]>, &str>>()?;
    let resamples = series.first().map_or(0, |first| first.len());
    Ok(Sample::new((0..resamples).map(|resample| {
        let values: Vec<f64> = series.iter().map(|values| values[resample]).collect();
        // A resample in which some model has no miss has no line: counted as dropped.
        power::fit(&sizes, &values).map_or(f64::NAN, |fit| fit.exponent())
    })))
}

/// The residuals against the noise of the text sample, by a fit that knows how the models err together.
fn chi_squared(measured: &[Measured<'_>], documents: u64) -> Option<ChiSquared> {
    let log_sizes: Vec<f64> = measured.iter().map(|m| (m.parameters as f64).ln()).collect();
    let log_values: Vec<f64> = measured.iter().map(|m| m.value.ln()).collect();
    let series = measured
        .iter()
        .map(|m| Some(m.replicates.as_ref().ok()?.iter().map(|value| value.ln()).collect()))
        .collect::<Option<Vec<Vec<f64>>>>()?;
    let covariance = covariance(&series).ok()?;
    let fit = correlated::line(&log_sizes, &log_values, &covariance).ok()?;
    Some(ChiSquared {
        value: fit.chi_squared,
        degrees_of_freedom: fit.degrees_of_freedom as u32,
        weighted_exponent: 0.0 - fit.slope,
        p_value: hotelling_tail(fit.chi_squared, fit.degrees_of_freedom, documents as usize)?,
    })
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
