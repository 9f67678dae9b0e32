//! The discrete Weibull of Nakagawa and Osaki (1975), `P(R > k) = q^(k^beta)`: a stretched
//! exponential at whole numbers.
//!
//! Reported are `rate = -ln q`, which keeps its digits where q is close to 1, and beta.

use super::family::{Bounds, Family, Scale, Shape, anchors};
use super::histogram::{Histogram, Place};
use super::special::ln_one_minus_exp;

pub(super) struct Weibull;

#[derive(Debug)]
struct At {
    rate: f64,
    beta: f64,
}

impl Shape for At {
    fn ln_weight(&self, k: f64) -> f64 {
        self.ln_between(k - 1.0, k)
    }

    fn ln_between(&self, low: f64, high: f64) -> f64 {
        // high^beta - low^beta by its ratio: the powers of neighbours are close.
        let step = if low > 0.0 { -(self.beta * (low / high).ln()).exp_m1() } else { 1.0 };
        -self.rate * low.powf(self.beta) + ln_one_minus_exp(self.rate * high.powf(self.beta) * step)
    }

    fn ln_weight_at(&self, at: &Place) -> f64 {
        if at.step == f64::INFINITY {
            return ln_one_minus_exp(self.rate);
        }
        let below = self.rate * (self.beta * at.ln_below).exp();
        ln_one_minus_exp(below * (self.beta * at.step).exp_m1()) - below
    }
}

/// The free coordinates are ln rate and ln beta.
impl Family for Weibull {
    fn names(&self) -> &'static [&'static str] {
        &["rate", "beta"]
    }

    fn scales(&self) -> &'static [Scale] {
        &[Scale::Positive, Scale::Positive]
    }

    fn bounds(&self) -> &'static [Bounds] {
        &[
            Bounds {
                low: -30.0,
                high: 3.5,
                at_low: "a power of k up to the largest value",
                at_high: "all observations at 1",
            },
            Bounds {
                low: -7.0,
                high: 4.0,
                at_low: "1/k up to the largest value",
                at_high: "one value alone above the first",
            },
        ]
    }

    fn parameters(&self, free: &[f64]) -> Vec<f64> {
        free.iter().map(|x| x.exp()).collect()
    }

    fn free(&self, parameters: &[f64]) -> Vec<f64> {
        parameters.iter().map(|x| x.ln()).collect()
    }

    fn shape(&self, parameters: &[f64]) -> Box<dyn Shape> {
        Box::new(At { rate: parameters[0], beta: parameters[1] })
    }

    fn starts(&self, data: &Histogram) -> Vec<Vec<f64>> {
        let [(k1, p1), (k2, p2)] = anchors(data);
        let depth = |p: f64| (-(-p).ln_1p()).ln();
        let beta = ((depth(p2) - depth(p1)) / (k2 / k1).ln()).clamp(0.02, 20.0);
        vec![vec![depth(p1) - beta * k1.ln(), beta.ln()], vec![-(data.mean(|k| k)).ln(), 0.0]]
    }
}
