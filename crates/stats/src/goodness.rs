//! How well a fit agrees with errors that are known beforehand.
//!
//! Upper tails on their own, not one minus something, so that small probabilities keep their
//! digits.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

/// Probability that chi-squared with `degrees_of_freedom` is `value` or larger: the errors are
/// known exactly.
///
/// With no degrees of freedom every value is 0, so the answer is 1.
pub fn chi_squared_tail(value: f64, degrees_of_freedom: usize) -> f64 {
    ChiSquared::new(degrees_of_freedom as f64).map_or(1.0, |distribution| distribution.sf(value))
}

/// As [`chi_squared_tail`], when the covariance of the errors was itself estimated from `units`
/// sampling units: Hotelling's T², `F = T² (u - d) / (d (u - 1))` with `d` and `u - d` degrees of
/// freedom (Hotelling 1931).
///
/// `None` when the units are no more than the degrees of freedom: their covariance has no inverse
/// worth the name.
pub fn hotelling_tail(value: f64, degrees_of_freedom: usize, units: usize) -> Option<f64> {
    let (d, u) = (degrees_of_freedom as f64, units as f64);
    let distribution = FisherSnedecor::new(d, u - d).ok()?;
    Some(distribution.sf(value * (u - d) / (d * (u - 1.0))))
}

/// Probability that F with these degrees of freedom is `value` or larger; `None` when either number
/// of them is 0.
pub fn f_tail(value: f64, above: usize, below: usize) -> Option<f64> {
    let distribution = FisherSnedecor::new(above as f64, below as f64).ok()?;
    Some(if value.is_infinite() { 0.0 } else { distribution.sf(value.max(0.0)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_closed_forms() {
        // Two degrees of freedom: exp(-x/2).
        for x in [0.0, 0.5, 5.0, 100.0] {
            let tail = chi_squared_tail(x, 2);
            assert!((tail / (-x / 2.0f64).exp() - 1.0).abs() < 1e-10, "{x}: {tail}");
        }
        assert_eq!(chi_squared_tail(3.0, 0), 1.0);
    }

    #[test]
    fn f_of_two_above_is_a_power() {
        // With 2 and m degrees of freedom: (1 + 2 F / m)^(-m/2).
        for (value, below) in [(0.0, 3), (4.0, 2), (9.5, 7)] {
            let expected = (1.0 + 2.0 * value / below as f64).powf(-(below as f64) / 2.0);
            assert!((f_tail(value, 2, below).unwrap() - expected).abs() < 1e-9, "{value}");
        }
        assert_eq!((f_tail(f64::INFINITY, 1, 3), f_tail(1.0, 1, 0)), (Some(0.0), None));
    }

    #[test]
    fn many_units_know_the_errors_and_few_do_not() {
        let exact = chi_squared_tail(12.0, 5);
        assert!((hotelling_tail(12.0, 5, 1_000_000).unwrap() / exact - 1.0).abs() < 1e-3);
        assert!(hotelling_tail(12.0, 5, 20).unwrap() > 2.0 * exact);
        assert_eq!(hotelling_tail(12.0, 5, 5), None);
        assert_eq!(hotelling_tail(12.0, 0, 5), None);
        // T² of one dimension is Student's t squared: P(|t| >= 2.776445) with 4 degrees of freedom
        // is 0.05.
        let tail = hotelling_tail(2.776445105_f64.powi(2), 1, 5).unwrap();
        assert!((tail - 0.05).abs() < 1e-9, "{tail}");
    }
}
