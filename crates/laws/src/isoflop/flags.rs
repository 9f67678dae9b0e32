//! The flags of a group.

use super::facts::Facts;
use super::options::formula;
use super::{bias, unit};
use crate::result::{
    Along, Curve, Flag, FlagCode, Interval, IsoflopBudget, LossForm, Minimum, OptimumPrediction,
};

/// How far FLOPs by N D may spread over runs, as a ratio, before the surface's optimum of a budget
/// is flagged.
const SPREAD: f64 = 1.5;

/// All of them.
pub(super) fn group(facts: &Facts<'_>) -> Vec<Flag> {
    let once = [
        left_out(facts),
        same_size(facts),
        computed(facts),
        unstated(facts),
        unit::flag(facts),
        spread(facts),
    ];
    let mut flags: Vec<Flag> = once.into_iter().flatten().collect();
    flags.extend(flat(facts.budgets));
    flags.extend(bias::flags(facts.budgets));
    flags.extend(bias::lack_of_fit(facts.budgets));
    flags.extend(facts.ahead.iter().filter_map(beyond));
    flags.extend(facts.ahead.iter().filter_map(|ahead| without_floor(ahead, facts.ahead)));
    flags
}

fn left_out(facts: &Facts<'_>) -> Option<Flag> {
    let first = facts.runs.left_out.first()?;
    let count = facts.runs.left_out.len();
    let message = format!("runs left out: {count}, e.g. {}: {}", first.label, first.reason);
    Some(Flag::new(FlagCode::PointsLeftOut, message))
}

/// Several runs of one budget and size: seeds, or datasets that nobody told apart.
fn same_size(facts: &Facts<'_>) -> Option<Flag> {
    let sizes = || facts.budgets.iter().flat_map(|budget| &budget.sizes);
    let (mut runs, mut repeated, mut squares, mut freedom) = (0, 0, 0.0, 0);
    for size in sizes().filter(|size| size.runs > 1) {
        runs += size.runs;
        repeated += 1;
        freedom += size.runs - 1;
        squares +=
            f64::from(size.runs - 1) * (size.standard_deviation.unwrap_or(0.0) / size.loss).powi(2);
    }
    let scatter = (freedom > 0).then(|| 100.0 * (squares / f64::from(freedom)).sqrt())?;
    let message = format!(
        "{runs} runs share budget and size with others ({repeated} sizes of {}), and differ by {scatter:.2} % of the loss (standard deviation): they count as \
         seeds, all of them; if they are of other datasets or recipes, name the column that says so with --group",
        sizes().count()
    );
    Some(Flag::new(FlagCode::SameSize, message))
}

fn computed(facts: &Facts<'_>) -> Option<Flag> {
    let Some(counted) = facts.options.budget_from else { return assumed(facts) };
    let outside = match facts.runs.runs.iter().filter(|run| run.budget.is_none()).count() {
        0 => String::new(),
        1 => "; one run lies in none and serves the surface alone".to_owned(),
        runs => format!("; {runs} runs lie in none and serve the surface alone"),
    };
    let message = format!(
        "budgets are {} of the runs, within {} % of one another: what attention costs is not in them, and they move with what N counts{outside}",
        formula(counted),
        100.0 * facts.options.tolerance()
    );
    Some(Flag::new(FlagCode::FlopsComputed, message))
}

/// The optimum of points that have no budgets.
fn assumed(facts: &Facts<'_>) -> Option<Flag> {
    let counted = facts.flops.filter(|_| facts.per_product.is_none() && !facts.ahead.is_empty())?;
    let message =
        format!("no run has a budget, so the surfaces' optimum takes C = {}", formula(counted));
    Some(Flag::new(FlagCode::FlopsComputed, message))
}

fn unstated(facts: &Facts<'_>) -> Option<Flag> {
    // Without budgets there are no FLOPs whose convention could matter.
    let what = match (facts.flops.is_some() || facts.budgets.is_empty(), facts.params_stated) {
        (true, true) => return None,
        (false, false) => "what budgets and sizes count is",
        (false, true) => "what budgets count is",
        (true, false) => "what sizes count is",
    };
    let message = format!(
        "{what} not stated (--flops fwd|train, --count non-embedding|non-embedding-and-head|total); the choice of the count alone moves the \
         exponent of N from 0.40 to 0.59 on one published sweep"
    );
    Some(Flag::new(FlagCode::ConventionUnstated, message))
}

