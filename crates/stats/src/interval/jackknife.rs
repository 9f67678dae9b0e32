//! The jackknife over whole units (models with all their checkpoints), with a t quantile.
//!
//! ```text
//! s² = (n - 1)/n Σ (statistic without unit i - their mean)²,   estimate ± t(n - 1) s
//! ```
//!
//! A unit's observations may go together as they please; units are independent (Quenouille 1956;
//! Tukey 1958). Of a mean over units it is Student's t interval to the digit.

use super::student::{StudentInterval, two_sided_quantile};
use crate::error::StatsError;

/// Interval of an estimate from its values without each of the units in turn.
///
/// ```
/// use relscale_stats::interval::jackknife;
/// // The mean of 1, 2 and 6 is 3; without one of them 4, 3.5 and 1.5. Its standard error is sqrt(7/3).
/// let (interval, error) = jackknife::interval(3.0, &[4.0, 3.5, 1.5], 0.95).unwrap();
/// assert!((error - (7.0_f64 / 3.0).sqrt()).abs() < 1e-14 && interval.degrees_of_freedom == 2);
/// ```
///
/// # Errors
/// Fewer than three units; a value that is not finite; a level that is no probability.
pub fn interval(
    estimate: f64,
    left_out: &[f64],
    level: f64,
) -> Result<(StudentInterval, f64), StatsError> {
    if left_out.len() < 3 {
        return Err(StatsError::TooFewUnits { units: left_out.len() });
    }
    if let Some(index) = left_out.iter().position(|value| !value.is_finite()) {
        return Err(StatsError::NonFinite { what: "left out", index, value: left_out[index] });
    }
    let count = left_out.len() as f64;
    let mean = left_out.iter().sum::<f64>() / count;
    let spread: f64 = left_out.iter().map(|value| (value - mean).powi(2)).sum();
    let error = ((count - 1.0) / count * spread).sqrt();
    let degrees_of_freedom = left_out.len() - 1;
    let half = two_sided_quantile(level, degrees_of_freedom)? * error;
    Ok((
        StudentInterval { low: estimate - half, high: estimate + half, level, degrees_of_freedom },
        error,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_units_are_too_few() {
        assert!(interval(1.0, &[1.0, 2.0], 0.95).is_err());
        assert!(interval(1.0, &[1.0, 2.0, f64::NAN], 0.95).is_err());
        assert!(interval(1.0, &[1.0, 2.0, 3.0], 95.0).is_err());
        let (flat, error) = interval(1.0, &[1.0; 4], 0.95).unwrap();
        assert_eq!((flat.low, flat.high, error), (1.0, 1.0, 0.0));
    }
}
