//! The geometric distribution, `p_k = p (1 - p)^(k - 1)`: what ranks would be if each better entry
//! were passed by chance alone.

use super::family::{Bounds, Family, Scale, Shape};
use super::histogram::Histogram;
use super::special::ln_one_minus_exp;

pub(super) struct Geometric;

#[derive(Debug)]
struct At {
    /// `-ln(1 - p)`.
    rate: f64,
    /// Of the weight at 1.
    ln_first: f64,
}

impl Shape for At {
    fn ln_weight(&self, k: f64) -> f64 {
        self.ln_first - self.rate * (k - 1.0)
    }

    fn ln_between(&self, low: f64, high: f64) -> f64 {
        -self.rate * low + ln_one_minus_exp(self.rate * (high - low))
    }
}

/// The free coordinate is ln(-ln(1 - p)).
impl Family for Geometric {
    fn names(&self) -> &'static [&'static str] {
        &["p"]
    }

    fn scales(&self) -> &'static [Scale] {
        &[Scale::Probability]
    }

    fn bounds(&self) -> &'static [Bounds] {
        &[Bounds {
            low: -20.0,
            high: 3.5,
            at_low: "equal masses",
            at_high: "all observations at 1",
        }]
    }

    fn parameters(&self, free: &[f64]) -> Vec<f64> {
        vec![-(-free[0].exp()).exp_m1()]
    }

    fn free(&self, parameters: &[f64]) -> Vec<f64> {
        vec![(-(-parameters[0]).ln_1p()).ln()]
    }

    fn shape(&self, parameters: &[f64]) -> Box<dyn Shape> {
        let rate = -(-parameters[0]).ln_1p();
        Box::new(At { rate, ln_first: ln_one_minus_exp(rate) })
    }

    fn starts(&self, data: &Histogram) -> Vec<Vec<f64>> {
        vec![self.free(&[1.0 / (data.mean(|k| k) + 1e-3)])]
    }
}
