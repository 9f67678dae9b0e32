//! A fitted form, and what it can be asked.

use super::{Form, Frame, Span};
use crate::optimise::varpro::{self, Axis, DesignRow, Separable};
use crate::optimise::{Symmetric, orthonormal};
use crate::outcome::Caution;

/// A form with numbers in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Which form.
    pub form: &'static dyn Form,
    /// The units and range it is described in.
    pub frame: Frame,
    /// The parameters searched for, in the form's own terms.
    pub theta: Vec<f64>,
    /// The linear parameters of `ln y`.
    pub beta: Vec<f64>,
}

impl Shape {
    /// The value at `x > 0`, in the unit of y; `None` where the form has none above zero or the
    /// value exceeds the range of numbers.
    pub fn at(&self, x: f64) -> Option<f64> {
        Some(self.log_at(x)?.exp()).filter(|value| value.is_finite() && *value > 0.0)
    }

    /// The logarithm of [`at`](Self::at), which has the wider range.
    pub fn log_at(&self, x: f64) -> Option<f64> {
        let u = x.ln() - self.frame.log_x;
        let value = self.form.value(u, self.frame.span, &self.theta, &self.beta)?;
        Some(self.frame.log_y + value).filter(|value| value.is_finite())
    }

    /// The parameters of the formula, in the units of x and y. One that exceeds the range of
    /// numbers is infinite.
    pub fn values(&self) -> Vec<f64> {
        self.form.report(&self.frame, &self.theta, &self.beta)
    }
}

/// Share of a derivative that no other has, up to which it is rounding.
pub(super) const PARALLEL: f64 = 1e-10;

/// One parameter of a fitted formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name in the formula.
    pub name: &'static str,
    /// Its value, in the units of x and y; infinite when it exceeds the range of numbers.
    pub value: f64,
    /// By the curvature at the optimum (delta method), the parameters at their bounds held there;
    /// absent when it has no meaning.
    pub standard_error: Option<f64>,
}

/// A form fitted to points by least squares of `ln y`.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The form with its best numbers.
    pub shape: Shape,
    /// `ln y - ln fitted`, in the order of the points.
    pub residuals: Vec<f64>,
    /// Each point's own weight in its fitted value, to first order; they sum to the number of free
    /// parameters.
    pub leverage: Vec<f64>,
    /// `Σ residual²`.
    pub residual_sum_of_squares: f64,
    /// `1 - Σ residual² / Σ (ln y - mean)²`; absent when all y are equal.
    pub r_squared: Option<f64>,
    /// How nearly two parameters can stand in for one another: the condition number of the scaled
    /// derivatives.
    pub condition: f64,
    /// What to know before quoting the fit.
    pub cautions: Vec<Caution>,
    pub(crate) points: Points,
}

/// The points in the frame of the fit, with the form's search box on them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Points {
    pub(crate) form: &'static dyn Form,
    pub(crate) span: Span,
    pub(crate) u: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(super) axes: Vec<Axis>,
}

impl Separable for Points {
    fn points(&self) -> usize {
        self.u.len()
    }

    fn linear(&self) -> usize {
        self.form.linear()
    }

    fn axes(&self) -> &[Axis] {
        &self.axes
    }

    fn row(&self, point: usize, theta: &[f64]) -> Option<DesignRow> {
        self.form.row(self.u[point], self.span, theta)
    }
}

impl Curve {
    /// Number of points.
    pub fn points(&self) -> usize {
        self.residuals.len()
    }

    /// Points less parameters, those at a bound included: at least 1.
    pub fn degrees_of_freedom(&self) -> usize {
        self.points() - self.shape.form.parameters().len()
    }

    /// `Σ residual² / (n - p)`.
    pub fn residual_variance(&self) -> f64 {
        self.residual_sum_of_squares / self.degrees_of_freedom() as f64
    }

    /// The parameters of the formula with their standard errors.
    pub fn parameters(&self) -> Vec<Parameter> {
        let values = self.shape.values();
        let names = self.shape.form.parameters();
        names
            .iter()
            .zip(values)
            .enumerate()
            .map(|(at, (&name, value))| Parameter {
                name,
                value,
                standard_error: self.standard_error(|shape| shape.values()[at]),
            })
            .collect()
    }

    /// Standard error of any smooth function of the curve by the delta method:
    /// `sqrt(s² g' (J'J)⁻¹ g)`, over the parameters that are not at a bound. `None` when the
    /// derivatives are parallel, or the function does not move.
    pub fn standard_error(&self, statistic: impl Fn(&Shape) -> f64) -> Option<f64> {
        let free = self.free();
        let inverse = Symmetric::from_columns(&self.columns(&self.shape, &free)).inverse()?;
        let gradient: Vec<f64> =
            free.iter().map(|&axis| self.derivative(&self.shape, axis, &statistic)).collect();
        let variance: f64 = gradient
            .iter()
            .enumerate()
            .map(|(row, left)| {
                let along: f64 = gradient
                    .iter()
                    .zip(&inverse[row * free.len()..])
                    .map(|(right, c)| right * c)
                    .sum();
                left * along
            })
            .sum();
        let error = (variance * self.residual_variance()).sqrt();
        (error.is_finite() && error > 0.0).then_some(error)
    }

