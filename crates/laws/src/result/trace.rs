//! A fitted curve as it is drawn: its value at many places, so that nobody who draws it has to know
//! its formula.

use serde::{Deserialize, Serialize};

/// A curve at one place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// The place, in the unit of the axis (not its logarithm).
    pub x: f64,
    /// The curve there, in the unit of what was fitted.
    pub value: f64,
    /// Interval of the curve there, at the level of the result; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

/// The curve from `low` to `high`, both above zero, at `places` places (two at least) of equal
/// ratio; a place where the curve has no finite value is left out.
pub(crate) fn trace(
    low: f64,
    high: f64,
    places: u32,
    at: impl Fn(f64) -> Option<(f64, Option<(f64, f64)>)>,
) -> Vec<TracePoint> {
    let last = f64::from(places.max(2) - 1);
    (0..places.max(2))
        .filter_map(|place| {
            let x = match f64::from(place) {
                0.0 => low,
                place if place == last => high,
                place => (low.ln() + (high / low).ln() * place / last).exp(),
            };
            let (value, interval) = at(x)?;
            let finite = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
            value.is_finite().then(|| TracePoint { x, value, interval: interval.filter(finite) })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::trace;

    #[test]
    fn places_are_of_equal_ratio_and_hold_finite_values_only() {
        let squares = trace(1.0, 16.0, 5, |x| Some((x * x, Some((x, f64::INFINITY)))));
        let x: Vec<f64> = squares.iter().map(|point| point.x).collect();
        for (found, wanted) in x.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0]) {
            assert!((found - wanted).abs() < 1e-12, "{x:?}");
        }
        assert_eq!((squares[4].value, squares[4].interval), (256.0, None));
        assert_eq!(trace(1.0, 16.0, 5, |x| (x < 3.0).then_some((1.0 / (x - 1.0), None))).len(), 1);
    }
}
