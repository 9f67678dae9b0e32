//! Predictions that leave the form open: a power law, which may flatten towards a floor.
//!
//! A power law that is extrapolated is as right as its form. `a x^-alpha + c` holds it as the case
//! c = 0, so the interval by profile of that form ([`profile`]) is of all floors that the points
//! allow, none included: where a floor of a tenth is true, the straight line's interval covers 66 %
//! at ten and 10 % at a hundred times the largest of twelve models, this one 95.
//!
//! | points | what |
//! |---|---|
//! | 5 and more | profile of the form with a floor, n - 3 degrees of freedom |
//! | 4 | the same, with the scatter about the straight line where that makes it narrower: one degree of freedom is too few |
//! | 3 | none: three points on a line by chance promise anything, and show nothing of the form |
//!
//! What [`scatter`] and [`mixed`](super::mixed) know is added: scatter that may grow with x, and a
//! text that all points share.

use super::mixed::{Mixed, Shared};
use super::profile::{self, ProfileInterval};
use super::{scatter, student};
use crate::check;
use crate::error::StatsError;
use crate::forms::power_floor::PowerFloor;
use crate::forms::{self, Curve, Form, Shape, power};
use crate::optimise::least_squares::Line;
use crate::outcome::Caution;

/// Points from which on a floor can be fitted.
pub const FLOOR_FROM: usize = 4;

/// What is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The law's own value.
    Law,
    /// One new point, which scatters about it.
    Point,
}

/// A prediction with its interval, in the logarithm of y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Open {
    /// Logarithm of the value by the best form.
    pub log_value: f64,
    /// Logarithm of the lower end; `None` where the points do not bound it.
    pub low: Option<f64>,
    /// Logarithm of the upper end; likewise.
    pub high: Option<f64>,
    /// Nominal coverage.
    pub level: f64,
    /// Points less parameters.
    pub degrees_of_freedom: usize,
    /// The text's share of the variance, from 0 to 1.
    pub text_share: f64,
}

impl Open {
    /// Both ends, where there are both.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        Some((self.low?, self.high?))
    }
}

/// Points, ready to be extrapolated from.
#[derive(Debug, Clone)]
pub struct OpenForm {
    log_x: Vec<f64>,
    line: Line,
    /// With a floor; absent for three points.
    curve: Option<Curve>,
    tangent: Vec<Vec<f64>>,
    shared: Option<Shared>,
}

impl OpenForm {
    /// From points, both coordinates above zero, and the noise that they share, in their order.
    ///
    /// # Errors
    /// As [`forms::power::fit`]; noise of another number of points.
    pub fn fit(x: &[f64], y: &[f64], shared: Option<&Shared>) -> Result<Self, StatsError> {
        let line = power::fit(x, y)?.line;
        if let Some(shared) = shared.filter(|shared| shared.points() != x.len()) {
            return Err(StatsError::Lengths {
                left: "points",
                left_length: x.len(),
                right: "shared noise",
                right_length: shared.points(),
            });
        }
        let log_x: Vec<f64> = x.iter().map(|x| x.ln()).collect();
        let curve = forms::fit(&PowerFloor, x, y).ok();
        let tangent = curve.as_ref().map(Curve::tangent).unwrap_or_default();
        Ok(Self { log_x, line, curve, tangent, shared: shared.cloned() })
    }

    /// The directions in which the form and the straight line can move, an entry a point each: what
    /// of a noise that points share a prediction depends on.
    pub fn directions(&self) -> Vec<Vec<f64>> {
        let line = [vec![1.0; self.log_x.len()], self.log_x.clone()];
        line.into_iter().chain(self.tangent.iter().cloned()).collect()
    }

