//! The loss of models over size and tokens: `L(N, D) = E + A N^-alpha + B D^-beta`, all five
//! parameters at least 0.
//!
//! | member | what |
//! |---|---|
//! | [`Surface`] | the surface itself, and where it is least for a budget |
//! | [`project`](fn@project) | least squares of the loss by variable projection: E, A and B are solved for, only alpha and beta searched |
//! | [`huber`](fn@huber) | Huber's loss, of the logarithm (Hoffmann et al. 2022, approach 3) or of the loss itself, from a grid of starts |
//! | [`Search`] | what both share: where to begin, and an exponent that is held |
//! | [`OverTraining`] | the surface with alpha = beta, by compute and tokens a parameter |
//! | [`Tangent`] | the surface about a fit: leverage of the points, degrees of freedom of a quantity's error |
//!
//! Invariants: N and D are divided by their geometric means, so that units neither cost digits nor
//! decide where a search begins. Each fit says whether a second method from another start confirmed
//! it.

mod huber;
mod over_training;
mod project;
mod tangent;

pub use huber::{Huber, Residual, huber, huber_weighted};
pub use over_training::OverTraining;
pub use project::project;
pub use tangent::Tangent;

/// How a surface is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Search {
    /// From this surface, and from a few places about it; without it from a grid.
    pub from: Option<Surface>,
    /// From that surface alone: for resamples, which move the optimum a little.
    pub near: bool,
    /// The exponent a of `N* ∝ C^a` to hold, between 0 and 1: `beta = alpha a / (1 - a)`; 0.5 is
    /// alpha = beta.
    pub size_exponent: Option<f64>,
}

impl Search {
    /// `beta / alpha`, where that is held.
    ///
    /// # Errors
    /// An exponent that is not between 0 and 1.
    fn ratio(self) -> Result<Option<f64>, crate::StatsError> {
        match self.size_exponent {
            None => Ok(None),
            Some(a) if a > 0.0 && a < 1.0 => Ok(Some(a / (1.0 - a))),
            Some(value) => Err(crate::StatsError::Parameter {
                name: "the exponent of N*",
                value,
                domain: "above 0 and below 1",
            }),
        }
    }
}

/// `E + a (N / n0)^-alpha + b (D / d0)^-beta`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surface {
    /// What no size and no tokens take away.
    pub e: f64,
    /// What the size `n0` still adds.
    pub a: f64,
    /// What the tokens `d0` still add.
    pub b: f64,
    /// Exponent of size.
    pub alpha: f64,
    /// Exponent of tokens.
    pub beta: f64,
    /// Reference size.
    pub n0: f64,
    /// Reference tokens.
    pub d0: f64,
}

/// A fitted surface.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceFit {
    /// The surface.
    pub surface: Surface,
    /// What was minimised: a sum over points.
    pub objective: f64,
    /// `L - fitted`, in the order of the points.
    pub residuals: Vec<f64>,
    /// Whether another method arrived at the same objective.
    pub confirmed: bool,
    /// E stands at 0: the points show no floor.
    pub floor_at_zero: bool,
}

impl Surface {
    /// Its value.
    pub fn at(&self, n: f64, d: f64) -> f64 {
        self.e + self.size_part(n) + self.tokens_part(d)
    }

    /// What a size still adds to E: `A N^-alpha`.
    pub fn size_part(&self, n: f64) -> f64 {
        self.a * (n / self.n0).powf(-self.alpha)
    }

    /// What so many tokens still add to E: `B D^-beta`.
    pub fn tokens_part(&self, d: f64) -> f64 {
        self.b * (d / self.d0).powf(-self.beta)
    }

    /// A of the formula in the units of N; infinite beyond the range of numbers.
    pub fn coefficient_a(&self) -> f64 {
        self.a * self.n0.powf(self.alpha)
    }

    /// B of the formula in the units of D.
    pub fn coefficient_b(&self) -> f64 {
        self.b * self.d0.powf(self.beta)
    }

    /// Exponent a of the best size, `N* ∝ C^a`: `beta / (alpha + beta)`.
    pub fn size_exponent(&self) -> f64 {
        self.beta / (self.alpha + self.beta)
    }

    /// Exponent of the best tokens, `D* ∝ C^(1 - a)`: `alpha / (alpha + beta)`.
    pub fn tokens_exponent(&self) -> f64 {
        self.alpha / (self.alpha + self.beta)
    }

    /// `(N, D)` with the least loss among those with `N D = product`:
    /// `N* = (alpha A / (beta B))^(1/(alpha+beta)) product^(beta/(alpha+beta))`.
    pub fn optimum(&self, product: f64) -> (f64, f64) {
        // In logarithms relative to the references: nothing overflows.
        let ratio = (self.alpha * self.a / (self.beta * self.b)).ln();
        let budget = (product / self.n0 / self.d0).ln();
        let size = (ratio + self.beta * budget) / (self.alpha + self.beta);
        (self.n0 * size.exp(), self.d0 * (budget - size).exp())
    }

    /// From the formula's parameters, about the given references.
    pub fn from_formula([e, a, b, alpha, beta]: [f64; 5], n0: f64, d0: f64) -> Self {
        Self { e, a: a * n0.powf(-alpha), b: b * d0.powf(-beta), alpha, beta, n0, d0 }
    }
}

/// Geometric mean of numbers above 0.
fn centre(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Refuses what defines no surface.
///
/// # Errors
/// Slices of different length, fewer than six points, an entry that is not finite and above 0, N or
/// D all alike.
fn check(n: &[f64], d: &[f64], loss: &[f64]) -> Result<(), crate::StatsError> {
    use crate::StatsError;
    for (what, values) in [("tokens", d), ("losses", loss)] {
        if values.len() != n.len() {
            return Err(StatsError::Lengths {
                left: "sizes",
                left_length: n.len(),
                right: what,
                right_length: values.len(),
            });
        }
    }
    if n.len() < 6 {
        return Err(StatsError::TooFewPoints { given: n.len(), needed: 6 });
    }
    for (what, values) in [("sizes", n), ("tokens", d), ("losses", loss)] {
        if let Some(index) = values.iter().position(|value| !(value.is_finite() && *value > 0.0)) {
            return Err(StatsError::NonFinite { what, index, value: values[index] });
        }
    }
    match [n, d].iter().any(|values| values.iter().all(|value| *value == values[0])) {
        true => Err(StatsError::Undetermined),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published: Hoffmann's surface, its optimum at 5.76e23 FLOPs = 6 N D.
    #[test]
    fn the_optimum_of_a_budget_is_where_no_neighbour_is_lower() {
        let surface = Surface::from_formula([1.69, 406.4, 410.7, 0.34, 0.28], 1e9, 1e10);
        let product = 5.76e23 / 6.0;
        let (n, d) = surface.optimum(product);
        assert!((n * d / product - 1.0).abs() < 1e-12);
        for factor in [0.99, 1.01] {
            assert!(surface.at(n * factor, d / factor) > surface.at(n, d));
        }
        assert!((surface.coefficient_a() / 406.4 - 1.0).abs() < 1e-12);
        let (wider, _) = surface.optimum(10.0 * product);
        assert!(((wider / n).log10() - surface.size_exponent()).abs() < 1e-12);
    }
}
