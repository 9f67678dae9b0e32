//! The negative binomial of `k - 1`: `p_k = Γ(k - 1 + r) / (Γ(r) (k - 1)!) p^r (1 - p)^(k - 1)`, a
//! geometric distribution (r = 1) whose p varies from token to token, as gamma and Poisson make it.
//! SciPy's `nbinom(r, p)` shifted by one.

use super::family::{Bounds, Family, Scale, Shape};
use super::histogram::Histogram;
use super::special::ln_gamma_ratio;
use super::sum::ln_sum;

pub(super) struct NegativeBinomial;

#[derive(Debug)]
struct At {
    r: f64,
    /// `-ln(1 - p)`.
    rate: f64,
    /// `ln Γ(r)`, with the sign by which the weight at 1 is p^r: `r ln p - ln Γ(r)`.
    constant: f64,
}

impl Shape for At {
    fn ln_weight(&self, k: f64) -> f64 {
        self.constant + ln_gamma_ratio(k, self.r - 1.0) - self.rate * (k - 1.0)
    }

    fn ln_between(&self, low: f64, high: f64) -> f64 {
        ln_sum(&|k, _| self.ln_weight(k), low, high)
    }
}

/// The free coordinates are ln r and the logarithm of the mean of `k - 1`, `r (1 - p) / p`, before
/// truncation.
impl Family for NegativeBinomial {
    fn names(&self) -> &'static [&'static str] {
        &["r", "p"]
    }

    fn scales(&self) -> &'static [Scale] {
        &[Scale::Positive, Scale::Probability]
    }

    fn bounds(&self) -> &'static [Bounds] {
        &[
            Bounds {
                low: -12.0,
                high: 9.0,
                at_low: "all observations at 1, or a logarithmic series",
                at_high: "a Poisson distribution",
            },
            Bounds {
                low: -14.0,
                high: 25.0,
                at_low: "all observations at 1",
                at_high: "a power of k up to the largest value",
            },
        ]
    }

    fn parameters(&self, free: &[f64]) -> Vec<f64> {
        let r = free[0].exp();
        vec![r, r / (r + free[1].exp())]
    }

    fn free(&self, parameters: &[f64]) -> Vec<f64> {
        let [r, p] = [parameters[0], parameters[1]];
        vec![r.ln(), (r * (1.0 - p) / p).ln()]
    }

    fn shape(&self, parameters: &[f64]) -> Box<dyn Shape> {
        let [r, p] = [parameters[0], parameters[1]];
        // ln Γ(r) = ln Γ(1 + r) - ln r, whose first term keeps its digits at small r.
        let ln_gamma = ln_gamma_ratio(1.0, r) - r.ln();
        Box::new(At { r, rate: -(-p).ln_1p(), constant: r * p.ln() - ln_gamma })
    }

    fn starts(&self, data: &Histogram) -> Vec<Vec<f64>> {
        let mean = data.mean(|k| k - 1.0).max(1e-3);
        vec![vec![-2.5, mean.ln()], vec![0.0, mean.ln()]]
    }
}
