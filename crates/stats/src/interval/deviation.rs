//! The interval of a standard deviation of normal values, by chi-squared.

use statrs::distribution::{ChiSquared, ContinuousCDF as _};

use crate::check;
use crate::error::StatsError;

/// Both ends of a standard deviation that was found as `deviation` with so many degrees of freedom:
/// `s sqrt(f / chi²)` at the two tails.
///
/// # Errors
/// A level that is no probability; no degrees of freedom; a deviation that is negative or no
/// number.
///
/// ```
/// // NIST/SEMATECH e-Handbook 7.2.3.1: s = 0.006278947 of 100 gears, 95 %.
/// let (low, high) = relscale_stats::interval::deviation::interval(0.006278947, 99, 0.95).unwrap();
/// assert!((low - 0.005513).abs() < 1e-6 && (high - 0.007294).abs() < 1e-6);
/// ```
pub fn interval(deviation: f64, freedom: usize, level: f64) -> Result<(f64, f64), StatsError> {
    check::level(level)?;
    if freedom == 0 {
        return Err(StatsError::NoDegreesOfFreedom);
    }
    if !(deviation >= 0.0 && deviation.is_finite()) {
        return Err(StatsError::Parameter {
            name: "standard deviation",
            value: deviation,
            domain: "at least 0",
        });
    }
    let freedom = freedom as f64;
    let Ok(chi) = ChiSquared::new(freedom) else { return Err(StatsError::NoDegreesOfFreedom) };
    let end = |tail: f64| deviation * (freedom / chi.inverse_cdf(tail)).sqrt();
    Ok((end(0.5 + 0.5 * level), end(0.5 - 0.5 * level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_interval_is_refused() {
        assert!(interval(1.0, 0, 0.95).is_err());
        assert!(interval(-1.0, 3, 0.95).is_err());
        assert!(interval(f64::NAN, 3, 0.95).is_err());
        assert!(interval(1.0, 3, 1.0).is_err());
        assert_eq!(interval(0.0, 3, 0.95).unwrap(), (0.0, 0.0));
    }
}
