//! Errors made of several parts, each with degrees of freedom of its own (Welch 1947, Satterthwaite
//! 1946).
//!
//! ```text
//! df = (Σ v)² / Σ v²/df
//! ```

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::check;
use crate::error::StatsError;

/// The number t for which a Student t variable of `degrees_of_freedom`, a whole number or not, lies
/// in `[-t, t]` with probability `level`.
///
/// # Errors
/// Degrees of freedom that are not above 0; a level that is no probability.
pub fn two_sided_quantile(level: f64, degrees_of_freedom: f64) -> Result<f64, StatsError> {
    check::level(level)?;
    // Above this it is normal to all digits, and the library's inverse is slow.
    let freedom = degrees_of_freedom.min(1e6);
    let distribution =
        StudentsT::new(0.0, 1.0, freedom).map_err(|_| StatsError::NoDegreesOfFreedom)?;
    Ok(distribution.inverse_cdf(0.5 + level / 2.0))
}

/// Degrees of freedom of the sum of independent variances, each given with its own; `None` where
/// there is no variance at all.
pub fn degrees_of_freedom(parts: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut sum, mut shares) = (0.0, 0.0);
    for (variance, freedom) in parts {
        sum += variance;
        shares += variance * variance / freedom;
    }
    let found = sum * sum / shares;
    (found.is_finite() && found > 0.0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_parts_add_up_and_a_large_one_rules() {
        assert!((degrees_of_freedom([(2.0, 5.0); 4]).unwrap() - 20.0).abs() < 1e-12);
        let ruled = degrees_of_freedom([(1.0, 3.0), (1e-6, 50.0)]).unwrap();
        assert!((ruled - 3.0).abs() < 1e-4, "{ruled}");
        assert_eq!(degrees_of_freedom([(0.0, 3.0)]), None);
    }

    /// Tables of Student's t; between whole numbers the quantile lies between theirs.
    #[test]
    fn quantiles_are_students() {
        for (freedom, want) in [(1.0, 12.706), (5.0, 2.571), (30.0, 2.042), (1e9, 1.960)] {
            let found = two_sided_quantile(0.95, freedom).unwrap();
            assert!((found - want).abs() < 6e-4, "{freedom}: {found}");
        }
        let between = two_sided_quantile(0.95, 4.5).unwrap();
        assert!((2.571..2.776).contains(&between), "{between}");
        assert!(two_sided_quantile(0.95, 0.0).is_err() && two_sided_quantile(1.5, 3.0).is_err());
    }
}
