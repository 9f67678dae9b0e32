//! Intervals of curves by the profile of the sum of squares, with t quantiles.
//!
//! ```text
//! R(g) = min { Σ residual² : statistic = g },   { g : (R(g) - R(ĝ)) / s² <= t² },   s² = R(ĝ) / (n - p)
//! ```
//!
//! with t of `n - p` degrees of freedom, so that t² is the F quantile of 1 and n - p. For a
//! straight line this is Student's t interval to the digit; for a curve it follows the valley as it
//! bends, does not depend on how the curve is parametrised, respects limits, and says when the
//! points bound a parameter on one side only (Bates and Watts 1988, *Nonlinear Regression
//! Analysis*, ch. 6).
//!
//! [`prediction`] is the same idea for an observation that is still to come: it is added to the
//! points, and the interval is of those values whose addition raises the least sum of squares by no
//! more than `t² s²`.
//!
//! The constraint is a spring: `Σ residual² + w (statistic - g0)²` is minimised for a g0 that moves
//! outwards; its minimiser is exactly on the profile at the statistic it arrives at, whatever w.

use super::student;
use crate::error::StatsError;
use crate::forms::{Curve, Domain, Shape};
use crate::optimise::Minimum;
use crate::optimise::newton::{self, Residuals};
use crate::outcome::Caution;

/// An interval by profile. An end is absent when the points do not bound it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileInterval {
    /// Lower end; `None` when no value is low enough to be excluded.
    pub low: Option<f64>,
    /// Upper end; `None` when no value is high enough to be excluded.
    pub high: Option<f64>,
    /// Nominal coverage.
    pub level: f64,
    /// Points less parameters.
    pub degrees_of_freedom: usize,
}

impl ProfileInterval {
    /// Whether it holds `value`.
    pub fn holds(&self, value: f64) -> bool {
        self.low.is_none_or(|low| low <= value) && self.high.is_none_or(|high| value <= high)
    }

    /// The interval with `estimate` inside, which rounding may have put an ulp beyond an end.
    fn about(self, estimate: f64) -> Self {
        Self {
            low: self.low.map(|low| low.min(estimate)),
            high: self.high.map(|high| high.max(estimate)),
            ..self
        }
    }

    /// Both ends.
    ///
    /// # Errors
    /// [`StatsError::Unbounded`] when one is absent.
    pub fn bounds(&self) -> Result<(f64, f64), StatsError> {
        match (self.low, self.high) {
            (Some(low), Some(high)) => Ok((low, high)),
            (None, None) => Err(StatsError::Unbounded { side: "on either side" }),
            (None, _) => Err(StatsError::Unbounded { side: "from below" }),
            (_, None) => Err(StatsError::Unbounded { side: "from above" }),
        }
    }
}

/// Interval of a statistic of the curve: a parameter, a value.
///
/// The statistic must be smooth; where it has no finite value the curve is taken as not allowed.
///
/// # Errors
/// A level that is no probability; [`StatsError::NoSpringScale`] when the statistic does not move
/// with the curve.
pub fn interval(
    curve: &Curve,
    statistic: impl Fn(&Shape) -> f64,
    level: f64,
) -> Result<ProfileInterval, StatsError> {
    walk(curve, statistic, level, Of::Curve)
}

/// Interval of parameter `index` of the curve's formula, in the units of x and y. Where a parameter
/// cannot be below zero and no value is low enough to be excluded, the lower end is 0.
///
/// # Errors
/// As [`interval`]; a formula without that parameter.
pub fn parameter(curve: &Curve, index: usize, level: f64) -> Result<ProfileInterval, StatsError> {
    let form = curve.shape.form;
    let domain =
        form.domains().get(index).ok_or(StatsError::NoParameter { form: form.name(), index })?;
    let value = |shape: &Shape| shape.values()[index];
    let found = match domain {
        Domain::Real => interval(curve, value, level)?,
        Domain::NonNegative => {
            let found = interval(curve, value, level)?;
            ProfileInterval { low: Some(found.low.unwrap_or(0.0).max(0.0)), ..found }
        }
        Domain::Positive => {
            let found = interval(curve, |shape| value(shape).ln(), level)?;
            ProfileInterval {
                low: found.low.map(f64::exp),
                high: found.high.map(f64::exp),
                ..found
            }
        }
    };
    Ok(found.about(value(&curve.shape)))
}

