//! Beyond the points: where a gap reaches a value, and what it is at an x.

use relscale_stats::interval::crossing;

use crate::line::Fit;
use crate::result::{Estimate, GapCrossing, GapPrediction, TracePoint, trace};
use crate::sizes::decades_beyond;

/// How far beyond the data G is told where nothing was asked for: a factor of x.
const NEXT: f64 = 10.0;

/// Decades beyond the data from which on a crossing is called out of reach.
const OUT_OF_REACH: f64 = 3.0;

/// The law's G at an x, with the interval of the law.
pub(super) fn law_at(fit: &Fit, x: f64, level: f64) -> Estimate {
    fit.value(x, false, "1", level)
}

/// G at each x asked for; without any, at [`NEXT`] times the largest. An x at which G leaves the
/// range of numbers has none.
pub(super) fn predictions(
    fit: &Fit,
    at: &[f64],
    measured: &[f64],
    level: f64,
) -> Vec<GapPrediction> {
    let largest = measured[measured.len() - 1];
    let at = if at.is_empty() { vec![NEXT * largest] } else { at.to_vec() };
    at.into_iter()
        .filter(|x| fit.power.at(*x).is_finite())
        .map(|x| GapPrediction {
            x,
            decades_beyond: decades_beyond(x.ln(), measured),
            law: law_at(fit, x, level),
            model: fit.value(x, true, "1", level),
        })
        .collect()
}

/// Places at which a law is traced: its band is smooth in the logarithm of x.
const PLACES: u32 = 25;

/// The law over the x measured and predicted, with its interval.
pub(super) fn traced(
    fit: &Fit,
    range: (f64, f64),
    predictions: &[GapPrediction],
    level: f64,
) -> Vec<TracePoint> {
    let all = || predictions.iter().map(|predicted| predicted.x);
    let (low, high) = (all().fold(range.0, f64::min), all().fold(range.1, f64::max));
    trace(low, high, PLACES, |x| {
        let law = law_at(fit, x, level);
        Some((law.value, law.bounds()))
    })
}

/// Where G reaches a value.
pub(super) fn crossing(fit: &Fit, gap: f64, measured: &[f64], level: f64) -> GapCrossing {
    let never = |why: &str| GapCrossing {
        gap,
        x: None,
        decades_beyond: None,
        verdict: format!("G does not reach {gap}: {why}."),
    };
    let log_x = match crossing::at(&fit.power.line, gap.ln()) {
        Ok(log_x) => log_x,
        Err(_) => return never("its line has no slope"),
    };
    let x = log_x.exp();
    if !(x.is_finite() && x > 0.0) {
        return never("its slope is so small that the place is beyond all numbers");
    }
    let decades = decades_beyond(log_x, measured);
    let place = match decades {
        0.0 => "inside the data".to_owned(),
        _ if decades > 0.0 => format!("{decades:.1} decades beyond the largest x measured"),
        _ => format!("{:.1} decades below the smallest x measured", -decades),
    };
    let belief = if decades.abs() > OUT_OF_REACH { ", out of reach of these data" } else { "" };
    let interval = fit.reaches(gap.ln(), false, level);
    let ends = match (interval.bounds(), interval.reason()) {
        (Some((low, high)), _) => format!("in [{low:.2e}, {high:.2e}] at {} %", 100.0 * level),
        (None, Some(reason)) => format!("no interval: {reason}"),
        (None, None) => String::new(),
    };
    GapCrossing {
        gap,
        verdict: format!("G reaches {gap} at x = {x:.2e} ({ends}), {place}{belief}."),
        x: Some(Estimate { value: x, unit: "as x".to_owned(), standard_error: None, interval }),
        decades_beyond: Some(decades),
    }
}
