//! The surface as a plane in its parameters about a fit: how much each point tells, and how well a
//! quantity's error is known.
//!
//! With J the derivatives of the fitted losses by the parameters and `Q` an orthonormal basis of
//! its columns, the leverage of a point is `h = |q|²`. To first order a quantity of the surface
//! moves by `Σ c r`, c its gradient taken back to the points. Its variance by the residuals
//! themselves, `Σ c² r² / (1 - h)`, is right on average for equal scatter; as a sum of few squares
//! it is known with
//!
//! ```text
//! df = (Σ c²)² / tr (G'G)²,   G'G_ij = a_i a_j (1_ij - h_ij),   a = c / sqrt(1 - h)
//! ```
//!
//! degrees of freedom (Bell and McCaffrey 2002, Imbens and Kolesár 2016): fewer than points less
//! parameters, as a few points decide most of it.

use super::{Residual, Surface};
use crate::optimise::{Symmetric, dot, orthonormal, solve};

/// Leverage is kept below 1 by so much: a point that decides its own value has no scatter.
const MOST: f64 = 0.999;

/// The surface about a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Tangent {
    surface: Surface,
    held: bool,
    /// Derivatives at each point.
    rows: Vec<Vec<f64>>,
    /// Orthonormal rows `q`.
    basis: Vec<Vec<f64>>,
    leverage: Vec<f64>,
}

impl Tangent {
    /// Of a surface at points, residuals in the losses or in their logarithms. `held`:
    /// `beta / alpha` is kept, so that alpha moves both. `None` where the points do not determine
    /// the parameters.
    pub fn new(
        surface: Surface,
        n: &[f64],
        d: &[f64],
        residual: Residual,
        held: bool,
    ) -> Option<Self> {
        let rows: Vec<Vec<f64>> =
            n.iter().zip(d).map(|(n, d)| row(&surface, *n, *d, residual, held)).collect();
        let size = rows.first()?.len();
        let columns = (0..size).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
        let columns = orthonormal(columns, 1e-11);
        if columns.len() < size {
            return None;
        }
        let basis: Vec<Vec<f64>> = (0..rows.len())
            .map(|point| columns.iter().map(|column| column[point]).collect())
            .collect();
        let leverage = basis.iter().map(|q| dot(q, q).clamp(0.0, MOST)).collect();
        Some(Self { surface, held, rows, basis, leverage })
    }

    /// Of each point.
    pub fn leverage(&self) -> &[f64] {
        &self.leverage
    }

    /// Degrees of freedom of the variance of a quantity; `None` where it does not depend on the
    /// surface.
    pub fn degrees_of_freedom(&self, quantity: impl Fn(&Surface) -> f64) -> Option<f64> {
        let pull = self.pull(quantity)?;
        let a2: Vec<f64> =
            pull.iter().zip(&self.leverage).map(|(c, h)| c * c / (1.0 - h)).collect();
        let variance: f64 = pull.iter().map(|c| c * c).sum();
        let own: f64 = a2.iter().zip(&self.leverage).map(|(a2, h)| a2 * a2 * (1.0 - 2.0 * h)).sum();
        let size = self.basis.first()?.len();
        let mut shared = 0.0;
        for row in 0..size {
            for column in 0..size {
                let sum: f64 =
                    a2.iter().zip(&self.basis).map(|(a2, q)| a2 * q[row] * q[column]).sum();
                shared += sum * sum;
            }
        }
        let found = variance * variance / (own + shared);
        (found.is_finite() && found > 0.0).then_some(found)
    }

