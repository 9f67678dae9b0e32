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

/// How far something scatters on its scale, and how well that is known.
#[derive(Debug, Clone)]
pub(super) struct Spread {
    /// Standard deviation, or why there is none.
    error: Result<f64, String>,
    degrees_of_freedom: f64,
    /// Draws behind it.
    resamples: u32,
}

impl Spread {
    /// Of draws, which are given on the scale.
    pub(super) fn of(draws: &Sample, degrees_of_freedom: f64) -> Self {
        let error = draws.standard_error().map_err(|refusal| refusal.to_string());
        Self { error, degrees_of_freedom, resamples: draws.replicates() as u32 }
    }

    /// With a further variance that is independent of the draws.
    pub(super) fn with(self, variance: f64, degrees_of_freedom: f64) -> Self {
        let Ok(error) = self.error else { return self };
        let parts = [(error * error, self.degrees_of_freedom), (variance, degrees_of_freedom)];
        let freedom = welch::degrees_of_freedom(parts).unwrap_or(self.degrees_of_freedom);
        let error = Ok((error * error + variance).sqrt());
        Self { error, degrees_of_freedom: freedom, ..self }
    }
}

/// A value with its spread on the scale.
pub(super) fn estimate(
    value: f64,
    unit: &str,
    spread: &Spread,
    scale: Scale,
    level: f64,
) -> Estimate {
    let half = spread.error.clone().and_then(|error| {
        let t = welch::two_sided_quantile(level, spread.degrees_of_freedom);
        t.map(|t| (error, t * error)).map_err(|refusal| refusal.to_string())
    });
    let (standard_error, interval) = match half {
        Err(reason) => (None, Interval::None { reason }),
        Ok((error, half)) => {
            let (low, high) =
                (scale.back(scale.apply(value) - half), scale.back(scale.apply(value) + half));
            let interval = match low.is_finite() && high.is_finite() {
                true => Interval::RunBootstrap { low, high, level, resamples: spread.resamples },
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
