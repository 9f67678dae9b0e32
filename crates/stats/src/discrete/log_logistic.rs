//! The log-logistic at whole numbers, `P(R > k) = 1 / (1 + (k / scale)^shape)`: as the lognormal,
//! with the tail of a power law.
//!
//! Reported are `ln_scale = ln(scale)`, the median of the logarithm as mu is the lognormal's, and
//! the shape.

use super::family::{Bounds, Family, Scale, Shape, anchors};
use super::histogram::{Histogram, Place};
use super::special::{ln_one_minus_exp, ln_one_plus_exp};

pub(super) struct LogLogistic;

#[derive(Debug)]
struct At {
    ln_scale: f64,
    shape: f64,
}

impl At {
    /// Log odds of `R <= k`.
    fn odds(&self, k: f64) -> f64 {
        self.shape * (k.ln() - self.ln_scale)
    }
}

impl Shape for At {
    fn ln_weight(&self, k: f64) -> f64 {
        self.ln_between(k - 1.0, k)
    }

    /// `1/(1 + e^a) - 1/(1 + e^b) = e^b (1 - e^(a - b)) / ((1 + e^a)(1 + e^b))` for log odds a and
    /// b.
    fn ln_between(&self, low: f64, high: f64) -> f64 {
        let b = self.odds(high);
        let upto = b - ln_one_plus_exp(b);
        if low <= 0.0 {
            return upto;
        }
        let step = self.shape * ((high - low) / low).ln_1p();
        upto - ln_one_plus_exp(self.odds(low)) + ln_one_minus_exp(step)
    }

    fn ln_weight_at(&self, at: &Place) -> f64 {
        let b = self.shape * (at.ln_k - self.ln_scale);
        let upto = b - ln_one_plus_exp(b);
        if at.step == f64::INFINITY {
            return upto;
        }
        let a = self.shape * (at.ln_below - self.ln_scale);
        upto - ln_one_plus_exp(a) + ln_one_minus_exp(self.shape * at.step)
    }
}

/// The free coordinates are the log odds of `R <= 1`, `-shape ln(scale)`, and the shape's
/// logarithm.
impl Family for LogLogistic {
    fn names(&self) -> &'static [&'static str] {
        &["ln_scale", "shape"]
    }

    fn scales(&self) -> &'static [Scale] {
        &[Scale::Real, Scale::Positive]
    }

    fn bounds(&self) -> &'static [Bounds] {
        &[
            Bounds {
                low: -60.0,
                high: 30.0,
                at_low: "a power of k up to the largest value",
                at_high: "all observations at 1",
            },
            Bounds {
                low: -7.0,
                high: 5.0,
                at_low: "1/k up to the largest value",
                at_high: "one value alone above the first",
            },
        ]
    }

    fn parameters(&self, free: &[f64]) -> Vec<f64> {
        let shape = free[1].exp();
        vec![-free[0] / shape, shape]
    }

    fn free(&self, parameters: &[f64]) -> Vec<f64> {
        vec![-parameters[1] * parameters[0], parameters[1].ln()]
    }

    fn shape(&self, parameters: &[f64]) -> Box<dyn Shape> {
        Box::new(At { ln_scale: parameters[0], shape: parameters[1] })
    }

    fn starts(&self, data: &Histogram) -> Vec<Vec<f64>> {
        let [(k1, p1), (k2, p2)] = anchors(data);
        let odds = |p: f64| (p / (1.0 - p)).ln();
        let shape = ((odds(p2) - odds(p1)) / (k2 / k1).ln()).clamp(0.02, 50.0);
        vec![vec![odds(p1) - shape * k1.ln(), shape.ln()]]
    }
}
