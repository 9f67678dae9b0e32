//! Vuong's test: which of two distributions is closer to the data, and whether by more than chance.

use statrs::function::erf::erfc;

use crate::error::StatsError;

use super::fit::Fit;
use super::histogram::Histogram;

/// The outcome of Vuong's test of a first against a second distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vuong {
    /// `sqrt(n) m / w` with m and w the mean and standard deviation of `ln(p_k / q_k)` over
    /// observations: standard normal if both are equally close, large where the first is closer,
    /// and 0 where the two are the same everywhere.
    pub statistic: f64,
    /// Chance of a statistic at least this far from 0 if both are equally close.
    pub p_value: f64,
    /// Mean of `ln(p_k / q_k)`, nats an observation; times n it is the logarithm of the likelihood
    /// ratio.
    pub mean_difference: f64,
    /// Observations.
    pub n: u64,
}

/// Vuong's test (1989, eqs. 5.4 to 5.6) of two fits to the same histogram; for rivals of which
/// neither contains the other.
///
/// Observations are taken as independent. Tokens of one document are not, which makes the p-value
/// too small: by how much, a bootstrap of documents says. Where one fit contains the other (a zeta
/// in its Zipf-Mandelbrot), twice the log-likelihood ratio against chi-squared is the test, and
/// this one is too timid.
///
/// # Errors
/// A value to which either distribution gives no mass.
pub fn vuong(first: &Fit, second: &Fit, data: &Histogram) -> Result<Vuong, StatsError> {
    for fit in [first, second] {
        if data.largest() > fit.upper {
            return Err(StatsError::AboveUpper { value: data.largest(), upper: fit.upper });
        }
    }
    let n = data.total() as f64;
    let differences: Vec<(f64, f64)> = data
        .iter()
        .map(|(value, count)| (first.ln_mass(value) - second.ln_mass(value), count as f64))
        .collect();
    let mean = differences.iter().map(|(d, count)| d * count).sum::<f64>() / n;
    let variance = differences.iter().map(|(d, count)| (d - mean).powi(2) * count).sum::<f64>() / n;
    if !(mean.is_finite() && variance.is_finite()) {
        return Err(StatsError::Overflow { what: "the logarithm of a mass" });
    }
    // Differences of rounding alone are none.
    let same = differences.iter().all(|(d, _)| d.abs() < 1e-11);
    let statistic = if same { 0.0 } else { n.sqrt() * mean / variance.sqrt() };
    let p_value = erfc(statistic.abs() / std::f64::consts::SQRT_2);
    Ok(Vuong { statistic, p_value, mean_difference: mean, n: data.total() })
}
