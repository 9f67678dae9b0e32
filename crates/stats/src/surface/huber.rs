//! Huber's loss from a grid of starts.

use super::{Search, Surface, SurfaceFit, centre, check, project};
use crate::error::StatsError;
use crate::optimise::search::{self, Found};
use crate::optimise::{Bound, Minimum, bfgs, nelder_mead};

/// Of what a residual is the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Residual {
    /// Of logarithms, as Hoffmann et al. 2022.
    #[default]
    Logarithm,
    /// Of the losses themselves.
    Loss,
}

/// What is minimised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    /// Where the loss turns from square to linear, in the unit of the residual. One far above all
    /// residuals makes it least squares.
    pub delta: f64,
    /// Of what.
    pub residual: Residual,
}

impl Default for Huber {
    /// As Hoffmann et al. 2022: 1e-3 of the logarithm.
    fn default() -> Self {
        Self { delta: 1e-3, residual: Residual::Logarithm }
    }
}

/// Starts of the grid that are walked down from, besides the least-squares surface.
const WALKS: usize = 24;

/// Times that the simplex is asked.
const ROUNDS: usize = 3;

/// Relative difference of two objectives that is none.
const SAME: f64 = 1e-5;

/// Where a refit begins besides the surface it begins from and the least-squares surface of its own
/// points: factors of the exponents.
const ABOUT: [f64; 2] = [0.67, 1.5];

/// Fits the surface by the sum of Huber's loss of `ln fitted - ln L` (or of `fitted - L`), `r²/2`
/// up to delta and `delta (|r| - delta/2)` beyond.
///
/// The 4500 starts are those of the published refits (alpha, beta from 0 to 2, ln E from -1 to 1,
/// ln A, ln B from 0 to 25); all are asked, the best are walked down from, and so is the
/// least-squares surface; a simplex must then gain nothing. With [`Search::from`] there are four:
/// that surface, the least-squares surface of these points, and steeper and flatter ones; with
/// [`Search::near`] that surface alone.
///
/// # Errors
/// What [`project`](fn@super::project) refuses of the points and of the exponent to hold; a delta
/// that is not above 0.
pub fn huber(
    n: &[f64],
    d: &[f64],
    loss: &[f64],
    objective: Huber,
    search: Search,
) -> Result<SurfaceFit, StatsError> {
    huber_weighted(n, d, loss, &vec![1.0; loss.len()], objective, search)
}

/// The same of points that count with `weights`, for resamples.
///
/// # Errors
/// As [`huber`]; as many weights as points, each at least 0 and finite.
pub fn huber_weighted(
    n: &[f64],
    d: &[f64],
    loss: &[f64],
    weights: &[f64],
    objective: Huber,
    search: Search,
) -> Result<SurfaceFit, StatsError> {
    check(n, d, loss)?;
    if weights.len() != loss.len() {
        return Err(StatsError::Lengths {
            left: "losses",
            left_length: loss.len(),
            right: "weights",
            right_length: weights.len(),
        });
    }
    if let Some(index) = weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
        return Err(StatsError::NonFinite { what: "weights", index, value: weights[index] });
    }
    if !(objective.delta > 0.0 && objective.delta.is_finite()) {
        return Err(StatsError::NonFinite { what: "delta", index: 0, value: objective.delta });
    }
    let (n0, d0) = (centre(n), centre(d));
    let points = Points {
        log_n: n.iter().map(|n| (n / n0).ln()).collect(),
        log_d: d.iter().map(|d| (d / d0).ln()).collect(),
        target: match objective.residual {
            Residual::Logarithm => loss.iter().map(|loss| loss.ln()).collect(),
            Residual::Loss => loss.to_vec(),
        },
        weights,
        objective,
        ratio: search.ratio()?,
    };
    let least_squares =
        || project(n, d, loss, search).ok().map(|fit| points.of_surface(&fit.surface, n0, d0));
    let starts = match search.from {
        Some(surface) if search.near => vec![points.lifted(points.of_surface(&surface, n0, d0))],
        Some(surface) => points.about(points.of_surface(&surface, n0, d0), least_squares()),
        None => points.grid(n0.ln(), d0.ln()).into_iter().chain(least_squares()).collect(),
    };
    let starts: Vec<Vec<f64>> = starts.iter().map(|start| points.free(start).to_vec()).collect();
    let rounds = if search.from.is_none() { ROUNDS } else { 0 };
    let Found { best, confirmed } =
        search::search(&mut Walks(&points), starts, rounds).ok_or(StatsError::Undetermined)?;
    let [e, a, b, alpha, beta] = points.whole(&best.point);
    let surface = Surface { e: e.exp(), a: a.exp(), b: b.exp(), alpha, beta, n0, d0 };
    for (exponent, what) in [(alpha, "size"), (beta, "tokens")] {
        if exponent <= 0.0 {
            return Err(StatsError::NoFall { what });
        }
    }
    Ok(SurfaceFit {
        residuals: n
            .iter()
            .zip(d)
            .zip(loss)
            .map(|((n, d), loss)| loss - surface.at(*n, *d))
            .collect(),
        objective: best.value,
        confirmed,
        floor_at_zero: surface.e < 1e-6 * loss.iter().copied().fold(f64::INFINITY, f64::min),
        surface,
    })
}

