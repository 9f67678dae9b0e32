//! Lines and curves whose points err for two reasons: each model by itself, and all of them through
//! the text that they share.
//!
//! ```text
//! y = X b + m + s,   m ~ N(0, τ² I)  models,   s ~ N(0, V)  text,   V known from so many documents
//! ```
//!
//! Residuals show the models' scatter and that part of the text's which does not lie along the
//! line; what lies along it moves level and slope without leaving a trace. For a linear function
//! `w'y` (a slope, a value) of a least-squares fit with p parameters:
//!
//! ```text
//! variance = s² w'w + max(0, w'Vw - w'w tr(MV)/(n - p)),   s² = Σ e²/(n - p),   M = I - X (X'X)⁻¹ X'
//!                     what residuals cannot show
//! ```
//!
//! which estimates `τ² w'w + w'Vw` without bias (the second term not below zero), is Student's t
//! where V is zero or a multiple of the unit matrix, and tends to the text's own error where the
//! models do not scatter. Degrees of freedom follow Satterthwaite (1946): n - p of the first term,
//! those of V of the second. Plain addition, `s² w'w + w'Vw`, counts part of the text twice.
//!
//! Coverage of this and of what lost against it: `tests/mixed_coverage.rs`.

use super::student::quantile;
use crate::check;
use crate::error::StatsError;
use crate::optimise::least_squares::Line;
use crate::optimise::{dot, orthonormal};

/// The noise that all points share: how they would move together on another text.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    covariance: Vec<f64>,
    points: usize,
    degrees_of_freedom: f64,
    /// Orthonormal directions that the covariance is of; none where it is of the points.
    along: Vec<Vec<f64>>,
    /// Variance in all other directions together.
    elsewhere: f64,
}

impl Shared {
    /// From a covariance, `points × points`, row-major, symmetric, and the degrees of freedom with
    /// which it is known.
    ///
    /// # Errors
    /// Another length; an entry that is not finite; degrees of freedom that are not above zero.
    pub fn new(
        covariance: Vec<f64>,
        points: usize,
        degrees_of_freedom: f64,
    ) -> Result<Self, StatsError> {
        if covariance.len() != points * points {
            return Err(StatsError::Lengths {
                left: "covariance",
                left_length: covariance.len(),
                right: "its rows times columns",
                right_length: points * points,
            });
        }
        if let Some(index) = covariance.iter().position(|value| !value.is_finite()) {
            return Err(StatsError::NonFinite {
                what: "covariance",
                index,
                value: covariance[index],
            });
        }
        if !(degrees_of_freedom > 0.0 && degrees_of_freedom.is_finite()) {
            return Err(StatsError::Parameter {
                name: "degrees of freedom",
                value: degrees_of_freedom,
                domain: "above 0",
            });
        }
        Ok(Self { covariance, points, degrees_of_freedom, along: Vec::new(), elsewhere: 0.0 })
    }

    /// The same noise as far as fits know it that move in the span of `directions` alone (an entry
    /// a point each): the covariance along them and the variance elsewhere, few numbers where
    /// points are many. [`product`](Self::product) is then of vectors of that span.
    ///
    /// ```
    /// use relscale_stats::interval::mixed::Shared;
    /// let whole = Shared::new(vec![2.0, 1.0, 0.0, 1.0, 3.0, 0.5, 0.0, 0.5, 1.0], 3, 9.0).unwrap();
    /// let level = whole.within(vec![vec![5.0; 3]]);
    /// assert!((level.product(&[1.0; 3], &[1.0; 3]) - 9.0).abs() < 1e-14);
    /// assert!((level.covariance()[0] - 3.0).abs() < 1e-14 && (level.elsewhere() - 3.0).abs() < 1e-14);
    /// ```
    pub fn within(&self, directions: Vec<Vec<f64>>) -> Self {
        let along = orthonormal(directions, PARALLEL);
        let covariance: Vec<f64> = along
            .iter()
            .flat_map(|left| along.iter().map(move |right| self.product(left, right)))
            .collect();
        let there: f64 = covariance.iter().step_by(along.len() + 1).sum();
        let elsewhere = (self.trace() - there).max(0.0);
        Self { covariance, along, elsewhere, ..*self }
    }

