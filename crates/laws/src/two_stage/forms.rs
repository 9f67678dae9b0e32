//! What is unknown of the form of accuracy over x: a test of the direct power law, and an interval that takes neither direct form for granted.
//!
//! Over a few models a power law of `-ln accuracy` and a sigmoid of ln x look alike and part beyond them, so an interval that takes either for
//! true misses where the other is. The interval of a direct route therefore reaches over both forms' own; a route's own stands beside it. That
//! does not lean on the test: with six or eight models a bend is seen too seldom to wait for it.

use relscale_stats::forms::power::Power;
use relscale_stats::optimise::straight;

use super::chain::Chain;
use crate::result::{Estimate, Flag, FlagCode, FormTest, Interval, Route, RouteValue};

/// Level of the test of the direct power law.
const LEVEL: f64 = 0.05;

/// Tests `ln(-ln accuracy)` for bends over ln x; `None` where there are too few points, or none scatters.
///
/// An accuracy may scatter by the same share everywhere, or its `-ln` by the same ratio: a bend counts when it is seen under both, so that the level
/// holds under either.
pub(super) fn test(power: &Power, x: &[f64], minus_log: &[f64]) -> Option<FormTest> {
    let log = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value.ln()).collect() };
    let even = vec![1.0; x.len()];
    // d ln(-ln a) / da = 1 / (a ln a), at the accuracies of the law.
    let of_shares: Vec<f64> = x.iter().map(|x| (power.at(*x) * (-power.at(*x)).exp()).powi(2)).collect();
    let usable = of_shares.iter().all(|weight| *weight > 0.0 && weight.is_finite());
    let sets: Vec<&[f64]> = if usable { vec![&even, &of_shares] } else { vec![&even] };
    let found = straight::test(&log(x), &log(minus_log), &sets).ok()?;
    Some(FormTest {
        p: found.p,
        level: LEVEL,
        parabola_p: found.parabola,
        cubic_p: found.cubic,
        rejected: found.p < LEVEL,
    })
}

/// The doubts that follow from the test, or from there being none; `open` says whether another form could be fitted beside the power law.
pub(super) fn doubts(test: Option<&FormTest>, open: bool) -> Vec<Flag> {
    let mut flags = Vec::new();
    if let Some(test) = test.filter(|test| test.rejected) {
        flags.push(Flag::new(
            FlagCode::LackOfFit,
            format!(
                "wrong form: ln(-ln accuracy) bends over ln x (p = {}, tested at {:.0} %); where it leads beyond the points is between this and other forms",
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

/// A probability with two digits, or that it is small.
pub(super) fn p_in_words(p: f64) -> String {
    if p < 0.001 { "below 0.001".to_owned() } else { format!("{p:.2}") }
}

/// A route's accuracy at x, the interval of a direct route over both direct forms.
pub(super) fn open(chain: &Chain, route: Route, x: f64, loss: Option<f64>, level: f64) -> Option<RouteValue> {
    let own = chain.accuracy_at(route, x, loss, level)?;
    let other = match route {
        Route::DirectPower => Route::DirectSigmoid,
        Route::DirectSigmoid => Route::DirectPower,
        Route::SecondStage | Route::Chain => {
            return Some(RouteValue { route, accuracy: own, within_form: None });
        }
    };
    let Some(other) = chain.accuracy_at(other, x, loss, level) else {
        return Some(RouteValue { route, accuracy: own, within_form: None });
    };
    let interval = over(&own, &other);
    Some(RouteValue {
        route,
        within_form: Some(own.interval.clone()),
        accuracy: Estimate { interval, ..own },
    })
}

/// From the lower of two lower ends to the higher of two upper ones.
fn over(own: &Estimate, other: &Estimate) -> Interval {
    match (&own.interval, &other.interval) {
        (
            Interval::StudentT { low, high, level, degrees_of_freedom },
            Interval::StudentT {
                low: other_low, high: other_high, degrees_of_freedom: other_freedom, ..
            },
        ) => Interval::StudentT {
            low: low.min(*other_low),
            high: high.max(*other_high),
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
