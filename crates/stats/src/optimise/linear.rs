//! Linear least squares: the one fit of which [lines](super::least_squares), [lines of a given
//! slope](super::held_slope), [lines through points that err together](super::correlated),
//! [planes](super::plane) and [polynomials](super::polynomial) are views.
//!
//! ```text
//! y ≈ Σ_j c_j column_j,   Σ w e² least;   X = Q R by modified Gram-Schmidt, R with ones on its diagonal
//! leverage = w Σ_j q_j² / |q_j|²,   var(d'c) = s² Σ_j z_j² / |q_j|²,   R'z = d
//! ```
//!
//! With a constant beside the columns these and y are taken about their weighted means and in units
//! of their largest distance from them, so that neither a large offset nor a large scale costs
//! digits.
//!
//! Sources: Björck, *Numerical Methods for Least Squares Problems* (1996), chapter 2; Aitken 1936
//! for errors that go together.

use super::{dot, subtract};
use crate::error::StatsError;
use crate::outcome::Caution;

/// Points and the columns that they are to be made of.
#[derive(Debug, Clone)]
pub struct Design {
    y: Vec<f64>,
    columns: Vec<Vec<f64>>,
    weights: Vec<f64>,
    constant: bool,
}

/// A fit, and what is needed to judge it.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// Of each column.
    pub coefficients: Vec<f64>,
    /// `y - fitted`, in the order of the points.
    pub residuals: Vec<f64>,
    /// Each point's own weight in its fitted value; they sum to the number of parameters.
    pub leverage: Vec<f64>,
    /// `Σ w e²`.
    pub residual_sum_of_squares: f64,
    /// `1 - Σ w e² / Σ w (y - mean)²`, with a constant among the parameters; absent when all y are
    /// equal.
    pub r_squared: Option<f64>,
    /// Weighted mean of each column and of y; zeros without a constant.
    pub(super) means: Vec<f64>,
    /// Unit of each column.
    scales: Vec<f64>,
    /// R, a column after the other without its diagonal.
    upper: Vec<Vec<f64>>,
    /// `Σ w q²` of each column of Q.
    squares: Vec<f64>,
    parameters: usize,
    /// All y are equal.
    level: bool,
    /// The residuals are no more than rounding.
    exact: bool,
}

/// `1 - leverage` at or below which the other points are taken to define no fit: a few roundings.
const DECISIVE: f64 = 64.0 * f64::EPSILON;

/// Share of the variation of y below which residuals are rounding, not scatter.
const EXACT: f64 = 1e-24;

/// Share of a column's length that the columns before it must leave for their remainder to have its
/// digits; below it is taken again.
const CANCELLED: f64 = 0.1;

impl Design {
    /// Of columns as long as y.
    pub fn new(y: &[f64], columns: Vec<Vec<f64>>) -> Self {
        Self { y: y.to_vec(), columns, weights: vec![1.0; y.len()], constant: false }
    }

    /// With a constant besides.
    #[must_use]
    pub fn with_constant(self) -> Self {
        Self { constant: true, ..self }
    }

    /// Each squared residual times its weight, `1 / variance` up to a factor.
    #[must_use]
    pub fn weighted(self, weights: &[f64]) -> Self {
        Self { weights: weights.to_vec(), ..self }
    }

    /// With a further column whose coefficient is given.
    #[must_use]
    pub fn held(mut self, column: &[f64], coefficient: f64) -> Self {
        self.y.iter_mut().zip(column).for_each(|(y, value)| *y -= coefficient * value);
        self
    }

    /// Of points whose errors have this covariance, `n × n` and row-major: y and the columns times
    /// the inverse of its Cholesky factor, whose errors are independent and of variance 1.
    ///
    /// # Errors
    /// A covariance that is not positive definite.
    pub fn whitened(self, covariance: &[f64]) -> Result<Self, StatsError> {
        let factor = cholesky(covariance, self.y.len())?;
        let columns = self.columns.iter().map(|column| forward(&factor, column)).collect();
        Ok(Self { y: forward(&factor, &self.y), columns, ..self })
    }