    /// As [`within`](Self::within) gives it, from its parts.
    ///
    /// # Errors
    /// As [`new`](Self::new), directions for points.
    pub fn along(
        covariance: Vec<f64>,
        directions: Vec<Vec<f64>>,
        elsewhere: f64,
        degrees_of_freedom: f64,
    ) -> Result<Self, StatsError> {
        let points = directions.first().map_or(0, Vec::len);
        if let Some(other) = directions.iter().find(|direction| direction.len() != points) {
            return Err(StatsError::Lengths {
                left: "first direction",
                left_length: points,
                right: "another direction",
                right_length: other.len(),
            });
        }
        let found = Self::new(covariance, directions.len(), degrees_of_freedom)?;
        Ok(Self { points, along: directions, elsewhere, ..found })
    }

    /// The directions that [`covariance`](Self::covariance) is of; none where it is of the points.
    pub fn directions(&self) -> &[Vec<f64>] {
        &self.along
    }

    /// Variance in all other directions together.
    pub fn elsewhere(&self) -> f64 {
        self.elsewhere
    }

    /// Row-major, `points × points`, or as many rows as there are directions.
    pub fn covariance(&self) -> &[f64] {
        &self.covariance
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.points
    }

    /// With how many degrees of freedom the covariance is known.
    pub fn degrees_of_freedom(&self) -> f64 {
        self.degrees_of_freedom
    }

    /// `left' V right`.
    pub fn product(&self, left: &[f64], right: &[f64]) -> f64 {
        if !self.along.is_empty() {
            let parts = |vector: &[f64]| -> Vec<f64> {
                self.along.iter().map(|direction| dot(direction, vector)).collect()
            };
            return form(&self.covariance, &parts(left), &parts(right));
        }
        form(&self.covariance, left, right)
    }

    fn trace(&self) -> f64 {
        let size = if self.along.is_empty() { self.points } else { self.along.len() };
        self.covariance.iter().step_by(size + 1).sum::<f64>() + self.elsewhere
    }
}

/// `left' V right`.
fn form(covariance: &[f64], left: &[f64], right: &[f64]) -> f64 {
    let rows = covariance.chunks_exact(right.len().max(1));
    let along = |row: &[f64]| row.iter().zip(right).map(|(v, r)| v * r).sum::<f64>();
    left.iter().zip(rows).map(|(weight, row)| weight * along(row)).sum()
}

/// Share of a direction that others do not have, up to which it is rounding.
const PARALLEL: f64 = 1e-10;

/// The variance of a number with its two sources.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Of the number, models and text together.
    pub variance: f64,
    /// What the text alone would give, the models held fixed.
    pub text: f64,
    /// With which it is known (Satterthwaite), not whole as a rule.
    pub degrees_of_freedom: f64,
}

impl Spread {
    /// From what residuals show, with its degrees of freedom, and what they do not, with its own.
    fn new(shown: f64, freedom: f64, hidden: f64, shared: f64, text: f64) -> Self {
        let variance = shown + hidden;
        let known = shown * shown / freedom + hidden * hidden / shared;
        let degrees_of_freedom = if known > 0.0 { variance * variance / known } else { freedom };
        Self { variance, text, degrees_of_freedom }
    }

    /// Square root of the variance.
    pub fn standard_error(&self) -> f64 {
        self.variance.sqrt()
    }

    /// The text's share of the variance, from 0 to 1; 0 without any.
    pub fn text_share(&self) -> f64 {
        if self.variance > 0.0 { (self.text / self.variance).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Half of the interval.
    ///
    /// # Errors
    /// A level that is no probability.
    pub fn half(&self, level: f64) -> Result<f64, StatsError> {
        Ok(quantile(level, self.degrees_of_freedom)? * self.standard_error())
    }
}

/// What residuals of a fit show of both kinds of noise.
#[derive(Debug, Clone)]
pub struct Mixed<'a> {
    residual_variance: f64,
    freedom: f64,
    shared: Option<&'a Shared>,
    /// `tr(MV)/(n - p)`: the part of the residual variance that is the text's.
    seen: f64,
}

impl<'a> Mixed<'a> {
    /// A fit with `residual_variance` on `freedom` degrees of freedom; `tangent` is an orthonormal
    /// basis of the directions in which the fit can move, a column of n entries each.
    ///
    /// # Errors
    /// No degrees of freedom; noise of another number of points.
    pub fn new(
        residual_variance: f64,
        freedom: usize,
        tangent: &[Vec<f64>],
        shared: Option<&'a Shared>,
    ) -> Result<Self, StatsError> {
        if freedom == 0 {
            return Err(StatsError::NoDegreesOfFreedom);
        }
        let points = tangent.first().map_or(0, Vec::len);
        let seen = match shared {
            Some(shared) if shared.points != points => {
                return Err(StatsError::Lengths {
                    left: "points",
                    left_length: points,
                    right: "shared noise",
                    right_length: shared.points,
                });
            }
            Some(shared) => {
                let along: f64 = tangent.iter().map(|column| shared.product(column, column)).sum();
                ((shared.trace() - along) / freedom as f64).max(0.0)
            }
            None => 0.0,
        };
        Ok(Self { residual_variance, freedom: freedom as f64, shared, seen })
    }

