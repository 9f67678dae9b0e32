//! Least squares of the loss by variable projection.

use super::{Search, Surface, SurfaceFit, centre, check};
use crate::error::StatsError;
use crate::optimise::Bound;
use crate::optimise::varpro::{self, Axis, DesignRow, Separable, Solution};

/// Exponents that are looked at.
const EXPONENTS: Bound = Bound { low: 0.005, high: 4.0 };

/// Where a refit begins, as factors of the exponents of the surface that it begins from.
const ABOUT: [f64; 3] = [1.0, 0.6, 1.6];

/// The surface at given points, with or without a floor.
struct Points {
    log_n: Vec<f64>,
    log_d: Vec<f64>,
    floor: bool,
    /// alpha and beta; alpha alone where beta is so many times alpha.
    axes: Vec<Axis>,
    ratio: Option<f64>,
}

impl Points {
    fn new(n: &[f64], d: &[f64], n0: f64, d0: f64, ratio: Option<f64>) -> Self {
        let starts: Vec<f64> = (1..=20).map(|step| 0.08 * f64::from(step)).collect();
        let axes = match ratio {
            None => vec![Axis { bound: EXPONENTS, starts }; 2],
            // Both exponents in their limits, and the grid about where both are moderate.
            Some(ratio) => {
                let low = EXPONENTS.low.max(EXPONENTS.low / ratio);
                let bound =
                    Bound { low, high: EXPONENTS.high.min(EXPONENTS.high / ratio).max(low) };
                let starts = starts.iter().map(|start| bound.clamp(start / ratio.sqrt())).collect();
                vec![Axis { bound, starts }]
            }
        };
        Self {
            log_n: n.iter().map(|n| (n / n0).ln()).collect(),
            log_d: d.iter().map(|d| (d / d0).ln()).collect(),
            floor: true,
            axes,
            ratio,
        }
    }

    /// alpha and beta of what is searched for.
    fn exponents(&self, theta: &[f64]) -> (f64, f64) {
        (theta[0], self.ratio.map_or_else(|| theta[1], |ratio| ratio * theta[0]))
    }

    /// The starts of a refit.
    fn about(&self, surface: &Surface) -> Vec<Vec<f64>> {
        let around = |factor: f64| {
            let exponents = [surface.alpha * factor, surface.beta * factor];
            exponents
                .iter()
                .zip(&self.axes)
                .map(|(exponent, axis)| axis.bound.clamp(*exponent))
                .collect()
        };
        ABOUT.into_iter().map(around).collect()
    }
}

impl Separable for Points {
    fn points(&self) -> usize {
        self.log_n.len()
    }

    fn linear(&self) -> usize {
        if self.floor { 3 } else { 2 }
    }

    fn axes(&self) -> &[Axis] {
        &self.axes
    }

    fn row(&self, point: usize, theta: &[f64]) -> Option<DesignRow> {
        let (n, d) = (self.log_n[point], self.log_d[point]);
        let (alpha, beta) = self.exponents(theta);
        let (size, tokens) = ((-alpha * n).exp(), (-beta * d).exp());
        // Size and tokens first: without a floor the last column is not there.
        let mut row = DesignRow { basis: [size, tokens, 1.0], ..DesignRow::default() };
        row.basis_slope[0][0] = -n * size;
        match self.ratio {
            None => row.basis_slope[1][1] = -d * tokens,
            Some(ratio) => row.basis_slope[0][1] = -ratio * d * tokens,
        }
        (size.is_finite() && tokens.is_finite()).then_some(row)
    }
}

