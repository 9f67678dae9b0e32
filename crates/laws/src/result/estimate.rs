//! A number that may be quoted: value, unit, standard error, and an interval or the reason for none.

use serde::{Deserialize, Serialize};

/// A quantity estimated from data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The point estimate, in [`unit`](Self::unit).
    pub value: f64,
    /// Unit in words, `"1"` for a pure number.
    pub unit: String,
    /// Standard error in the same unit; absent when it cannot be known (two points, one document).
    pub standard_error: Option<f64>,
    /// Where the true value is expected, and by which method that is known.
    pub interval: Interval,
}

impl Estimate {
    /// `(low, high)` of the interval, when there is one.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        self.interval.bounds()
    }
}

/// An interval by a named method, or the reason why there is none.
///
/// In JSON the member `method` tells the forms apart: `{"method": "student_t", "low": ..., ...}`,
/// `{"method": "none", "reason": "..."}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Interval {
    /// Student t from the scatter of the models about the line.
    StudentT {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// Points less parameters.
        degrees_of_freedom: u32,
    },
    /// Percentiles over resampled documents: the noise of the text sample alone.
    DocumentBootstrap {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// Resamples that gave a finite value.
        resamples: u32,
    },
    /// Percentiles over items (questions with their options) drawn again inside their groups: the noise of the sample of questions alone.
    ItemBootstrap {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// Resamples that gave a finite value.
        resamples: u32,
    },
    /// Percentiles over training runs drawn again, or over their scatter about a curve turned again.
    RunBootstrap {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// Resamples that gave a finite value.
        resamples: u32,
    },
    /// Fieller's, for the place where a line reaches a level (from the scatter of the models about it), or where a curve turns.
    Fieller {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// Points less parameters.
        degrees_of_freedom: u32,
    },
    /// By the profile of the sum of squares with t quantiles, from the scatter of the models about a curve: Student t for
    /// curves.
    Profile {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// Points less parameters.
        degrees_of_freedom: u32,
    },
    /// Student t with the standard error over documents (sandwich): the noise of the text sample alone.
    DocumentSpread {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// Documents less one.
        degrees_of_freedom: u32,
    },
    /// By Fisher's z, for a correlation.
    FisherZ {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// Pairs of values.
        pairs: u32,
    },
    /// No interval.
    None {
        /// Why, in words.
        reason: String,
    },
}

impl Interval {
    /// `(low, high)`, when there is an interval.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match *self {
            Self::StudentT { low, high, .. }
            | Self::DocumentBootstrap { low, high, .. }
            | Self::ItemBootstrap { low, high, .. }
            | Self::RunBootstrap { low, high, .. }
            | Self::Fieller { low, high, .. }
            | Self::Profile { low, high, .. }
            | Self::DocumentSpread { low, high, .. }
            | Self::FisherZ { low, high, .. } => Some((low, high)),
            Self::None { .. } => None,
        }
    }

    /// The reason for there being no interval.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::None { reason } => Some(reason),
            _ => None,
        }
    }
}
