//! The lognormal, interval-censored: a rank is a lognormal variable rounded up.
//!
//! ```text
//! P(R = k) = [F(ln k) - F(ln(k - 1))] / F(ln V),   F(t) = Phi((t - mu) / sigma),   F(ln 0) = 0.
//! ```
//!
//! The paper's lognormal (eq. 9) taken at whole numbers. Not the same as
//! [`point_mass`](super::point_mass), the density at k: here all of the variable up to 1 belongs to
//! rank 1, so `P(R = 1) = Phi(-mu / sigma)` before truncation. mu and sigma are those of the
//! logarithm (natural), in SciPy's `lognorm` `ln(scale)` and `s`.

use statrs::function::erf::erfc_inv;

use super::family::{Bounds, Family, Scale, Shape, anchors};
use super::histogram::{Histogram, Place};
use super::special::{ln_normal_piece, ln_normal_up_to};

pub(super) struct Lognormal;

#[derive(Debug)]
struct At {
    mu: f64,
    sigma: f64,
    ln_sigma: f64,
}

impl Shape for At {
    fn ln_weight(&self, k: f64) -> f64 {
        self.ln_between(k - 1.0, k)
    }

    fn ln_between(&self, low: f64, high: f64) -> f64 {
        let z = (high.ln() - self.mu) / self.sigma;
        if low <= 0.0 {
            ln_normal_up_to(z)
        } else {
            let width = ((high - low) / low).ln_1p() / self.sigma;
            ln_normal_piece(z, width, width.ln())
        }
    }

    fn ln_weight_at(&self, at: &Place) -> f64 {
        let z = (at.ln_k - self.mu) / self.sigma;
        if at.step == f64::INFINITY {
            ln_normal_up_to(z)
        } else {
            ln_normal_piece(z, at.step / self.sigma, at.ln_step - self.ln_sigma)
        }
    }
}

/// The free coordinates are mu/sigma, which decides the share of rank 1, and ln sigma.
impl Family for Lognormal {
    fn names(&self) -> &'static [&'static str] {
        &["mu", "sigma"]
    }

    fn scales(&self) -> &'static [Scale] {
        &[Scale::Real, Scale::Positive]
    }

    fn bounds(&self) -> &'static [Bounds] {
        &[
            Bounds {
                low: -12.0,
                high: 60.0,
                at_low: "all observations at 1",
                at_high: "a power of k up to the largest value",
            },
            Bounds {
                low: -4.5,
                high: 7.0,
                at_low: "one value alone above the first",
                at_high: "equal shares of equal ratios, 1/k",
            },
        ]
    }

    fn parameters(&self, free: &[f64]) -> Vec<f64> {
        let sigma = free[1].exp();
        vec![free[0] * sigma, sigma]
    }

    fn free(&self, parameters: &[f64]) -> Vec<f64> {
        vec![parameters[0] / parameters[1], parameters[1].ln()]
    }

    fn shape(&self, parameters: &[f64]) -> Box<dyn Shape> {
        let [mu, sigma] = [parameters[0], parameters[1]];
        Box::new(At { mu, sigma, ln_sigma: sigma.ln() })
    }

    fn starts(&self, data: &Histogram) -> Vec<Vec<f64>> {
        let mean = data.mean(f64::ln);
        let deviation = data.mean(|k| (k.ln() - mean).powi(2)).sqrt().max(0.1);
        let normal_quantile = |p: f64| -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p);
        let [(k1, p1), (k2, p2)] = anchors(data);
        let (z1, z2) = (normal_quantile(p1), normal_quantile(p2));
        let sigma = ((k2 / k1).ln() / (z2 - z1).max(1e-3)).clamp(0.05, 50.0);
        vec![vec![mean / deviation, deviation.ln()], vec![k1.ln() / sigma - z1, sigma.ln()]]
    }
}
