//! The broken power law: exponent `alpha_1` up to a break, `alpha_2` beyond it, one value where
//! they meet.
//!
//! ```text
//! y = y_b (x / x_b)^-alpha_1   for x <= x_b,     y = y_b (x / x_b)^-alpha_2   for x > x_b
//! ```
//!
//! The smoothly broken laws of Caballero et al. (arXiv 2210.14891, eq. 1) with one break, no floor,
//! and the sharpness at its limit `f_1 -> 0`. Sharp, since the few models of a family cannot show
//! how wide a break is, and a free width would be a fifth parameter; for a given break the rest is
//! two straight lines in `ln x`, linear least squares. The break lies between the second and the
//! last but one x, so that at least two points decide each slope.

use super::{Domain, Form, Frame, Span};
use crate::optimise::Bound;
use crate::optimise::varpro::{Axis, DesignRow};

/// Starts between two neighbouring points.
const BETWEEN: usize = 5;

/// The form; see the module.
pub struct BrokenPower;

impl Form for BrokenPower {
    fn name(&self) -> &'static str {
        "broken power law"
    }

    fn formula(&self) -> &'static str {
        "y_b (S / S_b)^-alpha_1 up to S_b, y_b (S / S_b)^-alpha_2 beyond"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["y_b", "alpha_1", "alpha_2", "S_b"]
    }

    fn domains(&self) -> &'static [Domain] {
        &[Domain::Positive, Domain::Real, Domain::Real, Domain::Positive]
    }

    fn linear(&self) -> usize {
        3
    }

    fn axes(&self, u: &[f64], _: &[f64]) -> Vec<Axis> {
        let mut distinct = u.to_vec();
        distinct.dedup();
        // With fewer than four sizes there is no room: an empty grid, so no fit.
        let inner =
            distinct.get(1..distinct.len() - 1).filter(|inner| inner.len() >= 2).unwrap_or(&[]);
        let mut starts: Vec<f64> = inner
            .windows(2)
            .flat_map(|pair| {
                (0..BETWEEN)
                    .map(move |at| pair[0] + (pair[1] - pair[0]) * at as f64 / BETWEEN as f64)
            })
            .collect();
        starts.extend(inner.last());
        let bound = match (inner.first(), inner.last()) {
            (Some(&low), Some(&high)) => Bound { low, high },
            _ => Bound { low: 0.0, high: 0.0 },
        };
        vec![Axis { bound, starts }]
    }

    fn limit(&self, _: usize, upper: bool) -> &'static str {
        if upper {
            "the break is at the last S but one, so two points alone decide what follows"
        } else {
            "the break is at the second S, so two points alone decide what came before"
        }
    }

    fn row(&self, u: f64, _: Span, theta: &[f64]) -> Option<DesignRow> {
        let beyond = u - theta[0];
        let mut row = DesignRow { basis: [1.0, -u, -beyond.max(0.0)], ..DesignRow::default() };
        row.basis_slope[0][2] = if beyond > 0.0 { 1.0 } else { 0.0 };
        Some(row)
    }

    fn report(&self, frame: &Frame, theta: &[f64], beta: &[f64]) -> Vec<f64> {
        let at_break = beta[0] - beta[1] * theta[0];
        vec![
            (frame.log_y + at_break).exp(),
            beta[1],
            beta[1] + beta[2],
            (frame.log_x + theta[0]).exp(),
        ]
    }
}
