//! Runs of one budget, and the minimum of a curve through them.

use relscale_stats::optimise::polynomial::{self, Polynomial};
use relscale_stats::surface::Surface;

use super::options::IsoflopOptions;
use super::run::{Runs, SweepRun};
use crate::result::{
    Along, Curve, Interval, IsoflopBudget, IsoflopMinimum, IsoflopRun, IsoflopSize, Minimum,
    TracePoint, trace,
};

/// Sizes that a minimum needs at least.
pub(super) const SIZES: usize = 4;

/// How unlikely, over all budgets, a lack of fit is that is told.
pub(super) const LACK_OF_FIT: f64 = 0.05;

/// How far apart, as a ratio, two sizes may lie and be one.
pub(super) const ONE_SIZE: f64 = 1.001;

/// A budget and its runs, smallest first.
#[derive(Debug, Clone)]
pub(super) struct OfBudget {
    pub(super) budget: f64,
    pub(super) runs: Vec<SweepRun>,
    /// The number of each run's size, from 0 on.
    pub(super) size: Vec<usize>,
}

impl OfBudget {
    fn new(budget: f64, mut runs: Vec<SweepRun>) -> Self {
        runs.sort_by(SweepRun::in_order);
        let mut size = Vec::with_capacity(runs.len());
        let mut first = f64::NEG_INFINITY;
        for run in &runs {
            let last = size.last().copied();
            let same = run.params <= first * ONE_SIZE;
            if !same {
                first = run.params;
            }
            size.push(last.map_or(0, |last: usize| last + usize::from(!same)));
        }
        Self { budget, runs, size }
    }

    /// The sizes, smallest first: runs of one are its seeds.
    pub(super) fn sizes(&self) -> Vec<IsoflopSize> {
        let of_one = |runs: &[SweepRun]| {
            let count = runs.len() as f64;
            let mean = |of: fn(&SweepRun) -> f64| runs.iter().map(of).sum::<f64>() / count;
            let loss = mean(|run| run.loss);
            let squares: f64 = runs.iter().map(|run| (run.loss - loss).powi(2)).sum();
            IsoflopSize {
                params: mean(|run| run.params.ln()).exp(),
                tokens: mean(|run| run.tokens.ln()).exp(),
                runs: runs.len() as u32,
                loss,
                standard_deviation: (runs.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            }
        };
        let numbered: Vec<(usize, &SweepRun)> = self.size.iter().copied().zip(&self.runs).collect();
        let chunks = numbered.chunk_by(|a, b| a.0 == b.0);
        chunks
            .map(|chunk| of_one(&chunk.iter().map(|(_, run)| (*run).clone()).collect::<Vec<_>>()))
            .collect()
    }

    /// N D of its runs, as a geometric mean.
    fn product(&self) -> f64 {
        let logs: f64 = self.runs.iter().map(|run| (run.params * run.tokens).ln()).sum();
        (logs / self.runs.len() as f64).exp()
    }
}

/// Sorts the runs that have a budget into budgets, each of the runs whose FLOPs lie within
/// `tolerance` above its smallest.
pub(super) fn of_runs(runs: &Runs, tolerance: f64) -> Vec<OfBudget> {
    let mut sorted: Vec<(f64, &SweepRun)> =
        runs.runs.iter().filter_map(|run| Some((run.budget?, run))).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| SweepRun::in_order(a.1, b.1)));
    let mut budgets: Vec<(f64, Vec<SweepRun>)> = Vec::new();
    for (budget, run) in sorted {
        match budgets.last_mut().filter(|(first, _)| budget <= first * (1.0 + tolerance)) {
            Some((_, runs)) => runs.push(run.clone()),
            None => budgets.push((budget, vec![run.clone()])),
        }
    }
    budgets.into_iter().map(|(budget, runs)| OfBudget::new(budget, runs)).collect()
}

/// Both curves along both axes; `surface`: the fitted one, which tells how far the curves' minima
/// lie beside the optimum by their shape alone.
pub(super) fn describe(
    of: &OfBudget,
    surface: Option<&Surface>,
    options: &IsoflopOptions,
) -> IsoflopBudget {
    let sizes = of.sizes();
    let minima = Curve::ALL.into_iter().flat_map(|curve| Along::ALL.map(|along| (curve, along)));
    let minima = minima.map(|(curve, along)| {
        let fit = fitted(of, curve, along, options.curve_huber);
        IsoflopMinimum {
            curve,
            along,
            trace: fit.as_ref().map(|fit| traced(fit, &of.runs, along)).unwrap_or_default(),
            outcome: fit
                .and_then(|fit| bracketed(&fit, &sizes, &of.runs, along, options))
                .map(|found| Minimum {
                    bias: surface.and_then(|surface| bias(of, surface, curve, along)),
                    ..found
                })
                .into(),
        }
    });
    let run = |run: &SweepRun| IsoflopRun {
        run: run.name.clone(),
        params: run.params,
        tokens: run.tokens,
        loss: run.loss,
    };
    IsoflopBudget {
        budget: of.budget,
        runs: of.runs.iter().map(run).collect(),
        minima: minima.collect(),
        sizes,
    }
}