fn spread(facts: &Facts<'_>) -> Option<Flag> {
    let (median, low, high) = facts.per_product.filter(|(_, low, high)| *high > low * SPREAD)?;
    let held = match facts.options.size_exponent {
        None => "",
        Some(_) => ", and D* need not grow as C^(1 - a)",
    };
    let message = format!(
        "FLOPs are {low:.2} to {high:.2} times N D (median {median:.2}), so the surfaces' optimum of a budget, which takes the median, is \
         that of other runs at the ends{held}"
    );
    Some(Flag::new(FlagCode::Extrapolation, message))
}

/// Minima of the default curve whose place the scatter of the runs does not tell, or whose scatter
/// is not known.
fn flat(budgets: &[IsoflopBudget]) -> Option<Flag> {
    let is_flat = |budget: &&IsoflopBudget| {
        let along = [Along::Params, Along::Tokens].into_iter();
        along.filter_map(|along| budget.minimum(Curve::Cubic, along)).any(|minimum| {
            matches!(minimum.outcome.fit(), Some(Minimum { place: Interval::None { .. }, .. }))
        })
    };
    let flat: Vec<String> =
        budgets.iter().filter(is_flat).map(|budget| format!("{:.1e}", budget.budget)).collect();
    let message = "the scatter of the runs about the cubic does not bound the place of the minimum on both sides, so it is hardly known (and is in the \
                   laws all the same, unless --refuse-flat), at";
    (!flat.is_empty())
        .then(|| Flag::new(FlagCode::IllConditioned, format!("{message} {}", flat.join(", "))))
}

fn beyond(ahead: &OptimumPrediction) -> Option<Flag> {
    let side = match ahead.decades_beyond {
        0.0 => return None,
        decades if decades > 0.0 => "beyond",
        _ => "below",
    };
    let message = format!(
        "{:.1e} FLOPs are {:.1} decades {side} the budgets with a minimum",
        ahead.budget,
        ahead.decades_beyond.abs()
    );
    Some(Flag::new(FlagCode::Extrapolation, message))
}

/// A loss beyond the budgets that falls to 0 with more compute; `all` begins with the largest
/// budget.
fn without_floor(ahead: &OptimumPrediction, all: &[OptimumPrediction]) -> Option<Flag> {
    let loss = ahead.loss.as_ref().filter(|_| ahead.decades_beyond > 0.0)?;
    let of = |ahead: &OptimumPrediction, method: &str| {
        let found = ahead.methods.iter().find(|found| found.method == method)?;
        Some(found.loss.value)
    };
    let message = match loss.form {
        LossForm::PowerWithFloor => return None,
        LossForm::Surface => {
            let power = ahead.methods.iter().find(|method| method.loss_form == LossForm::Power)?;
            // A surface that misses the minima of the largest budget misses what lies beyond too.
            let there = all
                .first()
                .and_then(|largest| Some((of(largest, &loss.method)?, of(largest, &power.method)?)))
                .map(|(surface, curve)| {
                    format!("; at the largest budget the two say {surface:.3} and {curve:.3}")
                });
            format!(
                "the minima tell no floor of the loss, so the power law through them, which has none, falls too low at {:.1e} FLOPs ({:.3} by the \
                 {}); the {:.3} of the surface ({}) has one{}",
                ahead.budget,
                power.loss.value,
                power.method,
                loss.value.value,
                loss.method,
                there.unwrap_or_default()
            )
        }
        LossForm::Power | LossForm::SurfaceWithoutFloor => format!(
            "nothing here tells a floor of the loss, so the {:.3} at {:.1e} FLOPs is by a law that falls to 0, and likely too low",
            loss.value.value, ahead.budget
        ),
    };
    Some(Flag::new(FlagCode::NoFloor, message))
}