struct Points<'a> {
    log_n: Vec<f64>,
    log_d: Vec<f64>,
    /// Losses or their logarithms.
    target: Vec<f64>,
    weights: &'a [f64],
    objective: Huber,
    /// `beta / alpha`, where that is held.
    ratio: Option<f64>,
}

/// Quasi-Newton descent, and a simplex from where it ends, which knows no derivative and must gain
/// nothing.
struct Walks<'a>(&'a Points<'a>);

impl search::Search for Walks<'_> {
    const FOLLOWED: f64 = 0.0;

    fn polish(&mut self, start: &[f64]) -> Minimum {
        bfgs::minimise(|p, gradient| self.0.free_objective(p, Some(gradient)), start)
    }

    fn second(&mut self, best: &Minimum) -> Minimum {
        let free = best.point.len();
        let objective = |p: &[f64]| self.0.free_objective(p, None);
        nelder_mead::minimise(objective, &best.point, &[0.05; 5][..free], &[Bound::NONE; 5][..free])
    }

    fn agree(&mut self, before: &Minimum, second: &Minimum, best: &Minimum) -> bool {
        before.value - second.value <= SAME * best.value
    }
}

impl Points<'_> {
    /// Of `(ln E, ln a, ln b, alpha, beta)` in the frame of the points.
    fn value(&self, p: &[f64; 5], gradient: Option<&mut [f64; 5]>) -> f64 {
        let Huber { delta, residual } = self.objective;
        let (mut sum, mut slopes) = (0.0, [0.0; 5]);
        let points = self.log_n.iter().zip(&self.log_d).zip(&self.target).zip(self.weights);
        for (((n, d), target), weight) in points {
            let terms = [p[0], p[1] - p[3] * n, p[2] - p[4] * d];
            let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let parts = terms.map(|term| (term - largest).exp());
            let total: f64 = parts.iter().sum();
            // The logarithm of the fitted loss never overflows; the loss itself may, far from any
            // optimum.
            let log_fitted = largest + total.ln();
            let (difference, scale) = match residual {
                Residual::Logarithm => (log_fitted - target, 1.0),
                Residual::Loss => (log_fitted.exp() - target, log_fitted.exp()),
            };
            let (value, slope) = match difference.abs() <= delta {
                true => (0.5 * difference * difference, difference),
                false => (delta * (difference.abs() - 0.5 * delta), delta * difference.signum()),
            };
            sum += weight * value;
            let [e, a, b] = parts.map(|part| weight * slope * scale * part / total);
            for (into, add) in slopes.iter_mut().zip([e, a, b, -n * a, -d * b]) {
                *into += add;
            }
        }
        if let Some(gradient) = gradient {
            *gradient = slopes;
        }
        sum
    }

    /// All five of what is searched for.
    fn whole(&self, free: &[f64]) -> [f64; 5] {
        let beta = self.ratio.map_or_else(|| free[4], |ratio| ratio * free[3]);
        [free[0], free[1], free[2], free[3], beta]
    }

    /// What is searched for of all five.
    fn free<'a>(&self, whole: &'a [f64; 5]) -> &'a [f64] {
        if self.ratio.is_some() { &whole[..4] } else { whole }
    }

    /// The objective of what is searched for.
    fn free_objective(&self, free: &[f64], gradient: Option<&mut [f64]>) -> f64 {
        let whole = self.whole(free);
        let Some(gradient) = gradient else { return self.value(&whole, None) };
        let mut slopes = [0.0; 5];
        let value = self.value(&whole, Some(&mut slopes));
        gradient.copy_from_slice(self.free(&slopes));
        if let Some(ratio) = self.ratio {
            gradient[3] += ratio * slopes[4];
        }
        value
    }

    fn of_surface(&self, surface: &Surface, n0: f64, d0: f64) -> [f64; 5] {
        // A floor at zero has no logarithm; far below the smallest loss it adds nothing.
        let floor = surface.e.ln().max(-20.0);
        let a = surface.a.ln() + surface.alpha * (surface.n0 / n0).ln();
        let b = surface.b.ln() + surface.beta * (surface.d0 / d0).ln();
        [floor, a, b, surface.alpha, surface.beta]
    }

    /// The logarithm of a share of the mean loss.
    fn share(&self, share: f64) -> f64 {
        let middle = self.target.iter().sum::<f64>() / self.target.len() as f64;
        let log_loss = match self.objective.residual {
            Residual::Logarithm => middle,
            Residual::Loss => middle.ln(),
        };
        log_loss + share.ln()
    }

    /// A floor near 0 hardly moves in its logarithm: it starts at no less than a hundredth of the
    /// loss.
    fn lifted(&self, from: [f64; 5]) -> [f64; 5] {
        [from[0].max(self.share(0.01)), from[1], from[2], from[3], from[4]]
    }

    /// The starts of a refit.
    fn about(&self, from: [f64; 5], least_squares: Option<[f64; 5]>) -> Vec<[f64; 5]> {
        let floor = from[0].max(self.share(0.25));
        let beside =
            ABOUT.map(|factor| [floor, from[1], from[2], from[3] * factor, from[4] * factor]);
        std::iter::once(from).chain(least_squares).chain(beside).collect()
    }

    /// The best of the grid.
    fn grid(&self, log_n0: f64, log_d0: f64) -> Vec<[f64; 5]> {
        let exponents = [0.0, 0.5, 1.0, 1.5, 2.0];
        let floors = [-1.0, -0.5, 0.0, 0.5, 1.0];
        let heights = [0.0, 5.0, 10.0, 15.0, 20.0, 25.0];
        let mut grid: Vec<[f64; 5]> = Vec::with_capacity(4500);
        for alpha in exponents {
            // One beta a start where it follows from alpha.
            let betas = self.ratio.map_or_else(|| exponents.to_vec(), |ratio| vec![ratio * alpha]);
            for beta in betas {
                for e in floors {
                    for a in heights {
                        for b in heights {
                            grid.push([e, a - alpha * log_n0, b - beta * log_d0, alpha, beta]);
                        }
                    }
                }
            }
        }
        let best = search::lowest(grid, |start| self.value(start, None), WALKS);
        best.into_iter().map(|(start, _)| start).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_surface_comes_back_beside_an_outlier() {
        let surface = Surface::from_formula([1.8, 480.0, 2100.0, 0.35, 0.37], 1.0, 1.0);
        let (mut n, mut d) = (Vec::new(), Vec::new());
        for size in [1e8, 3e8, 1e9, 4e9] {
            for tokens in [2e9, 1e10, 3e10, 2e11] {
                n.push(size);
                d.push(tokens);
            }
        }
        let mut loss: Vec<f64> = n.iter().zip(&d).map(|(n, d)| surface.at(*n, *d)).collect();
        let exact = huber(&n, &d, &loss, Huber::default(), Search::default()).unwrap();
        assert!(
            (exact.surface.alpha / 0.35 - 1.0).abs() < 1e-4
                && (exact.surface.e / 1.8 - 1.0).abs() < 1e-4
        );
        loss[6] *= 1.3;
        let robust = huber(&n, &d, &loss, Huber::default(), Search::default()).unwrap();
        let square = project(&n, &d, &loss, Search::default()).unwrap();
        assert!((robust.surface.alpha - 0.35).abs() < 0.01, "{robust:?}");
        assert!((square.surface.alpha - 0.35).abs() > 0.02, "{square:?}");
        assert!(robust.confirmed);
    }

    #[test]
    fn the_gradient_is_that_of_the_objective() {
        for (residual, ratio) in [Residual::Logarithm, Residual::Loss]
            .into_iter()
            .flat_map(|r| [(r, None), (r, Some(1.4))])
        {
            let points = Points {
                log_n: vec![-1.0, 0.2, 1.4, 2.0],
                log_d: vec![0.4, -0.8, 1.0, -2.0],
                target: vec![1.1, 1.3, 0.8, 1.6],
                weights: &[1.0, 0.5, 2.0, 1.3],
                objective: Huber { delta: 0.1, residual },
                ratio,
            };
            let at = &[0.2, -0.4, 0.3, 0.5, 0.7][..if ratio.is_some() { 4 } else { 5 }];
            let mut gradient = vec![0.0; at.len()];
            points.free_objective(at, Some(&mut gradient));
            for axis in 0..at.len() {
                let moved = |step: f64| {
                    let mut p = at.to_vec();
                    p[axis] += step;
                    points.free_objective(&p, None)
                };
                let want = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((gradient[axis] - want).abs() < 1e-8, "{axis}: {} {want}", gradient[axis]);
            }
        }
    }

    /// Points of a known surface, each a little beside it.
    fn scattered() -> [Vec<f64>; 3] {
        let surface = Surface::from_formula([1.8, 480.0, 2100.0, 0.35, 0.37], 1.0, 1.0);
        let (mut n, mut d, mut loss) = (Vec::new(), Vec::new(), Vec::new());
        for (at, size) in [1e8, 3e8, 1e9, 4e9].into_iter().enumerate() {
            for (to, tokens) in [2e9, 1e10, 3e10, 2e11].into_iter().enumerate() {
                n.push(size);
                d.push(tokens);
                loss.push(
                    surface.at(size, tokens) * (1.0 + 0.004 * ((7 * at + 3 * to) % 5) as f64),
                );
            }
        }
        [n, d, loss]
    }

    #[test]
    fn a_threshold_above_all_residuals_is_least_squares() {
        let [n, d, loss] = scattered();
        let wide = Huber { delta: 1e3, residual: Residual::Loss };
        let by_huber = huber(&n, &d, &loss, wide, Search::default()).unwrap();
        let by_projection = project(&n, &d, &loss, Search::default()).unwrap();
        // Half the sum of squares.
        assert!((2.0 * by_huber.objective / by_projection.objective - 1.0).abs() < 1e-6);
        assert!((by_huber.surface.alpha / by_projection.surface.alpha - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_refit_finds_the_optimum_from_a_surface_that_leads_nowhere() {
        let [n, d, loss] = scattered();
        let want = huber(&n, &d, &loss, Huber::default(), Search::default()).unwrap();
        // Its floor is 0, whose logarithm has no slope to climb.
        let from = Surface { e: 0.0, alpha: 0.05, beta: 1.6, ..want.surface };
        let search = Search { from: Some(from), ..Search::default() };
        let found = huber(&n, &d, &loss, Huber::default(), search).unwrap();
        assert!(
            (found.objective / want.objective - 1.0).abs() < 1e-3,
            "{} {}",
            found.objective,
            want.objective
        );
    }

    #[test]
    fn a_weight_counts_as_so_many_points() {
        let [mut n, mut d, mut loss] = scattered();
        let mut weights = vec![1.0; n.len()];
        weights[3] = 2.0;
        let weighted =
            huber_weighted(&n, &d, &loss, &weights, Huber::default(), Search::default()).unwrap();
        let near = Search { from: Some(weighted.surface), near: true, ..Search::default() };
        for values in [&mut n, &mut d, &mut loss] {
            values.push(values[3]);
        }
        let repeated = huber(&n, &d, &loss, Huber::default(), Search::default()).unwrap();
        let again = huber(&n, &d, &loss, Huber::default(), near).unwrap();
        for other in [weighted, again] {
            assert!((other.objective / repeated.objective - 1.0).abs() < 1e-6);
            assert!((other.surface.alpha / repeated.surface.alpha - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn an_exponent_can_be_held() {
        let [n, d, loss] = scattered();
        for a in [0.4, 0.5] {
            let search = Search { size_exponent: Some(a), ..Search::default() };
            let held = huber(&n, &d, &loss, Huber::default(), search).unwrap();
            assert!((held.surface.size_exponent() - a).abs() < 1e-12 && held.confirmed);
            let free = huber(&n, &d, &loss, Huber::default(), Search::default()).unwrap();
            assert!(free.objective <= held.objective);
        }
    }
}
