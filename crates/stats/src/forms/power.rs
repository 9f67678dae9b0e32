//! The power law `y = a x^-alpha`, by least squares of `ln y` on `ln x`.
//!
//! alpha is positive when y falls with x. Least squares in the logarithm is maximum likelihood for
//! relative errors of equal size; it is what the scaling literature fits and what its R² refers to.
//! Changing the unit of x or y changes a alone, never alpha, R² or the relative errors.

use super::{Domain, Form, Frame, Span};
use crate::error::StatsError;
use crate::optimise::least_squares::{self, Line};
use crate::optimise::student::{self, StudentInterval};
use crate::optimise::varpro::{Axis, DesignRow};

/// A fitted power law.
#[derive(Debug, Clone, PartialEq)]
pub struct Power {
    /// The line `ln y = ln a - alpha ln x`.
    pub line: Line,
}

/// Fits `y = a x^-alpha`.
///
/// ```
/// use relscale_stats::forms::power;
/// let fit = power::fit(&[1.0, 4.0, 16.0], &[6.0, 3.0, 1.5]).unwrap(); // 6 x^-0.5
/// assert!((fit.exponent() - 0.5).abs() < 1e-15 && (fit.at(64.0) - 0.75).abs() < 1e-15);
/// ```
///
/// # Errors
/// An x or y that is not above zero, and the refusals of [`least_squares::line`].
pub fn fit(x: &[f64], y: &[f64]) -> Result<Power, StatsError> {
    let line = least_squares::line(&logarithms("x", x)?, &logarithms("y", y)?);
    Ok(Power { line: line.map_err(|refusal| in_x(refusal, x))? })
}

/// As [`fit`], with a weight for each point: `1 / error²` for standard errors of `ln y`.
///
/// # Errors
/// As [`fit`], and a weight that is not above zero.
pub fn fit_weighted(x: &[f64], y: &[f64], weights: &[f64]) -> Result<Power, StatsError> {
    let line = least_squares::weighted_line(&logarithms("x", x)?, &logarithms("y", y)?, weights);
    Ok(Power { line: line.map_err(|refusal| in_x(refusal, x))? })
}

/// A refusal of a line through logarithms, about the x that was given.
fn in_x(refusal: StatsError, x: &[f64]) -> StatsError {
    match refusal {
        StatsError::NoSpread { points, .. } => StatsError::NoSpread { points, x: x[0] },
        other => other,
    }
}

impl Power {
    /// alpha, positive when y falls with x.
    pub fn exponent(&self) -> f64 {
        // Not `-slope`: a slope of zero would be shown as -0.
        0.0 - self.line.slope
    }

    /// a, the value at `x = 1` in the unit of y.
    pub fn prefactor(&self) -> f64 {
        self.line.intercept.exp()
    }

    /// The geometric mean of x, where the law is known best.
    pub fn centre(&self) -> f64 {
        self.line.centre_x.exp()
    }

    /// The law's value at `x > 0`, in the unit of y.
    pub fn at(&self, x: f64) -> f64 {
        self.line.at(x.ln()).exp()
    }

    /// Student t interval of alpha.
    ///
    /// # Errors
    /// Two points; a level that is no probability.
    pub fn exponent_interval(&self, level: f64) -> Result<StudentInterval, StatsError> {
        let slope = student::slope(&self.line, level)?;
        Ok(StudentInterval { low: 0.0 - slope.high, high: 0.0 - slope.low, ..slope })
    }

    /// Student t interval of a.
    ///
    /// # Errors
    /// As [`exponent_interval`](Self::exponent_interval).
    pub fn prefactor_interval(&self, level: f64) -> Result<StudentInterval, StatsError> {
        student::intercept(&self.line, level).map(exponential)
    }

    /// Student t interval of the law's value at `x`.
    ///
    /// # Errors
    /// As [`exponent_interval`](Self::exponent_interval).
    pub fn mean_interval(&self, x: f64, level: f64) -> Result<StudentInterval, StatsError> {
        student::mean(&self.line, x.ln(), level).map(exponential)
    }

    /// Student t interval of a new observation at `x`.
    ///
    /// # Errors
    /// As [`exponent_interval`](Self::exponent_interval).
    pub fn prediction_interval(&self, x: f64, level: f64) -> Result<StudentInterval, StatsError> {
        student::prediction(&self.line, x.ln(), level).map(exponential)
    }
}

/// The power law as one of the rival [`Form`]s; [`fit`] has the same numbers and exact intervals
/// besides.
pub struct PowerForm;

impl Form for PowerForm {
    fn name(&self) -> &'static str {
        "power law"
    }

    fn formula(&self) -> &'static str {
        "a S^-alpha"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["a", "alpha"]
    }

    fn domains(&self) -> &'static [Domain] {
        &[Domain::Positive, Domain::Real]
    }

    fn linear(&self) -> usize {
        2
    }

    fn axes(&self, _: &[f64], _: &[f64]) -> Vec<Axis> {
        Vec::new()
    }

    fn limit(&self, _: usize, _: bool) -> &'static str {
        "none" // It has no parameter that is searched for.
    }

    fn row(&self, u: f64, _: Span, _: &[f64]) -> Option<DesignRow> {
        Some(DesignRow { basis: [1.0, -u, 0.0], ..DesignRow::default() })
    }

    fn report(&self, frame: &Frame, _: &[f64], beta: &[f64]) -> Vec<f64> {
        vec![(frame.log_y + beta[0] + beta[1] * frame.log_x).exp(), beta[1]]
    }
}

fn exponential(interval: StudentInterval) -> StudentInterval {
    StudentInterval { low: interval.low.exp(), high: interval.high.exp(), ..interval }
}

pub(super) fn logarithms(what: &'static str, values: &[f64]) -> Result<Vec<f64>, StatsError> {
    values
        .iter()
        .enumerate()
        .map(|(index, &value)| {
            if value > 0.0 {
                Ok(value.ln())
            } else {
                Err(StatsError::NotPositive { what, index, value })
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_logarithm() {
        let refusal = fit(&[1.0, 2.0], &[1.0, 0.0]).unwrap_err();
        assert!(matches!(refusal, StatsError::NotPositive { what: "y", index: 1, .. }));
        assert!(fit(&[-1.0, 2.0], &[1.0, 1.0]).is_err());
        assert!(fit(&[1.0, 2.0], &[f64::NAN, 1.0]).is_err());
    }

    #[test]
    fn the_interval_of_alpha_holds_alpha_the_right_way_round() {
        let fit = fit(&[1.0, 2.0, 4.0, 8.0], &[9.0, 6.1, 3.9, 2.7]).unwrap();
        let interval = fit.exponent_interval(0.95).unwrap();
        assert!(interval.low < fit.exponent() && fit.exponent() < interval.high);
        assert!(interval.low > 0.0);
    }
}