    /// The spread of `Σ weights y`, plus the scatter of `fresh` new points (0 or 1) of the same
    /// kind.
    pub fn spread(&self, weights: &[f64], fresh: f64) -> Spread {
        let shown = self.residual_variance * (squares(weights) + fresh);
        Spread::new(
            shown,
            self.freedom,
            self.hidden(weights),
            self.shared_freedom(),
            self.text(weights),
        )
    }

    /// The text's variance of `Σ weights y` that residuals do not show.
    pub fn hidden(&self, weights: &[f64]) -> f64 {
        (self.text(weights) - squares(weights) * self.seen).max(0.0)
    }

    fn text(&self, weights: &[f64]) -> f64 {
        self.shared.map_or(0.0, |shared| shared.product(weights, weights).max(0.0))
    }

    fn shared_freedom(&self) -> f64 {
        self.shared.map_or(f64::INFINITY, Shared::degrees_of_freedom)
    }
}

fn squares(weights: &[f64]) -> f64 {
    weights.iter().map(|weight| weight * weight).sum()
}

/// A straight line (of weight 1 a point) with both kinds of noise: the spread of its slope, of its
/// values, of a new point.
#[derive(Debug, Clone, PartialEq)]
pub struct MixedLine {
    line: Line,
    residual_variance: f64,
    /// Variances of the value at the centre and of the slope by the models, per unit of residual
    /// variance.
    unit: (f64, f64),
    /// Text: variance of the value at the centre, covariance with the slope, variance of the slope.
    text: [f64; 3],
    /// The same, less what the residuals show of it; positive semidefinite.
    hidden: [f64; 3],
    shared_freedom: f64,
}

impl MixedLine {
    /// Of a line through points at `x`, in the order of the noise.
    ///
    /// # Errors
    /// Two points, whose scatter is unknown; noise of another number of points.
    pub fn new(line: &Line, x: &[f64], shared: Option<&Shared>) -> Result<Self, StatsError> {
        let residual_variance = line.residual_variance().ok_or(StatsError::NoDegreesOfFreedom)?;
        let points = x.len();
        let distances: Vec<f64> = x.iter().map(|x| x - line.centre_x).collect();
        let spread: f64 = distances.iter().map(|d| d * d).sum();
        let level = vec![1.0 / points as f64; points];
        let slope: Vec<f64> = distances.iter().map(|d| d / spread).collect();
        let normal = |weights: &[f64]| -> Vec<f64> {
            let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
            weights.iter().map(|w| w / length).collect()
        };
        let tangent = [normal(&level), normal(&slope)];
        let mixed = Mixed::new(residual_variance, points - 2, &tangent, shared)?;
        let unit = (1.0 / points as f64, spread.recip());
        let text = shared.map_or([0.0; 3], |shared| {
            [
                shared.product(&level, &level).max(0.0),
                shared.product(&level, &slope),
                shared.product(&slope, &slope).max(0.0),
            ]
        });
        let (a, c) =
            ((text[0] - unit.0 * mixed.seen).max(0.0), (text[2] - unit.1 * mixed.seen).max(0.0));
        let most = (a * c).sqrt();
        let hidden = [a, text[1].clamp(-most, most), c];
        Ok(Self {
            line: line.clone(),
            residual_variance,
            unit,
            text,
            hidden,
            shared_freedom: mixed.shared_freedom(),
        })
    }

    /// The line.
    pub fn line(&self) -> &Line {
        &self.line
    }

