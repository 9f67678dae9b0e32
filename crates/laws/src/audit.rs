//! Does the law predict models it has not seen? The only question a user of it has.
//!
//! Leave one out asks about any model; the extrapolation audit fits the m smallest and predicts all larger
//! ones, as one would who decides about the next size.

use relscale_stats::forms::power::{self, Power};
use relscale_stats::interval::open_form::{FLOOR_FROM, Of, OpenForm};

use crate::extrapolate;
use crate::intervals::student_t;
use crate::result::{AuditStep, Estimate, HeldOut, Point};

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

/// Each point predicted from all others; points that the others cannot predict are absent.
pub(crate) fn leave_one_out(form: Form, points: &[Point], unit: &str, level: f64) -> Vec<HeldOut> {
    // Of four points three are left, too few for an open form; their place lies among them or beside, where the form matters little.
    let form = if points.len() <= FLOOR_FROM { Form::Straight } else { form };
    let each = points.iter().enumerate().filter_map(|(left, point)| {
        let (x, y) = numbers(points[..left].iter().chain(&points[left + 1..]));
        held(&Fitted::new(form, &x, &y)?, point, unit, level)
    });
    each.collect()
}

/// For each m from [`FEWEST`]: the first m points fitted, and their predictions of the rest. x ascends.
pub(crate) fn extrapolation(form: Form, points: &[Point], unit: &str, level: f64) -> Vec<AuditStep> {
    let (x, y) = numbers(points);
    (FEWEST..points.len())
        .filter_map(|m| {
            let exponent = power::fit(&x[..m], &y[..m]).ok()?.exponent();
            let fit = Fitted::new(form, &x[..m], &y[..m])?;
            let predictions = points[m..].iter().filter_map(|point| held(&fit, point, unit, level)).collect();
            Some(AuditStep { fitted_points: m as u32, exponent, predictions })
        })
        .collect()
}

fn numbers<'a>(points: impl IntoIterator<Item = &'a Point>) -> (Vec<f64>, Vec<f64>) {
    points.into_iter().map(|point| (point.x, point.value)).unzip()
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
fn held(fit: &Fitted, point: &Point, unit: &str, level: f64) -> Option<HeldOut> {
    let (x, observed) = (point.x, point.value);
    let predicted = fit.predict(x, unit, level)?;
    let relative_error = predicted.value / observed - 1.0;
    relative_error.is_finite().then(|| HeldOut {
        label: point.label.clone(),
        x,
        observed,
        relative_error,
        covered: predicted.bounds().map(|(low, high)| low <= observed && observed <= high),
        predicted,
    })
}
