//! From a recipe to the runs of a plan.

use super::architecture::Architecture;
use super::flops::forward_per_token;
use super::recipe::{SweepRecipe, Widths};
use super::run::{Dropped, Optimiser, PLAN_FORMAT, Plan, PlannedRun, RunFlops};
use crate::error::{Error, Result};
use relscale_records::units::{Flops, FlopsConvention};

/// The formula of [`forward_per_token`] as it stands in plans.
const FORMULA: &str = "forward FLOPs a token = layers * (6 width hidden + 2 width (heads + 2 kv_heads) head_width \
+ 2 heads head_width width + (4 head_width + 3) heads K) + 2 width vocabulary, K = min(sequence, window); train = 3 * forward";

/// Plans every width of every budget: each becomes a run, or is dropped with its reason.
///
/// For a width: the architecture; FLOPs a token `F`; the batch
/// `2^ceil(log2(C / (F steps sequence)))` with `C` the budget's forward FLOPs; the learning rate,
/// halving the batch while it is above the cap; `steps = round(C / (F batch sequence))`, halves to
/// even. Dropped are batches below the recipe's least, and runs that miss the budget by more than
/// the tolerance.
///
/// # Errors
/// [`Error::PlanRequest`] for settings from which nothing can be planned.
pub fn build(recipe: &SweepRecipe) -> Result<Plan> {
    check(recipe)?;
    let (mut runs, mut dropped) = (Vec::<PlannedRun>::new(), Vec::new());
    for &budget in &recipe.budgets {
        let forward =
            Flops { value: budget, convention: recipe.flops }.to(FlopsConvention::Forward).value;
        for width in recipe.widths.of(forward) {
            match candidate(recipe, budget, forward, width) {
                Ok(run) => runs.push(run),
                Err(reason) => dropped.push(Dropped { budget, width, reason }),
            }
        }
    }
    Ok(Plan {
        format: PLAN_FORMAT,
        recipe: recipe.clone(),
        flops_formula: FORMULA.to_owned(),
        time: None,
        runs,
        dropped,
    })
}

/// Refuses settings that make no sense by themselves; what makes no sense for one width only is
/// dropped there.
fn check(recipe: &SweepRecipe) -> Result<()> {
    let refuse = |what: String, hint: &str| Err(Error::PlanRequest { what, hint: hint.to_owned() });
    if recipe.budgets.is_empty() {
        return refuse("there is no budget".to_owned(), "give some, e.g. --budgets 1e18,3e18");
    }
    for (number, budget) in recipe.budgets.iter().enumerate() {
        if !(budget.is_finite() && *budget > 0.0) {
            return refuse(
                format!("a budget of {budget} FLOPs"),
                "give numbers above 0, e.g. 1e18",
            );
        }
        if recipe.budgets[..number].contains(budget) {
            return refuse(format!("the budget {budget:e} stands there twice"), "give each once");
        }
    }
    if let Widths::Listed { widths } = &recipe.widths
        && let Some((_, twice)) =
            widths.iter().enumerate().find(|(at, width)| widths[..*at].contains(width))
    {
        return refuse(
            format!("the width {twice} stands there twice, and would be planned twice"),
            "give each once",
        );
    }
    if !(recipe.z_loss.is_finite() && recipe.z_loss >= 0.0) {
        return refuse(
            format!("a z-loss of {}", recipe.z_loss),
            "give a factor of 0 or more, e.g. 1e-4",
        );
    }
    if recipe.vocabulary < 2
        || recipe.sequence == 0
        || recipe.window == Some(0)
        || recipe.head_width == 0
    {
        let what = format!(
            "vocabulary {}, sequence {}, window {:?}, heads of {}",
            recipe.vocabulary, recipe.sequence, recipe.window, recipe.head_width
        );
        return refuse(
            what,
            "give a vocabulary of at least 2 entries and at least 1 of everything else",
        );
    }
    Ok(())
}

/// One width of one budget; `Err` with the reason why it makes no run.
fn candidate(
    recipe: &SweepRecipe,
    budget: f64,
    forward: f64,
    width: usize,
) -> Result<PlannedRun, String> {
    let architecture = recipe.architecture(width)?;
    let per_token = forward_per_token(&architecture);
    let per_sequence = per_token * recipe.sequence as f64;
    let (batch, learning_rate) = batch_and_rate(recipe, forward / per_sequence, width);
    if batch < recipe.batch.least {
        return Err(format!(
            "a batch of {batch} {} is below {}, the recipe's least",
            if batch == 1 { "sequence" } else { "sequences" },
            recipe.batch.least
        ));
    }
    let steps = (forward / (per_sequence * batch as f64)).round_ties_even();
    let spent = per_sequence * batch as f64 * steps;
    let off_budget = (spent - forward) / forward;
    if !off_budget.is_finite() || off_budget.abs() > recipe.tolerance || steps < 1.0 {
        return Err(format!(
            "{steps} steps of {batch} sequences miss the budget by {:.1} %, more than {:.1} %",
            100.0 * off_budget.abs(),
            100.0 * recipe.tolerance
        ));
    }
    if steps > f64::from(u32::MAX) {
        return Err(format!("{steps:.0} steps are more than {}", u32::MAX));
    }
    let steps = steps as u32;
    Ok(PlannedRun {
        name: name(budget, &architecture, batch),
        budget,
        parameters: architecture.parameters(),
        batch,
        steps,
        tokens: batch as u64 * u64::from(steps) * recipe.sequence as u64,
        optimiser: Optimiser {
            kind: recipe.optimiser,
            learning_rate,
            beta1: recipe.beta1,
            beta2: recipe.beta2.at(batch),
            epsilon: recipe.epsilon,
            weight_decay: recipe.weight_decay,
            clip: recipe.clip,
            z_loss: recipe.z_loss,
            warm_up: recipe.warm_up,
            decay: recipe.decay,
        },
        flops: RunFlops {
            forward_per_token: per_token,
            forward: spent,
            train: 3.0 * spent,
            off_budget,
        },
        seed: recipe.seed,
        seconds: None,
        architecture,
    })
}

/// Sequences of a step and the peak learning rate, for a budget of so many sequences.
fn batch_and_rate(recipe: &SweepRecipe, sequences: f64, width: usize) -> (usize, f64) {
    let aimed = sequences / recipe.batch.steps;
    // Up to 2^40, beyond any machine, so that the cast is exact.
    let mut batch =
        if aimed <= 1.0 { 1 } else { 2_usize.pow(aimed.log2().ceil().min(40.0) as u32) };
    let mut rate = recipe.learning_rate.at(batch, width);
    while rate > recipe.learning_rate.most && batch > 1 {
        batch /= 2;
        rate = recipe.learning_rate.at(batch, width);
    }
    // At one sequence there is nothing to halve.
    (batch, rate.min(recipe.learning_rate.most))
}

fn name(budget: f64, model: &Architecture, batch: usize) -> String {
    format!("{budget:e}-d{}-L{}-B{batch}", model.width, model.layers)
}
