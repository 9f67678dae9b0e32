//! Huber's loss of the logarithm from a grid of starts.

use super::{Surface, SurfaceFit, centre, check, project};
use crate::error::StatsError;
use crate::optimise::newton::Bound;
use crate::optimise::{bfgs, nelder_mead};

/// How the robust fit is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    /// Where the loss turns from square to linear, in logarithms of the loss.
    pub delta: f64,
    /// From these parameters of the formula alone (E, A, B, alpha, beta), for resamples; without them from a grid.
    pub start: Option<Surface>,
}

impl Default for Huber {
    /// As Hoffmann et al. 2022: 1e-3.
    fn default() -> Self {
        Self { delta: 1e-3, start: None }
    }
}

/// Starts of the grid that are walked down from, besides the least-squares surface.
const WALKS: usize = 24;

/// Relative difference of two objectives that is none.
const SAME: f64 = 1e-5;

/// Fits the surface by the sum of Huber's loss of `ln fitted - ln L`, `r²/2` up to delta and `delta (|r| - delta/2)` beyond.
///
/// The 4500 starts are those of the published refits (alpha, beta from 0 to 2, ln E from -1 to 1, ln A, ln B from 0 to 25); all are asked, the
/// best are walked down from, and so is the least-squares surface; a simplex must then gain nothing.
///
/// # Errors
/// What [`project`](fn@super::project) refuses of the points; a delta that is not above 0.
pub fn huber(n: &[f64], d: &[f64], loss: &[f64], options: Huber) -> Result<SurfaceFit, StatsError> {
    check(n, d, loss)?;
    if !(options.delta > 0.0 && options.delta.is_finite()) {
        return Err(StatsError::NonFinite { what: "delta", index: 0, value: options.delta });
    }
    let (n0, d0) = (centre(n), centre(d));
    let points = Points {
        log_n: n.iter().map(|n| (n / n0).ln()).collect(),
        log_d: d.iter().map(|d| (d / d0).ln()).collect(),
        log_loss: loss.iter().map(|loss| loss.ln()).collect(),
        delta: options.delta,
    };
    let starts = match options.start {
        Some(surface) => vec![points.of_surface(&surface, n0, d0)],
        None => points.starts(n0.ln(), d0.ln(), project(n, d, loss, None).ok()),
    };
    let walk = |start: &[f64; 5]| bfgs::minimise(|p, gradient| points.objective(p, Some(gradient)), start);
    let mut best = starts
        .iter()
        .map(walk)
        .min_by(|a, b| a.value.total_cmp(&b.value))
        .filter(|best| best.value.is_finite())
        .ok_or(StatsError::Undetermined)?;
    let mut confirmed = false;
    if options.start.is_none() {
        // It knows no derivative; where it gains, the walk goes on from there.
        for _ in 0..3 {
            let simplex = nelder_mead::minimise(
                |p| points.objective(p, None),
                &best.point,
                &[0.05; 5],
                &[Bound::NONE; 5],
            );
            let gain = best.value - simplex.value;
            let again = bfgs::minimise(|p, gradient| points.objective(p, Some(gradient)), &simplex.point);
            if again.value < best.value {
                best = again;
            }
            if gain <= SAME * best.value {
                confirmed = true;
                break;
            }
        }
    }
    let [e, a, b, alpha, beta] = [0, 1, 2, 3, 4].map(|at| best.point[at]);
    let surface = Surface { e: e.exp(), a: a.exp(), b: b.exp(), alpha, beta, n0, d0 };
    for (exponent, what) in [(alpha, "size"), (beta, "tokens")] {
        if exponent <= 0.0 {
            return Err(StatsError::NoFall { what });
        }
    }
    Ok(SurfaceFit {
        residuals: n.iter().zip(d).zip(loss).map(|((n, d), loss)| loss - surface.at(*n, *d)).collect(),
        objective: best.value,
        confirmed,
        floor_at_zero: surface.e < 1e-6 * loss.iter().copied().fold(f64::INFINITY, f64::min),
        surface,
    })
}

struct Points {
    log_n: Vec<f64>,
    log_d: Vec<f64>,
    log_loss: Vec<f64>,
    delta: f64,
}

