//! Polynomials of low degree by least squares or by Huber's loss, and their minimum.
//!
//! x is shifted and scaled to [-1, 1] first. With Huber's loss, `r²/2` up to a threshold and linear
//! beyond, the fit is found by reweighting (Holland and Welsch 1977), each round a least-squares
//! fit.
//!
//! Where several points share an x ([`Polynomial::with_repeats`]) their own scatter is a second
//! witness of the error beside that about the curve:
//!
//! ```text
//! Σ r² = Σ_x Σ (y - mean_x)²  +  Σ_x m_x (mean_x - fitted)²,   points - sizes and sizes - coefficients degrees of freedom
//! ```

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::linear::{Design, Linear};
use super::student;
use crate::check;
use crate::error::StatsError;

/// The scatter of single points about a polynomial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scatter {
    /// Variance of one point.
    pub variance: f64,
    /// Degrees of freedom that it was found with, at least 1.
    pub degrees_of_freedom: usize,
    /// Points share an x: how likely means would lie so far from the curve by the scatter of such
    /// points alone (F test); the smaller, the less it is the curve of these points.
    pub lack_of_fit: Option<f64>,
}

/// A fitted polynomial.
#[derive(Debug, Clone, PartialEq)]
pub struct Polynomial {
    /// Of `u = (x - centre) / half`, from the constant on.
    pub coefficients: Vec<f64>,
    centre: f64,
    half: f64,
    /// `y - fitted`, in the order of the points.
    pub residuals: Vec<f64>,
    /// Each point's own weight in its fitted value; they sum to the number of coefficients (least
    /// squares).
    pub leverage: Vec<f64>,
    /// The fit, whose coefficients and residuals stand above.
    fit: Linear,
    scatter: Option<Scatter>,
}

/// A lack of fit that is less likely than this by chance is believed: then the distance of the
/// means from the curve is the error, not the scatter of points of one x.
const LACK_OF_FIT: f64 = 0.05;

/// Share of a power of u that is its own, up to which it is rounding.
pub(crate) const ROUNDING: f64 = 6e-8;

/// Rounds of reweighting at most.
const ROUNDS: usize = 200;

/// Steps between a minimum and the end of the points in which the end of its interval is looked
/// for.
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
/// Slices of different length; too few different x; an entry that is not finite; a threshold of
/// Huber's loss that is not above 0.
pub fn fit(
    x: &[f64],
    y: &[f64],
    degree: usize,
    huber: Option<f64>,
) -> Result<Polynomial, StatsError> {
    check::columns(&[("x", x), ("y", y)])?;
    let mut different = x.to_vec();
    different.sort_unstable_by(f64::total_cmp);
    different.dedup();
    if different.len() <= degree {
        return Err(StatsError::TooFewPoints { given: different.len(), needed: degree + 1 });
    }
    let (low, high) = (different[0], different[different.len() - 1]);
    let (centre, half) = ((low + high) / 2.0, (high - low) / 2.0);
    let columns = powers(x, centre, half, degree);
    let weighted =
        |weights: &[f64]| Design::new(y, columns.clone()).weighted(weights).fit(ROUNDING);
    let mut weights = vec![1.0; x.len()];
    let mut fit = weighted(&weights).ok_or(StatsError::Undetermined)?;
    if let Some(threshold) = huber {
        for _ in 0..ROUNDS {
            for (weight, residual) in weights.iter_mut().zip(&fit.residuals) {
                *weight =
                    if residual.abs() <= threshold { 1.0 } else { threshold / residual.abs() };
            }
            let Some(next) = weighted(&weights) else { break };
            let pairs = next.coefficients.iter().zip(&fit.coefficients);
            let moved = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            fit = next;
            if moved <= 1e-14 * fit.coefficients.iter().fold(0.0_f64, |a, b| a.max(b.abs())) {
                break;
            }
        }
    }
    let mut found = Polynomial {
        coefficients: std::mem::take(&mut fit.coefficients),
        residuals: std::mem::take(&mut fit.residuals),
        leverage: fit.leverage.iter().map(|leverage| leverage.clamp(0.0, 1.0)).collect(),
        scatter: None,
        centre,
        half,
        fit,
    };
    found.scatter = scatter(found.squares(), found.degrees_of_freedom(), None);
    Ok(found)
}

/// `Σ (y - mean)²`; `None` when all are equal.
fn variation(y: &[f64]) -> Option<f64> {
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let total: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    (total > 0.0 && y.iter().any(|value| *value != y[0])).then_some(total)
}

/// Powers of `(x - centre) / half` from the constant on, a column each.
pub(crate) fn powers(x: &[f64], centre: f64, half: f64, degree: usize) -> Vec<Vec<f64>> {
    (0..=degree)
        .map(|power| x.iter().map(|x| ((x - centre) / half).powi(power as i32)).collect())
        .collect()
}

