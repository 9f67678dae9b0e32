//! Sizes that were not measured: how far from the data, and intervals of them.

use std::f64::consts::LN_10;

use relscale_stats::StatsError;
use relscale_stats::interval::student::StudentInterval;

use crate::result::{Flag, FlagCode, Interval};

/// Decades from the nearest measured size to `exp(log_size)`: positive beyond the largest, negative
/// below the smallest, 0 between.
pub(crate) fn decades_beyond(log_size: f64, measured: &[f64]) -> f64 {
    let (low, high) = ends(measured);
    if log_size > high.ln() {
        (log_size - high.ln()) / LN_10
    } else if log_size < low.ln() {
        (log_size - low.ln()) / LN_10
    } else {
        0.0
    }
}

/// The doubt about `what` at such a distance; `None` inside the data.
pub(crate) fn extrapolation(what: &str, decades: f64, measured: &[f64]) -> Option<Flag> {
    let (low, high) = ends(measured);
    let (side, end) =
        if decades > 0.0 { ("beyond the largest", high) } else { ("below the smallest", low) };
    (decades != 0.0).then(|| {
        let distance = decades.abs();
        Flag::new(
            FlagCode::Extrapolation,
            format!(
                "{what} lies {distance:.1} decades {side} model measured ({end:.2e}): the law is not known to hold there"
            ),
        )
    })
}

/// An interval of ln S as one of S.
pub(crate) fn within(interval: Result<StudentInterval, StatsError>) -> Interval {
    match interval.map(|found| (found.low.exp(), found.high.exp(), found)) {
        Ok((low, high, found)) if high.is_finite() => Interval::Fieller {
            low,
            high,
            level: found.level,
            degrees_of_freedom: found.degrees_of_freedom as u32,
        },
        Ok((low, ..)) => {
            Interval::None { reason: format!("from {low:.2e} to beyond the range of numbers") }
        }
        Err(refusal) => Interval::None { reason: refusal.to_string() },
    }
}

fn ends(measured: &[f64]) -> (f64, f64) {
    measured
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |ends, size| (ends.0.min(*size), ends.1.max(*size)))
}
