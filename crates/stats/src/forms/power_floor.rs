//! The power law with a floor, `y = a x^-alpha + c` with `c >= 0`: what is left at any size.
//!
//! Fitted as `y = y_1 [(1 - f) (x / x_1)^-alpha + f]`: y_1 the value at the smallest x, f the
//! floor's share of it. f lies between 0 and 1 and is of the order of the smallest over the largest
//! value, whatever the units, and the floor cannot become negative. alpha is held between
//! [`FLATTEST`] and [`STEEPEST`] over the logarithm of the range of x: beyond them the form is a
//! straight line in ln x, or one free point and a constant.
//!
//! f at 0 is the plain power law, and is flagged as a parameter at its bound: then the data show no
//! floor.

use super::{Domain, Form, Frame, Span};
use crate::optimise::Bound;
use crate::optimise::varpro::{Axis, DesignRow};

/// `alpha ln(x_max / x_min)` at least.
pub const FLATTEST: f64 = 1e-3;

/// `alpha ln(x_max / x_min)` at most.
pub const STEEPEST: f64 = 60.0;

/// The form; see the module.
pub struct PowerFloor;

impl Form for PowerFloor {
    fn name(&self) -> &'static str {
        "power law with floor"
    }

    fn formula(&self) -> &'static str {
        "a S^-alpha + c"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["a", "alpha", "c"]
    }

    fn domains(&self) -> &'static [Domain] {
        &[Domain::Positive, Domain::Real, Domain::NonNegative]
    }

    fn linear(&self) -> usize {
        1
    }

    fn axes(&self, u: &[f64], v: &[f64]) -> Vec<Axis> {
        let range = u[u.len() - 1] - u[0];
        let steepness = [0.02, 0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0, 16.0, 30.0];
        let fall = (v[v.len() - 1] - v[0]).min(0.0).exp();
        let shares = [0.0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.95, 1.0];
        vec![
            Axis {
                bound: Bound { low: FLATTEST / range, high: STEEPEST / range },
                starts: steepness.iter().map(|s| s / range).collect(),
            },
            Axis {
                bound: Bound { low: 0.0, high: 1.0 },
                starts: shares.iter().map(|share| share * fall).collect(),
            },
        ]
    }

    fn limit(&self, axis: usize, upper: bool) -> &'static str {
        match (axis, upper) {
            (0, false) => "alpha is at its smallest, the form no more than a straight line in ln S",
            (0, true) => "alpha is at its largest, the form one free point and a constant",
            (_, false) => {
                "the floor c is 0, so the data show none and the form is the plain power law"
            }
            (_, true) => "the floor is all there is, the form a constant",
        }
    }

    fn row(&self, u: f64, span: Span, theta: &[f64]) -> Option<DesignRow> {
        let (alpha, share) = (theta[0], theta[1]);
        let distance = u - span.low;
        let decay = (-alpha * distance).exp();
        let value = (1.0 - share) * decay + share;
        (value > 0.0).then(|| DesignRow {
            offset: value.ln(),
            basis: [1.0, 0.0, 0.0],
            offset_slope: [-(1.0 - share) * distance * decay / value, (1.0 - decay) / value],
            ..DesignRow::default()
        })
    }

    fn value(&self, u: f64, span: Span, theta: &[f64], beta: &[f64]) -> Option<f64> {
        let (alpha, share) = (theta[0], theta[1]);
        let value = (1.0 - share) * (-alpha * (u - span.low)).exp() + share;
        (value > 0.0).then(|| value.ln() + beta[0])
    }

    fn slopes(&self, u: f64, span: Span, theta: &[f64], _: &[f64], out: &mut [f64]) {
        let (alpha, share) = (theta[0], theta[1]);
        let distance = u - span.low;
        let decay = (-alpha * distance).exp();
        let value = (1.0 - share) * decay + share;
        let slopes = if value > 0.0 {
            [1.0, -(1.0 - share) * distance * decay / value, (1.0 - decay) / value]
        } else {
            [0.0; 3]
        };
        out.copy_from_slice(&slopes);
    }

    fn report(&self, frame: &Frame, theta: &[f64], beta: &[f64]) -> Vec<f64> {
        let (alpha, share) = (theta[0], theta[1]);
        let first = frame.log_y + beta[0];
        let a = ((1.0 - share).ln() + first + alpha * (frame.log_x + frame.span.low)).exp();
        vec![a, alpha, share * first.exp()]
    }
}
