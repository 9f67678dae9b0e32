//! Is it a straight line? A test against a parabola and a cubic, with a level that does not rest on
//! one model of the noise.
//!
//! ```text
//! F_d = ((R_1 - R_d) / (d - 1)) / (R_d / (n - d - 1)),   d = 2, 3;     p_d = P(F >= F_d),  the largest over the weights given
//! p = min(1, 2 min(p_2, p_3))
//! ```
//!
//! R are weighted sums of squared residuals. A parabola sees one bend, a cubic two of opposite
//! sense (a sigmoid), which a parabola all but misses; twice the smaller p (Bonferroni) holds the
//! level for both together. Where it is not known whether all points scatter alike or each by its
//! own known factor, both sets of weights are given, and a bend counts when both see it.

use crate::error::StatsError;
use crate::goodness;
use crate::optimise::linear::Design;
use crate::optimise::polynomial::{self, ROUNDING, powers};

/// Degrees of the curves a line is held against.
const DEGREES: [usize; 2] = [2, 3];

/// A sum of squares, as a share of the total, that is rounding.
const EXACT: f64 = 1e-22;

/// What the test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Straightness {
    /// Probability of points that bend as much, where a straight line is true.
    pub p: f64,
    /// The same against a parabola alone.
    pub parabola: f64,
    /// The same against a cubic alone; `None` below five different x.
    pub cubic: Option<f64>,
}

/// Tests points for a bend; `weights` are one or more sets, `1 / variance` up to a factor.
///
/// ```
/// use relscale_stats::judge::straight;
/// let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
/// let even = [1.0; 6];
/// let bent = straight::test(&x, &x.map(|x| 0.1 * x * x + 0.01 * (3.1 * x).cos()), &[&even]).unwrap();
/// let straight = straight::test(&x, &x.map(|x| 3.0 * x + 0.01 * (3.1 * x).cos()), &[&even]).unwrap();
/// assert!(bent.p < 0.001 && straight.p > 0.05);
/// ```
///
/// # Errors
/// Slices of different length; an entry that is not finite; a weight that is not above zero; no
/// weights; fewer than four points of four different x.
pub fn test(x: &[f64], y: &[f64], weights: &[&[f64]]) -> Result<Straightness, StatsError> {
    // The polynomial's own checks of x and y, of which at least a parabola and one point more must
    // be there.
    polynomial::fit(x, y, DEGREES[0], None)?;
    let mut different = x.to_vec();
    different.sort_unstable_by(f64::total_cmp);
    different.dedup();
    let needed = DEGREES[0] + 2;
    if different.len() < needed || weights.is_empty() {
        return Err(StatsError::TooFewForForm {
            form: "parabola",
            parameters: needed - 1,
            given: different.len(),
            needed,
        });
    }
    for set in weights {
        if set.len() != x.len() {
            let (left_length, right_length) = (x.len(), set.len());
            return Err(StatsError::Lengths {
                left: "x",
                left_length,
                right: "weights",
                right_length,
            });
        }
        if let Some(index) = set.iter().position(|weight| !(*weight > 0.0 && weight.is_finite())) {
            return Err(StatsError::NotPositive { what: "weight", index, value: set[index] });
        }
    }
    let against = |degree: usize| -> Option<f64> {
        let each = weights.iter().map(|set| tail(x, y, set, degree));
        each.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    };
    let parabola = against(DEGREES[0]).ok_or(StatsError::Undetermined)?;
    let cubic = (different.len() > DEGREES[1] + 1).then(|| against(DEGREES[1])).flatten();
    let p = cubic.map_or(parabola, |cubic| (2.0 * parabola.min(cubic)).min(1.0));
    Ok(Straightness { p, parabola, cubic })
}

/// The F test of one degree with one set of weights.
fn tail(x: &[f64], y: &[f64], weights: &[f64], degree: usize) -> Option<f64> {
    let (low, high) =
        x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    let (centre, half) = (low + (high - low) / 2.0, (high - low) / 2.0);
    let sum_of_squares = |degree: usize| -> Option<f64> {
        let design = Design::new(y, powers(x, centre, half, degree)).weighted(weights);
        Some(design.fit(ROUNDING)?.residual_sum_of_squares)
    };
    let (line, curve) = (sum_of_squares(1)?, sum_of_squares(degree)?);
    let total: f64 = y.iter().zip(weights).map(|(y, weight)| weight * y * y).sum();
    if line <= EXACT * total {
        return Some(1.0); // Rounding has no shape.
    }
    let below = x.len().checked_sub(degree + 1)?;
    let (above, scatter) = (degree - 1, curve / below as f64);
    goodness::f_tail((line - curve).max(0.0) / above as f64 / scatter, above, below)
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: [f64; 7] = [0.0, 1.0, 2.5, 3.0, 4.2, 5.0, 6.0];

    #[test]
    fn f_against_a_parabola_is_the_square_of_its_t() {
        // statsmodels 0.15.0, `compare_f_test` of OLS on 1, x, x² (and x³) with OLS on 1, x; then
        // WLS with the weights below.
        let y = [2.1, 1.4, 0.9, 0.8, 0.55, 0.6, 0.35];
        let found = test(&X, &y, &[&[1.0; 7]]).unwrap();
        assert!((found.parabola - 0.014_102_190_819).abs() < 1e-6, "{found:?}");
        assert!((found.cubic.unwrap() - 0.009_528_693_424).abs() < 1e-6, "{found:?}");
        assert!((found.p - 2.0 * found.parabola.min(found.cubic.unwrap())).abs() < 1e-15);
        let weights = [1.0, 2.0, 1.0, 4.0, 1.0, 3.0, 1.0];
        let weighted = test(&X, &y, &[&weights]).unwrap();
        assert!((weighted.parabola - 0.018_968_938_074).abs() < 1e-6, "{weighted:?}");
        // Of two models of the noise the one that sees less decides.
        let both = test(&X, &y, &[&[1.0; 7], &weights]).unwrap();
        assert_eq!(both.parabola, found.parabola.max(weighted.parabola));
    }

    #[test]
    fn a_double_bend_is_seen_by_the_cubic() {
        let y = X.map(|x| -0.4 * x + 0.3 * ((x - 3.0) / 3.0).powi(3) + 0.01 * (3.1 * x).cos());
        let found = test(&X, &y, &[&[1.0; 7]]).unwrap();
        assert!(found.parabola > 0.5 && found.p < 0.01, "{found:?}");
    }

    #[test]
    fn an_exact_line_is_straight_and_too_few_points_are_told() {
        let found = test(&X, &X.map(|x| 3.0 - 0.25 * x), &[&[1.0; 7]]).unwrap();
        assert_eq!(found.p, 1.0);
        assert!(test(&X[..3], &[1.0, 2.0, 4.0], &[&[1.0; 3]]).is_err());
        assert!(test(&[1.0, 1.0, 2.0, 3.0], &[1.0, 2.0, 4.0, 5.0], &[&[1.0; 4]]).is_err());
        assert!(test(&X, &X, &[&[1.0; 6]]).is_err());
        assert!(test(&X, &X, &[&[0.0; 7]]).is_err());
        assert!(test(&X[..4], &[1.0, 0.4, 0.3, 0.1], &[&[1.0; 4]]).unwrap().cubic.is_none());
    }
}
