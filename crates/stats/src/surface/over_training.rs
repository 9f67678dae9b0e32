//! The surface with one exponent for size and tokens, told by compute and tokens a parameter.
//!
//! With `C = k N D` (k = 6 for training) and `M = D / N`, `N = (C / (k M))^½` and
//! `D = (C M / k)^½`; where alpha = beta = 2 eta
//!
//! ```text
//! E + A N^-alpha + B D^-alpha = E + (a M^eta + b M^-eta) C^-eta,   a = A k^eta, b = B k^eta
//! ```
//!
//! (Gadre et al. 2024, arXiv 2403.08540, whose k is 6.) So curves of the excess loss against C at
//! fixed M are parallel lines in logarithms, and one M is best at every C. A fit of it is one of
//! the surface with the size exponent held at ½ ([`Search`](super::Search)).

use super::Surface;

/// `E + (a M^eta + b M^-eta) C^-eta`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverTraining {
    /// What no compute takes away.
    pub e: f64,
    /// Of too few parameters for the tokens.
    pub a: f64,
    /// Of too few tokens for the parameters.
    pub b: f64,
    /// Exponent of compute: half of that of size and of tokens.
    pub eta: f64,
}

impl OverTraining {
    /// Of a surface whose alpha is its beta (alpha is taken), `per_product` FLOPs a parameter and
    /// token. Coefficients beyond the range of numbers are infinite.
    pub fn of(surface: &Surface, per_product: f64) -> Self {
        let eta = surface.alpha / 2.0;
        let scale = per_product.powf(eta);
        Self {
            e: surface.e,
            a: surface.coefficient_a() * scale,
            b: surface.coefficient_b() * scale,
            eta,
        }
    }

    /// Its value at FLOPs and tokens a parameter.
    pub fn at(&self, compute: f64, multiplier: f64) -> f64 {
        let size = self.a * multiplier.powf(self.eta);
        let tokens = self.b * multiplier.powf(-self.eta);
        self.e + (size + tokens) * compute.powf(-self.eta)
    }

    /// Tokens a parameter with the least loss, at any compute: `(b / a)^(1 / (2 eta))`.
    pub fn multiplier(&self) -> f64 {
        ((self.b / self.a).ln() / (2.0 * self.eta)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_surface_told_otherwise() {
        for k in [2.0, 6.0] {
            let surface = Surface::from_formula([1.51, 109.3, 147.5, 0.242, 0.242], 3e8, 2e10);
            let told = OverTraining::of(&surface, k);
            assert!((told.a / (109.3 * k.powf(0.121)) - 1.0).abs() < 1e-12);
            for (n, d) in [(1.1e7, 2e8), (1.4e9, 9e11), (6.9e9, 1.38e11_f64)] {
                let (there, here) = (surface.at(n, d), told.at(k * n * d, d / n));
                assert!((here / there - 1.0).abs() < 1e-12, "{here} {there}");
            }
            // The best multiplier is that of every budget's optimum.
            for product in [1e18, 1e22] {
                let (n, d) = surface.optimum(product);
                assert!((told.multiplier() / (d / n) - 1.0).abs() < 1e-9);
            }
        }
    }
}