    /// Name of the form that predicts.
    pub fn form(&self) -> &'static str {
        match &self.curve {
            Some(_) => PowerFloor.name(),
            None => power::PowerForm.name(),
        }
    }

    /// Whether the points show a floor: whether the best one is above zero.
    pub fn has_floor(&self) -> bool {
        let bound =
            |curve: &Curve| curve.cautions.iter().any(|c| matches!(c, Caution::AtBound { .. }));
        self.curve.as_ref().is_some_and(|curve| !bound(curve))
    }

    /// Logarithm of the straight line's value at `x`, above zero.
    pub fn straight_log_value(&self, x: f64) -> f64 {
        self.line.at(x.ln())
    }

    /// Predicts at `x`, above zero.
    ///
    /// # Errors
    /// Fewer than four points; a level that is no probability; a value beyond the range of numbers.
    pub fn at(&self, x: f64, of: Of, level: f64) -> Result<Open, StatsError> {
        check::level(level)?;
        match &self.curve {
            None if self.line.degrees_of_freedom() == 0 => Err(StatsError::NoDegreesOfFreedom),
            None => Err(StatsError::FormUnknown { points: self.log_x.len(), needed: FLOOR_FROM }),
            Some(curve) => self.curved(curve, x, of, level),
        }
    }

    fn curved(&self, curve: &Curve, x: f64, of: Of, level: f64) -> Result<Open, StatsError> {
        let overflow = StatsError::Overflow { what: "predicted value" };
        let log_value = curve.shape.log_at(x).ok_or(overflow)?;
        let freedom = curve.degrees_of_freedom();
        let (scatter, spare) = self.radius(curve, level)?;
        let z = standardised(curve);
        let grown = scatter::factor(&self.log_x, &z, spare, x.ln(), level)?;
        let radius = scatter * grown;
        let statistic = |shape: &Shape| shape.log_at(x).unwrap_or(f64::NAN);
        let found = match of {
            Of::Law => profile::interval_within(curve, statistic, radius, level),
            Of::Point => profile::prediction_within(curve, x, radius, level),
        };
        let found = match found {
            Ok(found) => found,
            // No scatter, so nothing to trace.
            Err(StatsError::NoSpringScale) => ProfileInterval {
                low: Some(log_value),
                high: Some(log_value),
                level,
                degrees_of_freedom: freedom,
            },
            Err(refusal) => return Err(refusal),
        };
        let weights = curve.weights(&self.tangent, statistic);
        let mixed =
            Mixed::new(curve.residual_variance(), freedom, &self.tangent, self.shared.as_ref())?;
        let spread = mixed.spread(&weights, 0.0);
        let shared_freedom = self.shared.as_ref().map_or(f64::INFINITY, Shared::degrees_of_freedom);
        let t = if shared_freedom.is_finite() {
            student::quantile(level, shared_freedom)?
        } else {
            0.0
        };
        let hidden = t * mixed.hidden(&weights).sqrt();
        let widened = |end: Option<f64>, sign: f64| {
            end.map(|end| log_value + sign * (end - log_value).hypot(hidden))
        };
        let (low, high) = (widened(found.low, -1.0), widened(found.high, 1.0));
        let half = low.zip(high).map(|(low, high)| 0.5 * (high - low));
        Ok(Open {
            log_value,
            low,
            high,
            level,
            degrees_of_freedom: freedom,
            text_share: half
                .filter(|half| *half > 0.0)
                .map_or(0.0, |half| (t * t * spread.text / (half * half)).clamp(0.0, 1.0)),
        })
    }

    /// How far from the optimum the profile goes, in units of the curve's scatter, with the degrees
    /// of freedom of that.
    fn radius(&self, curve: &Curve, level: f64) -> Result<(f64, usize), StatsError> {
        let freedom = curve.degrees_of_freedom();
        let t = student::two_sided_quantile(level, freedom)?;
        let own = curve.residual_variance();
        let straight = self.line.residual_variance().unwrap_or(0.0);
        if freedom > 1 || own <= 0.0 || straight <= 0.0 {
            return Ok((t, freedom));
        }
        let by_line = student::two_sided_quantile(level, freedom + 1)? * (straight / own).sqrt();
        Ok(if by_line < t { (by_line, freedom + 1) } else { (t, freedom) })
    }
}

/// Residuals over what their leverage leaves of them.
fn standardised(curve: &Curve) -> Vec<f64> {
    let each = curve.residuals.iter().zip(&curve.leverage);
    each.map(|(e, h)| e / (1.0 - h).max(0.05).sqrt()).collect()
}
