//! Curves that turn beside the optimum by their shape alone.
//!
//! A curve of a budget is no polynomial: it rises faster towards large sizes where alpha is below
//! beta, and the other way round. The fitted surface tells by how much a polynomial through these
//! very runs is misled. That is told with every minimum, and flagged where the interval of the
//! minimum, which knows the scatter alone, has no room for it.

use super::budget;
use crate::result::{Along, Curve, Flag, FlagCode, IsoflopBudget};

/// Share of an interval's half width from which on a bias is flagged.
const SHARE: f64 = 0.5;

/// A bias that is never flagged, however narrow the interval.
const SMALL: f64 = 0.005;

/// A flag a curve.
pub(super) fn flags(budgets: &[IsoflopBudget]) -> Vec<Flag> {
    Curve::ALL.into_iter().filter_map(|curve| flag(curve, budgets)).collect()
}

fn flag(curve: Curve, budgets: &[IsoflopBudget]) -> Option<Flag> {
    let mut said = Vec::new();
    let (mut worst, mut of) = (0, 0);
    for along in Along::ALL {
        let biases: Vec<(f64, bool)> =
            budgets.iter().filter_map(|budget| biased(budget, curve, along)).collect();
        let beyond = biases.iter().filter(|(_, beyond)| *beyond).count();
        if beyond == 0 {
            continue;
        }
        let low = biases.iter().map(|(bias, _)| *bias).fold(f64::INFINITY, f64::min);
        let high = biases.iter().map(|(bias, _)| *bias).fold(f64::NEG_INFINITY, f64::max);
        let name = match along {
            Along::Params => "N*",
            Along::Tokens => "D*",
        };
        said.push(format!("{name} by {} %", range(100.0 * low, 100.0 * high)));
        (worst, of) = (worst.max(beyond), of.max(biases.len()));
    }
    if said.is_empty() {
        return None;
    }
    let message = format!(
        "by its shape alone the {} turns beside the optimum of the fitted surface, {}: more than half of the half width of its interval at {worst} of {of} \
         budgets, which knows scatter and not shape; where the surface is right, N* and D* by the {0} and by its laws are off by as much",
        curve.name(),
        said.join(", ")
    );
    Some(Flag::new(FlagCode::CurveBias, message))
}

/// From the least to the most, once where both read alike.
fn range(low: f64, high: f64) -> String {
    let (low, high) = (format!("{low:+.1}"), format!("{high:+.1}"));
    if low == high { low } else { format!("{low} to {high}") }
}

/// The bias of a minimum, and whether its interval has no room for it.
fn biased(budget: &IsoflopBudget, curve: Curve, along: Along) -> Option<(f64, bool)> {
    let minimum = budget.minimum(curve, along)?.outcome.fit()?;
    let (at, bias) = (minimum.at, minimum.bias?);
    let beyond = minimum.place.bounds().is_some_and(|(low, high)| {
        // On the side on which the truth lies.
        let half = if bias > 0.0 { (at / low).ln() } else { (high / at).ln() };
        bias.ln_1p().abs() > SHARE * half
    });
    Some((bias, beyond && bias.abs() > SMALL))
}

/// Budgets by their seeds' scatter whose runs are not on their curve.
pub(super) fn lack_of_fit(budgets: &[IsoflopBudget]) -> Option<Flag> {
    let curve = Curve::Cubic;
    let p = |budget: &IsoflopBudget| {
        Some((budget.budget, budget.minimum(curve, Along::Params)?.outcome.fit()?.lack_of_fit?))
    };
    let tested: Vec<(f64, f64)> = budgets.iter().filter_map(p).collect();
    // So many tests are one claim (Bonferroni).
    let level = budget::LACK_OF_FIT / tested.len() as f64;
    let off: Vec<String> = tested
        .iter()
        .filter(|(_, p)| *p < level)
        .map(|(budget, p)| format!("{budget:.1e} FLOPs (p = {p:.1e})"))
        .collect();
    let message = "means of seeds lie further from the cubic than the seeds' own scatter allows, so it is not the curve of these runs, at";
    (!off.is_empty()).then(|| {
        let budgets = off.join(", ");
        Flag::new(
            FlagCode::LackOfFit,
            format!("{message} {budgets}; intervals there count the distance from the curve as the error"),
        )
    })
}
