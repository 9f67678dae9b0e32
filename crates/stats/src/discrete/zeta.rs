//! The zeta distribution, `p_k = k^-s / sum_{j <= V} j^-s`: a power law. Truncated it exists for
//! every s, also at 1 and below.

use super::family::{Bounds, Family, Scale, Shape};
use super::histogram::{Histogram, Place};
use super::sum::ln_sum;

pub(super) struct Zeta;

#[derive(Debug)]
struct At {
    exponent: f64,
}

impl Shape for At {
    fn ln_weight(&self, k: f64) -> f64 {
        -self.exponent * k.ln()
    }

    fn ln_between(&self, low: f64, high: f64) -> f64 {
        ln_sum(&|_, ln_k| -self.exponent * ln_k, low, high)
    }

    fn ln_weight_at(&self, at: &Place) -> f64 {
        -self.exponent * at.ln_k
    }
}

/// The free coordinate is the exponent: the likelihood is concave in it.
impl Family for Zeta {
    fn names(&self) -> &'static [&'static str] {
        &["exponent"]
    }

    fn scales(&self) -> &'static [Scale] {
        &[Scale::Real]
    }

    fn bounds(&self) -> &'static [Bounds] {
        &[Bounds {
            low: -30.0,
            high: 60.0,
            at_low: "the largest value alone",
            at_high: "all observations at 1",
        }]
    }

    fn parameters(&self, free: &[f64]) -> Vec<f64> {
        free.to_vec()
    }

    fn free(&self, parameters: &[f64]) -> Vec<f64> {
        parameters.to_vec()
    }

    fn shape(&self, parameters: &[f64]) -> Box<dyn Shape> {
        Box::new(At { exponent: parameters[0] })
    }

    fn starts(&self, data: &Histogram) -> Vec<Vec<f64>> {
        vec![vec![1.0 + 1.0 / (0.5 + data.mean(f64::ln))]]
    }
}
