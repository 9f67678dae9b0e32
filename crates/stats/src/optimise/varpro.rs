//! Curves that are linear in some of their parameters: variable projection (Golub and Pereyra
//! 1973).
//!
//! ```text
//! target ≈ offset(θ) + Σ_j β_j basis_j(θ),   r(θ) = P⊥ (target - offset(θ))
//! ```
//!
//! For each θ the β are a linear least-squares problem and are never searched for, so only one or
//! two parameters are left to go wrong. The derivative of r is Kaufman's (1975),
//! `-P⊥ (∂offset + Σ β ∂basis)`.
//!
//! Every point of a grid laid by the form on its data is asked; the valleys of the grid are where
//! the [search](super::search) starts.

use super::newton::{self, Residuals};
use super::search::{LeastSquares, lowest, search, walked};
use super::{Bound, dot, subtract};

/// Most linear parameters of a form.
pub const LINEAR: usize = 3;

/// Most other parameters of a form.
pub const NONLINEAR: usize = 2;

/// A form at one point: what is added up there, and its derivatives by each θ.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DesignRow {
    /// The part without a linear parameter.
    pub offset: f64,
    /// Factor of each linear parameter; unused ones stay 0.
    pub basis: [f64; LINEAR],
    /// Derivative of the offset by each θ.
    pub offset_slope: [f64; NONLINEAR],
    /// Derivative of each basis function by each θ.
    pub basis_slope: [[f64; LINEAR]; NONLINEAR],
}

impl DesignRow {
    /// The value for these linear parameters.
    pub fn value(&self, beta: &[f64]) -> f64 {
        self.offset + beta.iter().zip(&self.basis).map(|(b, x)| b * x).sum::<f64>()
    }

    /// Its derivative by θ number `axis`.
    pub fn slope(&self, beta: &[f64], axis: usize) -> f64 {
        self.offset_slope[axis]
            + beta.iter().zip(&self.basis_slope[axis]).map(|(b, x)| b * x).sum::<f64>()
    }
}

/// One θ: where it may lie and where to look first.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Limits.
    pub bound: Bound,
    /// Values of the grid, ascending, at least one.
    pub starts: Vec<f64>,
}

/// A curve at given points.
pub trait Separable {
    /// Number of points.
    fn points(&self) -> usize;
    /// Number of linear parameters, from 1 to [`LINEAR`].
    fn linear(&self) -> usize;
    /// The other parameters, at most [`NONLINEAR`].
    fn axes(&self) -> &[Axis];
    /// The form at a point; `None` where these θ are not allowed.
    fn row(&self, point: usize, theta: &[f64]) -> Option<DesignRow>;
}

/// The best fit seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The parameters searched for.
    pub theta: Vec<f64>,
    /// The linear parameters that go with them.
    pub beta: Vec<f64>,
    /// `target - fit`.
    pub residuals: Vec<f64>,
    /// `Σ residual²`.
    pub sum: f64,
    /// Two methods from different starts agree on the sum to one part in a million.
    pub confirmed: bool,
}

/// Share of the target's sum of squares below which sums are rounding.
const ROUNDING: f64 = 1e-18;

/// Most valleys of the grid that are walked down.
const VALLEYS: usize = 4;

/// Fits from scratch: grid, polish, confirmation. `None` when no point of the grid is allowed.
pub fn fit(problem: &impl Separable, target: &[f64]) -> Option<Solution> {
    let bounds: Vec<Bound> = problem.axes().iter().map(|axis| axis.bound).collect();
    if bounds.is_empty() {
        let mut projected = Projected::new(problem, target);
        return projected.at(&[]).then(|| projected.solution(&[], true));
    }
    let mut projected = Projected::new(problem, target);
    let valleys = valleys(&mut projected);
    let from = valleys.first()?.clone();
    let steps: Vec<f64> = problem.axes().iter().map(step).collect();
    let noise = ROUNDING * target.iter().map(|value| value * value).sum::<f64>();
    let mut methods = LeastSquares {
        problem: &mut projected,
        bounds: &bounds,
        from: &from,
        steps: &steps,
        noise,
    };
    let found = search(&mut methods, valleys, 1)?;
    let theta = found.best.point;
    projected.at(&theta).then(|| projected.solution(&theta, found.confirmed))
}

