//! The exponential, `y = a exp(-b x)`: a value that falls by the same factor for every so many
//! parameters.
//!
//! The plain two-parameter decay in x itself, as the rival that the rank law's specification names.
//! It has as many parameters as the power law, so a comparison of the two is one of shape alone.
//! `ln y = ln a - b x` is a straight line in x: closed form, no search. Other exponentials have a
//! third parameter (a floor, or a power of x inside) and contain or imitate the power law.

use super::{Domain, Form, Frame, Span};
use crate::optimise::varpro::{Axis, DesignRow};

/// The form; see the module.
pub struct Exponential;

impl Form for Exponential {
    fn name(&self) -> &'static str {
        "exponential"
    }

    fn formula(&self) -> &'static str {
        "a exp(-b S)"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["a", "b"]
    }

    fn domains(&self) -> &'static [Domain] {
        &[Domain::Positive, Domain::Real]
    }

    fn linear(&self) -> usize {
        2
    }

    fn axes(&self, _: &[f64], _: &[f64]) -> Vec<Axis> {
        Vec::new()
    }

    fn limit(&self, _: usize, _: bool) -> &'static str {
        "none" // It has no parameter that is searched for.
    }

    fn row(&self, u: f64, span: Span, _: &[f64]) -> Option<DesignRow> {
        // x over the largest x of the data, so that the column is of size one.
        Some(DesignRow { basis: [1.0, -(u - span.high).exp(), 0.0], ..DesignRow::default() })
    }

    fn report(&self, frame: &Frame, _: &[f64], beta: &[f64]) -> Vec<f64> {
        vec![(frame.log_y + beta[0]).exp(), beta[1] / (frame.log_x + frame.span.high).exp()]
    }
}
