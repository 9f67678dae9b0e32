//! How well a fit agrees with errors that are known beforehand.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Probability that chi-squared with `degrees_of_freedom` is `value` or larger.
///
/// The upper tail on its own, not one minus something, so that small probabilities keep their digits.
/// With no degrees of freedom every value is 0, so the answer is 1.
pub fn chi_squared_tail(value: f64, degrees_of_freedom: usize) -> f64 {
    match ChiSquared::new(degrees_of_freedom as f64) {
        Ok(distribution) => distribution.sf(value),
        Err(_) => 1.0,
    }
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
}
