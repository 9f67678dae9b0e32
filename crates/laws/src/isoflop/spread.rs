//! From the spread of draws to an interval.
//!
//! `value ± t s`, s the standard deviation of the draws and t Student's, on the scale on which the
//! quantity scatters evenly. Percentiles of the draws know nothing of how badly few runs know their
//! own scatter.

use relscale_stats::bootstrap::Sample;
use relscale_stats::interval::welch;

use crate::result::{Estimate, Interval};

/// On which scale a quantity scatters evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// As it is: exponents.
    Plain,
    /// As it is, and never below 0: the floor.
    NotNegative,
    /// By its logarithm: sizes, tokens, losses, prefactors.
    Logarithm,
}

impl Scale {
    /// The value on the scale.
    pub(super) fn apply(self, value: f64) -> f64 {
        match self {
            Self::Plain | Self::NotNegative => value,
            Self::Logarithm => value.ln(),
        }
    }

    fn back(self, value: f64) -> f64 {
        match self {
            Self::Plain => value,
            Self::NotNegative => value.max(0.0),
            Self::Logarithm => value.exp(),
        }
    }
}

/// A value with the spread of its draws, which are given on the scale.
pub(super) fn estimate(
    value: f64,
    unit: &str,
    draws: &Sample,
    scale: Scale,
    degrees_of_freedom: f64,
    level: f64,
) -> Estimate {
    let half = draws.standard_error().and_then(|error| {
        welch::two_sided_quantile(level, degrees_of_freedom).map(|t| (error, t * error))
    });
    let (standard_error, interval) = match half {
        Err(refusal) => (None, Interval::None { reason: refusal.to_string() }),
        Ok((error, half)) => {
            let (low, high) =
                (scale.back(scale.apply(value) - half), scale.back(scale.apply(value) + half));
            let interval = match low.is_finite() && high.is_finite() {
                true => Interval::RunBootstrap {
                    low,
                    high,
                    level,
                    resamples: draws.replicates() as u32,
                },
                // Prefactors of steep surfaces leave the range of numbers.
                false => {
                    Interval::None { reason: "its ends are beyond the range of numbers".to_owned() }
                }
            };
            let error = if scale == Scale::Logarithm { value * error } else { error };
            (Some(error).filter(|error| error.is_finite()), interval)
        }
    };
    Estimate { value, unit: unit.to_owned(), standard_error, interval }
}
