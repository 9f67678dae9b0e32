//! Where a straight line reaches a level: the size at which a law takes a given value.
//!
//! The line `y = ȳ + b (x - x̄)` reaches `y0` at `x* = x̄ + (y0 - ȳ)/b`, a ratio of two estimates,
//! whose error is neither normal nor always finite. Its interval is the set of x at which `y0` lies
//! inside the band about the line (Fieller 1954):
//!
//! ```text
//! (ȳ - y0 + b d)² <= t² s² (c + d²/Sxx)        d = x - x̄
//! ```
//!
//! with `c = 1/W` for the line itself and `c = 1 + 1/W` for one new observation. The set is an
//! interval only where the slope's own interval excludes zero (`b² > t² s²/Sxx`); else it has no
//! end, and is refused.

use super::student::{StudentInterval, two_sided_quantile};
use crate::check;
use crate::error::StatsError;
use crate::optimise::least_squares::Line;

/// Which band about the line decides what is still possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Band {
    /// The uncertainty of the line: where does the *law* reach the level?
    Line,
    /// That, and the scatter of one new point of weight 1: which new *point* may reach it?
    Observation,
}

/// Where the line takes the value `y0`.
///
/// ```
/// use relscale_stats::interval::crossing::at;
/// use relscale_stats::optimise::least_squares::line;
/// let fit = line(&[0.0, 1.0, 2.0, 3.0], &[6.0, 4.0, 2.0, 0.0]).unwrap();
/// assert_eq!(at(&fit, 1.0).unwrap(), 2.5);
/// ```
///
/// # Errors
/// A line without slope; a crossing beyond the range of numbers.
pub fn at(line: &Line, y0: f64) -> Result<f64, StatsError> {
    if line.slope == 0.0 {
        return Err(StatsError::NoSlope);
    }
    let x = line.centre_x + (y0 - line.centre_y) / line.slope;
    if x.is_finite() {
        Ok(x)
    } else {
        Err(StatsError::Overflow { what: "where the line reaches the level" })
    }
}

/// Interval of the x at which `y0` is reached.
///
/// # Errors
/// Two points; a slope whose interval at this level holds zero ([`StatsError::EndlessCrossing`]); a
/// level that is no probability; ends beyond the range of numbers.
pub fn interval(
    line: &Line,
    y0: f64,
    band: Band,
    level: f64,
) -> Result<StudentInterval, StatsError> {
    check::level(level)?;
    let unknown = StatsError::NoDegreesOfFreedom;
    let slope_error = line.slope_standard_error().ok_or(unknown.clone())?;
    let line_error = line.mean_standard_error(line.centre_x).ok_or(unknown.clone())?;
    let variance = match band {
        Band::Line => line_error.powi(2),
        Band::Observation => line_error.powi(2) + line.residual_variance().ok_or(unknown)?,
    };
    let degrees_of_freedom = line.degrees_of_freedom();
    let t = two_sided_quantile(level, degrees_of_freedom)?;
    // a d² + 2 b D d + (D² - t² variance) <= 0, with D = centre_y - y0 and a the slope's distance
    // from zero.
    let a = line.slope.powi(2) - (t * slope_error).powi(2);
    if a <= 0.0 {
        return Err(StatsError::EndlessCrossing { level });
    }
    let distance = line.centre_y - y0;
    let middle = line.centre_x - line.slope * distance / a;
    let half = t * ((slope_error * distance).powi(2) + a * variance).sqrt() / a;
    let (low, high) = (middle - half, middle + half);
    if low.is_finite() && high.is_finite() {
        Ok(StudentInterval { low, high, level, degrees_of_freedom })
    } else {
        Err(StatsError::Overflow { what: "where the band about the line reaches the level" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimise::least_squares::line;

    #[test]
    fn the_ends_are_where_the_band_meets_the_level() {
        let fit = line(&[0.0, 1.0, 2.0, 3.0, 4.0], &[5.1, 3.8, 3.2, 1.9, 1.05]).unwrap();
        let t = two_sided_quantile(0.9, 3).unwrap();
        for y0 in [4.0, 2.5, -3.0] {
            let x = at(&fit, y0).unwrap();
            assert!((fit.at(x) - y0).abs() < 1e-12);
            for (band, weight) in [(Band::Line, f64::INFINITY), (Band::Observation, 1.0)] {
                let found = interval(&fit, y0, band, 0.9).unwrap();
                assert!(found.low < x && x < found.high);
                for end in [found.low, found.high] {
                    let error = fit.prediction_standard_error(end, weight).unwrap();
                    assert!(
                        ((fit.at(end) - y0).abs() / (t * error) - 1.0).abs() < 1e-9,
                        "{band:?} {y0}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_slope_that_may_be_zero_has_no_end() {
        let fit = line(&[0.0, 1.0, 2.0, 3.0], &[1.0, 0.2, 1.1, 0.5]).unwrap();
        let refusal = interval(&fit, 0.0, Band::Line, 0.95).unwrap_err();
        assert_eq!(refusal, StatsError::EndlessCrossing { level: 0.95 });
        assert!(refusal.to_string().contains("holds zero"));
        let flat = line(&[0.0, 1.0, 2.0], &[1.0; 3]).unwrap();
        assert_eq!(at(&flat, 0.5), Err(StatsError::NoSlope));
    }

    #[test]
    fn two_points_cross_without_an_interval() {
        let fit = line(&[0.0, 2.0], &[1.0, 0.0]).unwrap();
        assert_eq!(at(&fit, 0.5), Ok(1.0));
        assert_eq!(interval(&fit, 0.5, Band::Line, 0.95), Err(StatsError::NoDegreesOfFreedom));
    }

    #[test]
    fn a_crossing_beyond_all_numbers_is_refused() {
        let fit = line(&[0.0, 1.0, 2.0], &[0.0, 1e-300, 2e-300]).unwrap();
        assert!(matches!(at(&fit, 1e300), Err(StatsError::Overflow { .. })));
    }
}
