//! A number that may be quoted: value, unit, standard error, and an interval or the reason for
//! none.

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
    /// Models and text both random: their scatter about the line, and what the noise of the text
    /// adds that it does not show (`relscale_stats::interval::mixed`). For texts like this one and
    /// models like these.
    ModelsAndText {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// By Satterthwaite, not whole as a rule.
        degrees_of_freedom: f64,
        /// The text's share of the variance, from 0 to 1.
        text_share: f64,
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
    /// Percentiles over items (questions with their options) drawn again inside their groups: the
    /// noise of the sample of questions alone.
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
    /// By refits over training runs drawn or weighted again, or over their scatter turned again:
    /// the spread of the refits times a t quantile.
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
    /// Fieller's, for the place where a line reaches a level (from the scatter of the models about
    /// it), or where a curve turns.
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
    /// By the profile of the sum of squares with t quantiles, from the scatter of the models about
    /// a curve: Student t for curves.
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
    /// By the profile of a power law that may flatten towards a floor, none included, with scatter
    /// that may grow with size and the noise of the text where it is known
    /// (`relscale_stats::interval::open_form`).
    OpenForm {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// Points less parameters.
        degrees_of_freedom: u32,
        /// The text's share of the variance, from 0 to 1; 0 where it is not known.
        text_share: f64,
    },
    /// Student t with the standard error over documents (sandwich): the noise of the text sample
    /// alone.
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
    /// Student t over tasks, models taken as they are.
    OverTasks {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// Tasks less one.
        degrees_of_freedom: u32,
    },
    /// Percentiles over training corpora drawn again.
    CorpusBootstrap {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Nominal coverage, e.g. 0.95.
        level: f64,
        /// Resamples that gave a finite value.
        resamples: u32,
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
            | Self::ModelsAndText { low, high, .. }
            | Self::DocumentBootstrap { low, high, .. }
            | Self::ItemBootstrap { low, high, .. }
            | Self::RunBootstrap { low, high, .. }
            | Self::Fieller { low, high, .. }
            | Self::Profile { low, high, .. }
            | Self::OpenForm { low, high, .. }
            | Self::DocumentSpread { low, high, .. }
            | Self::OverTasks { low, high, .. }
            | Self::CorpusBootstrap { low, high, .. }
            | Self::FisherZ { low, high, .. } => Some((low, high)),
            Self::None { .. } => None,
        }
    }

    /// The text's share of the variance behind it, from 0 to 1, where models and text are both in
    /// it.
    pub fn text_share(&self) -> Option<f64> {
        match *self {
            Self::ModelsAndText { text_share, .. } | Self::OpenForm { text_share, .. } => {
                Some(text_share)
            }
            _ => None,
        }
    }

    /// The interval of `factor` times the number, the factor above zero.
    pub fn scaled(mut self, factor: f64) -> Self {
        self.each_end(|end| factor * end);
        self
    }

    /// Carries both ends through a rising function.
    pub fn each_end(&mut self, through: impl Fn(f64) -> f64) {
        match self {
            Self::StudentT { low, high, .. }
            | Self::ModelsAndText { low, high, .. }
            | Self::DocumentBootstrap { low, high, .. }
            | Self::ItemBootstrap { low, high, .. }
            | Self::RunBootstrap { low, high, .. }
            | Self::Fieller { low, high, .. }
            | Self::Profile { low, high, .. }
            | Self::OpenForm { low, high, .. }
            | Self::DocumentSpread { low, high, .. }
            | Self::OverTasks { low, high, .. }
            | Self::CorpusBootstrap { low, high, .. }
            | Self::FisherZ { low, high, .. } => (*low, *high) = (through(*low), through(*high)),
            Self::None { .. } => {}
        }
    }

    /// Its nominal coverage, when there is an interval.
    pub fn level(&self) -> Option<f64> {
        match *self {
            Self::StudentT { level, .. }
            | Self::ModelsAndText { level, .. }
            | Self::DocumentBootstrap { level, .. }
            | Self::ItemBootstrap { level, .. }
            | Self::RunBootstrap { level, .. }
            | Self::Fieller { level, .. }
            | Self::Profile { level, .. }
            | Self::OpenForm { level, .. }
            | Self::DocumentSpread { level, .. }
            | Self::OverTasks { level, .. }
            | Self::CorpusBootstrap { level, .. }
            | Self::FisherZ { level, .. } => Some(level),
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