    /// The coefficients with the least sum of squared residuals. `None` where a column has no more
    /// than `rounding` of its length besides what the columns before it make up.
    pub fn fit(mut self, rounding: f64) -> Option<Linear> {
        let Self { y, columns, weights, constant } = &mut self;
        let total: f64 = weights.iter().sum();
        let level = y.windows(2).all(|pair| pair[0] == pair[1]);
        let mut means = vec![0.0; columns.len() + 1];
        let mut scales = vec![1.0; columns.len() + 1];
        if *constant {
            for ((values, mean), scale) in
                columns.iter_mut().chain([&mut *y]).zip(&mut means).zip(&mut scales)
            {
                *mean = centre(values, weights);
                *scale = values.iter().fold(0.0, |most, value| value.abs().max(most));
            }
            if level {
                // Their mean may be off by a rounding, which must not pass for a slope.
                y.fill(0.0);
                scales[columns.len()] = 1.0;
            }
            // Products of numbers of size one cannot overflow; the scales come back at the end.
            for (values, scale) in columns.iter_mut().chain([&mut *y]).zip(&scales) {
                values.iter_mut().for_each(|value| *value /= scale);
            }
        }
        let inner = |left: &[f64], right: &[f64]| -> f64 {
            weights.iter().zip(left.iter().zip(right)).map(|(w, (l, r))| w * l * r).sum()
        };
        let variation = inner(y, y);
        let mut upper: Vec<Vec<f64>> = Vec::with_capacity(columns.len());
        let mut squares: Vec<f64> = Vec::with_capacity(columns.len());
        let mut coefficients = Vec::with_capacity(columns.len());
        for column in 0..columns.len() {
            let (done, rest) = columns.split_at_mut(column);
            let current = &mut rest[0];
            let whole = inner(current, current);
            let mut left = whole;
            let mut above = vec![0.0; column];
            for _ in 0..2 {
                for ((known, squared), entry) in done.iter().zip(&squares).zip(&mut above) {
                    let share = inner(known, current) / squared;
                    *entry += share;
                    subtract(current, known, share);
                }
                left = inner(current, current);
                if left > CANCELLED * CANCELLED * whole {
                    break;
                }
            }
            if left.is_nan() || left <= rounding * rounding * whole {
                return None;
            }
            let share = inner(current, y) / left;
            subtract(y, current, share);
            upper.push(above);
            squares.push(left);
            coefficients.push(share);
        }
        for column in (0..columns.len()).rev() {
            let (before, from) = coefficients.split_at_mut(column);
            subtract(before, &upper[column], from[0]);
        }
        let rest = inner(y, y);
        let leverage = (0..y.len()).map(|point| {
            let alone = if *constant { weights[point] / total } else { 0.0 };
            columns.iter().zip(&squares).fold(alone, |sum, (q, squared)| {
                sum + weights[point] * q[point] * q[point] / squared
            })
        });
        let scale = scales.pop().unwrap_or(1.0);
        coefficients.iter_mut().zip(&scales).for_each(|(value, unit)| *value *= scale / unit);
        Some(Linear {
            leverage: leverage.collect(),
            residuals: y.iter().map(|e| e * scale).collect(),
            residual_sum_of_squares: rest * scale * scale,
            r_squared: (*constant && !level).then(|| (1.0 - rest / variation).clamp(0.0, 1.0)),
            parameters: columns.len() + usize::from(*constant),
            exact: rest <= EXACT * variation,
            coefficients,
            means,
            scales,
            upper,
            squares,
            level,
        })
    }
}

impl Linear {
    /// Points less parameters.
    pub fn degrees_of_freedom(&self) -> usize {
        self.residuals.len() - self.parameters
    }

    /// The residual variance of a point of weight 1; `None` without degrees of freedom, where the
    /// scatter is unknown rather than zero.
    pub fn residual_variance(&self) -> Option<f64> {
        match self.degrees_of_freedom() {
            0 => None,
            freedom => Some(self.residual_sum_of_squares / freedom as f64),
        }
    }

    /// Variance of a combination of the coefficients for a residual variance of 1.
    pub fn variance_factor(&self, direction: &[f64]) -> f64 {
        let mut z: Vec<f64> = Vec::with_capacity(direction.len());
        for ((value, unit), above) in direction.iter().zip(&self.scales).zip(&self.upper) {
            z.push(value / unit - dot(above, &z));
        }
        z.iter().zip(&self.squares).map(|(z, squared)| z * z / squared).sum()
    }

    /// Length of what a column adds to those before it (and to the constant): the root, as the sum
    /// of squares itself may leave the range of a double.
    pub fn length(&self, column: usize) -> f64 {
        self.squares[column].sqrt() * self.scales[column]
    }

    /// `y - prediction` of each point by the fit to all others, `e / (1 - leverage)`; absent where
    /// the others define none.
    pub fn left_out_errors(&self) -> Vec<Option<f64>> {
        let known = self.degrees_of_freedom() > 0;
        let points = self.residuals.iter().zip(&self.leverage);
        points.map(|(e, h)| (known && 1.0 - h > DECISIVE).then(|| e / (1.0 - h))).collect()
    }

    /// What to know before quoting the fit.
    pub fn cautions(&self) -> Vec<Caution> {
        if self.degrees_of_freedom() == 0 {
            return vec![Caution::NoScatter];
        }
        let level = self.level.then_some(Caution::Constant);
        let exact = (self.exact && !self.level).then_some(Caution::Exact);
        let left_out = self.left_out_errors().into_iter().enumerate();
        let decisive = left_out
            .filter(|(_, error)| error.is_none())
            .map(|(point, _)| Caution::Decisive { point });
        level.into_iter().chain(exact).chain(decisive).collect()
    }
}