impl Points {
    /// Of `(ln E, ln a, ln b, alpha, beta)` in the frame of the points.
    fn objective(&self, p: &[f64], gradient: Option<&mut [f64]>) -> f64 {
        let (mut sum, mut slopes) = (0.0, [0.0; 5]);
        for ((n, d), loss) in self.log_n.iter().zip(&self.log_d).zip(&self.log_loss) {
            let terms = [p[0], p[1] - p[3] * n, p[2] - p[4] * d];
            let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let parts = terms.map(|term| (term - largest).exp());
            let total: f64 = parts.iter().sum();
            let residual = largest + total.ln() - loss;
            let (value, slope) = match residual.abs() <= self.delta {
                true => (0.5 * residual * residual, residual),
                false => (self.delta * (residual.abs() - 0.5 * self.delta), self.delta * residual.signum()),
            };
            sum += value;
            let [e, a, b] = parts.map(|part| slope * part / total);
            for (into, add) in slopes.iter_mut().zip([e, a, b, -n * a, -d * b]) {
                *into += add;
            }
        }
        if let Some(gradient) = gradient {
            gradient.copy_from_slice(&slopes);
        }
        sum
    }

    fn of_surface(&self, surface: &Surface, n0: f64, d0: f64) -> [f64; 5] {
        // A floor at zero has no logarithm; far below the smallest loss it adds nothing.
        let floor = surface.e.ln().max(-20.0);
        let a = surface.a.ln() + surface.alpha * (surface.n0 / n0).ln();
        let b = surface.b.ln() + surface.beta * (surface.d0 / d0).ln();
        [floor, a, b, surface.alpha, surface.beta]
    }

    /// The best of the grid, and the least-squares surface.
    fn starts(&self, log_n0: f64, log_d0: f64, least_squares: Option<SurfaceFit>) -> Vec<[f64; 5]> {
        let exponents = [0.0, 0.5, 1.0, 1.5, 2.0];
        let floors = [-1.0, -0.5, 0.0, 0.5, 1.0];
        let heights = [0.0, 5.0, 10.0, 15.0, 20.0, 25.0];
        let mut grid: Vec<([f64; 5], f64)> = Vec::with_capacity(4500);
        for alpha in exponents {
            for beta in exponents {
                for e in floors {
                    for a in heights {
                        for b in heights {
                            let start = [e, a - alpha * log_n0, b - beta * log_d0, alpha, beta];
                            grid.push((start, self.objective(&start, None)));
                        }
                    }
                }
            }
        }
        grid.sort_by(|left, right| left.1.total_cmp(&right.1));
        let mut starts: Vec<[f64; 5]> = grid.into_iter().take(WALKS).map(|(start, _)| start).collect();
        starts.extend(least_squares.map(|fit| self.of_surface(&fit.surface, log_n0.exp(), log_d0.exp())));
        starts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_surface_comes_back_beside_an_outlier() {
        let surface = Surface::of_formula([1.8, 480.0, 2100.0, 0.35, 0.37], 1.0, 1.0);
        let (mut n, mut d) = (Vec::new(), Vec::new());
        for size in [1e8, 3e8, 1e9, 4e9] {
            for tokens in [2e9, 1e10, 3e10, 2e11] {
                n.push(size);
                d.push(tokens);
            }
        }
        let mut loss: Vec<f64> = n.iter().zip(&d).map(|(n, d)| surface.at(*n, *d)).collect();
        let exact = huber(&n, &d, &loss, Huber::default()).unwrap();
        assert!(
            (exact.surface.alpha / 0.35 - 1.0).abs() < 1e-4 && (exact.surface.e / 1.8 - 1.0).abs() < 1e-4
        );
        loss[6] *= 1.3;
        let robust = huber(&n, &d, &loss, Huber::default()).unwrap();
        let square = project(&n, &d, &loss, None).unwrap();
        assert!((robust.surface.alpha - 0.35).abs() < 0.01, "{robust:?}");
        assert!((square.surface.alpha - 0.35).abs() > 0.02, "{square:?}");
        assert!(robust.confirmed);
    }

    #[test]
    fn the_gradient_is_that_of_the_objective() {
        let points = Points {
            log_n: vec![-1.0, 0.2, 1.4, 2.0],
            log_d: vec![0.4, -0.8, 1.0, -2.0],
            log_loss: vec![1.1, 1.3, 0.8, 1.6],
            delta: 0.1,
        };
        let at = [0.2, -0.4, 0.3, 0.5, 0.7];
        let mut gradient = [0.0; 5];
        points.objective(&at, Some(&mut gradient));
        for axis in 0..5 {
            let moved = |step: f64| {
                let mut p = at;
                p[axis] += step;
                points.objective(&p, None)
            };
            let want = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((gradient[axis] - want).abs() < 1e-8, "{axis}: {} {want}", gradient[axis]);
        }
    }
}
