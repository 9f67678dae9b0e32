//! Many claims at once: is a slope other than zero, is it as good as zero, and which of many such
//! claims may be made.
//!
//! That a test does not reject is no finding. So there are two tests of a slope `b` with standard
//! error `s` and `f` degrees of freedom, both by Student t:
//!
//! ```text
//! difference    p = P(|t_f| >= |b|/s)                                   small: b is not 0
//! equivalence   p = max(P(t_f >= (b + m)/s), P(t_f <= (b - m)/s))       small: |b| is below the margin m
//! ```
//!
//! The second is Schuirmann's two one-sided tests (1987); the margin is a statement of what would
//! not matter, made before looking. Equivalence at 5 % is the same as the 90 % interval of b lying
//! inside `(-m, m)`.
//!
//! [`adjusted`] controls the share of false claims among all that are made (Benjamini and Hochberg
//! 1995). That is proven for independent and positively dependent claims (Benjamini and Yekutieli
//! 2001); two-sided claims that share one baseline are beyond the proof, and are simulated instead.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::error::StatsError;
use crate::optimise::least_squares::Line;

/// The two tests of a slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlopeTests {
    /// Chance of a slope at least this far from zero, were the true one zero.
    pub difference: f64,
    /// Chance of a slope at least this far inside the margin, were the true one at its edge.
    pub equivalence: f64,
}

/// Tests the slope of a line against zero, and its equivalence to zero within `margin`.
///
/// A line without residuals decides by itself: the chances are 0 or 1.
///
/// ```
/// use relscale_stats::{multiple, optimise::least_squares::line};
/// // Slope 0.2 with standard error sqrt(0.08): t² = 1/2, and with two degrees of freedom P(|T| >= t) = 1 - t/sqrt(2 + t²).
/// let fit = line(&[0.0, 1.0, 2.0, 3.0], &[0.0, 1.0, 0.0, 1.0]).unwrap();
/// let tests = multiple::slope(&fit, 1.0).unwrap();
/// assert!((tests.difference - (1.0 - 1.0 / 5.0_f64.sqrt())).abs() < 1e-12);
/// ```
///
/// # Errors
/// Two points; a margin that is not above zero.
pub fn slope(line: &Line, margin: f64) -> Result<SlopeTests, StatsError> {
    let error = line.slope_standard_error().ok_or(StatsError::NoDegreesOfFreedom)?;
    tests(line.slope, error, line.degrees_of_freedom() as f64, margin)
}

/// [`slope`] for a slope whose standard error and degrees of freedom are known otherwise, as by
/// [`mixed`](crate::interval::mixed).
///
/// # Errors
/// A margin, or degrees of freedom, that are not above zero.
pub fn tests(slope: f64, error: f64, freedom: f64, margin: f64) -> Result<SlopeTests, StatsError> {
    if !(margin > 0.0 && margin.is_finite()) {
        return Err(StatsError::Parameter { name: "margin", value: margin, domain: "above 0" });
    }
    if error == 0.0 {
        let certain = |claim: bool| if claim { 0.0 } else { 1.0 };
        return Ok(SlopeTests {
            difference: certain(slope != 0.0),
            equivalence: certain(slope.abs() < margin),
        });
    }
    let t = StudentsT::new(0.0, 1.0, freedom).map_err(|_| StatsError::NoDegreesOfFreedom)?;
    let upper = |t_value: f64| t.sf(t_value);
    Ok(SlopeTests {
        difference: (2.0 * upper(slope.abs() / error)).min(1.0),
        // The nearer edge is the harder one to exclude.
        equivalence: upper((margin - slope.abs()) / error),
    })
}