fn scatter(squares: f64, degrees_of_freedom: usize, lack_of_fit: Option<f64>) -> Option<Scatter> {
    let variance = squares / degrees_of_freedom as f64;
    (degrees_of_freedom > 0).then_some(Scatter { variance, degrees_of_freedom, lack_of_fit })
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

    fn squares(&self) -> f64 {
        self.residuals.iter().map(|residual| residual * residual).sum()
    }

    /// `1 - Σ residual² / Σ (y - mean)²` of the y that it was fitted to; `None` when all are equal.
    pub fn r_squared(&self, y: &[f64]) -> Option<f64> {
        Some((1.0 - self.squares() / variation(y)?).clamp(0.0, 1.0))
    }

    /// The same for each point predicted from all others; `None` when all are equal or a point
    /// alone decides the fit. It falls below 0 when the mean of the others would predict better.
    pub fn left_out_r_squared(&self, y: &[f64]) -> Option<f64> {
        let told = self.leverage.iter().all(|leverage| *leverage < 1.0 - 1e-9);
        let points = self.residuals.iter().zip(&self.leverage);
        let left_out: f64 =
            points.map(|(residual, leverage)| (residual / (1.0 - leverage)).powi(2)).sum();
        Some(1.0 - left_out / variation(y)?).filter(|_| told)
    }

    /// The scatter of single points; `None` without degrees of freedom.
    pub fn scatter(&self) -> Option<Scatter> {
        self.scatter
    }

    /// The same polynomial, its scatter judged knowing which points share an x: `group` numbers the
    /// x of each point. Scatter of points of one x and distance of their means from the curve are
    /// taken together, unless the means lie further away than such scatter allows (F test at 5 %):
    /// then the curve is not that of the points, and the means alone tell how far it is off.
    #[must_use]
    pub fn with_repeats(mut self, group: &[usize]) -> Self {
        let groups = group.iter().copied().max().map_or(0, |last| last + 1);
        let mut sums = vec![(0.0, 0_usize); groups];
        for (residual, group) in self.residuals.iter().zip(group) {
            sums[*group].0 += residual;
            sums[*group].1 += 1;
        }
        let sizes = sums.iter().filter(|(_, count)| *count > 0).count();
        let between: f64 = sums
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(sum, count)| sum * sum / *count as f64)
            .sum();
        let all = self.squares();
        let freedom =
            (sizes.saturating_sub(self.coefficients.len()), group.len().saturating_sub(sizes));
        if freedom.0 == 0 || freedom.1 == 0 {
            // Only one of the two is known, and all of the sum of squares is of it.
            return self;
        }
        let within = (all - between).max(0.0);
        let ratio = (between / freedom.0 as f64) / (within / freedom.1 as f64);
        let p = FisherSnedecor::new(freedom.0 as f64, freedom.1 as f64).map_or(1.0, |f| {
            if ratio.is_finite() { f.sf(ratio) } else { f64::from(u8::from(between == 0.0)) }
        });
        self.scatter = match p < LACK_OF_FIT {
            true => scatter(between, freedom.0, Some(p)),
            false => scatter(all, self.degrees_of_freedom(), Some(p)),
        };
        self
    }

    /// The x between `low` and `high` at which it is least, lower than at either of them; `None`
    /// where there is no such place (it falls or rises throughout, or is lower still at an end). Of
    /// a cubic there is one at most.
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
            // The root (-linear + sqrt(discriminant)) / (2 quadratic), where the second derivative
            // is that square root; written so that nothing cancels.
            let root = discriminant.sqrt();
            if linear > 0.0 {
                -2.0 * constant / (linear + root)
            } else {
                (root - linear) / (2.0 * quadratic)
            }
        };
        let x = self.centre + self.half * u;
        let least = self.at(x);
        (low < x && x < high && least < self.at(low) && least < self.at(high)).then_some(x)
    }

    /// Standard error of the place of a minimum, to first order: that of the slope there over the
    /// curvature; `None` without degrees of freedom.
    pub fn minimum_standard_error(&self, at: f64) -> Option<f64> {
        let (_, variance) = self.combination(&self.derivative_direction(self.scaled(at), 1));
        Some(variance?.sqrt() / self.curvature(at).0)
    }

    /// Standard error of its value; `None` without degrees of freedom.
    pub fn standard_error(&self, x: f64) -> Option<f64> {
        self.combination(&self.derivative_direction(self.scaled(x), 0)).1.map(f64::sqrt)
    }

    /// Where the minimum `at` may be, at a coverage, between `low` and `high`: the stretch about it
    /// in which the slope is not told from zero, `|f'(x)| <= t se(f'(x))`, t Student's with those
    /// of the scatter (Fieller's argument, exact for normal scatter). An end is `None` where that
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
        let freedom = self.scatter.map_or(0, |scatter| scatter.degrees_of_freedom);
        let t = student::two_sided_quantile(level, freedom)?;
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

    /// The second derivative at a place, and its standard error from the scatter (`None` without
    /// degrees of freedom).
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

    /// A combination of the coefficients, and its variance from the scatter (`None` without degrees
    /// of freedom).
    fn combination(&self, direction: &[f64]) -> (f64, Option<f64>) {
        let value = direction.iter().zip(&self.coefficients).map(|(d, c)| d * c).sum();
        let variance =
            self.scatter.map(|scatter| scatter.variance * self.fit.variance_factor(direction));
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

    /// y = x² (x - 3) is least at 2 with -4, and lower still at -2.
    #[test]
    fn a_hollow_above_an_end_is_no_minimum() {
        let x = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
        let cubic = fit(&x, &x.map(|x: f64| x * x * (x - 3.0)), 3, None).unwrap();
        assert_eq!(cubic.minimum(-2.0, 3.0), None);
        assert!((cubic.minimum(-0.9, 3.0).unwrap() - 2.0).abs() < 1e-9);
    }

    /// Three points at each of five x: what lies about the means is one witness, what they lie
    /// about the curve the other.
    #[test]
    fn points_of_one_x_tell_the_scatter_and_a_curve_that_is_not_theirs() {
        let (mut x, mut y, mut group) = (Vec::new(), Vec::new(), Vec::new());
        for (at, place) in [-2.0, -1.0, 0.0, 1.0, 2.0_f64].into_iter().enumerate() {
            for noise in [0.1, -0.1, 0.0] {
                x.push(place);
                y.push(place * place + noise * if at % 2 == 0 { 1.0 } else { 0.8 });
                group.push(at);
            }
        }
        let known = fit(&x, &y, 2, None).unwrap().with_repeats(&group);
        let squares: f64 = known.residuals.iter().map(|r| r * r).sum();
        let scatter = known.scatter().unwrap();
        assert_eq!(scatter.degrees_of_freedom, 12);
        assert!(
            (scatter.variance - squares / 12.0).abs() < 1e-15 && scatter.lack_of_fit.unwrap() > 0.5
        );
        // A quartic of the same points is no parabola: five means less three coefficients remain.
        let bent: Vec<f64> = x.iter().zip(&y).map(|(x, y)| y + 0.3 * x.powi(4)).collect();
        let doubted = fit(&x, &bent, 2, None).unwrap().with_repeats(&group).scatter().unwrap();
        assert!(doubted.lack_of_fit.unwrap() < 1e-6);
        assert_eq!(doubted.degrees_of_freedom, 2);
        assert!(doubted.variance > 20.0 * scatter.variance, "{doubted:?} {scatter:?}");
        // As many coefficients as means leave the scatter within them.
        let through = fit(&x, &bent, 4, None).unwrap().with_repeats(&group).scatter().unwrap();
        assert_eq!((through.degrees_of_freedom, through.lack_of_fit), (10, None));
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

    /// A parabola's minimum is a ratio of normals, `-b / 2c`, for which Fieller's interval is known
    /// in closed form.
    #[test]
    fn the_interval_of_a_minimum_is_fiellers() {
        let x = [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
        let y = [9.4, 3.9, 1.2, -0.3, 1.1, 4.2, 8.8];
        let fit = fit(&x, &y, 2, None).unwrap();
        let at = fit.minimum(-3.0, 3.0).unwrap();
        let (low, high) = fit.minimum_interval(at, -3.0, 3.0, 0.95).unwrap();
        // y = a + b x + c x² on symmetric x: b and c are independent, b = Sxy / 28, c = Σ (x² - 4)
        // y / 84, var s²/28 and s²/84.
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
        assert!(matches!(
            fit(&[1.0, 1.0, 2.0], &[1.0; 3], 2, None),
            Err(StatsError::TooFewPoints { .. })
        ));
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

    #[test]
    fn each_point_left_out_as_if_refitted() {
        let x = [1.0, 2.0, 3.5, 4.0, 6.0, 7.5];
        let y = [3.0, 2.2, 2.0, 1.4, 1.5, 1.1];
        let whole = fit(&x, &y, 2, None).unwrap();
        let mean = y.iter().sum::<f64>() / 6.0;
        let mut press = 0.0;
        for out in 0..6 {
            let without = |values: &[f64]| -> Vec<f64> {
                values
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != out)
                    .map(|(_, value)| *value)
                    .collect()
            };
            press +=
                (y[out] - fit(&without(&x), &without(&y), 2, None).unwrap().at(x[out])).powi(2);
        }
        let total: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
        assert!((whole.left_out_r_squared(&y).unwrap() - (1.0 - press / total)).abs() < 1e-12);
        assert!((whole.leverage.iter().sum::<f64>() - 3.0).abs() < 1e-12);
        // Residuals of a least-squares fit are orthogonal to what is fitted.
        for power in 0..3 {
            let product: f64 = x.iter().zip(&whole.residuals).map(|(x, r)| x.powi(power) * r).sum();
            assert!(product.abs() < 1e-12);
        }
        let flat = fit(&[1.0, 2.0, 3.0, 4.0], &[0.3; 4], 2, None).unwrap();
        assert_eq!((flat.r_squared(&[0.3; 4]), flat.left_out_r_squared(&[0.3; 4])), (None, None));
    }
}
