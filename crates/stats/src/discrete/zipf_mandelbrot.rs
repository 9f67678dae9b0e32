//! Zipf and Mandelbrot, `p_k = (k + q)^-s / sum_{j <= V} (j + q)^-s` with `q > -1`: a power law
//! that is flat (q > 0) or steep (q < 0) at its head. With q and s growing together it becomes the
//! geometric distribution.

use super::family::{Bounds, Family, Scale, Shape};
use super::histogram::Histogram;
use super::sum::ln_sum;

pub(super) struct ZipfMandelbrot;

#[derive(Debug)]
struct At {
    exponent: f64,
    shift: f64,
}

impl Shape for At {
    /// Relative to k = 1, so that a large shift with a large exponent keeps its digits.
    fn ln_weight(&self, k: f64) -> f64 {
        -self.exponent * ((k - 1.0) / (1.0 + self.shift)).ln_1p()
    }

    fn ln_between(&self, low: f64, high: f64) -> f64 {
        ln_sum(&|k, _| self.ln_weight(k), low, high)
    }
}

/// The free coordinates are the exponent's logarithm and ln(1 + q).
impl Family for ZipfMandelbrot {
    fn names(&self) -> &'static [&'static str] {
        &["exponent", "shift"]
    }

    fn scales(&self) -> &'static [Scale] {
        &[Scale::Positive, Scale::AboveMinusOne]
    }

    fn bounds(&self) -> &'static [Bounds] {
        &[
            Bounds {
                low: -9.0,
                high: 14.0,
                at_low: "equal masses",
                at_high: "a geometric distribution",
            },
            Bounds {
                low: -4.0,
                high: 14.0,
                at_low: "a mass at 1 beside a power law",
                at_high: "a geometric distribution",
            },
        ]
    }

    fn parameters(&self, free: &[f64]) -> Vec<f64> {
        vec![free[0].exp(), free[1].exp_m1()]
    }

    fn free(&self, parameters: &[f64]) -> Vec<f64> {
        vec![parameters[0].ln(), parameters[1].ln_1p()]
    }

    fn shape(&self, parameters: &[f64]) -> Box<dyn Shape> {
        Box::new(At { exponent: parameters[0], shift: parameters[1] })
    }

    fn starts(&self, data: &Histogram) -> Vec<Vec<f64>> {
        let slope = 1.0 + 1.0 / (0.5 + data.mean(f64::ln));
        let mean = data.mean(|k| k);
        vec![
            vec![slope.ln(), 0.0],
            vec![(slope + 1.0).ln(), 1.5],
            vec![3.0_f64.ln(), (1.0 + mean).ln()],
        ]
    }
}