    /// The fit to other values at the same x, from the optimum here and from the middle of the
    /// form's range: for resamples. `values` are logarithms less [`Frame::log_y`].
    pub(crate) fn refit(&self, values: &[f64]) -> Option<Shape> {
        let mut starts = vec![self.shape.theta.clone()];
        // From the middle of each axis too, should the optimum have moved away from a bound.
        for (axis, limits) in self.points.axes.iter().enumerate() {
            if let Some(&middle) = limits.starts.get(limits.starts.len() / 2) {
                let mut start = self.shape.theta.clone();
                start[axis] = middle;
                starts.push(start);
            }
        }
        let starts: Vec<&[f64]> = starts.iter().map(Vec::as_slice).collect();
        let found = varpro::refit(&self.points, values, &starts)?;
        Some(Shape { theta: found.theta, beta: found.beta, ..self.shape.clone() })
    }

    /// Limits of each parameter, linear ones first.
    pub(crate) fn bounds(&self) -> Vec<crate::optimise::Bound> {
        let linear = std::iter::repeat_n(crate::optimise::Bound::NONE, self.shape.beta.len());
        linear.chain(self.points.axes.iter().map(|axis| axis.bound)).collect()
    }

    /// θ that stand at a limit: index, and whether it is the upper one.
    pub(crate) fn at_bounds(&self) -> Vec<(usize, bool)> {
        let near = |value: f64, limit: f64, width: f64| (value - limit).abs() <= 1e-9 * width;
        self.points
            .axes
            .iter()
            .zip(&self.shape.theta)
            .enumerate()
            .filter_map(|(axis, (limits, &value))| {
                let width = limits.bound.high - limits.bound.low;
                if near(value, limits.bound.low, width) {
                    Some((axis, false))
                } else {
                    near(value, limits.bound.high, width).then_some((axis, true))
                }
            })
            .collect()
    }

    /// Parameters that are not at a bound: linear ones first, as in [`bounds`](Self::bounds).
    pub(crate) fn free(&self) -> Vec<usize> {
        let held: Vec<usize> =
            self.at_bounds().iter().map(|(axis, _)| self.shape.beta.len() + axis).collect();
        (0..self.shape.beta.len() + self.shape.theta.len())
            .filter(|axis| !held.contains(axis))
            .collect()
    }

    /// An orthonormal basis of the directions in which the fitted `ln y` can move, parameters at a
    /// bound held there.
    pub(crate) fn tangent(&self) -> Vec<Vec<f64>> {
        orthonormal(self.columns(&self.shape, &self.free()), PARALLEL)
    }

    /// What each `ln y` weighs in a statistic of the curve, to first order: the gradient carried
    /// through the normal equations. Zeros where the derivatives are parallel.
    pub(crate) fn weights(
        &self,
        tangent: &[Vec<f64>],
        statistic: impl Fn(&Shape) -> f64,
    ) -> Vec<f64> {
        let free = self.free();
        let columns = self.columns(&self.shape, &free);
        let none = vec![0.0; self.points()];
        let Some(inverse) =
            Symmetric::from_columns(&columns).inverse().filter(|_| tangent.len() == free.len())
        else {
            return none;
        };
        let gradient: Vec<f64> =
            free.iter().map(|&axis| self.derivative(&self.shape, axis, &statistic)).collect();
        let mut weights = none;
        for (row, column) in columns.iter().enumerate() {
            let along: f64 =
                gradient.iter().zip(&inverse[row * free.len()..]).map(|(g, c)| g * c).sum();
            weights.iter_mut().zip(column).for_each(|(weight, value)| *weight += along * value);
        }
        weights
    }

    /// Derivatives of the fitted `ln y` by the chosen parameters, a column each.
    pub(crate) fn columns(&self, shape: &Shape, chosen: &[usize]) -> Vec<Vec<f64>> {
        let mut columns = vec![Vec::with_capacity(self.points.u.len()); chosen.len()];
        self.each_slopes(shape, |slopes| {
            for (column, &axis) in columns.iter_mut().zip(chosen) {
                column.push(slopes[axis]);
            }
        });
        columns
    }

    /// Hands the derivatives at each point in turn to `take`, by all parameters.
    pub(crate) fn each_slopes(&self, shape: &Shape, mut take: impl FnMut(&[f64])) {
        let mut slopes = vec![0.0; shape.beta.len() + shape.theta.len()];
        for &u in &self.points.u {
            shape.form.slopes(u, shape.frame.span, &shape.theta, &shape.beta, &mut slopes);
            take(&slopes);
        }
    }

    /// Derivative of a statistic by parameter `axis`, by central differences inside the limits.
    pub(crate) fn derivative(
        &self,
        shape: &Shape,
        axis: usize,
        statistic: &impl Fn(&Shape) -> f64,
    ) -> f64 {
        let linear = shape.beta.len();
        let bound = self.bounds()[axis];
        let value = if axis < linear { shape.beta[axis] } else { shape.theta[axis - linear] };
        let width = bound.high - bound.low;
        let scale =
            if width.is_finite() { value.abs().max(1e-2 * width) } else { value.abs().max(1.0) };
        let there = |at: f64| {
            let mut moved = shape.clone();
            let at = bound.clamp(at);
            if axis < linear {
                moved.beta[axis] = at;
            } else {
                moved.theta[axis - linear] = at;
            }
            (statistic(&moved), at)
        };
        let ((above, high), (below, low)) =
            (there(value + 1e-6 * scale), there(value - 1e-6 * scale));
        (above - below) / (high - low)
    }
}
