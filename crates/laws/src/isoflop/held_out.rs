//! Runs left out and predicted by the others: those of most compute, and those of most tokens a
//! parameter.
//!
//! Runs whose N D (or D / N) lies within 5 % go together, as a budget is no check of itself; from
//! the top so many that a fifth of the runs is left out.

use super::options::IsoflopOptions;
use super::run::SweepRun;
use super::surface::{self, Drawn};
use crate::result::{
    Coverage, HeldOutBy, HeldOutCheck, HeldOutLoss, HeldOutLosses, HeldOutRuns, HeldOutSurface,
    IsoflopRun, SurfaceForm, SurfaceMethod,
};

/// Share of the runs that is left out at least.
const SHARE: f64 = 0.2;

/// Share beyond which nothing is.
const MOST: f64 = 0.5;

/// How far apart, as a ratio less 1, runs may be that go together.
const TOGETHER: f64 = 0.05;

/// Draws behind an interval here, at most: its ends move by 3.5 % of its half width from seed to
/// seed.
const RESAMPLES: u32 = 400;

/// Both checks.
pub(super) fn checks(runs: &[SweepRun], options: &IsoflopOptions) -> Vec<HeldOutRuns> {
    let check = |by| HeldOutRuns { by, outcome: check(by, runs, options).into() };
    HeldOutBy::ALL.into_iter().map(check).collect()
}

/// What runs are ordered by.
fn quantity(by: HeldOutBy, run: &SweepRun) -> f64 {
    match by {
        HeldOutBy::Compute => run.params * run.tokens,
        HeldOutBy::Multiplier => run.tokens / run.params,
    }
}

/// # Errors
/// In words, where so many runs share the largest value that the others are too few.
fn check(
    by: HeldOutBy,
    runs: &[SweepRun],
    options: &IsoflopOptions,
) -> Result<HeldOutCheck, String> {
    let mut sorted: Vec<&SweepRun> = runs.iter().collect();
    sorted.sort_by(|a, b| quantity(by, a).total_cmp(&quantity(by, b)).then_with(|| a.in_order(b)));
    let kept = cut(&sorted.iter().map(|run| quantity(by, run)).collect::<Vec<_>>());
    let (fitted, left_out) = sorted.split_at(kept);
    if left_out.len() as f64 > MOST * runs.len() as f64 {
        return Err(format!(
            "{} of {} runs share the largest {}, and the others are too few to predict them",
            left_out.len(),
            runs.len(),
            by.symbol()
        ));
    }
    let (Some(farthest), Some(seen)) = (left_out.last(), fitted.last()) else {
        return Err("there are no runs to leave out".to_owned());
    };
    let reach = quantity(by, farthest) / quantity(by, seen);
    // As every fit is: in an order of their own.
    let mut fitted: Vec<SweepRun> = fitted.iter().map(|run| (*run).clone()).collect();
    fitted.sort_by(SweepRun::in_order);
    let options = IsoflopOptions { resamples: options.resamples.min(RESAMPLES), ..options.clone() };
    let mut surfaces = Vec::new();
    for form in SurfaceForm::ALL {
        for method in SurfaceMethod::ALL {
            let drawn = surface::draw(form, method, &fitted, &options);
            let outcome = drawn.and_then(|drawn| losses(&drawn, left_out, options.level)).into();
            surfaces.push(HeldOutSurface { form, method, outcome });
        }
    }
    let described = |run: &&SweepRun| IsoflopRun {
        run: run.name.clone(),
        params: run.params,
        tokens: run.tokens,
        loss: run.loss,
    };
    Ok(HeldOutCheck {
        fitted: fitted.len() as u32,
        reach,
        resamples: options.resamples,
        runs: left_out.iter().map(described).collect(),
        surfaces,
    })
}

/// How many of ascending values are kept.
fn cut(ascending: &[f64]) -> usize {
    let wanted = (SHARE * ascending.len() as f64).ceil() as usize;
    let mut kept = ascending.len();
    while kept > 0 && ascending.len() - kept < wanted {
        let level = ascending[kept - 1] / (1.0 + TOGETHER);
        kept = ascending[..kept].partition_point(|value| *value < level);
    }
    kept
}

/// # Errors
/// In words, where the fit tells a run no loss.
fn losses(drawn: &Drawn, runs: &[&SweepRun], level: f64) -> Result<HeldOutLosses, String> {
    let predictions: Vec<HeldOutLoss> = runs
        .iter()
        .map(|run| {
            let (predicted, _) = drawn.run(run.params, run.tokens, level);
            let bounds = predicted.bounds();
            HeldOutLoss {
                relative_error: predicted.value / run.loss - 1.0,
                covered: bounds.map(|(low, high)| (low..=high).contains(&run.loss)),
                predicted,
            }
        })
        .collect();
    let errors = || predictions.iter().map(|one| one.relative_error);
    let count = predictions.len() as f64;
    let mean_error = errors().sum::<f64>() / count;
    let root_mean_square_error = (errors().map(|error| error * error).sum::<f64>() / count).sqrt();
    if !root_mean_square_error.is_finite() {
        return Err("what it says of a run left out is beyond the range of numbers".to_owned());
    }
    let coverage = Coverage::of(predictions.iter().filter_map(|one| one.covered));
    Ok(HeldOutLosses { predictions, mean_error, root_mean_square_error, coverage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_budget_go_together() {
        // Three budgets of four: a fifth is three, the largest budget has four.
        let budgets = [1.0, 1.0, 1.01, 1.02, 3.0, 3.0, 3.01, 3.02, 9.0, 9.0, 9.05, 9.1];
        assert_eq!(cut(&budgets), 8);
        // Dense values: from the top, 5 % at a time.
        let dense: Vec<f64> = (0..100).map(|at| 1.01_f64.powi(at)).collect();
        let kept = cut(&dense);
        assert!((76..=80).contains(&kept), "{kept}");
        assert_eq!(cut(&[1.0; 9]), 0);
        assert_eq!(cut(&[]), 0);
    }
}
