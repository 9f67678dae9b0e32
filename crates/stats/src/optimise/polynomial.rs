//! Polynomials of low degree by least squares or by Huber's loss, and their minimum.
//!
//! x is shifted and scaled to [-1, 1] first. With Huber's loss, `r²/2` up to a threshold and linear beyond, the fit is found by reweighting
//! (Holland and Welsch 1977), each round a least-squares fit.

use super::{Symmetric, solve};
use crate::error::StatsError;
use crate::interval::student;

/// A fitted polynomial.
#[derive(Debug, Clone, PartialEq)]
pub struct Polynomial {
    /// Of `u = (x - centre) / half`, from the constant on.
    pub coefficients: Vec<f64>,
    centre: f64,
    half: f64,
    /// `y - fitted`, in the order of the points.
    pub residuals: Vec<f64>,
    /// Each point's own weight in its fitted value; they sum to the number of coefficients (least squares).
    pub leverage: Vec<f64>,
    /// Inverse of the normal equations in u, row-major.
    inverse: Vec<f64>,
}

/// Rounds of reweighting at most.
const ROUNDS: usize = 200;

/// Steps between a minimum and the end of the points in which the end of its interval is looked for.
const STEPS: u32 = 400;

/// Fits a polynomial of `degree` to points of at least `degree + 1` different x.
///
/// ```
/// use relscale_stats::optimise::polynomial;
/// let fit = polynomial::fit(&[0.0, 1.0, 2.0, 3.0], &[4.0, 1.0, 0.0, 1.0], 2, None).unwrap(); // (x - 2)²
/// assert!((fit.minimum(0.0, 3.0).unwrap() - 2.0).abs() < 1e-12);
/// ```
///
/// # Errors
/// Slices of different length; too few different x; an entry that is not finite; a threshold of Huber's loss that is not above 0.
pub fn fit(x: &[f64], y: &[f64], degree: usize, huber: Option<f64>) -> Result<Polynomial, StatsError> {
    if x.len() != y.len() {
        return Err(StatsError::Lengths {
            left: "x",
            left_length: x.len(),
            right: "y",
            right_length: y.len(),
        });
    }
    for (what, values) in [("x", x), ("y", y)] {
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(StatsError::NonFinite { what, index, value: values[index] });
        }
    }
    let mut different = x.to_vec();
    different.sort_unstable_by(f64::total_cmp);
    different.dedup();
    if different.len() <= degree {
        return Err(StatsError::TooFewPoints { given: different.len(), needed: degree + 1 });
    }
    let (low, high) = (different[0], different[different.len() - 1]);
    let (centre, half) = ((low + high) / 2.0, (high - low) / 2.0);
    let powers = |value: &f64| -> Vec<f64> {
        let u = (value - centre) / half;
        (0..=degree).map(|power| u.powi(power as i32)).collect()
    };
    let rows: Vec<Vec<f64>> = x.iter().map(powers).collect();
    let mut weights = vec![1.0; x.len()];
    let (mut coefficients, mut inverse) = weighted(&rows, y, &weights).ok_or(StatsError::Undetermined)?;
    let value =
        |coefficients: &[f64], row: &[f64]| row.iter().zip(coefficients).map(|(p, c)| p * c).sum::<f64>();
    if let Some(threshold) = huber {
        for _ in 0..ROUNDS {
            for ((weight, row), y) in weights.iter_mut().zip(&rows).zip(y) {
                let residual = (y - value(&coefficients, row)).abs();
                *weight = if residual <= threshold { 1.0 } else { threshold / residual };
            }
            let Some((next, next_inverse)) = weighted(&rows, y, &weights) else { break };
            let moved = next.iter().zip(&coefficients).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            (coefficients, inverse) = (next, next_inverse);
            if moved <= 1e-14 * coefficients.iter().fold(0.0_f64, |a, b| a.max(b.abs())) {
                break;
            }
        }
    }
    let residuals = rows.iter().zip(y).map(|(row, y)| y - value(&coefficients, row)).collect();
    let size = degree + 1;
    let leverage = rows
        .iter()
        .zip(&weights)
        .map(|(row, weight)| {
            let of = |at: usize| (0..size).map(|to| inverse[at * size + to] * row[to]).sum::<f64>();
            (weight * (0..size).map(|at| row[at] * of(at)).sum::<f64>()).clamp(0.0, 1.0)
        })
        .collect();
    Ok(Polynomial { coefficients, centre, half, residuals, leverage, inverse })
}

