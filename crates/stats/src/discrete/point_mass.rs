//! The normalised point masses of the paper's Appendix B (eqs. 10-11): a lognormal density read off
//! at whole numbers.
//!
//! ```text
//! p_k = psi(k) / c,   psi(x) = exp(-(ln x - mu)² / (2 sigma²)) / (x sigma sqrt(2 pi)),   c = sum_{j <= V} psi(j).
//! ```
//!
//! In `ln k` the mass is the exponential of a parabola,
//! `ln p_k = -s (ln k - 2) - g (ln k - 2)² + const` with `g = 1/(2 sigma²)` and
//! `s = 1 + (2 - mu)/sigma²`, so the likelihood has one maximum in `(s, g)`. As g goes to 0 this is
//! a power law of exponent s, and mu and sigma run off to minus and plus infinity together: data
//! near a power law hold s, and say next to nothing of mu and sigma apart. Fits there are told so
//! by the correlation of the two.

use super::family::{Bounds, Family, Scale, Shape};
use super::histogram::{Histogram, Place};
use super::sum::ln_sum;

pub(super) struct PointMass;

/// Where on the axis of `ln k` slope and curvature are taken: amid the values that hold a slope.
const CENTRE: f64 = 2.0;

#[derive(Debug)]
struct At {
    linear: f64,
    quadratic: f64,
}

impl At {
    fn parabola(&self, t: f64) -> f64 {
        t * (self.linear - self.quadratic * t)
    }
}

impl Shape for At {
    /// `psi(k) / psi(1)`: finite wherever mu and sigma lie.
    fn ln_weight(&self, k: f64) -> f64 {
        self.parabola(k.ln())
    }

    fn ln_between(&self, low: f64, high: f64) -> f64 {
        ln_sum(&|_, ln_k| self.parabola(ln_k), low, high)
    }

    fn ln_weight_at(&self, at: &Place) -> f64 {
        self.parabola(at.ln_k)
    }
}

/// The free coordinates are the slope s and ln g.
impl Family for PointMass {
    fn names(&self) -> &'static [&'static str] {
        &["mu", "sigma"]
    }

    fn scales(&self) -> &'static [Scale] {
        &[Scale::Real, Scale::Positive]
    }

    fn bounds(&self) -> &'static [Bounds] {
        &[
            Bounds {
                low: -30.0,
                high: 60.0,
                at_low: "the largest value alone",
                at_high: "all observations at 1",
            },
            // sigma from 1000 to 0.01.
            Bounds {
                low: -14.5,
                high: 8.5,
                at_low: "a power law, so mu and sigma are not identified",
                at_high: "one value alone",
            },
        ]
    }

    fn parameters(&self, free: &[f64]) -> Vec<f64> {
        let variance = 0.5 * (-free[1]).exp();
        vec![CENTRE - (free[0] - 1.0) * variance, variance.sqrt()]
    }

    fn free(&self, parameters: &[f64]) -> Vec<f64> {
        let variance = parameters[1] * parameters[1];
        vec![1.0 + (CENTRE - parameters[0]) / variance, -(2.0 * variance).ln()]
    }

    fn shape(&self, parameters: &[f64]) -> Box<dyn Shape> {
        let variance = parameters[1] * parameters[1];
        Box::new(At { linear: parameters[0] / variance - 1.0, quadratic: 0.5 / variance })
    }

    fn starts(&self, data: &Histogram) -> Vec<Vec<f64>> {
        let slope = 1.0 + 1.0 / (0.5 + data.mean(f64::ln));
        vec![vec![slope, (0.02f64).ln()], vec![slope, (0.2f64).ln()]]
    }
}
