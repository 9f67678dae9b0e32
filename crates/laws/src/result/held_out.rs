//! Points as fits predict them that have not seen them.

use serde::{Deserialize, Serialize};

use super::Estimate;

/// A point predicted by a fit that has not seen it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// As in [`Point`](super::Point).
    pub label: String,
    /// As in [`Point`](super::Point).
    pub x: f64,
    /// The point's value.
    pub observed: f64,
    /// The prediction, in the same unit; the interval is that of a new point (Student t).
    pub predicted: Estimate,
    /// `predicted / observed - 1`.
    pub relative_error: f64,
    /// Whether the interval holds the value; absent when there is no interval.
    pub covered: Option<bool>,
}

/// One step of the extrapolation audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditStep {
    /// How many points were fitted, those of smallest x.
    pub fitted_points: u32,
    /// Exponent from these alone.
    pub exponent: f64,
    /// The other points, as this fit predicts them.
    pub predictions: Vec<HeldOut>,
}

/// How many predictions of points that a fit had not seen lie in their intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Those that do.
    pub inside: u32,
    /// Those that have an interval.
    pub judged: u32,
}

impl Coverage {
    /// Over all steps of an audit; none where no prediction has an interval.
    pub(crate) fn of_audit(steps: &[AuditStep]) -> Option<Self> {
        let unseen = steps.iter().flat_map(|step| &step.predictions);
        Self::of(unseen.filter_map(|unseen| unseen.covered))
    }

    /// Of predictions that have an interval: whether it holds; none without any.
    pub(crate) fn of(covered: impl Iterator<Item = bool>) -> Option<Self> {
        let none = Self { inside: 0, judged: 0 };
        let counted = covered.fold(none, |all, inside| Self {
            inside: all.inside + u32::from(inside),
            judged: all.judged + 1,
        });
        (counted.judged > 0).then_some(counted)
    }
}
