//! Quasi-Newton descent for smooth functions of a few parameters (Broyden, Fletcher, Goldfarb,
//! Shanno 1970).
//!
//! It stops when steps gain nothing in the digits of the function's own value, never at an absolute
//! tolerance: an objective of 1e-3 is minimised as well as one of 1e3. (SciPy's L-BFGS-B stops at
//! the start on Chinchilla's points, and reports success.)

use super::{Minimum, dot};

/// Steps at most.
const STEPS: usize = 500;

/// Walks downhill from `start`; `function` writes its gradient and returns its value (NaN or
/// infinity: not allowed). Never ends above the start.
pub fn minimise(mut function: impl FnMut(&[f64], &mut [f64]) -> f64, start: &[f64]) -> Minimum {
    let size = start.len();
    let mut point = start.to_vec();
    let mut gradient = vec![0.0; size];
    let mut value = function(&point, &mut gradient);
    if !value.is_finite() {
        return Minimum { point, value: f64::INFINITY };
    }
    let mut inverse = identity(size);
    let (mut fresh, mut stalled) = (true, 0);
    let (mut trial, mut next) = (vec![0.0; size], vec![0.0; size]);
    for _ in 0..STEPS {
        let mut direction: Vec<f64> =
            (0..size).map(|row| -dot(&inverse[row * size..][..size], &gradient)).collect();
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 || !slope.is_finite() {
            inverse = identity(size);
            fresh = true;
            direction = gradient.iter().map(|g| -g).collect();
            slope = -dot(&gradient, &gradient);
        }
        if slope == 0.0 {
            break;
        }
        // The first step of a fresh start knows no scale: a tenth of a unit.
        let mut length =
            if fresh { (0.1 / dot(&direction, &direction).sqrt()).min(1.0) } else { 1.0 };
        let mut found = f64::INFINITY;
        for _ in 0..40 {
            trial
                .iter_mut()
                .zip(&point)
                .zip(&direction)
                .for_each(|((t, p), d)| *t = p + length * d);
            found = function(&trial, &mut next);
            if found.is_finite() && found <= value + 1e-4 * length * slope {
                break;
            }
            length *= 0.4;
            found = f64::INFINITY;
        }
        if !found.is_finite() {
            if fresh {
                break;
            }
            inverse = identity(size);
            fresh = true;
            continue;
        }
        let step: Vec<f64> = trial.iter().zip(&point).map(|(t, p)| t - p).collect();
        let change: Vec<f64> = next.iter().zip(&gradient).map(|(n, g)| n - g).collect();
        let gain = value - found;
        point.copy_from_slice(&trial);
        gradient.copy_from_slice(&next);
        value = found;
        update(&mut inverse, &step, &change, fresh);
        fresh = false;
        stalled = if gain <= 1e-15 * value.abs() { stalled + 1 } else { 0 };
        if stalled == 3 {
            break;
        }
    }
    Minimum { point, value }
}

/// `H ← (1 - ρ s yᵀ) H (1 - ρ y sᵀ) + ρ s sᵀ`, left out where the curvature along the step is not
/// positive.
fn update(inverse: &mut [f64], step: &[f64], change: &[f64], fresh: bool) {
    let size = step.len();
    let along = dot(step, change);
    if along <= 1e-12 * (dot(step, step) * dot(change, change)).sqrt() {
        return;
    }
    if fresh {
        let scale = along / dot(change, change);
        inverse.iter_mut().for_each(|value| *value *= scale);
    }
    let turned: Vec<f64> =
        (0..size).map(|row| dot(&inverse[row * size..][..size], change)).collect();
    let factor = (1.0 + dot(change, &turned) / along) / along;
    for row in 0..size {
        for column in 0..size {
            inverse[row * size + column] += factor * step[row] * step[column]
                - (turned[row] * step[column] + step[row] * turned[column]) / along;
        }
    }
}

fn identity(size: usize) -> Vec<f64> {
    (0..size * size).map(|at| if at / size == at % size { 1.0 } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rosenbrock(scale: f64) -> impl FnMut(&[f64], &mut [f64]) -> f64 {
        move |p, gradient| {
            let (a, b) = (1.0 - p[0], p[1] - p[0] * p[0]);
            gradient[0] = scale * (-2.0 * a - 400.0 * p[0] * b);
            gradient[1] = scale * 200.0 * b;
            scale * (a * a + 100.0 * b * b)
        }
    }

    #[test]
    fn a_narrow_valley_is_followed_whatever_the_scale() {
        for scale in [1e-9, 1.0, 1e9] {
            let found = minimise(rosenbrock(scale), &[-1.2, 1.0]);
            assert!(
                (found.point[0] - 1.0).abs() < 1e-6 && (found.point[1] - 1.0).abs() < 1e-6,
                "{scale}: {found:?}"
            );
        }
    }

    #[test]
    fn a_start_that_is_not_allowed_stays_where_it_is() {
        let found = minimise(|_, _| f64::NAN, &[3.0]);
        assert_eq!((found.point.as_slice(), found.value), (&[3.0][..], f64::INFINITY));
    }
}