    /// By how much each point's residual moves a quantity, as a share.
    fn pull(&self, quantity: impl Fn(&Surface) -> f64) -> Option<Vec<f64>> {
        let size = self.rows.first()?.len();
        let columns: Vec<Vec<f64>> =
            (0..size).map(|at| self.rows.iter().map(|row| row[at]).collect()).collect();
        let normal = Symmetric::from_columns(&columns);
        let gradient: Vec<f64> = (0..size)
            .zip(&normal.lengths)
            .map(|(at, length)| {
                let moved = |step: f64| quantity(&self.moved(at, step));
                let step = 1e-5 * parameters(&self.surface)[at].abs().max(1e-3);
                (moved(step) - moved(-step)) / (2.0 * step) / length
            })
            .collect();
        let largest = gradient.iter().map(|g| g.abs()).fold(0.0, f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        // Only ratios matter; quantities of any size keep their digits.
        let gradient: Vec<f64> = gradient.iter().map(|g| g / largest).collect();
        let solved = solve(&normal.values, &gradient, 0.0)?;
        let by_parameter: Vec<f64> =
            solved.iter().zip(&normal.lengths).map(|(s, length)| s / length).collect();
        Some(self.rows.iter().map(|row| dot(row, &by_parameter)).collect())
    }

    /// The surface with one parameter moved.
    fn moved(&self, at: usize, step: f64) -> Surface {
        let mut surface = self.surface;
        match at {
            0 => surface.e += step,
            1 => surface.a += step,
            2 => surface.b += step,
            3 => {
                if self.held {
                    surface.beta *= 1.0 + step / surface.alpha;
                }
                surface.alpha += step;
            }
            _ => surface.beta += step,
        }
        surface
    }
}

fn parameters(surface: &Surface) -> [f64; 5] {
    [surface.e, surface.a, surface.b, surface.alpha, surface.beta]
}

fn row(surface: &Surface, n: f64, d: f64, residual: Residual, held: bool) -> Vec<f64> {
    let (n, d) = ((n / surface.n0).ln(), (d / surface.d0).ln());
    let (size, tokens) = ((-surface.alpha * n).exp(), (-surface.beta * d).exp());
    let (of_alpha, of_beta) = (-n * surface.a * size, -d * surface.b * tokens);
    let scale = match residual {
        Residual::Loss => 1.0,
        Residual::Logarithm => 1.0 / (surface.e + surface.a * size + surface.b * tokens),
    };
    let all = match held {
        true => vec![1.0, size, tokens, of_alpha + surface.beta / surface.alpha * of_beta],
        false => vec![1.0, size, tokens, of_alpha, of_beta],
    };
    all.into_iter().map(|value| value * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> [Vec<f64>; 2] {
        let (mut n, mut d) = (Vec::new(), Vec::new());
        for size in [1e8, 3e8, 1e9, 4e9] {
            for tokens in [2e9, 1e10, 3e10, 2e11] {
                n.push(size);
                d.push(tokens);
            }
        }
        [n, d]
    }

    fn tangent(held: bool) -> Tangent {
        let surface = Surface::from_formula([1.8, 480.0, 2100.0, 0.35, 0.37], 6e8, 3e10);
        let [n, d] = points();
        Tangent::new(surface, &n, &d, Residual::Loss, held).unwrap()
    }

    #[test]
    fn leverages_add_up_to_the_parameters() {
        for (held, parameters) in [(false, 5.0), (true, 4.0)] {
            let sum: f64 = tangent(held).leverage().iter().sum();
            assert!((sum - parameters).abs() < 1e-9, "{sum}");
        }
    }

    /// `tr (G'G)²` by its definition, point by point.
    #[test]
    fn degrees_of_freedom_are_those_of_the_definition() {
        let tangent = tangent(false);
        let quantity = |surface: &Surface| surface.size_exponent();
        let found = tangent.degrees_of_freedom(quantity).unwrap();
        let pull = tangent.pull(quantity).unwrap();
        let a = |at: usize| pull[at] / (1.0 - tangent.leverage[at]).sqrt();
        let (mut trace, mut square) = (0.0, 0.0);
        for i in 0..pull.len() {
            for j in 0..pull.len() {
                let own = if i == j { 1.0 } else { 0.0 };
                let entry = a(i) * a(j) * (own - dot(&tangent.basis[i], &tangent.basis[j]));
                square += entry * entry;
                trace += if i == j { entry } else { 0.0 };
            }
        }
        assert!((found / (trace * trace / square) - 1.0).abs() < 1e-9);
        // Sixteen points and five parameters leave 11; the corners decide.
        assert!((3.0..11.0).contains(&found), "{found}");
        assert_eq!(tangent.degrees_of_freedom(|_| 1.0), None);
    }

    #[test]
    fn the_pull_of_the_points_is_how_a_refit_moves() {
        let tangent = tangent(false);
        let [n, d] = points();
        let surface = tangent.surface;
        let loss: Vec<f64> = n.iter().zip(&d).map(|(n, d)| surface.at(*n, *d)).collect();
        let pull = tangent.pull(|surface| surface.alpha).unwrap();
        let moved = |point: usize| {
            let mut loss = loss.clone();
            loss[point] += 1e-5;
            super::super::project(&n, &d, &loss, super::super::Search::default())
                .unwrap()
                .surface
                .alpha
                - 0.35
        };
        let (first, second) = (moved(0), moved(9));
        assert!((pull[0] / pull[9] / (first / second) - 1.0).abs() < 1e-2, "{first} {second}");
    }

    #[test]
    fn points_that_do_not_tell_the_parameters_have_no_tangent() {
        let surface = Surface::from_formula([1.8, 480.0, 2100.0, 0.35, 0.37], 6e8, 3e10);
        assert_eq!(Tangent::new(surface, &[1e8; 8], &[2e9; 8], Residual::Logarithm, false), None);
    }
}
