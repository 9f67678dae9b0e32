//! Damped Gauss-Newton in a box (Levenberg 1944, Marquardt 1963) for sums of squares.
//!
//! ```text
//! (JᵀJ + λ D) step = -Jᵀr,   D = diag(JᵀJ)
//! ```
//!
//! with the columns of J scaled to length one, which is D. λ falls tenfold after a step that lowers
//! the sum and rises tenfold after one that does not. A parameter that stands at its bound and is
//! pushed outwards is held there for the step; a step that would leave the box is cut at the bound.

use super::{Bound, Minimum, Symmetric, dot, solve};

/// What is minimised is `Σ r²` of these.
pub trait Residuals {
    /// Share of the sum of squares whose gain is not worth a step. By default none is too small:
    /// along a valley that is flat to rounding, steps that gain next to nothing lead far.
    const UNSEEN: f64 = 0.0;

    /// Writes the residuals at `point`. False when the point is not allowed.
    fn residuals(&mut self, point: &[f64], out: &mut Vec<f64>) -> bool;

    /// Writes the derivative of the residuals by each parameter, a column each, at the point that
    /// [`residuals`](Self::residuals) was last called with successfully.
    fn jacobian(&mut self, point: &[f64], columns: &mut [Vec<f64>]);
}

/// Steps at most; each costs a Jacobian.
const STEPS: usize = 60;

/// Walks downhill from `start`, clamped to the bounds: never ends above it. Of infinite value when
/// the start itself is not allowed.
pub fn polish<P: Residuals>(problem: &mut P, start: &[f64], bounds: &[Bound]) -> Minimum {
    let mut residuals = Vec::new();
    let mut trial = Vec::new();
    let mut point: Vec<f64> =
        start.iter().zip(bounds).map(|(value, bound)| bound.clamp(*value)).collect();
    if !problem.residuals(&point, &mut residuals) {
        return Minimum { point, value: f64::INFINITY };
    }
    let mut sum = squares(&residuals);
    let mut columns = vec![Vec::new(); point.len()];
    let mut damping = 1e-4;
    for _ in 0..STEPS {
        problem.jacobian(&point, &mut columns);
        let gradient: Vec<f64> = columns.iter().map(|column| dot(column, &residuals)).collect();
        let free: Vec<usize> = (0..point.len())
            .filter(|&axis| {
                let (value, bound) = (point[axis], bounds[axis]);
                !(value <= bound.low && gradient[axis] > 0.0
                    || value >= bound.high && gradient[axis] < 0.0)
            })
            .collect();
        if free.is_empty() {
            break;
        }
        let chosen: Vec<Vec<f64>> = free.iter().map(|&axis| columns[axis].clone()).collect();
        let normal = Symmetric::from_columns(&chosen);
        let right: Vec<f64> = free
            .iter()
            .zip(&normal.lengths)
            .map(|(&axis, length)| -gradient[axis] / length)
            .collect();
        let before = sum;
        let mut moved = false;
        while damping < 1e12 {
            let Some(step) = solve(&normal.values, &right, damping) else {
                damping *= 10.0;
                continue;
            };
            // What the linear model of the residuals promises; a smaller step promises less.
            let promised: f64 =
                right.iter().zip(&step).map(|(right, step)| step * (right + damping * step)).sum();
            if P::UNSEEN > 0.0 && promised <= P::UNSEEN * sum {
                break;
            }
            let mut next = point.clone();
            for ((&axis, step), length) in free.iter().zip(&step).zip(&normal.lengths) {
                next[axis] = bounds[axis].clamp(point[axis] + step / length);
            }
            if problem.residuals(&next, &mut trial) && squares(&trial) < sum {
                sum = squares(&trial);
                std::mem::swap(&mut residuals, &mut trial);
                point.copy_from_slice(&next);
                damping = (damping * 0.1).max(1e-14);
                moved = true;
                break;
            }
            damping *= 10.0;
        }
        // The last trial was the step taken, so that the next Jacobian belongs to `point`.
        if !moved || before - sum <= 1e-15 * before {
            break;
        }
    }
    Minimum { point, value: sum }
}

fn squares(values: &[f64]) -> f64 {
    let sum = dot(values, values);
    if sum.is_nan() { f64::INFINITY } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley as residuals `10 (y - x²)` and `1 - x`.
    struct Valley;

    impl Residuals for Valley {
        fn residuals(&mut self, point: &[f64], out: &mut Vec<f64>) -> bool {
            out.clear();
            out.extend([10.0 * (point[1] - point[0] * point[0]), 1.0 - point[0]]);
            true
        }

        fn jacobian(&mut self, point: &[f64], columns: &mut [Vec<f64>]) {
            columns[0] = vec![-20.0 * point[0], -1.0];
            columns[1] = vec![10.0, 0.0];
        }
    }

    #[test]
    fn the_valley_is_walked_to_its_end() {
        let Minimum { point, value: sum } = polish(&mut Valley, &[-1.2, 1.0], &[Bound::NONE; 2]);
        assert!(sum < 1e-25 && (point[0] - 1.0).abs() < 1e-12, "{sum} {point:?}");
    }

    #[test]
    fn a_wall_stops_it_at_the_best_point_of_the_wall() {
        // With x <= 0.5 the least is at x = 0.5, y = 0.25: sum 0.25.
        let walls = [Bound { low: f64::NEG_INFINITY, high: 0.5 }, Bound::NONE];
        let Minimum { point, value: sum } = polish(&mut Valley, &[-1.2, 1.0], &walls);
        assert!(
            (sum - 0.25).abs() < 1e-12 && point[0] == 0.5 && (point[1] - 0.25).abs() < 1e-7,
            "{point:?}"
        );
    }

    #[test]
    fn a_start_that_is_not_allowed_is_said() {
        struct Never;
        impl Residuals for Never {
            fn residuals(&mut self, _: &[f64], _: &mut Vec<f64>) -> bool {
                false
            }
            fn jacobian(&mut self, _: &[f64], _: &mut [Vec<f64>]) {}
        }
        assert_eq!(polish(&mut Never, &[0.0], &[Bound::NONE]).value, f64::INFINITY);
    }
}
