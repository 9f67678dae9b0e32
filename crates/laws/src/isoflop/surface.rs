//! The surface of the loss by two methods, with runs drawn again.

use relscale_stats::StatsError;
use relscale_stats::bootstrap::{Sample, multiplicities_within};
use relscale_stats::surface::{Huber, Search, Surface, SurfaceFit, huber, project};

use super::budget::{OfBudget, SIZES};
use super::options::IsoflopOptions;
use super::path::HELD;
use super::read::Run;
use crate::result::{
    Estimate, Flag, FlagCode, Interval, IsoflopSurface, SurfaceLaw, SurfaceMethod, SurfaceOutcome,
};

/// A surface with the surfaces of runs drawn again.
pub(super) struct Drawn {
    pub(super) fit: SurfaceFit,
    pub(super) replicates: Vec<Surface>,
    /// Resamples to which none could be fitted.
    failed: u32,
}

/// Columns of runs.
struct Points {
    n: Vec<f64>,
    d: Vec<f64>,
    loss: Vec<f64>,
}

impl Points {
    fn of<'a>(runs: impl Iterator<Item = &'a Run>) -> Self {
        let mut points = Self { n: Vec::new(), d: Vec::new(), loss: Vec::new() };
        for run in runs {
            points.n.push(run.params);
            points.d.push(run.tokens);
            points.loss.push(run.loss);
        }
        points
    }
}

fn solve(
    method: SurfaceMethod,
    points: &Points,
    options: &IsoflopOptions,
    from: Option<Surface>,
) -> Result<SurfaceFit, StatsError> {
    let search = Search { from, size_exponent: options.size_exponent };
    let objective = Huber { delta: options.huber_delta, residual: options.huber_residual };
    match method {
        SurfaceMethod::VariableProjection => project(&points.n, &points.d, &points.loss, search),
        SurfaceMethod::Huber => huber(&points.n, &points.d, &points.loss, objective, search),
    }
}

/// Positions of the runs of each budget that has enough for a minimum; those of the others together, for one or two runs drawn again are always the
/// same.
pub(super) fn strata(runs: &[Run], budgets: &[OfBudget]) -> Vec<Vec<usize>> {
    let mut strata = vec![Vec::new(); budgets.len() + 1];
    for (at, run) in runs.iter().enumerate() {
        let after = |budget: f64| budgets.partition_point(|(smallest, _)| *smallest <= budget);
        let of = run.budget.and_then(|budget| after(budget).checked_sub(1));
        let of = of.filter(|of| budgets[*of].1.len() >= SIZES).unwrap_or(budgets.len());
        strata[of].push(at);
    }
    strata
}

/// Fits by one method and draws runs again within the strata.
///
/// # Errors
/// The reason in words.
pub(super) fn draw(
    method: SurfaceMethod,
    runs: &[Run],
    strata: &[Vec<usize>],
    options: &IsoflopOptions,
) -> Result<Drawn, String> {
    let points = Points::of(runs.iter());
    let fit = solve(method, &points, options, None).map_err(|refusal| refusal.to_string())?;
    let mut counts = vec![0; runs.len()];
    let (mut replicates, mut failed) = (Vec::new(), 0);
    for resample in 0..u64::from(options.resamples) {
        multiplicities_within(strata, options.seed, resample, &mut counts);
        let drawn =
            runs.iter().zip(&counts).flat_map(|(run, count)| std::iter::repeat_n(run, *count as usize));
        // As many different runs as parameters lie on many surfaces.
        let different = counts.iter().filter(|count| **count > 0).count();
        match solve(method, &Points::of(drawn), options, Some(fit.surface)) {
            Ok(again) if different > parameters(options) => replicates.push(again.surface),
            _ => failed += 1,
        }
    }
    Ok(Drawn { fit, replicates, failed })
}

impl Drawn {
    /// A quantity of the surface with the spread of its replicates.
    pub(super) fn estimate(&self, unit: &str, level: f64, quantity: impl Fn(&Surface) -> f64) -> Estimate {
        let sample = Sample::new(self.replicates.iter().map(&quantity));
        estimate(quantity(&self.fit.surface), unit, &sample, level)
    }
}

