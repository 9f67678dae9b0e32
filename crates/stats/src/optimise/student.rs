//! Student t intervals for a straight line.
//!
//! `estimate ± t(1 - (1 - level)/2, n - 2) × standard error`, exact for independent normal scatter
//! of equal variance (or variance inverse to the weights). Two points leave `n - 2 = 0`: refused
//! with [`StatsError::NoDegreesOfFreedom`], whose message is the reason to show.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::least_squares::Line;
use crate::check;
use crate::error::StatsError;

/// A two-sided Student t interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Nominal coverage.
    pub level: f64,
    /// Points less parameters.
    pub degrees_of_freedom: usize,
}

/// The number t for which a Student t variable lies in `[-t, t]` with probability `level`.
///
/// # Errors
/// No degrees of freedom; a level that is no probability.
pub fn two_sided_quantile(level: f64, degrees_of_freedom: usize) -> Result<f64, StatsError> {
    quantile(level, degrees_of_freedom as f64)
}

/// [`two_sided_quantile`] for degrees of freedom that are not whole, as Satterthwaite's are.
///
/// # Errors
/// Degrees of freedom that are not above zero; a level that is no probability.
pub fn quantile(level: f64, degrees_of_freedom: f64) -> Result<f64, StatsError> {
    check::level(level)?;
    let distribution =
        StudentsT::new(0.0, 1.0, degrees_of_freedom).map_err(|_| StatsError::NoDegreesOfFreedom)?;
    Ok(distribution.inverse_cdf(0.5 + level / 2.0))
}

/// Interval of the slope.
///
/// # Errors
/// Two points; a level that is no probability.
pub fn slope(line: &Line, level: f64) -> Result<StudentInterval, StatsError> {
    about(line, line.slope, line.slope_standard_error(), level)
}

/// Interval of the intercept, the line's value at `x = 0`.
///
/// # Errors
/// As [`slope`].
pub fn intercept(line: &Line, level: f64) -> Result<StudentInterval, StatsError> {
    about(line, line.intercept, line.intercept_standard_error(), level)
}

/// Interval of the line's value at `x`.
///
/// # Errors
/// As [`slope`].
pub fn mean(line: &Line, x: f64, level: f64) -> Result<StudentInterval, StatsError> {
    about(line, line.at(x), line.mean_standard_error(x), level)
}

/// Interval for one new observation of weight 1 at `x`.
///
/// # Errors
/// As [`slope`].
pub fn prediction(line: &Line, x: f64, level: f64) -> Result<StudentInterval, StatsError> {
    about(line, line.at(x), line.prediction_standard_error(x, 1.0), level)
}

fn about(
    line: &Line,
    value: f64,
    standard_error: Option<f64>,
    level: f64,
) -> Result<StudentInterval, StatsError> {
    check::level(level)?;
    let standard_error = standard_error.ok_or(StatsError::NoDegreesOfFreedom)?;
    let degrees_of_freedom = line.degrees_of_freedom();
    let half = two_sided_quantile(level, degrees_of_freedom)? * standard_error;
    Ok(StudentInterval { low: value - half, high: value + half, level, degrees_of_freedom })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimise::least_squares::line;

    #[test]
    fn two_points_give_the_reason_instead_of_an_interval() {
        let fit = line(&[1.0, 2.0], &[1.0, 3.0]).unwrap();
        let refusal = slope(&fit, 0.95).unwrap_err();
        assert_eq!(refusal, StatsError::NoDegreesOfFreedom);
        assert!(refusal.to_string().contains("two points"));
    }

    #[test]
    fn a_level_that_is_no_probability_is_refused() {
        let fit = line(&[1.0, 2.0, 3.0], &[1.0, 3.0, 4.0]).unwrap();
        for level in [0.0, 1.0, 95.0, f64::NAN] {
            assert!(matches!(slope(&fit, level), Err(StatsError::Level { .. })));
        }
    }

    #[test]
    fn a_new_observation_is_less_certain_than_the_line() {
        let fit = line(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 4.0, 4.5]).unwrap();
        let line_at = mean(&fit, 6.0, 0.95).unwrap();
        let observation = prediction(&fit, 6.0, 0.95).unwrap();
        assert!(observation.low < line_at.low && line_at.high < observation.high);
    }
}
