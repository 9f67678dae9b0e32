//! What is unknown of the form of accuracy over x: a test of the direct power law, and an interval
//! that takes neither direct form for granted.
//!
//! An accuracy may scatter by the same share everywhere, or its `-ln` by the same ratio; the direct
//! power law is fitted under the second, and where the first is true its own interval is too narrow
//! for accuracies near 1. So a third interval joins: the law weighted by `(a ln a)²`, with the
//! scatter of the shares, unless the test rejects the law.
//!
//! Over a few models a power law of `-ln accuracy` and a sigmoid of ln x look alike and part beyond
//! them, so an interval that takes either for true misses where the other is. The interval of a
//! direct route therefore reaches over both forms' own; a route's own stands beside it. That does
//! not lean on the test: with six or eight models a bend is seen too seldom to wait for it.

use relscale_stats::forms::power::{self, Power};
use relscale_stats::interval::student;
use relscale_stats::judge::straight;

use crate::result::{Estimate, Flag, FlagCode, Interval, Route, RouteValue, StageFormTest};

/// Level of the test of the direct power law.
const LEVEL: f64 = 0.05;

/// Weights of `ln(-ln accuracy)` where accuracies scatter by the same share:
/// `d ln(-ln a) / da = 1 / (a ln a)`, at the accuracies of the law. `None` where some have no place
/// in the range of numbers.
fn of_shares(power: &Power, x: &[f64]) -> Option<Vec<f64>> {
    let weight = |x: &f64| {
        Some(factor(power, *x).powi(2)).filter(|weight| *weight > 0.0 && weight.is_finite())
    };
    x.iter().map(weight).collect()
}

/// `-a ln a` of the law at x.
fn factor(power: &Power, x: f64) -> f64 {
    power.at(x) * (-power.at(x)).exp()
}

/// The law refitted for accuracies that scatter by the same share.
pub(super) fn even_shares(power: &Power, x: &[f64], minus_log: &[f64]) -> Option<Power> {
    power::fit_weighted(x, minus_log, &of_shares(power, x)?).ok()
}

/// Ends of the interval of one new accuracy by such a law; the scatter of its residuals is that of
/// shares.
fn of_even_shares(power: &Power, x: f64, level: f64) -> Option<(f64, f64)> {
    let t = student::two_sided_quantile(level, power.line.degrees_of_freedom()).ok()?;
    let of_law = power.line.mean_standard_error(x.ln())? * factor(power, x);
    let reach = t * of_law.hypot(power.line.residual_variance()?.sqrt());
    let value = (-power.at(x)).exp();
    Some(((value - reach).max(0.0), (value + reach).min(1.0)))
        .filter(|ends| ends.0.is_finite() && ends.1.is_finite())
}

/// Tests `ln(-ln accuracy)` for bends over ln x; `None` where there are too few points, or none
/// scatters.
///
/// A bend counts when it is seen under both kinds of scatter, so that the level holds under either.
pub(super) fn test(power: &Power, x: &[f64], minus_log: &[f64]) -> Option<StageFormTest> {
    let log = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value.ln()).collect() };
    let even = vec![1.0; x.len()];
    let of_shares = of_shares(power, x);
    let sets: Vec<&[f64]> =
        [Some(&even), of_shares.as_ref()].into_iter().flatten().map(Vec::as_slice).collect();
    let found = straight::test(&log(x), &log(minus_log), &sets).ok()?;
    Some(StageFormTest {
        p: found.p,
        level: LEVEL,
        parabola_p: found.parabola,
        cubic_p: found.cubic,
        rejected: found.p < LEVEL,
    })
}

/// The flags that follow from the test, or from there being none; `open` says whether another form
/// could be fitted beside the power law.
pub(super) fn flags(test: Option<&StageFormTest>, open: bool) -> Vec<Flag> {
    let mut flags = Vec::new();
    if let Some(test) = test.filter(|test| test.rejected) {
        flags.push(Flag::new(
            FlagCode::LackOfFit,
            format!(
                "wrong form: ln(-ln accuracy) bends over ln x ({}, tested at {:.0} %); where it leads beyond the points is between this and other forms",
                p_in_words(test.p),
                100.0 * test.level
            ),
        ));
    }
    if !open {
        flags.push(Flag::new(
            FlagCode::TooFewPoints,
            "its interval takes a power law of -ln accuracy for granted: the points are too few to hold a sigmoid against it".to_owned(),
        ));
    }
    flags
}

/// `p = 0.03`, or that it is small.
pub(super) fn p_in_words(p: f64) -> String {
    if p < 0.001 { "p below 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// The other direct form of a direct route; `None` for a route that goes by the loss.
pub(super) fn other(route: Route) -> Option<Route> {
    match route {
        Route::DirectPower => Some(Route::DirectSigmoid),
        Route::DirectSigmoid => Some(Route::DirectPower),
        Route::SecondStage | Route::Chain => None,
    }
}

/// A route's accuracy at x, the interval of a direct route over both direct forms: its own, that of
/// the other, and that of the direct power law where accuracies scatter by the same share.
pub(super) fn open(
    route: Route,
    own: Estimate,
    other: Option<&Estimate>,
    even_shares: Option<&Power>,
    x: f64,
    level: f64,
) -> RouteValue {
    let Some(other) = other else {
        return RouteValue { route, accuracy: own, within_form: None };
    };
    let third = even_shares.and_then(|power| of_even_shares(power, x, level));
    let interval = over(&own, other, third);
    RouteValue {
        route,
        within_form: Some(own.interval.clone()),
        accuracy: Estimate { interval, ..own },
    }
}

/// From the lowest of the lower ends to the highest of the upper ones.
fn over(own: &Estimate, other: &Estimate, third: Option<(f64, f64)>) -> Interval {
    let (low_of_third, high_of_third) = third.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
    match (&own.interval, &other.interval) {
        (
            Interval::StudentT { low, high, level, degrees_of_freedom },
            Interval::StudentT {
                low: other_low,
                high: other_high,
                degrees_of_freedom: other_freedom,
                ..
            },
        ) => Interval::StudentT {
            low: low.min(*other_low).min(low_of_third),
            high: high.max(*other_high).max(high_of_third),
            level: *level,
            degrees_of_freedom: (*degrees_of_freedom).min(*other_freedom),
        },
        (Interval::None { .. }, _) => own.interval.clone(),
        (_, Interval::None { reason }) => Interval::None {
            reason: format!("within its form there is one, but of the other direct form {reason}"),
        },
        _ => own.interval.clone(),
    }
}
