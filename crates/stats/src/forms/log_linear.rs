//! The log-linear law, `y = a - b ln x`: a constant gain for every doubling, until nothing is left.
//!
//! Fitted as `y = A (1 - s u)` with A the value at the centre of the data. y must be above zero at
//! every point, which bounds s on both sides; beyond the data the form reaches zero at `u = 1/s`,
//! and from there on it has no value: a prediction is refused rather than given as zero or less.

use super::{Domain, Form, Frame, Span};
use crate::optimise::Bound;
use crate::optimise::varpro::{Axis, DesignRow};

/// How near to the end of its range s may come.
const ALMOST: f64 = 1.0 - 1e-6;

/// The form; see the module.
pub struct LogLinear;

impl Form for LogLinear {
    fn name(&self) -> &'static str {
        "log-linear"
    }

    fn formula(&self) -> &'static str {
        "a - b ln S"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["a", "b"]
    }

    fn domains(&self) -> &'static [Domain] {
        &[Domain::Real, Domain::Real]
    }

    fn linear(&self) -> usize {
        1
    }

    fn axes(&self, u: &[f64], _: &[f64]) -> Vec<Axis> {
        let bound = Bound { low: ALMOST / u[0], high: ALMOST / u[u.len() - 1] };
        let starts = [-0.999, -0.95, -0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 0.999];
        vec![Axis {
            bound,
            starts: starts
                .iter()
                .map(|&s: &f64| s.abs() * if s < 0.0 { bound.low } else { bound.high })
                .collect(),
        }]
    }

    fn limit(&self, _: usize, upper: bool) -> &'static str {
        if upper {
            "the form reaches zero at the largest S of the data"
        } else {
            "the form reaches zero at the smallest S of the data"
        }
    }

    fn row(&self, u: f64, _: Span, theta: &[f64]) -> Option<DesignRow> {
        let value = 1.0 - theta[0] * u;
        (value > 0.0).then(|| DesignRow {
            offset: value.ln(),
            basis: [1.0, 0.0, 0.0],
            offset_slope: [-u / value, 0.0],
            ..DesignRow::default()
        })
    }

    fn report(&self, frame: &Frame, theta: &[f64], beta: &[f64]) -> Vec<f64> {
        let centre = (frame.log_y + beta[0]).exp();
        vec![centre * (1.0 + theta[0] * frame.log_x), centre * theta[0]]
    }
}
