//! A straight line `y = intercept + slope x` by least squares, with or without weights.
//!
//! Closed form about the weighted means, so that neither a large offset nor a large scale of x or y
//! costs digits (NIST's certified Norris set, shifted by 1e9, is among the tests):
//!
//! ```text
//! x̄ = Σw x / W,   Sxx = Σw (x - x̄)²,   slope = Σw (x - x̄)(y - ȳ) / Sxx,   intercept = ȳ - slope x̄
//! s² = Σw e² / (n - 2),   var(slope) = s² / Sxx,   var(value at x) = s² (1/W + (x - x̄)² / Sxx)
//! ```
//!
//! Source: Draper and Smith, *Applied Regression Analysis*, 3rd ed., chapters 1, 3 and 8.

use super::linear::Design;
use crate::check;
use crate::error::StatsError;
use crate::outcome::Caution;

/// A fitted line and what is needed to judge it.
///
/// Weights are relative: only their ratios matter to [`slope`](Self::slope) and to the standard
/// errors, as the residual variance is estimated from the scatter. (For weights `1/σ²` with known
/// σ, [`residual_sum_of_squares`](Self::residual_sum_of_squares) is chi-squared.)
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Change of y for one unit of x.
    pub slope: f64,
    /// y at `x = 0`.
    pub intercept: f64,
    /// Weighted mean of x, where the line is known best.
    pub centre_x: f64,
    /// Weighted mean of y: the line's value at `centre_x`.
    pub centre_y: f64,
    /// `y - fitted`, in the order of the points.
    pub residuals: Vec<f64>,
    /// Each point's weight in its own fitted value, `w/W + w (x - x̄)²/Sxx`; they sum to 2.
    pub leverage: Vec<f64>,
    /// `y - prediction` of each point by the line through all others, `e / (1 - leverage)`; absent
    /// where the others define no line.
    pub left_out_errors: Vec<Option<f64>>,
    /// `Σ w e²`.
    pub residual_sum_of_squares: f64,
    /// Coefficient of determination `1 - Σw e² / Σw (y - ȳ)²`; absent when all y are equal.
    pub r_squared: Option<f64>,
    /// What to know before quoting the line.
    pub cautions: Vec<Caution>,
    /// `Σ w`.
    weight: f64,
    /// `sqrt(Σ w (x - x̄)²)`: the root, as the sum itself may leave the range of a double.
    spread: f64,
}

impl Line {
    /// The line's value at `x`, computed from the centre.
    pub fn at(&self, x: f64) -> f64 {
        self.centre_y + self.slope * (x - self.centre_x)
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.residuals.len()
    }

    /// Points less the two parameters.
    pub fn degrees_of_freedom(&self) -> usize {
        self.points() - 2
    }

    /// s², the residual variance of a point of weight 1, with `n - 2` in the denominator; `None`
    /// for two points, whose scatter is unknown rather than zero.
    pub fn residual_variance(&self) -> Option<f64> {
        match self.degrees_of_freedom() {
            0 => None,
            freedom => Some(self.residual_sum_of_squares / freedom as f64),
        }
    }

    /// Standard error of the slope; `None` for two points.
    pub fn slope_standard_error(&self) -> Option<f64> {
        Some(self.residual_variance()?.sqrt() / self.spread)
    }

    /// Standard error of the intercept; `None` for two points.
    pub fn intercept_standard_error(&self) -> Option<f64> {
        self.mean_standard_error(0.0)
    }

    /// Covariance of slope and intercept, `-s² x̄ / Sxx`; `None` for two points.
    pub fn covariance(&self) -> Option<f64> {
        Some(-self.residual_variance()? / self.spread * (self.centre_x / self.spread))
    }

    /// Standard error of the line's value at `x`; `None` for two points.
    pub fn mean_standard_error(&self, x: f64) -> Option<f64> {
        Some(self.residual_variance()?.sqrt() * self.variance_factor(x).sqrt())
    }

    /// Standard error of a new observation of weight `weight` at `x`: that of the line and the
    /// scatter of one point together; `None` for two points.
    pub fn prediction_standard_error(&self, x: f64, weight: f64) -> Option<f64> {
        Some(self.residual_variance()?.sqrt() * (1.0 / weight + self.variance_factor(x)).sqrt())
    }

    /// `1/W + (x - x̄)²/Sxx`.
    fn variance_factor(&self, x: f64) -> f64 {
        let distance = (x - self.centre_x) / self.spread;
        1.0 / self.weight + distance * distance
    }
}

/// The line with the least sum of squared residuals.
///
/// ```
/// use relscale_stats::optimise::least_squares::line;
/// let fit = line(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]).unwrap();
/// assert_eq!((fit.slope, fit.intercept, fit.r_squared), (2.0, 1.0, Some(1.0)));
/// ```
///
/// # Errors
/// Slices of different length, fewer than two points, a NaN or infinite entry, all x equal, a
/// result out of range.
pub fn line(x: &[f64], y: &[f64]) -> Result<Line, StatsError> {
    weighted_line(x, y, &vec![1.0; x.len()])
}