/// Parameters of the surface.
fn parameters(options: &IsoflopOptions) -> usize {
    if options.size_exponent.is_some() { 4 } else { 5 }
}

/// What leaves this crate. `per_product`: FLOPs of a run by its N D.
pub(super) fn describe(
    method: SurfaceMethod,
    drawn: &Result<Drawn, String>,
    per_product: Option<f64>,
    options: &IsoflopOptions,
) -> IsoflopSurface {
    let outcome = match drawn {
        Err(reason) => SurfaceOutcome::Refused { reason: reason.clone() },
        Ok(drawn) => SurfaceOutcome::Fitted(Box::new(law(drawn, per_product, options))),
    };
    IsoflopSurface { method, outcome }
}

/// Share of the resamples without a surface from which on that is flagged.
const FAILED: f64 = 0.05;

fn law(drawn: &Drawn, per_product: Option<f64>, options: &IsoflopOptions) -> SurfaceLaw {
    let of = |unit: &str, quantity: &dyn Fn(&Surface) -> f64| drawn.estimate(unit, options.level, quantity);
    let fit = &drawn.fit;
    let freedom = fit.residuals.len().saturating_sub(parameters(options));
    let squares: f64 = fit.residuals.iter().map(|r| r * r).sum();
    let mut flags = Vec::new();
    if fit.floor_at_zero {
        flags.push(Flag::new(FlagCode::AtBound, "the floor E stands at 0: these runs show none"));
    }
    if !fit.confirmed {
        flags.push(Flag::new(FlagCode::Unconfirmed, "a second method did not arrive at the same objective"));
    }
    if f64::from(drawn.failed) > FAILED * f64::from(options.resamples) {
        flags.push(Flag::new(
            FlagCode::FailedRefits,
            format!(
                "no surface fits {} of {} draws of the runs (the loss does not fall with size or not with tokens, or too few different runs were drawn), so \
                 the intervals, which are of the others, are too narrow",
                drawn.failed, options.resamples
            ),
        ));
    }
    // Prefactors of the laws in C: the best of one FLOP.
    let prefactor = |unit: &str, quantity: &dyn Fn((f64, f64)) -> f64| {
        let product = 1.0 / per_product?;
        Some(of(unit, &|surface| quantity(surface.optimum(product))))
    };
    SurfaceLaw {
        e: of("loss", &|surface| surface.e),
        a: of("loss", &Surface::coefficient_a),
        b: of("loss", &Surface::coefficient_b),
        alpha: of("1", &|surface| surface.alpha),
        beta: of("1", &|surface| surface.beta),
        size_exponent: exponent(of("1", &Surface::size_exponent), options),
        tokens_exponent: exponent(of("1", &Surface::tokens_exponent), options),
        size_prefactor: prefactor("parameters", &|(n, _)| n),
        tokens_prefactor: prefactor("tokens", &|(_, d)| d),
        objective: fit.objective,
        confirmed: fit.confirmed,
        failed_resamples: drawn.failed,
        residual_standard_deviation: (freedom > 0).then(|| (squares / freedom as f64).sqrt()),
        flags,
    }
}

/// An exponent that was held has no interval.
fn exponent(found: Estimate, options: &IsoflopOptions) -> Estimate {
    match options.size_exponent {
        None => found,
        Some(_) => {
            Estimate { standard_error: None, interval: Interval::None { reason: HELD.to_owned() }, ..found }
        }
    }
}

/// A value with the spread of its replicates.
pub(super) fn estimate(value: f64, unit: &str, sample: &Sample, level: f64) -> Estimate {
    let interval = sample.interval(level).map_or_else(
        |refusal| Interval::None { reason: refusal.to_string() },
        |(low, high)| Interval::RunBootstrap { low, high, level, resamples: sample.replicates() as u32 },
    );
    // Prefactors of steep surfaces are so large that their squares are no numbers.
    let standard_error = sample.standard_error().ok().filter(|error| error.is_finite());
    Estimate { value, unit: unit.to_owned(), standard_error, interval }
}
