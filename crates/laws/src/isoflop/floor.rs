//! The least loss over budgets as `k C^-b + E`.
//!
//! Along the optimum of a surface the loss is exactly of this form,
//! `b = alpha beta / (alpha + beta)`. Whether the minima tell E from 0 is judged against the pure
//! power law through the same points, which it holds as the case E = 0:
//!
//! ```text
//! told:   R(power) - R(floor) > t² R(floor) / (n - 3),   t Student's of n - 3 degrees of freedom, R the sum of squared residuals of ln loss
//! ```

use relscale_stats::forms::power_floor::PowerFloor;
use relscale_stats::forms::{self, Curve as Form};
use relscale_stats::interval::profile::{self, ProfileInterval};
use relscale_stats::interval::student::two_sided_quantile;
use relscale_stats::optimise::least_squares::line;
use relscale_stats::outcome::Caution;

use super::minima::{Quantity, minima};
use crate::intervals::traced;
use crate::result::{Curve, Estimate, FloorLaw, IsoflopBudget, Outcome};

/// The form through the minima, and whether they tell its floor.
pub(super) struct Floor {
    form: Form,
    pub(super) told: bool,
}

/// Fits the form.
///
/// # Errors
/// In words: fewer than four budgets with a minimum.
pub(super) fn through(
    curve: Curve,
    budgets: &[IsoflopBudget],
    level: f64,
) -> Result<Floor, String> {
    let (x, y) = minima(curve, Quantity::Loss, budgets);
    if x.len() < 4 {
        return Err(format!(
            "{} budgets have a minimum, and a law with a floor needs four",
            x.len()
        ));
    }
    let form = forms::fit(&PowerFloor, &x, &y).map_err(|refusal| refusal.to_string())?;
    let told = above_zero(&form, &x, &y, level).unwrap_or(false);
    Ok(Floor { form, told })
}

/// Whether the floor stands out from 0.
fn above_zero(form: &Form, x: &[f64], y: &[f64], level: f64) -> Option<bool> {
    let logarithms = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let power = line(&logarithms(x), &logarithms(y)).ok()?.residual_sum_of_squares;
    let t = two_sided_quantile(level, form.degrees_of_freedom()).ok()?;
    let bound = form.cautions.iter().any(|caution| matches!(caution, Caution::AtBound { .. }));
    let gain = power - form.residual_sum_of_squares;
    Some(!bound && gain > t * t * form.residual_variance())
}

impl Floor {
    /// The least loss of one new budget.
    pub(super) fn at(&self, budget: f64, level: f64) -> Option<Estimate> {
        let value = self.form.shape.at(budget)?;
        let interval =
            profile::prediction(&self.form, budget, level).map(|found| ProfileInterval {
                low: found.low.map(f64::exp),
                high: found.high.map(f64::exp),
                ..found
            });
        let of_curve = self.form.standard_error(|shape| shape.log_at(budget).unwrap_or(f64::NAN));
        let standard_error =
            of_curve.map(|error| value * error.hypot(self.form.residual_variance().sqrt()));
        Some(Estimate {
            value,
            unit: "loss".to_owned(),
            standard_error,
            interval: traced(interval),
        })
    }
}

/// What leaves this crate.
pub(super) fn describe(floor: &Result<Floor, String>, level: f64) -> Outcome<FloorLaw> {
    floor.as_ref().map(|floor| law(floor, level)).into()
}

fn law(floor: &Floor, level: f64) -> FloorLaw {
    let form = &floor.form;
    let parameters = form.parameters();
    // In the order of the form: k, b, E.
    let of = |at: usize, unit: &str| Estimate {
        value: parameters[at].value,
        unit: unit.to_owned(),
        standard_error: parameters[at].standard_error,
        interval: traced(profile::parameter(form, at, level)),
    };
    FloorLaw {
        prefactor: of(0, "loss"),
        exponent: of(1, "1"),
        floor: of(2, "loss"),
        told: floor.told,
        r_squared: form.r_squared,
        budgets: form.points() as u32,
    }
}
