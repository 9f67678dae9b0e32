//! The same readings off the other forms of law: how far the answer depends on the choice of form.

use std::f64::consts::LN_10;

use relscale_stats::forms::{self, Curve, Shape};
use relscale_stats::select;

use super::source::Source;
use crate::result::{RivalSize, RivalValue};

/// Decades around the measured sizes in which a target is looked for.
const DECADES: f64 = 6.0;

/// Steps a decade of that search; between two of them no form turns twice.
const STEPS: f64 = 20.0;

/// What each other form gives at S = `parameters`.
pub(super) fn values(source: &Source<'_>, parameters: f64) -> Vec<RivalValue> {
    fits(source)
        .into_iter()
        .filter_map(|(curve, weight)| {
            let value = source.reading(curve.shape.at(parameters)?);
            let form = curve.shape.form.name().to_owned();
            value.is_finite().then_some(RivalValue { form, value, weight })
        })
        .collect()
}

/// The size at which each other form reaches `target`.
pub(super) fn sizes(source: &Source<'_>, target: f64) -> Vec<RivalSize> {
    let log_level = source.level_of(target).ln();
    let log_sizes: Vec<f64> = source.sizes.iter().map(|size| size.ln()).collect();
    fits(source)
        .into_iter()
        .map(|(curve, weight)| RivalSize {
            form: curve.shape.form.name().to_owned(),
            parameters: falls_to(&curve.shape, log_level, &log_sizes),
            weight,
        })
        .collect()
}

/// Every form but the power law that can be fitted, with its weight among all that can.
fn fits(source: &Source<'_>) -> Vec<(Curve, Option<f64>)> {
    let curves: Vec<Curve> = forms::ALL
        .iter()
        .filter_map(|form| forms::fit(*form, &source.sizes, &source.values).ok())
        .collect();
    let criteria: Vec<Option<f64>> = curves.iter().map(|curve| select::aicc(curve).ok()).collect();
    let mut weights =
        select::weights(&criteria.iter().flatten().copied().collect::<Vec<f64>>()).into_iter();
    let weights: Vec<Option<f64>> =
        criteria.iter().map(|criterion| criterion.and_then(|_| weights.next())).collect();
    let power = forms::ALL[0].name();
    curves.into_iter().zip(weights).filter(|(curve, _)| curve.shape.form.name() != power).collect()
}

/// The smallest S in reach at which the curve comes down to a level, by bisection.
fn falls_to(shape: &Shape, log_level: f64, log_sizes: &[f64]) -> Option<f64> {
    let low = log_sizes.iter().fold(f64::INFINITY, |a, &b| a.min(b)) - DECADES * LN_10;
    let high = log_sizes.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b)) + DECADES * LN_10;
    // A form without a value above zero has fallen below any level.
    let above =
        |log_size: f64| shape.log_at(log_size.exp()).is_some_and(|log_value| log_value > log_level);
    let steps = ((high - low) / LN_10 * STEPS).ceil();
    let at = |step: f64| low + (high - low) * step / steps;
    let first =
        (0..steps as u32).map(f64::from).find(|&step| above(at(step)) && !above(at(step + 1.0)))?;
    let (mut left, mut right) = (at(first), at(first + 1.0));
    for _ in 0..60 {
        let middle = 0.5 * (left + right);
        if above(middle) { left = middle } else { right = middle }
    }
    Some(right.exp())
}
