//! Does the law predict models it has not seen? The only question a user of it has.
//!
//! Leave one out asks about any model; the extrapolation audit fits the m smallest and predicts all
//! larger ones, as one would who decides about the next size.

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

/// Points up to which every one is left out and every step audited: what that takes grows with
/// their square, and more so its file.
const EVERY: usize = 24;

/// Of more points so many, evenly spaced, are left out, audited, and predicted by each step.
const SOME: usize = 16;

/// All of `from..to`, or of more than [`EVERY`] `points` [`SOME`], evenly spaced, both ends among
/// them.
fn chosen(from: usize, to: usize, points: usize) -> Vec<usize> {
    let last = (to - from).saturating_sub(1);
    if points <= EVERY || last < SOME {
        return (from..to).collect();
    }
    (0..SOME).map(|at| from + (at * last + (SOME - 1) / 2) / (SOME - 1)).collect()
}

/// Each point predicted from all others (of many, some); points that the others cannot predict are
/// absent.
pub(crate) fn leave_one_out(form: Form, points: &[Point], unit: &str, level: f64) -> Vec<HeldOut> {
    // Of four points three are left, too few for an open form; their place lies among them or
    // beside, where the form matters little.
    let form = if points.len() <= FLOOR_FROM { Form::Straight } else { form };
    let each = chosen(0, points.len(), points.len()).into_iter().filter_map(|left| {
        let (x, y) = numbers(points[..left].iter().chain(&points[left + 1..]));
        held(&Fitted::new(form, &x, &y)?, &points[left], unit, level)
    });
    each.collect()
}

/// For each m from [`FEWEST`] (of many points, some m): the first m points fitted, and their
/// predictions of the rest. x ascends.
pub(crate) fn extrapolation(
    form: Form,
    points: &[Point],
    unit: &str,
    level: f64,
) -> Vec<AuditStep> {
    let (x, y) = numbers(points);
    let (count, half) = (points.len(), points.len().div_ceil(2));
    let mut steps = chosen(FEWEST.min(count), count, count);
    // The fit to the smaller half is the one that is told and drawn.
    if let Err(place) = steps.binary_search(&half)
        && half > FEWEST
    {
        steps.insert(place, half);
    }
    let step = |m: usize| {
        let exponent = power::fit(&x[..m], &y[..m]).ok()?.exponent();
        let fit = Fitted::new(form, &x[..m], &y[..m])?;
        let unseen = if m == half { (m..count).collect() } else { chosen(m, count, count) };
        let predictions =
            unseen.into_iter().filter_map(|at| held(&fit, &points[at], unit, level)).collect();
        Some(AuditStep { fitted_points: m as u32, exponent, predictions })
    };
    steps.into_iter().filter_map(step).collect()
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
            // The points that are predicted were measured on the same text, so its noise is no part
            // of their distance.
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
                    standard_error: log_error
                        .map(|error| error * value)
                        .filter(|error| error.is_finite()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn points(count: usize) -> Vec<Point> {
        let point = |at: usize| {
            let x = 1e6 * 1.3_f64.powi(at as i32);
            // Scatter that no seed is needed for.
            let value = 5.0 * x.powf(-0.1) * (1.0 + 0.01 * (at as f64 * 2.4).sin());
            Point { label: format!("m{at}"), x, value, ..Point::default() }
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn of_many_points_some_are_audited_and_the_ends_and_the_half_are_among_them() {
        let steps = |count| extrapolation(Form::Straight, &points(count), "1", 0.95);
        assert_eq!(steps(24).len(), 21);
        assert!(
            steps(24).iter().all(|step| step.predictions.len() + step.fitted_points as usize == 24)
        );
        let many = steps(60);
        let fitted: Vec<u32> = many.iter().map(|step| step.fitted_points).collect();
        assert!(fitted.len() <= SOME + 1 && fitted.is_sorted(), "{fitted:?}");
        assert_eq!((fitted[0], fitted[fitted.len() - 1]), (3, 59));
        assert!(many.iter().all(|step| step.predictions.last().unwrap().label == "m59"));
        assert_eq!(
            many.iter().find(|step| step.fitted_points == 30).unwrap().predictions.len(),
            30
        );
        assert!(many[0].predictions.len() == SOME && many[0].predictions[0].label == "m3");
        let alone = |count| leave_one_out(Form::Straight, &points(count), "1", 0.95).len();
        assert_eq!((alone(24), alone(60)), (24, SOME));
    }

    #[test]
    fn too_few_points_have_no_audit() {
        for count in 0..4 {
            assert_eq!(
                extrapolation(Form::Straight, &points(count), "1", 0.95).len(),
                count.saturating_sub(3)
            );
        }
    }
}