/// Interval of the logarithm of one new observation at `x`, with the scatter of the points fitted.
///
/// # Errors
/// As [`interval`].
pub fn prediction(curve: &Curve, x: f64, level: f64) -> Result<ProfileInterval, StatsError> {
    walk(curve, |shape| shape.log_at(x).unwrap_or(f64::NAN), level, Of::Observation)
}

/// As [`interval`], so far from the optimum as the sum of squares rises by `radius² s²`, for a
/// radius that is not the t quantile of the curve's own degrees of freedom.
///
/// # Errors
/// As [`interval`].
pub fn interval_within(
    curve: &Curve,
    statistic: impl Fn(&Shape) -> f64,
    radius: f64,
    level: f64,
) -> Result<ProfileInterval, StatsError> {
    within(curve, statistic, radius, level, Of::Curve)
}

/// As [`prediction`], for such a radius.
///
/// # Errors
/// As [`interval`].
pub fn prediction_within(
    curve: &Curve,
    x: f64,
    radius: f64,
    level: f64,
) -> Result<ProfileInterval, StatsError> {
    within(curve, |shape| shape.log_at(x).unwrap_or(f64::NAN), radius, level, Of::Observation)
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    /// A statistic of the curve: the spring only leads there, and its pull does not count.
    Curve,
    /// A point still to come: the spring is that point's residual and counts like any other.
    Observation,
}

/// How stiff the spring is: times the curvature of the profile.
const STIFF: f64 = 1e4;

/// Steps outwards, each longer than the one before, before a side is called unbounded.
const OUTWARDS: usize = 40;

/// Steps of the search between two g0.
const BETWEEN: usize = 40;

fn walk(
    curve: &Curve,
    statistic: impl Fn(&Shape) -> f64,
    level: f64,
    of: Of,
) -> Result<ProfileInterval, StatsError> {
    let t = student::two_sided_quantile(level, curve.degrees_of_freedom())?;
    within(curve, statistic, t, level, of)
}

fn within(
    curve: &Curve,
    statistic: impl Fn(&Shape) -> f64,
    t: f64,
    level: f64,
    of: Of,
) -> Result<ProfileInterval, StatsError> {
    let degrees_of_freedom = curve.degrees_of_freedom();
    let estimate = statistic(&curve.shape);
    let variance = curve.residual_variance();
    let error = curve
        .standard_error(&statistic)
        .or_else(|| at_bound_error(curve, &statistic))
        .filter(|error| estimate.is_finite() && variance > 0.0 && *error > 0.0)
        .ok_or(StatsError::NoSpringScale)?;
    let (weight, step) = match of {
        Of::Curve => (STIFF * variance / (error * error), error),
        Of::Observation => (1.0, error.hypot(variance.sqrt())),
    };
    if curve.cautions.contains(&Caution::Exact) {
        // Sums of squares that are rounding have no profile; so close to the optimum the curve is
        // straight.
        let (low, high) = (Some(estimate - t * step), Some(estimate + t * step));
        return Ok(ProfileInterval { low, high, level, degrees_of_freedom });
    }
    let shape = curve.shape.clone();
    let mut spring = Spring { curve, statistic: &statistic, of, weight, target: estimate, shape };
    let mut end = |sign: f64| spring.end(sign, t, step);
    let found = ProfileInterval { low: end(-1.0), high: end(1.0), level, degrees_of_freedom };
    Ok(found.about(estimate))
}

/// A scale for a statistic that only moves with a parameter at its bound: by the derivatives of all
/// parameters.
fn at_bound_error(curve: &Curve, statistic: &impl Fn(&Shape) -> f64) -> Option<f64> {
    let largest = (0..curve.shape.beta.len() + curve.shape.theta.len())
        .map(|axis| {
            let column = curve.columns(&curve.shape, &[axis]).remove(0);
            let length = column.iter().map(|value| value * value).sum::<f64>().sqrt();
            curve.derivative(&curve.shape, axis, statistic).abs() / length
        })
        .filter(|ratio| ratio.is_finite())
        .fold(0.0, f64::max);
    (largest > 0.0).then(|| largest * curve.residual_variance().sqrt())
}

/// The points, and a spring that pulls the statistic to `target`.
struct Spring<'a, F> {
    curve: &'a Curve,
    statistic: &'a F,
    of: Of,
    weight: f64,
    target: f64,
    /// Where it was last asked.
    shape: Shape,
}

/// A point of the profile.
#[derive(Clone)]
struct Traced {
    /// Where the spring is fixed.
    target: f64,
    /// The statistic arrived at.
    value: f64,
    /// `sqrt((R - R(ĝ)) / s²)`.
    distance: f64,
    parameters: Vec<f64>,
}