/// Coefficients of weighted least squares and the inverse of the normal equations; `None` where the rows do not determine them.
pub(super) fn weighted(rows: &[Vec<f64>], y: &[f64], weights: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let size = rows[0].len();
    let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
    let columns: Vec<Vec<f64>> =
        (0..size).map(|at| rows.iter().zip(&roots).map(|(row, root)| row[at] * root).collect()).collect();
    let normal = Symmetric::of(&columns);
    let right: Vec<f64> = columns
        .iter()
        .zip(&normal.lengths)
        .map(|(column, length)| {
            column.iter().zip(y).zip(&roots).map(|((c, y), root)| c * y * root).sum::<f64>() / length
        })
        .collect();
    let scaled = solve(&normal.values, &right, 0.0)?;
    let coefficients = scaled.iter().zip(&normal.lengths).map(|(value, length)| value / length).collect();
    Some((coefficients, normal.inverse()?))
}

impl Polynomial {
    /// Its value.
    pub fn at(&self, x: f64) -> f64 {
        let u = self.scaled(x);
        self.coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * u + coefficient)
    }

    /// Points less coefficients.
    pub fn degrees_of_freedom(&self) -> usize {
        self.residuals.len() - self.coefficients.len()
    }

    /// The x between `low` and `high` at which it is least while it is higher on both sides; `None` where there is no such place (it falls or
    /// rises throughout, or its lowest place is an end). Of a cubic there is one at most.
    pub fn minimum(&self, low: f64, high: f64) -> Option<f64> {
        let c = |power: usize| self.coefficients.get(power).copied().unwrap_or(0.0);
        // c1 + 2 c2 u + 3 c3 u² = 0, the root at which it turns upwards.
        let (constant, linear, quadratic) = (c(1), 2.0 * c(2), 3.0 * c(3));
        let scale = constant.abs().max(linear.abs());
        let u = if quadratic.abs() <= 1e-14 * scale {
            (linear > 0.0).then(|| -constant / linear)?
        } else {
            let discriminant = linear * linear - 4.0 * quadratic * constant;
            if discriminant <= 0.0 {
                return None;
            }
            // The root (-linear + sqrt(discriminant)) / (2 quadratic), where the second derivative is that square root; written so that
            // nothing cancels.
            let root = discriminant.sqrt();
            if linear > 0.0 { -2.0 * constant / (linear + root) } else { (root - linear) / (2.0 * quadratic) }
        };
        let x = self.centre + self.half * u;
        (low < x && x < high).then_some(x)
    }

    /// Where the minimum `at` may be, at a coverage, between `low` and `high`: the stretch about it in which the slope is not told from zero,
    /// `|f'(x)| <= t se(f'(x))`, t Student's with the degrees of freedom (Fieller's argument, exact for normal scatter). An end is `None` where that
    /// stretch reaches `low` or `high`, so that the points leave it open.
    ///
    /// # Errors
    /// No degrees of freedom; a coverage that is no probability.
    pub fn minimum_interval(
        &self,
        at: f64,
        low: f64,
        high: f64,
        level: f64,
    ) -> Result<(Option<f64>, Option<f64>), StatsError> {
        let t = student::two_sided_quantile(level, self.degrees_of_freedom())?;
        let told = |x: f64| {
            let direction = self.derivative_direction(self.scaled(x), 1);
            let (value, variance) = self.combination(&direction);
            value.abs() > t * variance.unwrap_or(0.0).sqrt()
        };
        let end = |outwards: f64| {
            // The first of many small steps at which the slope is told, then halved.
            let step = (outwards - at) / f64::from(STEPS);
            let place = |number: u32| at + step * f64::from(number);
            let first = (1..=STEPS).find(|number| told(place(*number)))?;
            let (mut inside, mut outside) = (place(first - 1), place(first));
            for _ in 0..50 {
                let middle = 0.5 * (inside + outside);
                if told(middle) {
                    outside = middle;
                } else {
                    inside = middle;
                }
            }
            Some(outside)
        };
        Ok((end(low), end(high)))
    }

    /// The second derivative at a place, and its standard error from the scatter (`None` without degrees of freedom).
    pub fn curvature(&self, x: f64) -> (f64, Option<f64>) {
        let (value, variance) = self.combination(&self.derivative_direction(self.scaled(x), 2));
        (value, variance.map(f64::sqrt))
    }

    /// Factors of the coefficients in the derivative of an order by x, at u.
    fn derivative_direction(&self, u: f64, order: usize) -> Vec<f64> {
        let falling = |power: usize| (power + 1 - order..=power).product::<usize>() as f64;
        (0..self.coefficients.len())
            .map(|power| match power.checked_sub(order) {
                None => 0.0,
                Some(left) => falling(power) * u.powi(left as i32) / self.half.powi(order as i32),
            })
            .collect()
    }

    /// A combination of the coefficients, and its variance from the scatter (`None` without degrees of freedom).
    fn combination(&self, direction: &[f64]) -> (f64, Option<f64>) {
        let value = direction.iter().zip(&self.coefficients).map(|(d, c)| d * c).sum();
        let (size, freedom) = (self.coefficients.len(), self.degrees_of_freedom());
        let variance = (freedom > 0).then(|| {
            let scatter = self.residuals.iter().map(|r| r * r).sum::<f64>() / freedom as f64;
            let mut factor = 0.0;
            for (at, left) in direction.iter().enumerate() {
                for (to, right) in direction.iter().enumerate() {
                    factor += left * self.inverse[at * size + to] * right;
                }
            }
            scatter * factor.max(0.0)
        });
        (value, variance)
    }

    fn scaled(&self, x: f64) -> f64 {
        (x - self.centre) / self.half
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cubic_turns_where_it_should() {
        // 2 (x - 1)² (1 + 0.1 (x - 1)) + 3: least at 1, and turning down again far to the left.
        let x = [-0.5, 0.2, 0.9, 1.7, 2.4, 3.0];
        let y = x.map(|x: f64| 2.0 * (x - 1.0).powi(2) * (1.0 + 0.1 * (x - 1.0)) + 3.0);
        let fit = fit(&x, &y, 3, None).unwrap();
        assert!((fit.minimum(-0.5, 3.0).unwrap() - 1.0).abs() < 1e-12);
        assert!((fit.curvature(1.0).0 - 4.0).abs() < 1e-10 && (fit.at(1.0) - 3.0).abs() < 1e-12);
        assert_eq!(fit.minimum(1.2, 3.0), None);
    }

    #[test]
    fn a_curve_without_a_valley_has_no_minimum() {
        let x = [0.0, 1.0, 2.0, 3.0, 4.0];
        for degree in [2, 3] {
            assert_eq!(fit(&x, &x.map(|x| -x * x), degree, None).unwrap().minimum(0.0, 4.0), None);
            assert_eq!(
                fit(&x, &x.map(|x: f64| (-0.1 * x).exp()), degree, None).unwrap().minimum(0.0, 4.0),
                None
            );
        }
    }

    #[test]
    fn an_outlier_moves_huber_less() {
        let x: Vec<f64> = (0..9).map(f64::from).collect();
        let mut y: Vec<f64> = x.iter().map(|x| (x - 4.0).powi(2)).collect();
        y[7] += 30.0;
        let least = |huber| fit(&x, &y, 2, huber).unwrap().minimum(0.0, 8.0).unwrap();
        assert!((least(Some(0.1)) - 4.0).abs() < 0.01 && (least(None) - 4.0).abs() > 0.3);
    }

    /// A parabola's minimum is a ratio of normals, `-b / 2c`, for which Fieller's interval is known in closed form.
    #[test]
    fn the_interval_of_a_minimum_is_fiellers() {
        let x = [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
        let y = [9.4, 3.9, 1.2, -0.3, 1.1, 4.2, 8.8];
        let fit = fit(&x, &y, 2, None).unwrap();
        let at = fit.minimum(-3.0, 3.0).unwrap();
        let (low, high) = fit.minimum_interval(at, -3.0, 3.0, 0.95).unwrap();
        // y = a + b x + c x² on symmetric x: b and c are independent, b = Sxy / 28, c = Σ (x² - 4) y / 84, var s²/28 and s²/84.
        let b = x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() / 28.0;
        let c = x.iter().zip(&y).map(|(x, y)| (x * x - 4.0) * y).sum::<f64>() / 84.0;
        let s2 = fit.residuals.iter().map(|r| r * r).sum::<f64>() / 4.0;
        let t2 = student::two_sided_quantile(0.95, 4).unwrap().powi(2);
        // (b + 2 c x)² = t² (s²/28 + 4 x² s²/84)
        let (p, q, r) = (4.0 * c * c - t2 * s2 * 4.0 / 84.0, 4.0 * b * c, b * b - t2 * s2 / 28.0);
        let root = (q * q - 4.0 * p * r).sqrt();
        for (ours, theirs) in [(low, (-q - root) / (2.0 * p)), (high, (-q + root) / (2.0 * p))] {
            assert!((ours.unwrap() - theirs).abs() < 1e-9, "{ours:?} {theirs}");
        }
    }

    #[test]
    fn a_minimum_that_scatter_hides_has_an_open_interval() {
        let x = [0.0, 1.0, 2.0, 3.0, 4.0];
        let flat = fit(&x, &[1.02, 0.97, 1.01, 0.98, 1.03], 2, None).unwrap();
        let at = flat.minimum(0.0, 4.0).unwrap();
        assert_eq!(flat.minimum_interval(at, 0.0, 4.0, 0.95).unwrap(), (None, None));
        let none = fit(&x[..3], &[1.0, 0.5, 1.0], 2, None).unwrap();
        assert!(none.minimum_interval(1.0, 0.0, 2.0, 0.95).is_err());
    }

    #[test]
    fn what_defines_no_polynomial_is_refused() {
        assert!(matches!(fit(&[1.0, 1.0, 2.0], &[1.0; 3], 2, None), Err(StatsError::TooFewPoints { .. })));
        assert!(fit(&[1.0, 2.0], &[1.0], 1, None).is_err());
        assert!(fit(&[1.0, 2.0, 3.0, f64::NAN], &[1.0; 4], 2, None).is_err());
    }

    proptest! {
        #[test]
        fn leverages_add_up_and_residuals_are_orthogonal(y in prop::collection::vec(-5.0..5.0_f64, 7)) {
            let x = [1.0, 2.0, 2.5, 4.0, 5.5, 6.0, 9.0];
            let fit = fit(&x, &y, 3, None).unwrap();
            prop_assert!((fit.leverage.iter().sum::<f64>() - 4.0).abs() < 1e-9);
            for power in 0..4 {
                let product: f64 = x.iter().zip(&fit.residuals).map(|(x, r)| (x / 9.0_f64).powi(power) * r).sum();
                prop_assert!(product.abs() < 1e-9);
            }
        }
    }
}