/// The p-values adjusted for their number, in their order: claiming all that are at most q makes,
/// in the mean, at most the share q of the claims false.
///
/// `q_(i) = min over j >= i of p_(j) n / j`, p ascending.
///
/// ```
/// use relscale_stats::multiple::adjusted;
/// let q = adjusted(&[0.01, 0.04, 0.03]).unwrap();
/// for (q, by_hand) in q.iter().zip([0.03, 0.04, 0.04]) {
///     assert!((q - by_hand).abs() < 1e-15);
/// }
/// ```
///
/// # Errors
/// A number that is no probability.
pub fn adjusted(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    if let Some(&value) = p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(StatsError::Parameter { name: "p", value, domain: "from 0 to 1" });
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least = 1.0_f64;
    for (place, &at) in order.iter().enumerate().rev() {
        least = least.min(p_values[at] * p_values.len() as f64 / (place + 1) as f64);
        adjusted[at] = least;
    }
    Ok(adjusted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::student;
    use crate::optimise::least_squares::line;

    /// By R 4: `p.adjust(p, "BH")`, and by hand.
    #[test]
    fn false_discovery_as_published() {
        // The fifteen p-values of Benjamini and Hochberg 1995, section 3.2: four claims at 5 %.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let q = adjusted(&p).unwrap();
        assert_eq!(q.iter().filter(|q| **q <= 0.05).count(), 4);
        assert!((q[3] - 0.0095 * 15.0 / 4.0).abs() < 1e-15 && (q[0] - 0.0015).abs() < 1e-15);
        // 0.0201 · 15/5 = 0.0603, which 0.0298 · 15/7 = 0.0639 does not undercut.
        assert!((q[4] - 0.0603).abs() < 1e-12);
        assert!(q.is_sorted() && q[14] == 1.0);
        // The order of the claims does not matter.
        let mut turned = p;
        turned.reverse();
        let mut again = adjusted(&turned).unwrap();
        again.reverse();
        assert_eq!(again, q);
        assert_eq!(adjusted(&[]).unwrap(), Vec::<f64>::new());
        assert!(adjusted(&[0.5, f64::NAN]).is_err() && adjusted(&[1.5]).is_err());
    }

    #[test]
    fn the_tests_are_those_of_the_intervals() {
        let x: Vec<f64> = (0..7).map(f64::from).collect();
        let y = [0.02, -0.01, 0.05, 0.01, 0.06, 0.03, 0.04];
        let fit = line(&x, &y).unwrap();
        let tests = slope(&fit, 0.02).unwrap();
        // p is the level at which the interval's end touches zero, or the margin.
        let at_zero = student::slope(&fit, 1.0 - tests.difference).unwrap();
        assert!(at_zero.low.abs() < 1e-9, "{at_zero:?}");
        let at_margin = student::slope(&fit, 1.0 - 2.0 * tests.equivalence).unwrap();
        assert!((at_margin.high - 0.02).abs() < 1e-9, "{at_margin:?}");
        // A falling line has the same chances.
        let falling: Vec<f64> = y.iter().map(|y| -y).collect();
        let mirrored = slope(&line(&x, &falling).unwrap(), 0.02).unwrap();
        assert!((mirrored.difference - tests.difference).abs() < 1e-12);
        assert!((mirrored.equivalence - tests.equivalence).abs() < 1e-12);
        // Outside the margin nothing speaks for equivalence.
        assert!(slope(&fit, 0.5 * fit.slope).unwrap().equivalence > 0.5);
    }

    #[test]
    fn a_line_without_scatter_decides_and_two_points_do_not() {
        let flat = line(&[0.0, 1.0, 2.0], &[1.0; 3]).unwrap();
        assert_eq!(slope(&flat, 0.1), Ok(SlopeTests { difference: 1.0, equivalence: 0.0 }));
        let two = line(&[0.0, 1.0], &[1.0, 2.0]).unwrap();
        assert_eq!(slope(&two, 0.1), Err(StatsError::NoDegreesOfFreedom));
        for margin in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                slope(&flat, margin),
                Err(StatsError::Parameter { name: "margin", .. })
            ));
        }
    }
}
