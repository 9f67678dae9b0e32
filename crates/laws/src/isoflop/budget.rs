//! Runs of one budget, and the minimum of a curve through them.

use relscale_stats::optimise::polynomial::{self, Polynomial};

use super::options::IsoflopOptions;
use super::read::{Run, Runs};
use crate::result::{
    Along, Curve, Interval, IsoflopBudget, IsoflopMinimum, IsoflopRun, MinimumOutcome, TracePoint, trace,
};

/// Sizes that a minimum needs at least.
pub(super) const SIZES: usize = 4;

/// How far apart, as a ratio, two sizes may lie and be one.
pub(super) const ONE_SIZE: f64 = 1.001;

/// Why a run beside a better one takes no part.
pub(super) const WORSE: &str = "another run of its budget and size has a lower loss";

/// A budget and its runs, smallest first.
pub(super) type OfBudget = (f64, Vec<Run>);

/// Sorts the runs that have a budget into budgets, each of the runs whose FLOPs lie within `tolerance` above its smallest. Of runs of one budget and size
/// the best stays; the others are listed.
pub(super) fn of_runs(runs: &Runs, tolerance: f64) -> (Vec<OfBudget>, Vec<(Run, String)>) {
    let mut sorted: Vec<&Run> = runs.runs.iter().filter(|run| run.budget.is_some()).collect();
    let budget = |run: &Run| run.budget.unwrap_or(f64::NAN);
    sorted.sort_by(|a, b| budget(a).total_cmp(&budget(b)).then(a.params.total_cmp(&b.params)));
    let mut budgets: Vec<OfBudget> = Vec::new();
    let mut left_out = Vec::new();
    for run in sorted {
        match budgets.last_mut().filter(|(first, _)| budget(run) <= first * (1.0 + tolerance)) {
            Some((_, runs)) => runs.push(run.clone()),
            None => budgets.push((budget(run), vec![run.clone()])),
        }
    }
    for (_, runs) in &mut budgets {
        runs.sort_by(|a, b| a.params.total_cmp(&b.params).then(a.loss.total_cmp(&b.loss)));
        let mut kept: Vec<Run> = Vec::new();
        for run in runs.drain(..) {
            match kept.last_mut().filter(|last| run.params <= last.params * ONE_SIZE) {
                None => kept.push(run),
                Some(last) => {
                    let worse = if run.loss < last.loss { std::mem::replace(last, run) } else { run };
                    left_out.push((worse, WORSE.to_owned()));
                }
            }
        }
        *runs = kept;
    }
    (budgets, left_out)
}

/// Both curves along both axes.
pub(super) fn describe(budget: f64, runs: &[Run], options: &IsoflopOptions) -> IsoflopBudget {
    let minima = Curve::ALL.into_iter().flat_map(|curve| {
        Along::ALL.into_iter().map(move |along| {
            let fit = fitted(runs, curve, along, options.curve_huber);
            IsoflopMinimum {
                curve,
                along,
                trace: fit.as_ref().map(|fit| traced(fit, runs, along)).unwrap_or_default(),
                outcome: match fit.and_then(|fit| bracketed(&fit, runs, along, options)) {
                    Ok(outcome) => outcome,
                    Err(reason) => MinimumOutcome::Refused { reason },
                },
            }
        })
    });
    let of = |run: &Run| IsoflopRun {
        run: run.name.clone(),
        params: run.params,
        tokens: run.tokens,
        loss: run.loss,
    };
    IsoflopBudget { budget, runs: runs.iter().map(of).collect(), minima: minima.collect() }
}

/// Logarithms of one axis.
pub(super) fn logarithms(runs: &[Run], along: Along) -> Vec<f64> {
    let value = |run: &Run| match along {
        Along::Params => run.params,
        Along::Tokens => run.tokens,
    };
    runs.iter().map(|run| value(run).ln()).collect()
}

/// A curve of the loss in the logarithm.
///
/// # Errors
/// The reason in words.
pub(super) fn fitted(
    runs: &[Run],
    curve: Curve,
    along: Along,
    huber: Option<f64>,
) -> Result<Polynomial, String> {
    if runs.len() < SIZES {
        return Err(format!("{} sizes, and a minimum needs at least {SIZES}", runs.len()));
    }
    let losses: Vec<f64> = runs.iter().map(|run| run.loss).collect();
    polynomial::fit(&logarithms(runs, along), &losses, curve.degree(), huber)
        .map_err(|refusal| refusal.to_string())
}

/// Places at which a curve is traced.
const PLACES: u32 = 25;

/// The curve from the smallest run to the largest.
fn traced(fit: &Polynomial, runs: &[Run], along: Along) -> Vec<TracePoint> {
    let (low, high) = ends(&logarithms(runs, along));
    trace(low.exp(), high.exp(), PLACES, |place| Some((fit.at(place.ln()), None)))
}

/// Smallest and largest.
fn ends(x: &[f64]) -> (f64, f64) {
    x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)))
}

/// The minimum of a curve, if runs bracket it.
fn bracketed(
    fit: &Polynomial,
    runs: &[Run],
    along: Along,
    options: &IsoflopOptions,
) -> Result<MinimumOutcome, String> {
    let x = logarithms(runs, along);
    let (low, high) = ends(&x);
    let at = fit.minimum(low, high).ok_or_else(|| {
        let best =
            runs.iter().enumerate().min_by(|a, b| a.1.loss.total_cmp(&b.1.loss)).map_or(0, |(at, _)| at);
        let end = if x[best] == low {
            "smallest"
        } else if x[best] == high {
            "largest"
        } else {
            ""
        };
        match end {
            "" => format!("the curve has no minimum between the smallest and the largest {}", along.name()),
            end => format!("not bracketed: the best run has the {end} {}", along.name()),
        }
    })?;
    let (curvature, curvature_standard_error) = fit.curvature(at);
    let freedom = fit.degrees_of_freedom();
    let squares: f64 = fit.residuals.iter().map(|r| r * r).sum();
    let bounds = fit.minimum_interval(at, low, high, options.level);
    if options.refuse_flat && matches!(bounds, Ok((None, None))) {
        return Err(format!("flat: {}", open(None, None, along, options.level)));
    }
    let place = match bounds {
        Ok((Some(low), Some(high))) => Interval::Fieller {
            low: low.exp(),
            high: high.exp(),
            level: options.level,
            degrees_of_freedom: freedom as u32,
        },
        Ok((low, high)) => Interval::None { reason: open(low, high, along, options.level) },
        Err(_) => Interval::None {
            reason: format!(
                "the curve passes through all {} runs, so their scatter is not known",
                runs.len()
            ),
        },
    };
    Ok(MinimumOutcome::Found {
        at: at.exp(),
        place,
        loss: fit.at(at),
        curvature,
        curvature_standard_error,
        residual_standard_deviation: (freedom > 0).then(|| (squares / freedom as f64).sqrt()),
    })
}

/// What the scatter leaves open, in words.
fn open(low: Option<f64>, high: Option<f64>, along: Along, level: f64) -> String {
    let (what, percent) = (along.name(), 100.0 * level);
    match (low, high) {
        (None, None) => {
            format!(
                "at {percent} % the scatter of the runs allows the minimum anywhere between the smallest and the largest {what}"
            )
        }
        (Some(low), _) => {
            format!(
                "at {percent} % the scatter of the runs bounds the minimum by {:.3e} {what} from below only",
                low.exp()
            )
        }
        (_, Some(high)) => {
            format!(
                "at {percent} % the scatter of the runs bounds the minimum by {:.3e} {what} from above only",
                high.exp()
            )
        }
    }
}
