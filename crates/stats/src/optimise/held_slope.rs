//! A straight line whose slope is given: only its height is found, `y = intercept + slope x`.
//!
//! ```text
//! intercept = mean(y - slope x),   s² = Σ e² / (n - 1),   var(intercept) = s² / n,   var(new observation) = s² (1 + 1/n)
//! ```
//!
//! Known as a regression with an offset; no distance to the points makes the line less certain, for
//! its slope is taken to be exact.

use super::linear::Design;
use crate::check;
use crate::error::StatsError;

/// The line, and what is needed to judge it.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldSlope {
    /// Change of y for one unit of x, as given.
    pub slope: f64,
    /// y at `x = 0`.
    pub intercept: f64,
    /// `y - fitted`, in the order of the points.
    pub residuals: Vec<f64>,
    /// `1 - Σ e² / Σ (y - mean)²`, which a slope unlike the points' own makes negative; absent when
    /// all y are equal.
    pub r_squared: Option<f64>,
}

/// Fits the height of a line of the given slope.
///
/// ```
/// use relscale_stats::optimise::held_slope;
/// let line = held_slope::fit(&[0.0, 1.0, 2.0], &[1.1, 2.9, 5.0], 2.0).unwrap();
/// assert!((line.intercept - 1.0).abs() < 1e-12 && (line.at(5.0) - 11.0).abs() < 1e-12);
/// ```
///
/// # Errors
/// Slices of different length, no point, an entry or a slope that is not finite.
pub fn fit(x: &[f64], y: &[f64], slope: f64) -> Result<HeldSlope, StatsError> {
    check::lengths(&[("x", x), ("y", y)])?;
    check::finite(&[("x", x), ("y", y), ("slope", &[slope])])?;
    if x.is_empty() {
        return Err(StatsError::TooFewPoints { given: 0, needed: 1 });
    }
    let count = x.len() as f64;
    let fit = Design::new(y, vec![vec![1.0; y.len()]]).held(x, slope).fit(0.0);
    let fit = fit.ok_or(StatsError::Undetermined)?;
    let mean = y.iter().sum::<f64>() / count;
    let total: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    Ok(HeldSlope {
        slope,
        intercept: fit.coefficients[0],
        r_squared: (total > 0.0).then(|| 1.0 - fit.residual_sum_of_squares / total),
        residuals: fit.residuals,
    })
}

impl HeldSlope {
    /// Its value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// Points less the height.
    pub fn degrees_of_freedom(&self) -> usize {
        self.residuals.len() - 1
    }

    /// Standard error of the height, anywhere; `None` for one point.
    pub fn standard_error(&self) -> Option<f64> {
        Some((self.residual_variance()? / self.residuals.len() as f64).sqrt())
    }

    /// Standard error of a new observation, anywhere; `None` for one point.
    pub fn prediction_standard_error(&self) -> Option<f64> {
        Some((self.residual_variance()? * (1.0 + 1.0 / self.residuals.len() as f64)).sqrt())
    }

    fn residual_variance(&self) -> Option<f64> {
        let freedom = self.degrees_of_freedom();
        (freedom > 0).then(|| self.residuals.iter().map(|r| r * r).sum::<f64>() / freedom as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_height_is_a_mean_with_its_standard_error() {
        let line = fit(&[1.0, 2.0, 3.0, 4.0], &[3.0, 4.0, 8.0, 9.0], 2.0).unwrap();
        // y - 2 x: 1, 0, 2, 1, of mean 1 and variance 2/3.
        assert_eq!((line.intercept, line.degrees_of_freedom()), (1.0, 3));
        assert!((line.standard_error().unwrap() - (2.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
        assert!(
            (line.prediction_standard_error().unwrap() - (2.0_f64 / 3.0 * 1.25).sqrt()).abs()
                < 1e-15
        );
        // Total 26, residual 2.
        assert!((line.r_squared.unwrap() - (1.0 - 2.0 / 26.0)).abs() < 1e-15);
    }

    #[test]
    fn one_point_has_no_scatter_and_none_no_line() {
        let one = fit(&[1.0], &[3.0], 2.0).unwrap();
        assert_eq!((one.at(2.0), one.standard_error()), (5.0, None));
        assert!(fit(&[], &[], 1.0).is_err() && fit(&[1.0], &[1.0], f64::NAN).is_err());
        assert!(fit(&[1.0], &[1.0, 2.0], 1.0).is_err());
    }
}