/// Fits again to a slightly different target, from the given starts alone: for resamples.
pub fn refit(problem: &impl Separable, target: &[f64], starts: &[&[f64]]) -> Option<Solution> {
    let bounds: Vec<Bound> = problem.axes().iter().map(|axis| axis.bound).collect();
    let mut projected = Projected::new(problem, target);
    let theta = walked(starts, |start| newton::polish(&mut projected, start, &bounds))?.point;
    projected.at(&theta).then(|| projected.solution(&theta, false))
}

/// A first step of a simplex: a tenth of the grid, or of the box.
fn step(axis: &Axis) -> f64 {
    let width = match axis.starts[..] {
        [first, .., last] => last - first,
        _ => axis.bound.high - axis.bound.low,
    };
    if width > 0.0 && width.is_finite() { 0.1 * width } else { 1.0 }
}

/// Where to walk down from: the points of the grid that are lowest among their neighbours along the
/// first axis, each with the best of the second axis, lowest first.
fn valleys<P: Separable>(projected: &mut Projected<'_, P>) -> Vec<Vec<f64>> {
    let axes = projected.problem.axes().to_vec();
    let second: &[f64] = axes.get(1).map_or(&[f64::NAN], |axis| &axis.starts);
    let ridge: Vec<(Vec<f64>, f64)> = axes[0]
        .starts
        .iter()
        .flat_map(|&first| {
            let places = second.iter().map(|&second| [first, second][..axes.len()].to_vec());
            lowest(places, |theta| projected.sum(theta), 1)
        })
        .collect();
    let value = |at: usize| ridge.get(at).map_or(f64::INFINITY, |point| point.1);
    let low = (0..ridge.len()).filter(|&at| {
        value(at).is_finite()
            && value(at) <= value(at.wrapping_sub(1))
            && value(at) <= value(at + 1)
    });
    lowest(low, |at| value(*at), VALLEYS).into_iter().map(|(at, _)| ridge[at].0.clone()).collect()
}

/// The problem with its linear parameters projected out.
struct Projected<'a, P> {
    problem: &'a P,
    target: &'a [f64],
    rows: Vec<DesignRow>,
    /// Orthonormal columns that span the basis.
    orthonormal: Vec<Vec<f64>>,
    beta: Vec<f64>,
    residuals: Vec<f64>,
}

impl<'a, P: Separable> Projected<'a, P> {
    fn new(problem: &'a P, target: &'a [f64]) -> Self {
        let points = problem.points();
        Self {
            problem,
            target,
            rows: Vec::with_capacity(points),
            orthonormal: vec![Vec::with_capacity(points); problem.linear()],
            beta: vec![0.0; problem.linear()],
            residuals: Vec::with_capacity(points),
        }
    }

    fn sum(&mut self, theta: &[f64]) -> f64 {
        if self.at(theta) { self.residuals.iter().map(|r| r * r).sum() } else { f64::INFINITY }
    }

    /// Solves for the linear parameters at θ; false where θ is not allowed.
    fn at(&mut self, theta: &[f64]) -> bool {
        self.rows.clear();
        for point in 0..self.problem.points() {
            match self.problem.row(point, theta) {
                Some(row) => self.rows.push(row),
                None => return false,
            }
        }
        let linear = self.problem.linear();
        self.residuals.clear();
        self.residuals
            .extend(self.target.iter().zip(&self.rows).map(|(value, row)| value - row.offset));
        // Modified Gram-Schmidt, twice for the orthogonality of nearly parallel columns.
        let mut upper = [[0.0; LINEAR]; LINEAR];
        let mut shares = [0.0; LINEAR];
        for column in 0..linear {
            let (done, rest) = self.orthonormal.split_at_mut(column);
            let current = &mut rest[0];
            current.clear();
            current.extend(self.rows.iter().map(|row| row.basis[column]));
            let length = dot(current, current).sqrt();
            for _ in 0..2 {
                for (at, known) in done.iter().enumerate() {
                    let share = dot(known, current);
                    upper[at][column] += share;
                    subtract(current, known, share);
                }
            }
            let left = dot(current, current).sqrt();
            // A column of zeros, or one that the others make up; NaN too.
            if left.is_nan() || left <= 1e-12 * length {
                return false;
            }
            upper[column][column] = left;
            current.iter_mut().for_each(|value| *value /= left);
            let share = dot(current, &self.residuals);
            shares[column] = share;
            subtract(&mut self.residuals, current, share);
        }
        for row in (0..linear).rev() {
            let known: f64 = (row + 1..linear).map(|at| upper[row][at] * self.beta[at]).sum();
            self.beta[row] = (shares[row] - known) / upper[row][row];
        }
        self.residuals.iter().all(|r| r.is_finite())
    }