impl<F: Fn(&Shape) -> f64> Spring<'_, F> {
    fn put(&mut self, parameters: &[f64]) {
        let linear = self.shape.beta.len();
        self.shape.beta.copy_from_slice(&parameters[..linear]);
        self.shape.theta.copy_from_slice(&parameters[linear..]);
    }

    /// Relaxes the spring fixed at `target`, from the parameters of a neighbour.
    fn relax(&mut self, target: f64, from: &[f64]) -> Option<Traced> {
        self.target = target;
        let bounds = self.curve.bounds();
        let Minimum { point: parameters, value: total } = newton::polish(self, from, &bounds);
        if total.is_infinite() {
            return None;
        }
        self.put(&parameters);
        let value = (self.statistic)(&self.shape);
        let pull = self.weight * (value - target) * (value - target);
        let (sum, value) = match self.of {
            Of::Curve => (total - pull, value),
            Of::Observation => (total, target),
        };
        let excess = (sum - self.curve.residual_sum_of_squares).max(0.0);
        Some(Traced {
            target,
            value,
            distance: (excess / self.curve.residual_variance()).sqrt(),
            parameters,
        })
    }

    /// The statistic where the distance reaches `t` on one side; `None` when it never does.
    fn end(&mut self, sign: f64, t: f64, step: f64) -> Option<f64> {
        let centre = (self.statistic)(&self.curve.shape);
        let parameters = [self.curve.shape.beta.clone(), self.curve.shape.theta.clone()].concat();
        let mut inside = Traced { target: centre, value: centre, distance: 0.0, parameters };
        // The first step is as long as it would be for a straight line; then further.
        let mut reach = 0.5 * t.min(4.0) * step;
        let mut stuck = 0;
        let mut outside = None;
        for _ in 0..OUTWARDS {
            let Some(next) = self.relax(inside.target + sign * reach, &inside.parameters) else {
                // Not allowed from here: go less far.
                reach *= 0.25;
                continue;
            };
            if next.distance >= t {
                outside = Some(next);
                break;
            }
            stuck = if (next.distance - inside.distance).abs() <= 1e-3 * t { stuck + 1 } else { 0 };
            if stuck > 8 {
                break;
            }
            inside = next;
            reach *= 1.6;
        }
        let mut outside = outside?;
        for _ in 0..BETWEEN {
            if outside.distance - t <= 1e-6 * t
                || (outside.value - inside.value).abs() <= 1e-9 * step
            {
                break;
            }
            // False position, kept away from the ends.
            let share = (t - inside.distance) / (outside.distance - inside.distance);
            let share = share.clamp(0.05, 0.95);
            let target = inside.target + share * (outside.target - inside.target);
            let from =
                if share < 0.5 { inside.parameters.clone() } else { outside.parameters.clone() };
            let Some(next) = self.relax(target, &from) else { break };
            if next.distance >= t {
                outside = next;
            } else {
                inside = next;
            }
        }
        let share = ((t - inside.distance) / (outside.distance - inside.distance)).clamp(0.0, 1.0);
        let found = inside.value + share * (outside.value - inside.value);
        Some(found).filter(|found| found.is_finite())
    }
}

