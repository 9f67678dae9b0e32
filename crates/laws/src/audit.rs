//! Does the law predict models it has not seen? The only question a user of it has.
//!
//! Leave one out asks about any model; the extrapolation audit fits the m smallest and predicts all larger
//! ones, as one would who decides about the next size.

use relscale_stats::forms::power::{self, Power};
use relscale_stats::interval::open_form::{FLOOR_FROM, Of, OpenForm};

use crate::extrapolate;
use crate::judged;
use crate::power_law::student_t;
use crate::result::{AuditStep, Estimate, HeldOut, LawPoint};

/// Fewest models of an audited fit: two have no interval to be held to.
const FEWEST: usize = 3;

/// What a fit that has not seen a point predicts it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A power law that may flatten towards a floor: for errors, which fall.
    Open,
    /// The straight line of the logarithms: for gaps, which may go either way.
    Straight,
}

/// A point predicted by a fit that has not seen it.
pub(crate) struct Held {
    /// Index of the point.
    pub(crate) point: usize,
    /// The interval is that of a new point.
    pub(crate) predicted: Estimate,
    /// `predicted / observed - 1`.
    pub(crate) relative_error: f64,
    /// Whether the interval holds the observed value.
    pub(crate) covered: Option<bool>,
}

/// Each point predicted from all others; points that the others cannot predict are absent.
pub(crate) fn held_out_each(form: Form, x: &[f64], y: &[f64], unit: &str, level: f64) -> Vec<Held> {
    // Of four points three are left, too few for an open form; their place lies among them or beside, where the form matters little.
    let form = if x.len() <= FLOOR_FROM { Form::Straight } else { form };
    let others = |all: &[f64], left: usize| [&all[..left], &all[left + 1..]].concat();
    let each =
        (0..x.len()).filter_map(|left| Some((left, Fitted::new(form, &others(x, left), &others(y, left))?)));
    each.filter_map(|(point, fit)| held(&fit, point, x[point], y[point], unit, level)).collect()
}

/// For each m from [`FEWEST`]: m, the exponent from the first m points, and its predictions of the rest. x ascends.
pub(crate) fn smallest_first(
    form: Form,
    x: &[f64],
    y: &[f64],
    unit: &str,
    level: f64,
) -> Vec<(usize, f64, Vec<Held>)> {
    (FEWEST..x.len())
        .filter_map(|m| {
            let exponent = power::fit(&x[..m], &y[..m]).ok()?.exponent();
            let fit = Fitted::new(form, &x[..m], &y[..m])?;
            let predictions =
                (m..x.len()).filter_map(|point| held(&fit, point, x[point], y[point], unit, level)).collect();
            Some((m, exponent, predictions))
        })
        .collect()
}

/// Points that lie off the line through the others, with their distance from it as `observed / predicted - 1`: in one sound
/// family in twenty, at most, some point is named (`relscale_stats::judge`).
pub(crate) fn outlying(x: &[f64], y: &[f64]) -> Vec<(usize, f64)> {
    judged::of(x, y).outliers.iter().map(|found| (found.point, found.error.exp_m1())).collect()
}

/// [`held_out_each`] for the models of a study.
pub(crate) fn leave_one_out(points: &[LawPoint], unit: &str, level: f64) -> Vec<HeldOut> {
    let (x, y) = numbers(points);
    held_out_each(Form::Open, &x, &y, unit, level).into_iter().map(|held| of_model(points, held)).collect()
}

/// [`smallest_first`] for the models of a study.
pub(crate) fn extrapolation(points: &[LawPoint], unit: &str, level: f64) -> Vec<AuditStep> {
    let (x, y) = numbers(points);
    smallest_first(Form::Open, &x, &y, unit, level)
        .into_iter()
        .map(|(m, exponent, predictions)| AuditStep {
            fitted_models: m as u32,
            exponent,
            predictions: predictions.into_iter().map(|held| of_model(points, held)).collect(),
        })
        .collect()
}

/// [`outlying`] for the models of a study, by name.
pub(crate) fn outliers(points: &[LawPoint]) -> Vec<(&str, f64)> {
    let (x, y) = numbers(points);
    outlying(&x, &y).into_iter().map(|(point, error)| (points[point].model.as_str(), error)).collect()
}

fn numbers(points: &[LawPoint]) -> (Vec<f64>, Vec<f64>) {
    points.iter().map(|point| (point.parameters as f64, point.value)).unzip()
}

fn of_model(points: &[LawPoint], held: Held) -> HeldOut {
    let point = &points[held.point];
    HeldOut {
        model: point.model.clone(),
        parameters: point.parameters,
        observed: point.value,
        predicted: held.predicted,
        relative_error: held.relative_error,
        covered: held.covered,
    }
}

/// A fit that predicts.
enum Fitted {
    Open(Box<OpenForm>),
    Straight(Power),
}

impl Fitted {
    fn new(form: Form, x: &[f64], y: &[f64]) -> Option<Self> {
        Some(match form {
            // The points that are predicted were measured on the same text, so its noise is no part of their distance.
            Form::Open => Self::Open(Box::new(OpenForm::fit(x, y, None).ok()?)),
            Form::Straight => Self::Straight(power::fit(x, y).ok()?),
        })
    }

    fn predict(&self, x: f64, unit: &str, level: f64) -> Option<Estimate> {
        match self {
            Self::Open(form) => extrapolate::at(form, x, Of::Point, unit, level, |value| value),
            Self::Straight(fit) => {
                let value = fit.at(x);
                let log_error = fit.line.prediction_standard_error(x.ln(), 1.0);
                Some(Estimate {
                    value,
                    unit: unit.to_owned(),
                    standard_error: log_error.map(|error| error * value).filter(|error| error.is_finite()),
                    interval: student_t(fit.prediction_interval(x, level)),
                })
            }
        }
    }
}

/// `None` when the prediction exceeds the range of numbers.
fn held(fit: &Fitted, point: usize, x: f64, observed: f64, unit: &str, level: f64) -> Option<Held> {
    let predicted = fit.predict(x, unit, level)?;
    let relative_error = predicted.value / observed - 1.0;
    relative_error.is_finite().then(|| Held {
        point,
        relative_error,
        covered: predicted.bounds().map(|(low, high)| low <= observed && observed <= high),
        predicted,
    })
}