/// The line with the least sum of squared residuals, each times its weight.
///
/// # Errors
/// As [`line()`], and a weight that is not above zero.
pub fn weighted_line(x: &[f64], y: &[f64], weights: &[f64]) -> Result<Line, StatsError> {
    check::columns(&[("x", x), ("y", y), ("weights", weights)])?;
    if let Some(index) = weights.iter().position(|weight| *weight <= 0.0) {
        return Err(StatsError::NotPositive { what: "weights", index, value: weights[index] });
    }
    if x.len() < 2 {
        return Err(StatsError::TooFewPoints { given: x.len(), needed: 2 });
    }
    let no_spread = StatsError::NoSpread { points: x.len(), x: x[0] };
    if x.iter().all(|value| *value == x[0]) {
        return Err(no_spread);
    }
    let fit = Design::new(y, vec![x.to_vec()]).weighted(weights).with_constant();
    let fit = fit.fit(0.0).ok_or(no_spread)?;
    let (slope, centre_x, centre_y) = (fit.coefficients[0], fit.means[0], fit.means[1]);
    let line = Line {
        slope,
        intercept: centre_y - slope * centre_x,
        centre_x,
        centre_y,
        weight: weights.iter().sum(),
        spread: fit.length(0),
        left_out_errors: fit.left_out_errors(),
        cautions: fit.cautions(),
        residual_sum_of_squares: fit.residual_sum_of_squares,
        r_squared: fit.r_squared,
        residuals: fit.residuals,
        leverage: fit.leverage,
    };
    for (what, value) in [
        ("slope", line.slope),
        ("intercept", line.intercept),
        ("sum of squared residuals", line.residual_sum_of_squares),
        ("spread of x", line.spread),
        ("sum of weights", line.weight),
        ("standard error of the slope", line.slope_standard_error().unwrap_or(0.0)),
    ] {
        if !value.is_finite() {
            return Err(StatsError::Overflow { what });
        }
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_points_by_hand() {
        // x̄ = 1.5, ȳ = 4, Sxx = 5, Sxy = 9: slope 1.8, intercept 1.3; residuals -0.3 0.9 -0.9 0.3.
        let fit = line(&[0.0, 1.0, 2.0, 3.0], &[1.0, 4.0, 4.0, 7.0]).unwrap();
        assert!((fit.slope - 1.8).abs() < 1e-15 && (fit.intercept - 1.3).abs() < 1e-15);
        assert!((fit.residual_sum_of_squares - 1.8).abs() < 1e-14);
        assert!((fit.r_squared.unwrap() - 0.9).abs() < 1e-15);
        assert!((fit.residual_variance().unwrap() - 0.9).abs() < 1e-14);
        assert!((fit.slope_standard_error().unwrap() - (0.9f64 / 5.0).sqrt()).abs() < 1e-15);
        assert!((fit.covariance().unwrap() + 0.9 * 1.5 / 5.0).abs() < 1e-15);
        assert!((fit.leverage[0] - 0.7).abs() < 1e-15 && (fit.leverage[1] - 0.3).abs() < 1e-15);
        // Without the first point: slope 1.5, value 2 at x = 0, error 1 - 2 = -1 = -0.3 / (1 -
        // 0.7).
        assert!((fit.left_out_errors[0].unwrap() + 1.0).abs() < 1e-14);
        assert!(fit.cautions.is_empty());
    }

    #[test]
    fn two_points_have_a_slope_and_no_scatter() {
        let fit = line(&[1.0, 3.0], &[2.0, 8.0]).unwrap();
        assert_eq!((fit.slope, fit.intercept), (3.0, -1.0));
        assert_eq!(fit.residual_variance(), None);
        assert_eq!(fit.slope_standard_error(), None);
        assert_eq!(fit.left_out_errors, [None, None]);
        assert_eq!(fit.cautions, [Caution::NoScatter]);
    }

    #[test]
    fn refusals_name_the_fault() {
        assert!(matches!(line(&[], &[]), Err(StatsError::TooFewPoints { given: 0, needed: 2 })));
        assert!(matches!(line(&[1.0], &[1.0]), Err(StatsError::TooFewPoints { given: 1, .. })));
        assert!(matches!(line(&[0.1; 3], &[1.0, 2.0, 3.0]), Err(StatsError::NoSpread { .. })));
        assert!(matches!(line(&[1.0, 2.0], &[1.0]), Err(StatsError::Lengths { .. })));
        let nan = line(&[1.0, 2.0], &[1.0, f64::NAN]).unwrap_err();
        assert!(nan.to_string().starts_with("y[1] is NaN"));
        assert!(matches!(
            weighted_line(&[1.0, 2.0], &[1.0, 2.0], &[1.0, 0.0]),
            Err(StatsError::NotPositive { what: "weights", index: 1, .. })
        ));
        assert!(matches!(
            line(&[-1e-300, 1e-300], &[-1e300, 1e300]),
            Err(StatsError::Overflow { what: "slope" })
        ));
    }

    #[test]
    fn equal_values_have_slope_zero_and_no_r_squared() {
        let fit = line(&[0.1, 0.2, 0.7], &[0.1; 3]).unwrap();
        assert_eq!((fit.slope, fit.r_squared), (0.0, None));
        assert_eq!(fit.cautions, [Caution::Constant]);
    }

    #[test]
    fn a_point_that_alone_decides_the_slope_is_named() {
        let fit = line(&[1.0, 1.0, 5.0], &[0.0, 2.0, 3.0]).unwrap();
        assert_eq!(fit.left_out_errors[2], None);
        assert_eq!(fit.cautions, [Caution::Decisive { point: 2 }]);
    }

    #[test]
    fn huge_and_tiny_numbers_neither_overflow_nor_vanish() {
        let fit = line(&[1e200, 2e200, 3e200], &[2e100, 4e100, 6e100]).unwrap();
        assert!((fit.slope / 2e-100 - 1.0).abs() < 1e-14);
        let fit = line(&[1e150, 2e150, 3e150], &[2e-150, 4e-150, 6e-150]).unwrap();
        assert!((fit.slope / 2e-300 - 1.0).abs() < 1e-14);
    }
}
