//! The surface of the loss by two methods, with runs drawn again.

use relscale_stats::StatsError;
use relscale_stats::bootstrap::{Sample, multiplicities};
use relscale_stats::surface::{Huber, Surface, SurfaceFit, huber, project};

use super::options::IsoflopOptions;
use super::read::Run;
use crate::result::{
    Estimate, Flag, FlagCode, Interval, IsoflopSurface, SurfaceLaw, SurfaceMethod, SurfaceOutcome,
};

/// A surface with the surfaces of runs drawn again.
pub(super) struct Drawn {
    pub(super) fit: SurfaceFit,
    pub(super) replicates: Vec<Surface>,
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
    delta: f64,
    start: Option<Surface>,
) -> Result<SurfaceFit, StatsError> {
    match method {
        SurfaceMethod::VariableProjection => {
            project(&points.n, &points.d, &points.loss, start.map(|surface| [surface.alpha, surface.beta]))
        }
        SurfaceMethod::Huber => huber(&points.n, &points.d, &points.loss, Huber { delta, start }),
    }
}

/// Fits by one method and draws runs again.
///
/// # Errors
/// The reason in words.
pub(super) fn draw(method: SurfaceMethod, runs: &[Run], options: &IsoflopOptions) -> Result<Drawn, String> {
    let points = Points::of(runs.iter());
    let fit = solve(method, &points, options.huber_delta, None).map_err(|refusal| refusal.to_string())?;
    let mut counts = vec![0; runs.len()];
    let mut replicates = Vec::new();
    for resample in 0..u64::from(options.resamples) {
        multiplicities(options.seed, resample, &mut counts);
        let drawn =
            runs.iter().zip(&counts).flat_map(|(run, count)| std::iter::repeat_n(run, *count as usize));
        let again = solve(method, &Points::of(drawn), options.huber_delta, Some(fit.surface));
        replicates.extend(again.ok().map(|fit| fit.surface));
    }
    Ok(Drawn { fit, replicates })
}

/// What leaves this crate.
pub(super) fn describe(method: SurfaceMethod, drawn: &Result<Drawn, String>, level: f64) -> IsoflopSurface {
    let outcome = match drawn {
        Err(reason) => SurfaceOutcome::Refused { reason: reason.clone() },
        Ok(drawn) => SurfaceOutcome::Fitted(Box::new(law(drawn, level))),
    };
    IsoflopSurface { method, outcome }
}

fn law(drawn: &Drawn, level: f64) -> SurfaceLaw {
    let of = |unit: &str, quantity: &dyn Fn(&Surface) -> f64| {
        let sample = Sample::new(drawn.replicates.iter().map(quantity));
        estimate(quantity(&drawn.fit.surface), unit, &sample, level)
    };
    let fit = &drawn.fit;
    let freedom = fit.residuals.len().saturating_sub(5);
    let squares: f64 = fit.residuals.iter().map(|r| r * r).sum();
    let mut flags = Vec::new();
    if fit.floor_at_zero {
        flags.push(Flag::new(FlagCode::AtBound, "the floor E stands at 0: these runs show none"));
    }
    if !fit.confirmed {
        flags.push(Flag::new(FlagCode::Unconfirmed, "a second method did not arrive at the same objective"));
    }
    SurfaceLaw {
        e: of("loss", &|surface| surface.e),
        a: of("loss", &Surface::coefficient_a),
        b: of("loss", &Surface::coefficient_b),
        alpha: of("1", &|surface| surface.alpha),
        beta: of("1", &|surface| surface.beta),
        size_exponent: of("1", &Surface::size_exponent),
        objective: fit.objective,
        confirmed: fit.confirmed,
        residual_standard_deviation: (freedom > 0).then(|| (squares / freedom as f64).sqrt()),
        flags,
    }
}

/// A value with the spread of its replicates.
pub(super) fn estimate(value: f64, unit: &str, sample: &Sample, level: f64) -> Estimate {
    let interval = sample.interval(level).map_or_else(
        |refusal| Interval::None { reason: refusal.to_string() },
        |(low, high)| Interval::RunBootstrap { low, high, level, resamples: sample.replicates() as u32 },
    );
    Estimate { value, unit: unit.to_owned(), standard_error: sample.standard_error().ok(), interval }
}