/// By how much a curve's minimum through losses without any scatter, those of the surface at the
/// very runs, lies beside the surface's own optimum: the ratio less 1. `None` where such a curve
/// has no minimum among the runs.
pub(super) fn bias(of: &OfBudget, surface: &Surface, curve: Curve, along: Along) -> Option<f64> {
    let mut exact = of.clone();
    exact.runs.iter_mut().for_each(|run| run.loss = surface.at(run.params, run.tokens));
    let fit = fitted(&exact, curve, along, None).ok()?;
    let (low, high) = ends(&logarithms(&exact.runs, along));
    let (n, d) = surface.optimum(of.product());
    let optimum = match along {
        Along::Params => n,
        Along::Tokens => d,
    };
    let found = fit.minimum(low, high)?.exp() / optimum - 1.0;
    found.is_finite().then_some(found)
}

/// Logarithms of one axis.
pub(super) fn logarithms(runs: &[SweepRun], along: Along) -> Vec<f64> {
    let value = |run: &SweepRun| match along {
        Along::Params => run.params,
        Along::Tokens => run.tokens,
    };
    runs.iter().map(|run| value(run).ln()).collect()
}

/// A curve of the loss in the logarithm, through all runs: least squares through the runs is least
/// squares through the means of the sizes, each counting as many times as it has seeds. The seeds
/// of a size tell the scatter besides.
///
/// # Errors
/// The reason in words.
pub(super) fn fitted(
    of: &OfBudget,
    curve: Curve,
    along: Along,
    huber: Option<f64>,
) -> Result<Polynomial, String> {
    let sizes = of.size.last().map_or(0, |last| last + 1);
    if sizes < SIZES {
        return Err(format!("{sizes} sizes, and a minimum needs at least {SIZES}"));
    }
    let losses: Vec<f64> = of.runs.iter().map(|run| run.loss).collect();
    polynomial::fit(&logarithms(&of.runs, along), &losses, curve.degree(), huber)
        .map(|fit| fit.with_repeats(&of.size))
        .map_err(|refusal| refusal.to_string())
}

/// Places at which a curve is traced.
const PLACES: u32 = 25;

/// The curve from the smallest run to the largest.
fn traced(fit: &Polynomial, runs: &[SweepRun], along: Along) -> Vec<TracePoint> {
    let (low, high) = ends(&logarithms(runs, along));
    trace(low.exp(), high.exp(), PLACES, |place| Some((fit.at(place.ln()), None)))
}

/// Smallest and largest.
pub(super) fn ends(x: &[f64]) -> (f64, f64) {
    x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)))
}

/// The minimum of a curve, if runs bracket it: the size with the lowest loss, a mean over its
/// seeds, lies between others, so that the loss rises on both sides in the runs and not in the
/// curve alone.
fn bracketed(
    fit: &Polynomial,
    sizes: &[IsoflopSize],
    runs: &[SweepRun],
    along: Along,
    options: &IsoflopOptions,
) -> Result<Minimum, String> {
    let place = |size: &IsoflopSize| match along {
        Along::Params => size.params,
        Along::Tokens => size.tokens,
    };
    let lowest = sizes.iter().map(|size| size.loss).fold(f64::INFINITY, f64::min);
    let mut by_place: Vec<(f64, f64)> = sizes.iter().map(|size| (place(size), size.loss)).collect();
    by_place.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (end, word) in [(by_place.first(), "smallest"), (by_place.last(), "largest")] {
        if end.is_some_and(|(_, loss)| *loss <= lowest) {
            let of = if sizes.len() < runs.len() {
                "the lowest mean loss is that of"
            } else {
                "the best run has"
            };
            return Err(format!("not bracketed: {of} the {word} {}", along.name()));
        }
    }
    let (low, high) = ends(&logarithms(runs, along));
    let at = fit.minimum(low, high).ok_or_else(|| {
        format!("the curve has no minimum between the smallest and the largest {}", along.name())
    })?;
    let (curvature, curvature_standard_error) = fit.curvature(at);
    let scatter = fit.scatter();
    let bounds = fit.minimum_interval(at, low, high, options.level);
    if options.refuse_flat && matches!(bounds, Ok((None, None))) {
        return Err(format!("flat: {}", open(None, None, along, options.level)));
    }
    let place = match bounds {
        Ok((Some(low), Some(high))) => Interval::Fieller {
            low: low.exp(),
            high: high.exp(),
            level: options.level,
            degrees_of_freedom: scatter.map_or(0, |scatter| scatter.degrees_of_freedom) as u32,
        },
        Ok((low, high)) => Interval::None { reason: open(low, high, along, options.level) },
        Err(_) => Interval::None {
            reason: format!(
                "the curve passes through all {} runs, so their scatter is not known",
                runs.len()
            ),
        },
    };
    Ok(Minimum {
        at: at.exp(),
        place,
        loss: fit.at(at),
        curvature,
        curvature_standard_error,
        residual_standard_deviation: scatter.map(|scatter| scatter.variance.sqrt()),
        lack_of_fit: scatter.and_then(|scatter| scatter.lack_of_fit),
        bias: None,
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
