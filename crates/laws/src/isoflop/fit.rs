//! A table of runs to a result.

use std::path::Path;

use relscale_records::units::FlopsConvention;
use relscale_stats::surface::Residual;

use super::facts::Facts;
use super::flags;
use super::losses::{self, Known};
use super::options::{IsoflopOptions, formula};
use super::prediction::Methods;
use super::read;
use super::run::{Runs, SweepRun};
use super::{agree, budget, path, surface, unit, verdicts};
use crate::error::LawsError;
use crate::result::{
    Curve, IsoflopBudget, IsoflopFit, IsoflopGroup, RESULT_FORMAT, SurfaceForm, SurfaceMethod,
};

/// Minima of every budget, their growth, and the surface, of the runs in a table.
///
/// # Errors
/// Options that cannot be used; [`LawsError::Table`], with file and line; [`LawsError::NoBudgets`]
/// where budgets were to be computed; [`LawsError::PointFlops`] where a point by C was asked for
/// and nothing tells what C counts.
pub fn fit_isoflop(path: &Path, options: &IsoflopOptions) -> Result<IsoflopFit, LawsError> {
    options.validate()?;
    let read = read::runs(path, options)?;
    let unstated = || "not stated".to_owned();
    let counted = (read.flops, read.params.is_some());
    let groups = read.groups.into_iter().map(|(name, runs)| group(name, runs, counted, options));
    let groups = groups.collect::<Result<_, _>>()?;
    Ok(IsoflopFit {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        file: path.display().to_string(),
        flops: read.flops.map_or_else(unstated, |flops| flops.name().to_owned()),
        budget_from: options.budget_from.map(|counted| formula(counted).to_owned()),
        budget_tolerance: options.tolerance(),
        params: read.params.map_or_else(unstated, |params| params.name().to_owned()),
        level: options.level,
        resamples: options.resamples,
        seed: options.seed,
        huber_delta: options.huber_delta,
        huber_residual: match options.huber_residual {
            Residual::Logarithm => "log",
            Residual::Loss => "loss",
        }
        .to_owned(),
        size_exponent: options.size_exponent,
        groups,
    })
}

fn group(
    name: String,
    runs: Runs,
    (flops, params_stated): (Option<FlopsConvention>, bool),
    options: &IsoflopOptions,
) -> Result<IsoflopGroup, LawsError> {
    let of_budgets = budget::of_runs(&runs, options.tolerance());
    let form = SurfaceForm::Chinchilla;
    let drawn: Vec<_> = SurfaceMethod::ALL
        .into_iter()
        .map(|method| (method, surface::draw(form, method, &runs.runs, options)))
        .collect();
    let found =
        drawn.iter().find_map(|(_, drawn)| drawn.as_ref().ok().map(|drawn| &drawn.fit.surface));
    let budgets: Vec<IsoflopBudget> =
        of_budgets.iter().map(|of| budget::describe(of, found, options)).collect();
    let paths: Vec<_> = Curve::ALL
        .into_iter()
        .map(|curve| path::describe(curve, &budgets, &of_budgets, options))
        .collect();
    let per_product = per_product(&runs.runs);
    // Without any budget the convention alone says how many FLOPs a parameter and token cost.
    let flops_per_product = per_product
        .map(|(median, ..)| median)
        .or_else(|| flops.map(FlopsConvention::per_parameter_and_token));
    let surfaces: Vec<_> = drawn
        .iter()
        .map(|(method, drawn)| surface::describe(*method, drawn, flops_per_product, options))
        .collect();
    let methods = Methods { budgets: &budgets, surfaces: &drawn, flops_per_product, options };
    let largest = methods.measured().map(|(_, largest)| largest);
    let ahead: Vec<_> = largest
        .into_iter()
        .chain(options.at.iter().copied())
        .map(|budget| methods.at(budget))
        .collect();
    let known = Known {
        group: &name,
        runs: &runs.runs,
        chinchilla: &drawn,
        per_product: flops_per_product,
        options,
    };
    let losses = known.losses()?;
    let mut flags = flags::group(&Facts {
        runs: &runs,
        budgets: &budgets,
        ahead: &ahead,
        per_product,
        exponents: unit::exponents(&paths).filter(|_| options.size_exponent.is_none()),
        flops,
        params_stated,
        options,
    });
    flags.extend(losses.iter().flat_map(|losses| losses::flags(losses, &runs.runs)));
    let mut group = IsoflopGroup {
        name,
        runs: runs.runs.len() as u32,
        left_out: runs.left_out,
        flops_per_parameter_and_token: per_product,
        // What is held agrees by itself.
        agreement: match options.size_exponent {
            None => agree::exponents(&paths, &surfaces),
            Some(_) => Vec::new(),
        },
        budgets,
        paths,
        surfaces,
        ahead,
        losses,
        flags,
        verdict: String::new(),
    };
    group.verdict = verdicts::group(&group);
    Ok(group)
}

/// FLOPs of a run by its N D: median, smallest, largest.
fn per_product(runs: &[SweepRun]) -> Option<(f64, f64, f64)> {
    let mut ratios: Vec<f64> =
        runs.iter().filter_map(|run| Some(run.budget? / (run.params * run.tokens))).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let middle = ratios.len() / 2;
    Some((*ratios.get(middle)?, *ratios.first()?, *ratios.last()?))
}
