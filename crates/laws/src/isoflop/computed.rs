//! Budgets by `6 N D` (or `2 N D`), where a table has none.
//!
//! Runs are sorted by it and cut wherever the next lies further away than the tolerance. A stretch
//! that is no wider than the tolerance itself, with the sizes of a minimum, is a budget: the
//! geometric mean of its runs. Runs that were not trained to budgets fill the axis, so that such
//! stretches are rare or too wide, and then nothing is made up.

use relscale_records::units::FlopsConvention;

use super::budget::{ONE_SIZE, SIZES};
use super::options::formula;
use super::run::SweepRun;
use crate::error::LawsError;

/// Share of the runs that must lie in budgets.
const MOST: f64 = 0.5;

/// Gives runs their computed budgets; those that lie in none have none, and are of use to the
/// surface alone.
///
/// # Errors
/// [`LawsError::NoBudgets`] where less than half of the runs lie in budgets.
pub(super) fn assign(
    group: &str,
    runs: &mut [SweepRun],
    counted: FlopsConvention,
    tolerance: f64,
) -> Result<(), LawsError> {
    let log_flops =
        |run: &SweepRun| (counted.per_parameter_and_token() * run.params * run.tokens).ln();
    runs.sort_by(|a, b| log_flops(a).total_cmp(&log_flops(b)));
    let (gathered, budgets) = gather(runs, log_flops, tolerance, |stretch, budget| {
        stretch.iter_mut().for_each(|run| run.budget = Some(budget));
    });
    if (gathered as f64) < MOST * runs.len() as f64 {
        let wide = |wider: &&f64| {
            let (gathered, _) = gather(&mut runs.to_vec(), log_flops, **wider, |_, _| {});
            **wider > tolerance && gathered as f64 >= MOST * runs.len() as f64
        };
        return Err(LawsError::NoBudgets {
            group: group.to_owned(),
            formula: formula(counted),
            runs: runs.len(),
            gathered,
            budgets,
            tolerance,
            helps: WIDER.iter().find(wide).copied(),
        });
    }
    Ok(())
}

/// Wider tolerances that are tried before one is hinted at.
const WIDER: [f64; 4] = [0.05, 0.1, 0.2, 0.3];

/// Hands over each budget with its runs, which are sorted; how many runs lie in how many.
fn gather(
    runs: &mut [SweepRun],
    log_flops: impl Fn(&SweepRun) -> f64,
    tolerance: f64,
    mut budget_of: impl FnMut(&mut [SweepRun], f64),
) -> (usize, usize) {
    let apart = tolerance.ln_1p();
    let (mut gathered, mut budgets) = (0, 0);
    for stretch in runs.chunk_by_mut(|a, b| log_flops(b) - log_flops(a) <= apart) {
        let logs: Vec<f64> = stretch.iter().map(&log_flops).collect();
        let wide = logs[logs.len() - 1] - logs[0];
        if wide <= apart && sizes(stretch) >= SIZES {
            budget_of(stretch, (logs.iter().sum::<f64>() / logs.len() as f64).exp());
            gathered += stretch.len();
            budgets += 1;
        }
    }
    (gathered, budgets)
}

/// How many sizes runs have.
fn sizes(runs: &[SweepRun]) -> usize {
    let mut sizes: Vec<f64> = runs.iter().map(|run| run.params).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    sizes.chunk_by(|a, b| *b <= a * ONE_SIZE).count()
}
