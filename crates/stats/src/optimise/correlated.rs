//! A straight line through points whose errors are known and go together.
//!
//! Models measured on the same documents err together: a hard sample is hard for all of them. With
//! the covariance V of the errors of y, generalised least squares minimises
//! `(y - Xb)ᵀ V⁻¹ (y - Xb)`; the minimum is chi-squared with n - 2 degrees of freedom if the line
//! is true and V is all the noise there is (Aitken 1936).

use super::linear::Design;
use crate::check;
use crate::error::StatsError;

/// The line and how far the points lie from it, in units of their known errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrelatedLine {
    /// Change of y for one unit of x.
    pub slope: f64,
    /// Standard error of the slope by the known errors alone.
    pub slope_standard_error: f64,
    /// The minimum of `(y - Xb)ᵀ V⁻¹ (y - Xb)`.
    pub chi_squared: f64,
    /// Points less two.
    pub degrees_of_freedom: usize,
}

/// Fits a line to `y` at `x`, given the covariance of the errors of y: `n × n`, row-major,
/// symmetric.
///
/// ```
/// use relscale_stats::optimise::correlated::line;
/// // Independent errors of 0.1: the middle point lies 0.3 above the line through the others.
/// let covariance = [0.01, 0.0, 0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 0.01];
/// let fit = line(&[0.0, 1.0, 2.0], &[0.0, 1.3, 2.0], &covariance).unwrap();
/// assert!((fit.slope - 1.0).abs() < 1e-14);
/// assert!((fit.chi_squared - 6.0).abs() < 1e-12); // residuals -0.1, 0.2, -0.1
/// ```
///
/// # Errors
/// Sizes that do not match; fewer than two points; a number that is not finite; all x equal; a
/// covariance that is not positive definite (an error of zero, or two points that err exactly
/// together).
pub fn line(x: &[f64], y: &[f64], covariance: &[f64]) -> Result<CorrelatedLine, StatsError> {
    let points = x.len();
    check::lengths(&[("x", x), ("y", y)])?;
    if covariance.len() != points * points {
        return Err(StatsError::Lengths {
            left: "x",
            left_length: points,
            right: "rows of the covariance",
            right_length: covariance.len(),
        });
    }
    check::finite(&[("x", x), ("y", y), ("covariance", covariance)])?;
    if points < 2 {
        return Err(StatsError::TooFewPoints { given: points, needed: 2 });
    }
    let no_spread = StatsError::NoSpread { points, x: x[0] };
    if x.iter().all(|value| *value == x[0]) {
        return Err(no_spread);
    }
    // About the mean of x, so that a large offset costs no digits.
    let centre = x.iter().sum::<f64>() / points as f64;
    let shifted = x.iter().map(|x| x - centre).collect();
    let design = Design::new(y, vec![vec![1.0; points], shifted]).whitened(covariance)?;
    let fit = design.fit(0.0).ok_or(no_spread)?;
    let found = CorrelatedLine {
        slope: fit.coefficients[1],
        slope_standard_error: fit.length(1).recip(),
        chi_squared: fit.residual_sum_of_squares,
        degrees_of_freedom: fit.degrees_of_freedom(),
    };
    match [found.slope, found.slope_standard_error, found.chi_squared]
        .iter()
        .all(|value| value.is_finite())
    {
        true => Ok(found),
        false => Err(StatsError::Overflow { what: "line through correlated points" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimise::least_squares::weighted_line;

    const X: [f64; 5] = [8.0, 9.5, 10.0, 12.0, 15.0];
    const Y: [f64; 5] = [1.0, 0.7, 0.75, 0.4, -0.1];
    const ERRORS: [f64; 5] = [0.02, 0.05, 0.03, 0.04, 0.02];

    fn covariance(common: f64) -> Vec<f64> {
        (0..25)
            .map(|at| common + if at / 5 == at % 5 { ERRORS[at % 5].powi(2) } else { 0.0 })
            .collect()
    }

    #[test]
    fn independent_errors_are_weights() {
        let weights = ERRORS.map(|error| error.powi(-2));
        let weighted = weighted_line(&X, &Y, &weights).unwrap();
        let fit = line(&X, &Y, &covariance(0.0)).unwrap();
        assert!((fit.slope / weighted.slope - 1.0).abs() < 1e-12);
        assert!((fit.chi_squared / weighted.residual_sum_of_squares - 1.0).abs() < 1e-11);
    }

    #[test]
    fn an_error_common_to_all_points_moves_the_intercept_alone() {
        let alone = line(&X, &Y, &covariance(0.0)).unwrap();
        let common = line(&X, &Y, &covariance(0.5)).unwrap();
        assert!((common.slope / alone.slope - 1.0).abs() < 1e-9);
        assert!((common.slope_standard_error / alone.slope_standard_error - 1.0).abs() < 1e-9);
        assert!((common.chi_squared / alone.chi_squared - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_has_no_inverse_is_refused() {
        let together = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let refused = line(&X[..3], &Y[..3], &together).unwrap_err();
        assert_eq!(refused, StatsError::NotPositiveDefinite { row: 1 });
        assert!(line(&X[..3], &Y[..3], &[0.0; 9]).is_err());
        assert!(line(&X, &Y, &covariance(0.0)[..20]).is_err());
        assert!(line(&[1.0; 5], &Y, &covariance(0.0)).is_err());
        assert!(line(&X[..1], &Y[..1], &[1.0]).is_err());
    }
}
