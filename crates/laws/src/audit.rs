//! Does the law predict models it has not seen? The only question a user of it has.
//!
//! Leave one out asks about any model; the extrapolation audit fits the m smallest and predicts all larger
//! ones, as one would who decides about the next size.

use relscale_stats::forms::power::{self, Power};

use crate::power_law::student_t;
use crate::result::{AuditStep, Estimate, HeldOut, LawPoint};

/// Fewest models of an audited fit: two have no interval to be held to.
const FEWEST: usize = 3;

/// Family-wise chance of calling a sound model an outlier.
const OUTLIER: f64 = 0.05;

/// Each point predicted from all others; points that the others cannot predict are absent.
pub(crate) fn leave_one_out(points: &[LawPoint], unit: &str, level: f64) -> Vec<HeldOut> {
    without_each(points).filter_map(|(point, fit)| held_out(&fit, point, unit, level)).collect()
}

/// For each m from [`FEWEST`]: the fit to the m smallest, and its predictions of the rest.
pub(crate) fn extrapolation(points: &[LawPoint], unit: &str, level: f64) -> Vec<AuditStep> {
    (FEWEST..points.len())
        .filter_map(|m| {
            let (known, unseen) = points.split_at(m);
            let fit = fit(known.iter())?;
            Some(AuditStep {
                fitted_models: m as u32,
                exponent: fit.exponent(),
                predictions: unseen.iter().filter_map(|point| held_out(&fit, point, unit, level)).collect(),
            })
        })
        .collect()
}

/// Models outside the prediction interval of the others, with their distance from it as `observed /
/// predicted - 1`. The level is raised by the number of models (Bonferroni), so that in one sound family in
/// twenty at most a model is named.
pub(crate) fn outliers(points: &[LawPoint]) -> Vec<(&str, f64)> {
    let level = 1.0 - OUTLIER / points.len().max(1) as f64;
    without_each(points)
        .filter_map(|(point, fit)| {
            let parameters = point.parameters as f64;
            let interval = fit.prediction_interval(parameters, level).ok()?;
            (point.value < interval.low || point.value > interval.high).then(|| {
                let error = point.value / fit.at(parameters) - 1.0;
                (point.model.as_str(), error)
            })
        })
        .collect()
}

fn without_each(points: &[LawPoint]) -> impl Iterator<Item = (&LawPoint, Power)> {
    points.iter().enumerate().filter_map(move |(left, point)| {
        let others = points.iter().enumerate().filter(|(at, _)| *at != left);
        Some((point, fit(others.map(|(_, point)| point))?))
    })
}

fn fit<'a>(points: impl Iterator<Item = &'a LawPoint>) -> Option<Power> {
    let (sizes, values): (Vec<f64>, Vec<f64>) =
        points.map(|point| (point.parameters as f64, point.value)).unzip();
    power::fit(&sizes, &values).ok()
}

/// `None` when the prediction exceeds the range of numbers.
fn held_out(fit: &Power, point: &LawPoint, unit: &str, level: f64) -> Option<HeldOut> {
    let parameters = point.parameters as f64;
    let predicted = fit.at(parameters);
    let relative_error = predicted / point.value - 1.0;
    if !relative_error.is_finite() {
        return None;
    }
    let interval = student_t(fit.prediction_interval(parameters, level));
    Some(HeldOut {
        model: point.model.clone(),
        parameters: point.parameters,
        observed: point.value,
        relative_error,
        covered: interval.bounds().map(|(low, high)| low <= point.value && point.value <= high),
        predicted: Estimate {
            value: predicted,
            unit: unit.to_owned(),
            standard_error: fit
                .line
                .prediction_standard_error(parameters.ln(), 1.0)
                .map(|error| error * predicted)
                .filter(|error| error.is_finite()),
            interval,
        },
    })
}