/// Replaces values by their distances from the weighted mean, which is returned. The distances are
/// taken twice: the second pass removes the rounding of the mean, which is as large as the data's
/// own spread when the offset is large.
fn centre(values: &mut [f64], weights: &[f64]) -> f64 {
    let weight: f64 = weights.iter().sum();
    let mut mean = 0.0;
    for _ in 0..2 {
        let rest: f64 = values.iter().zip(weights).map(|(value, w)| value * (w / weight)).sum();
        values.iter_mut().for_each(|value| *value -= rest);
        mean += rest;
    }
    mean
}

/// L, lower triangular and row-major, with `L Lᵀ = matrix`.
fn cholesky(matrix: &[f64], size: usize) -> Result<Vec<f64>, StatsError> {
    let mut factor = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let (above, left) =
                (&factor[row * size..][..column], &factor[column * size..][..column]);
            let rest = matrix[row * size + column] - dot(above, left);
            factor[row * size + column] = if row > column {
                rest / factor[column * size + column]
            } else if rest > size as f64 * f64::EPSILON * matrix[row * size + row] {
                rest.sqrt()
            } else {
                return Err(StatsError::NotPositiveDefinite { row });
            };
        }
    }
    Ok(factor)
}

/// `L⁻¹ values`, by forward substitution.
fn forward(factor: &[f64], values: &[f64]) -> Vec<f64> {
    let size = values.len();
    let mut out: Vec<f64> = Vec::with_capacity(size);
    for (row, value) in values.iter().enumerate() {
        let known = dot(&factor[row * size..][..row], &out);
        out.push((value - known) / factor[row * size + row]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: [f64; 5] = [1.0, 2.0, 3.0, 4.5, 6.0];
    const Z: [f64; 5] = [2.0, 1.0, 4.0, 3.0, 7.0];
    const Y: [f64; 5] = [1.0, 0.4, 2.2, 1.1, 3.0];
    const W: [f64; 5] = [1.0, 2.0, 0.5, 4.0, 1.5];

    fn near(left: &[f64], right: &[f64]) {
        assert_eq!(left.len(), right.len());
        for (l, r) in left.iter().zip(right) {
            assert!((l - r).abs() < 1e-12 * (1.0 + r.abs()), "{left:?} {right:?}");
        }
    }

    /// A constant as a mean and as a column; weights as such and as a diagonal covariance.
    #[test]
    fn ways_to_say_the_same_agree() {
        let columns = || vec![X.to_vec(), Z.to_vec()];
        let all = || vec![vec![1.0; 5], X.to_vec(), Z.to_vec()];
        let about = Design::new(&Y, columns()).weighted(&W).with_constant().fit(1e-9).unwrap();
        let beside = Design::new(&Y, all()).weighted(&W).fit(1e-9).unwrap();
        let mut covariance = vec![0.0; 25];
        (0..5).for_each(|at| covariance[6 * at] = 1.0 / W[at]);
        let whitened = Design::new(&Y, all()).whitened(&covariance).unwrap().fit(1e-9).unwrap();
        near(&about.coefficients, &beside.coefficients[1..]);
        near(&about.residuals, &beside.residuals);
        near(&about.leverage, &beside.leverage);
        near(&whitened.coefficients, &beside.coefficients);
        near(&[whitened.residual_sum_of_squares], &[about.residual_sum_of_squares]);
        near(&[about.variance_factor(&[1.0, -2.0])], &[beside.variance_factor(&[0.0, 1.0, -2.0])]);
        near(&[about.leverage.iter().sum::<f64>(), about.degrees_of_freedom() as f64], &[3.0, 2.0]);
        // Holding a coefficient at its best value changes no other.
        let held = Design::new(&Y, vec![vec![1.0; 5], X.to_vec()]).weighted(&W);
        let held = held.held(&Z, about.coefficients[1]).fit(1e-9).unwrap();
        near(&held.coefficients, &beside.coefficients[..2]);
    }

    #[test]
    fn an_error_left_out_is_that_of_a_refit() {
        let fit = Design::new(&Y, vec![X.to_vec()]).weighted(&W).with_constant().fit(0.0).unwrap();
        let less = |values: &[f64]| -> Vec<f64> { [&values[..2], &values[3..]].concat() };
        let again = Design::new(&less(&Y), vec![vec![1.0; 4], less(&X)]).weighted(&less(&W));
        let again = again.fit(0.0).unwrap();
        let error = Y[2] - again.coefficients[0] - again.coefficients[1] * X[2];
        near(&[fit.left_out_errors()[2].unwrap()], &[error]);
    }

    #[test]
    fn a_column_that_the_others_make_up_is_no_fit() {
        let double: Vec<f64> = X.iter().map(|x| 20.0 * x + 1.0).collect();
        assert!(Design::new(&Y, vec![X.to_vec(), double]).with_constant().fit(1e-9).is_none());
        assert!(Design::new(&Y, vec![vec![0.0; 5]]).fit(0.0).is_none());
        let indefinite =
            Design::new(&[1.0, 2.0], vec![vec![1.0; 2]]).whitened(&[1.0, 1.0, 1.0, 1.0]);
        assert_eq!(indefinite.unwrap_err(), StatsError::NotPositiveDefinite { row: 1 });
    }
}
