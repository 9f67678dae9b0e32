//! A table of runs to a result.

use std::path::Path;

use relscale_stats::interval::student::two_sided_quantile;

use super::ahead::Methods;
use super::options::IsoflopOptions;
use super::read::{self, Run, Runs};
use super::{budget, path, surface, words};
use crate::error::LawsError;
use crate::result::{
    Along, Curve, Flag, FlagCode, ISOFLOP_FORMAT, IsoflopBudget, IsoflopFit, IsoflopGroup, MinimumOutcome,
    RunLeftOut, SurfaceMethod,
};

/// How far FLOPs by N D may spread over runs, as a ratio, before the surface's optimum of a budget is flagged.
const SPREAD: f64 = 1.5;

/// Minima of every budget, their growth, and the surface, of the runs in a table.
///
/// # Errors
/// Options that cannot be used; [`LawsError::Table`], with file and line.
pub fn fit_isoflop(path: &Path, options: &IsoflopOptions) -> Result<IsoflopFit, LawsError> {
    options.validate()?;
    let read = read::runs(path, options)?;
    let unstated = || "not stated".to_owned();
    let stated = (read.flops.is_some(), read.params.is_some());
    let groups = read.groups.into_iter().map(|(name, runs)| group(name, runs, stated, options)).collect();
    Ok(IsoflopFit {
        format: ISOFLOP_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        file: path.display().to_string(),
        flops: read.flops.map_or_else(unstated, |flops| flops.name().to_owned()),
        params: read.params.map_or_else(unstated, |params| params.name().to_owned()),
        level: options.level,
        resamples: options.resamples,
        seed: options.seed,
        huber_delta: options.huber_delta,
        groups,
    })
}

fn group(
    name: String,
    mut runs: Runs,
    (flops, params): (bool, bool),
    options: &IsoflopOptions,
) -> IsoflopGroup {
    let (of_budgets, worse) = budget::of_runs(&runs);
    // The surface is of the same runs: a run beside a better one of its size and budget is no point of the frontier.
    // By the whole run and not its name: a column `model` may name many.
    runs.runs.retain(|run| !worse.iter().any(|(worse, _)| worse == run));
    runs.left_out.extend(worse.into_iter().map(|(run, reason)| RunLeftOut { run: run.name, reason }));
    let budgets: Vec<IsoflopBudget> = of_budgets
        .iter()
        .map(|(budget, runs)| budget::describe(*budget, runs, options.curve_huber))
        .collect();
    let paths: Vec<_> =
        Curve::ALL.into_iter().map(|curve| path::describe(curve, &budgets, &of_budgets, options)).collect();
    let surfaces: Vec<_> = [SurfaceMethod::VariableProjection, SurfaceMethod::Huber]
        .into_iter()
        .map(|method| (method, surface::draw(method, &runs.runs, options)))
        .collect();
    let per_product = per_product(&runs.runs);
    let methods = Methods {
        budgets: &budgets,
        surfaces: &surfaces,
        flops_per_product: per_product.map(|(median, ..)| median),
        options,
    };
    let largest = methods.measured().map(|(_, largest)| largest);
    let ahead: Vec<_> =
        largest.into_iter().chain(options.at.iter().copied()).map(|budget| methods.at(budget)).collect();
    let mut flags = Vec::new();
    if !runs.left_out.is_empty() {
        let first = &runs.left_out[0];
        flags.push(Flag::new(
            FlagCode::PointsLeftOut,
            format!("runs left out: {}, e.g. {}: {}", runs.left_out.len(), first.run, first.reason),
        ));
    }
    // Without budgets there are no FLOPs whose convention could matter.
    let flops = flops || budgets.is_empty();
    if !(flops && params) {
        let what = match (flops, params) {
            (false, false) => "what budgets and sizes count is",
            (false, true) => "what budgets count is",
            _ => "what sizes count is",
        };
        flags.push(Flag::new(
            FlagCode::ConventionUnstated,
            format!(
                "{what} not stated (--flops fwd|train, --count non-embedding|non-embedding-and-head|total); the choice of the count alone moves the \
                 exponent of N from 0.40 to 0.59 on one published sweep"
            ),
        ));
    }
    if let Some((median, low, high)) = per_product
        && high > low * SPREAD
    {
        flags.push(Flag::new(
            FlagCode::Extrapolation,
            format!(
                "FLOPs are {low:.2} to {high:.2} times N D (median {median:.2}), so the surfaces' optimum of a budget, which takes the median, is \
                 that of other runs at the ends"
            ),
        ));
    }
    flags.extend(flat(&budgets, options.level));
    for ahead in &ahead {
        if ahead.decades_beyond != 0.0 {
            flags.push(Flag::new(
                FlagCode::Extrapolation,
                format!(
                    "{:.1e} FLOPs are {:.1} decades {} the budgets with a minimum",
                    ahead.budget,
                    ahead.decades_beyond.abs(),
                    if ahead.decades_beyond > 0.0 { "beyond" } else { "below" }
                ),
            ));
        }
    }
    let mut group = IsoflopGroup {
        name,
        runs: runs.runs.len() as u32,
        left_out: runs.left_out,
        flops_per_parameter_and_token: per_product,
        budgets,
        paths,
        surfaces: surfaces
            .iter()
            .map(|(method, drawn)| surface::describe(*method, drawn, options.level))
            .collect(),
        ahead,
        flags,
        verdict: String::new(),
    };
    group.verdict = words::of_group(&group);
    group
}

/// Minima of the default curve whose curvature the scatter of the runs does not tell from zero.
fn flat(budgets: &[IsoflopBudget], level: f64) -> Option<Flag> {
    let is_flat = |budget: &&IsoflopBudget| {
        let along = [Along::Params, Along::Tokens].into_iter();
        along.filter_map(|along| budget.minimum(Curve::Cubic, along)).any(|minimum| match minimum.outcome {
            MinimumOutcome::Found { curvature, curvature_standard_error: Some(error), .. } => {
                two_sided_quantile(level, budget.runs.len().saturating_sub(Curve::Cubic.degree() + 1))
                    .is_ok_and(|quantile| curvature <= quantile * error)
            }
            _ => false,
        })
    };
    let flat: Vec<String> =
        budgets.iter().filter(is_flat).map(|budget| format!("{:.1e}", budget.budget)).collect();
    let message = "the scatter of the runs about the cubic does not tell its curvature at the minimum from zero, so the minimum is hardly known, at";
    (!flat.is_empty()).then(|| Flag::new(FlagCode::IllConditioned, format!("{message} {}", flat.join(", "))))
}

/// FLOPs of a run by its N D: median, smallest, largest.
fn per_product(runs: &[Run]) -> Option<(f64, f64, f64)> {
    let mut ratios: Vec<f64> =
        runs.iter().filter_map(|run| Some(run.budget? / (run.params * run.tokens))).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let middle = ratios.len() / 2;
    Some((*ratios.get(middle)?, *ratios.first()?, *ratios.last()?))
}