/// Fits the surface by least squares of the loss.
///
/// Where the best E is below 0 the surface is fitted again with E at 0.
///
/// # Errors
/// Slices of different length, fewer than six points, an entry that is not above 0, N or D all
/// alike; an exponent to hold that is not between 0 and 1; [`StatsError::NoFall`] when the loss
/// does not fall with size, or not with tokens.
pub fn project(
    n: &[f64],
    d: &[f64],
    loss: &[f64],
    search: Search,
) -> Result<SurfaceFit, StatsError> {
    check(n, d, loss)?;
    let (n0, d0) = (centre(n), centre(d));
    let mut points = Points::new(n, d, n0, d0, search.ratio()?);
    let solve = |points: &Points| -> Option<Solution> {
        match search.from {
            None => varpro::fit(points, loss),
            Some(surface) => {
                let starts = points.about(&surface);
                let taken = if search.near { 1 } else { starts.len() };
                let starts: Vec<&[f64]> = starts.iter().take(taken).map(Vec::as_slice).collect();
                varpro::refit(points, loss, &starts)
            }
        }
    };
    let mut solution = solve(&points).ok_or(StatsError::Undetermined)?;
    if solution.beta[2] < 0.0 {
        points.floor = false;
        solution = solve(&points).ok_or(StatsError::Undetermined)?;
    }
    for (at, what) in [(0, "size"), (1, "tokens")] {
        if solution.beta[at] <= 0.0 {
            return Err(StatsError::NoFall { what });
        }
    }
    let (alpha, beta) = points.exponents(&solution.theta);
    Ok(SurfaceFit {
        surface: Surface {
            e: if points.floor { solution.beta[2] } else { 0.0 },
            a: solution.beta[0],
            b: solution.beta[1],
            alpha,
            beta,
            n0,
            d0,
        },
        objective: solution.sum,
        residuals: solution.residuals,
        confirmed: solution.confirmed,
        floor_at_zero: !points.floor,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Surface;
    use super::*;

    pub(in super::super) fn grid(surface: &Surface) -> [Vec<f64>; 3] {
        let (mut n, mut d, mut loss) = (Vec::new(), Vec::new(), Vec::new());
        for size in [1e8, 3e8, 1e9, 4e9] {
            for tokens in [2e9, 1e10, 3e10, 2e11] {
                n.push(size);
                d.push(tokens);
                loss.push(surface.at(size, tokens));
            }
        }
        [n, d, loss]
    }

    #[test]
    fn known_surfaces_come_back() {
        for (e, alpha, beta) in [(1.69, 0.34, 0.28), (0.5, 0.7, 0.4), (2.8, 0.15, 0.9)] {
            let surface = Surface::from_formula([e, 400.0, 900.0, alpha, beta], 1.0, 1.0);
            let [n, d, loss] = grid(&surface);
            let found = project(&n, &d, &loss, Search::default()).unwrap();
            assert!(found.confirmed && !found.floor_at_zero);
            for (ours, theirs) in
                [(found.surface.e, e), (found.surface.alpha, alpha), (found.surface.beta, beta)]
            {
                assert!((ours / theirs - 1.0).abs() < 1e-6, "{ours} {theirs}");
            }
            assert!((found.surface.coefficient_a() / 400.0 - 1.0).abs() < 1e-4);
            // Other units are the same surface.
            let scaled: Vec<f64> = n.iter().map(|n| n / 1e9).collect();
            let again = project(&scaled, &d, &loss, Search::default()).unwrap();
            assert!((again.surface.alpha / alpha - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn no_floor_and_no_fall_are_said() {
        let none = Surface::from_formula([0.0, 30.0, 60.0, 0.12, 0.1], 1.0, 1.0);
        let [n, d, loss] = grid(&none);
        // Below a pure power law at the large end: the best floor would be negative.
        let bent: Vec<f64> = loss.iter().map(|loss| loss - 0.02 * (loss - 4.0).powi(2)).collect();
        assert!(project(&n, &d, &bent, Search::default()).unwrap().floor_at_zero);
        let rising: Vec<f64> = n.iter().map(|n| n.ln()).collect();
        assert!(project(&n, &d, &rising, Search::default()).is_err());
        assert!(project(&n[..5], &d[..5], &loss[..5], Search::default()).is_err());
    }

    #[test]
    fn an_exponent_that_is_held_is_kept_and_the_rest_is_the_best_for_it() {
        let truth = Surface::from_formula([1.7, 300.0, 300.0, 0.3, 0.3], 1.0, 1.0);
        let [n, d, mut loss] = grid(&truth);
        let held = Search { size_exponent: Some(0.5), ..Search::default() };
        let exact = project(&n, &d, &loss, held).unwrap();
        assert!((exact.surface.alpha - 0.3).abs() < 1e-7 && exact.confirmed, "{exact:?}");
        for (at, loss) in loss.iter_mut().enumerate() {
            *loss *= 1.0 + 0.004 * [1.0, -1.0, 0.3, -0.7, 0.9][at % 5];
        }
        for a in [0.3, 0.5, 0.62] {
            let held = Search { size_exponent: Some(a), ..Search::default() };
            let found = project(&n, &d, &loss, held).unwrap();
            assert!((found.surface.size_exponent() - a).abs() < 1e-12);
            assert!((found.surface.tokens_exponent() - (1.0 - a)).abs() < 1e-12);
            let free = project(&n, &d, &loss, Search::default()).unwrap();
            assert!(free.objective < found.objective);
            // From far away, as a resample would, it comes to the same place.
            let from = Surface { alpha: 0.9, beta: 0.9 * a / (1.0 - a), ..found.surface };
            let again = project(&n, &d, &loss, Search { from: Some(from), ..held }).unwrap();
            assert!((again.objective / found.objective - 1.0).abs() < 1e-9);
        }
        for a in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(
                project(&n, &d, &loss, Search { size_exponent: Some(a), ..Search::default() })
                    .is_err()
            );
        }
    }
}