    fn freedom(&self) -> f64 {
        self.line.degrees_of_freedom() as f64
    }

    /// Spread of the slope.
    pub fn slope(&self) -> Spread {
        self.spread(self.unit.1, self.hidden[2], self.text[2])
    }

    /// Spread of the line's value at `x`, plus the scatter of `fresh` new points (0 or 1).
    pub fn value(&self, x: f64, fresh: f64) -> Spread {
        let d = x - self.line.centre_x;
        let at = |[level, both, slope]: [f64; 3]| (level + 2.0 * both * d + slope * d * d).max(0.0);
        self.spread(self.unit.0 + self.unit.1 * d * d + fresh, at(self.hidden), at(self.text))
    }

    /// Correlation of the value at the centre with the slope.
    pub fn correlation(&self) -> f64 {
        let product = self.value(self.line.centre_x, 0.0).variance * self.slope().variance;
        if product > 0.0 { self.hidden[1] / product.sqrt() } else { 0.0 }
    }

    fn spread(&self, unit: f64, hidden: f64, text: f64) -> Spread {
        Spread::new(
            self.residual_variance * unit,
            self.freedom(),
            hidden,
            self.shared_freedom,
            text,
        )
    }

    /// Interval of the x at which the line (and `fresh` new points beside it) takes the value `y0`,
    /// as [`crossing`](super::crossing) has it for one source of noise: all x at which `y0` lies
    /// inside the band. With the degrees of freedom at the crossing itself.
    ///
    /// # Errors
    /// A slope whose interval at this level holds zero ([`StatsError::EndlessCrossing`]); a level
    /// that is no probability; ends beyond the range of numbers.
    pub fn crossing(&self, y0: f64, fresh: f64, level: f64) -> Result<(f64, f64, f64), StatsError> {
        check::level(level)?;
        let at = super::crossing::at(&self.line, y0)
            .map_err(|_| StatsError::EndlessCrossing { level })?;
        let freedom = self.value(at, fresh).degrees_of_freedom.min(self.slope().degrees_of_freedom);
        let squared = quantile(level, freedom)?.powi(2);
        let s2 = self.residual_variance;
        let [level_v, both, slope_v] = self.hidden;
        let (v00, v01, v11) =
            (s2 * (self.unit.0 + fresh) + level_v, both, s2 * self.unit.1 + slope_v);
        // a d² + 2 b d + c <= 0 about the centre.
        let distance = self.line.centre_y - y0;
        let a = self.line.slope.powi(2) - squared * v11;
        let b = self.line.slope * distance - squared * v01;
        let c = distance.powi(2) - squared * v00;
        if a <= 0.0 {
            return Err(StatsError::EndlessCrossing { level });
        }
        let half = (b * b - a * c).max(0.0).sqrt() / a;
        let middle = self.line.centre_x - b / a;
        let (low, high) = (middle - half, middle + half);
        if low.is_finite() && high.is_finite() {
            Ok((low, high, freedom))
        } else {
            Err(StatsError::Overflow { what: "where the band about the line reaches the level" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::crossing::{self, Band};
    use crate::interval::student;
    use crate::optimise::least_squares::line;

    const X: [f64; 5] = [8.0, 9.5, 10.0, 12.0, 15.0];
    const Y: [f64; 5] = [1.0, 0.7, 0.75, 0.4, -0.1];

    fn diagonal(values: [f64; 5]) -> Vec<f64> {
        (0..25).map(|at| if at / 5 == at % 5 { values[at % 5] } else { 0.0 }).collect()
    }

    #[test]
    fn without_shared_noise_and_with_equal_independent_noise_it_is_student() {
        let fit = line(&X, &Y).unwrap();
        let even = Shared::new(diagonal([0.01; 5]), 5, 30.0).unwrap();
        for shared in [None, Some(&even)] {
            let mixed = MixedLine::new(&fit, &X, shared).unwrap();
            let expected = student::slope(&fit, 0.95).unwrap();
            let half = mixed.slope().half(0.95).unwrap();
            assert!((fit.slope - half - expected.low).abs() < 1e-12);
            assert!((mixed.slope().degrees_of_freedom - 3.0).abs() < 1e-9);
            let new = student::prediction(&fit, 20.0, 0.9).unwrap();
            let half = mixed.value(20.0, 1.0).half(0.9).unwrap();
            assert!((fit.at(20.0) + half - new.high).abs() < 1e-12);
            for (band, fresh) in [(Band::Line, 0.0), (Band::Observation, 1.0)] {
                let expected = crossing::interval(&fit, 0.2, band, 0.95).unwrap();
                let (low, high, _) = mixed.crossing(0.2, fresh, 0.95).unwrap();
                assert!((low - expected.low).abs() < 1e-9 && (high - expected.high).abs() < 1e-9);
            }
            assert!(mixed.correlation().abs() < 1e-9);
        }
    }

    #[test]
    fn what_lies_along_the_line_is_added_whole() {
        let fit = line(&X, &Y).unwrap();
        let centre = fit.centre_x;
        // A text that turns the line by 0.1 about its centre: no residual shows it.
        let turned: Vec<f64> =
            (0..25).map(|at| 0.01 * (X[at / 5] - centre) * (X[at % 5] - centre)).collect();
        let shared = Shared::new(turned, 5, 20.0).unwrap();
        let mixed = MixedLine::new(&fit, &X, Some(&shared)).unwrap();
        let alone = fit.slope_standard_error().unwrap();
        let spread = mixed.slope();
        assert!((spread.variance - alone.powi(2) - 0.01).abs() < 1e-12);
        assert!((spread.text - 0.01).abs() < 1e-12 && spread.text_share() > 0.9);
        // Satterthwaite by hand.
        let by_hand = spread.variance.powi(2) / (alone.powi(4) / 3.0 + 1e-4 / 20.0);
        assert!((spread.degrees_of_freedom / by_hand - 1.0).abs() < 1e-9);
        assert!(
            (mixed.value(centre, 0.0).variance - fit.mean_standard_error(centre).unwrap().powi(2))
                .abs()
                < 1e-12
        );
    }

    #[test]
    fn level_and_slope_that_move_together_are_told() {
        let fit = line(&X, &Y).unwrap();
        // All of it a slope about 8, so the value there does not move.
        let turned: Vec<f64> =
            (0..25).map(|at| 0.01 * (X[at / 5] - 8.0) * (X[at % 5] - 8.0)).collect();
        let shared = Shared::new(turned, 5, 20.0).unwrap();
        let mixed = MixedLine::new(&fit, &X, Some(&shared)).unwrap();
        let plain = fit.mean_standard_error(8.0).unwrap().powi(2);
        assert!((mixed.value(8.0, 0.0).variance - plain).abs() < 1e-12);
        assert!(mixed.correlation() > 0.5);
        let weights = [0.2, 0.3, -0.1, 0.0, 0.4];
        let direct: f64 = weights.iter().zip(&X).map(|(w, x)| w * (x - 8.0)).sum();
        assert!((shared.product(&weights, &weights) - 0.01 * direct * direct).abs() < 1e-12);
    }

    #[test]
    fn the_ends_of_a_crossing_are_where_the_band_meets_the_level() {
        let fit = line(&X, &Y).unwrap();
        let turned: Vec<f64> =
            (0..25).map(|at| 2e-4 * (X[at / 5] - 8.0) * (X[at % 5] - 8.0) + 1e-3).collect();
        let shared = Shared::new(turned, 5, 20.0).unwrap();
        let mixed = MixedLine::new(&fit, &X, Some(&shared)).unwrap();
        let (low, high, freedom) = mixed.crossing(0.1, 0.0, 0.95).unwrap();
        let t = quantile(0.95, freedom).unwrap();
        for end in [low, high] {
            let error = mixed.value(end, 0.0).standard_error();
            assert!(((fit.at(end) - 0.1).abs() / (t * error) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn what_is_no_covariance_is_refused() {
        assert!(Shared::new(vec![1.0; 3], 2, 5.0).is_err());
        assert!(Shared::new(vec![f64::NAN; 4], 2, 5.0).is_err());
        assert!(Shared::new(vec![1.0; 4], 2, 0.0).is_err());
        let fit = line(&X, &Y).unwrap();
        let other = Shared::new(vec![1.0; 4], 2, 5.0).unwrap();
        assert!(MixedLine::new(&fit, &X, Some(&other)).is_err());
        let two = line(&X[..2], &Y[..2]).unwrap();
        assert_eq!(MixedLine::new(&two, &X[..2], None), Err(StatsError::NoDegreesOfFreedom));
    }
}