impl<F: Fn(&Shape) -> f64> Residuals for Spring<'_, F> {
    // The spring leaves no valley flat.
    const UNSEEN: f64 = 1e-17;

    fn residuals(&mut self, point: &[f64], out: &mut Vec<f64>) -> bool {
        self.put(point);
        out.clear();
        let points = &self.curve.points;
        for (&u, &v) in points.u.iter().zip(&points.v) {
            match self.shape.form.value(u, points.span, &self.shape.theta, &self.shape.beta) {
                Some(value) => out.push(v - value),
                None => return false,
            }
        }
        let value = (self.statistic)(&self.shape);
        out.push(self.weight.sqrt() * (value - self.target));
        value.is_finite()
    }

    fn jacobian(&mut self, point: &[f64], columns: &mut [Vec<f64>]) {
        self.put(point);
        columns.iter_mut().for_each(Vec::clear);
        self.curve.each_slopes(&self.shape, |slopes| {
            for (column, slope) in columns.iter_mut().zip(slopes) {
                column.push(-slope);
            }
        });
        for (axis, column) in columns.iter_mut().enumerate() {
            column.push(
                self.weight.sqrt() * self.curve.derivative(&self.shape, axis, self.statistic),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::{
        self, Form, Span,
        power::{self, PowerForm},
        power_floor::PowerFloor,
    };

    const X: [f64; 7] = [1e6, 4e6, 2e7, 8e7, 3e8, 1e9, 7e9];

    #[test]
    fn of_a_straight_line_it_is_student_t() {
        let y = [9.0, 7.3, 5.6, 4.9, 3.8, 3.1, 2.4];
        let curve = forms::fit(&PowerForm, &X, &y).unwrap();
        let exact = power::fit(&X, &y).unwrap();
        let alpha = interval(&curve, |shape| shape.values()[1], 0.95).unwrap().bounds().unwrap();
        let expected = exact.exponent_interval(0.95).unwrap();
        assert!((alpha.0 / expected.low - 1.0).abs() < 1e-5, "{alpha:?} {expected:?}");
        assert!((alpha.1 / expected.high - 1.0).abs() < 1e-5);
        let at = 1e11;
        let mean =
            interval(&curve, |shape| shape.log_at(at).unwrap(), 0.9).unwrap().bounds().unwrap();
        let expected = exact.mean_interval(at, 0.9).unwrap();
        assert!(
            (mean.0.exp() / expected.low - 1.0).abs() < 1e-5
                && (mean.1.exp() / expected.high - 1.0).abs() < 1e-5
        );
        let new = prediction(&curve, at, 0.9).unwrap().bounds().unwrap();
        let expected = exact.prediction_interval(at, 0.9).unwrap();
        assert!(
            (new.0.exp() / expected.low - 1.0).abs() < 1e-5
                && (new.1.exp() / expected.high - 1.0).abs() < 1e-5
        );
    }

    #[test]
    fn the_ends_of_a_curve_lie_where_the_constrained_sum_says() {
        let wiggle = [0.01, -0.02, 0.015, 0.01, -0.02, 0.0, 0.01];
        let y: Vec<f64> = X
            .iter()
            .zip(wiggle)
            .map(|(x, w): (&f64, f64)| (60.0 * x.powf(-0.25) + 0.4) * w.exp())
            .collect();
        let curve = forms::fit(&PowerFloor, &X, &y).unwrap();
        let found = interval(&curve, |shape| shape.values()[1], 0.95).unwrap();
        let t = student::two_sided_quantile(0.95, 4).unwrap();
        let threshold = curve.residual_sum_of_squares * (1.0 + t * t / 4.0);
        // For a fixed alpha, the best of a fine search over the floor's share.
        let constrained = |alpha: f64| {
            (0..=20_000)
                .map(|at| {
                    let share = f64::from(at) / 20_000.0;
                    let offsets: Vec<f64> = curve
                        .points
                        .u
                        .iter()
                        .zip(&curve.points.v)
                        .map(|(&u, &v)| v - floor_offset(u, curve.points.span, alpha, share))
                        .collect();
                    let mean = offsets.iter().sum::<f64>() / 7.0;
                    offsets.iter().map(|offset| (offset - mean).powi(2)).sum::<f64>()
                })
                .fold(f64::INFINITY, f64::min)
        };
        let (low, high) = found.bounds().unwrap();
        assert!(low < 0.25 && 0.25 < high);
        for end in [low, high] {
            assert!(
                (constrained(end) / threshold - 1.0).abs() < 1e-4,
                "{end} {}",
                constrained(end) / threshold
            );
        }
    }

    fn floor_offset(u: f64, span: Span, alpha: f64, share: f64) -> f64 {
        PowerFloor.row(u, span, &[alpha, share]).unwrap().offset
    }

    #[test]
    fn exact_points_leave_an_interval_of_rounding() {
        let y = X.map(|x: f64| 60.0 * x.powf(-0.25) + 0.4);
        let curve = forms::fit(&PowerFloor, &X, &y).unwrap();
        for index in 0..3 {
            let (low, high) = parameter(&curve, index, 0.95).unwrap().bounds().unwrap();
            let value = curve.shape.values()[index];
            assert!(low <= value && value <= high && high / low - 1.0 < 1e-8, "[{low}, {high}]");
        }
    }

    #[test]
    fn what_is_not_bounded_is_said() {
        // Four points, three parameters: any steepness will do.
        let curve = forms::fit(&PowerFloor, &X[..4], &[3.0, 2.5, 2.2, 1.9]).unwrap();
        let found = interval(&curve, |shape| shape.values()[1], 0.95).unwrap();
        assert!(found.high.is_none());
        assert!(found.bounds().unwrap_err().to_string().starts_with("the points do not bound it"));
    }
}
