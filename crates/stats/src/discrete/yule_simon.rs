//! Yule and Simon, `p_k = rho B(k, rho + 1)`, with `P(R > k) = k B(k, rho + 1)`: what "the rich get
//! richer" leads to. Its tail is a power law of exponent `rho + 1`.

use super::family::{Bounds, Family, Scale, Shape};
use super::histogram::Histogram;
use super::special::{ln_gamma_ratio, ln_one_minus_exp};

pub(super) struct YuleSimon;

#[derive(Debug)]
struct At {
    rho: f64,
    /// `ln Γ(1 + rho)`.
    ln_gamma: f64,
}

impl At {
    /// `-ln P(R > k)` before truncation: `P = Γ(k + 1) Γ(rho + 1) / Γ(k + rho + 1)`.
    fn hazard(&self, k: f64) -> f64 {
        ln_gamma_ratio(k + 1.0, self.rho) - self.ln_gamma
    }
}

impl Shape for At {
    fn ln_weight(&self, k: f64) -> f64 {
        (self.rho / (k + self.rho)).ln() - self.hazard(k - 1.0)
    }

    fn ln_between(&self, low: f64, high: f64) -> f64 {
        let begin = self.hazard(low);
        -begin + ln_one_minus_exp(self.hazard(high) - begin)
    }
}

/// The free coordinate is ln rho.
impl Family for YuleSimon {
    fn names(&self) -> &'static [&'static str] {
        &["rho"]
    }

    fn scales(&self) -> &'static [Scale] {
        &[Scale::Positive]
    }

    fn bounds(&self) -> &'static [Bounds] {
        &[Bounds {
            low: -14.0,
            high: 7.0,
            at_low: "1/k up to the largest value",
            at_high: "all observations at 1",
        }]
    }

    fn parameters(&self, free: &[f64]) -> Vec<f64> {
        vec![free[0].exp()]
    }

    fn free(&self, parameters: &[f64]) -> Vec<f64> {
        vec![parameters[0].ln()]
    }

    fn shape(&self, parameters: &[f64]) -> Box<dyn Shape> {
        let rho = parameters[0];
        Box::new(At { rho, ln_gamma: ln_gamma_ratio(1.0, rho) })
    }

    fn starts(&self, data: &Histogram) -> Vec<Vec<f64>> {
        vec![vec![-(0.3 + data.mean(f64::ln)).ln()]]
    }
}