    fn solution(&self, theta: &[f64], confirmed: bool) -> Solution {
        Solution {
            theta: theta.to_vec(),
            beta: self.beta.clone(),
            residuals: self.residuals.clone(),
            sum: dot(&self.residuals, &self.residuals),
            confirmed,
        }
    }
}

impl<P: Separable> Residuals for Projected<'_, P> {
    fn residuals(&mut self, point: &[f64], out: &mut Vec<f64>) -> bool {
        let allowed = self.at(point);
        out.clear();
        out.extend_from_slice(&self.residuals);
        allowed
    }

    fn jacobian(&mut self, _: &[f64], columns: &mut [Vec<f64>]) {
        for (axis, column) in columns.iter_mut().enumerate() {
            column.clear();
            column.extend(self.rows.iter().map(|row| -row.slope(&self.beta, axis)));
            for known in &self.orthonormal {
                let share = dot(known, column);
                subtract(column, known, share);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `β_1 + β_2 exp(-θ x)`.
    struct Decay {
        x: Vec<f64>,
        axes: [Axis; 1],
    }

    impl Separable for Decay {
        fn points(&self) -> usize {
            self.x.len()
        }
        fn linear(&self) -> usize {
            2
        }
        fn axes(&self) -> &[Axis] {
            &self.axes
        }
        fn row(&self, point: usize, theta: &[f64]) -> Option<DesignRow> {
            let e = (-theta[0] * self.x[point]).exp();
            let mut row = DesignRow { basis: [1.0, e, 0.0], ..DesignRow::default() };
            row.basis_slope[0][1] = -self.x[point] * e;
            Some(row)
        }
    }

    fn decay() -> Decay {
        let starts = vec![0.01, 0.1, 1.0, 10.0];
        Decay {
            x: (0..8).map(f64::from).collect(),
            axes: [Axis { bound: Bound { low: 1e-3, high: 50.0 }, starts }],
        }
    }

    #[test]
    fn known_parameters_come_back() {
        let problem = decay();
        let target: Vec<f64> = problem.x.iter().map(|x| 2.0 - 5.0 * (-0.37 * x).exp()).collect();
        let found = fit(&problem, &target).unwrap();
        assert!((found.theta[0] - 0.37).abs() < 1e-10, "{found:?}");
        assert!((found.beta[0] - 2.0).abs() < 1e-9 && (found.beta[1] + 5.0).abs() < 1e-9);
        assert!(found.confirmed && found.sum < 1e-20);
        let again = refit(&problem, &target, &[&[0.5]]).unwrap();
        assert!((again.theta[0] - 0.37).abs() < 1e-10);
    }

    #[test]
    fn the_linear_part_is_a_least_squares_solution() {
        let problem = decay();
        let target = [1.0, 3.0, 2.0, 4.0, 3.5, 5.0, 4.4, 5.2];
        let found = fit(&problem, &target).unwrap();
        for column in 0..2 {
            let normal: f64 = (0..8)
                .map(|at| {
                    problem.row(at, &found.theta).unwrap().basis[column] * found.residuals[at]
                })
                .sum();
            assert!(normal.abs() < 1e-12, "{normal}");
        }
        for theta in [found.theta[0] * 0.99, found.theta[0] * 1.01] {
            assert!(Projected::new(&problem, &target).sum(&[theta]) > found.sum);
        }
    }
}
