//! The surface of the loss by two methods, each fitted again and again to tell how far it scatters.
//!
//! | method | what is drawn | spread counts as |
//! |---|---|---|
//! | variable projection | each residual over `(1 - leverage)^0.75` with a random sign (wild bootstrap, Wu 1986): at fixed sizes and tokens, whatever the scatter of each run | Student's t with Bell and McCaffrey's degrees of freedom ([`Tangent`]) |
//! | Huber | an exponential weight of mean 1 a run (Jin, Ying and Wei 2001): signs alone do not show how flat a median is | Student's t with runs less parameters |
//!
//! Between the two by the share kappa of runs whose residuals Huber's loss squares: there the
//! spread is widened by `sqrt(n / (n - kappa p))`, and the degrees of freedom move from `n - p` to
//! those of least squares. Percentiles of runs drawn again within their budgets hold the truth less
//! often, 56 % where a size has three seeds of which one was kept
//! (`record/2026-11-28-isoflop-seeds.md`).

use relscale_stats::StatsError;
use relscale_stats::bootstrap::{Sample, exponentials, signs};
use relscale_stats::surface::{
    Huber, Residual, Search, Surface, SurfaceFit, Tangent, huber_weighted, project,
};

use super::options::IsoflopOptions;
use super::path::HELD;
use super::run::SweepRun;
use super::spread::{self, Scale, Spread};
use crate::result::{
    Estimate, Flag, FlagCode, Interval, IsoflopSurface, SurfaceForm, SurfaceLaw, SurfaceMethod,
};

/// A surface with the surfaces of runs drawn again.
pub(super) struct Drawn {
    pub(super) fit: SurfaceFit,
    replicates: Vec<Surface>,
    /// Draws to which none could be fitted.
    pub(super) failed: u32,
    tangent: Option<Tangent>,
    /// Its parameters: five, or four where an exponent is held.
    pub(super) parameters: usize,
    /// Runs less parameters.
    freedom: f64,
    /// Mean square of `ln L - ln fitted`, parameters counted.
    scatter: f64,
    /// Share of the runs whose residuals are squared: 1 for least squares.
    squared: f64,
    /// By how much the spread of the draws is widened.
    widened: f64,
}

/// Power of `1 - leverage` that a turned residual is divided by. One half is right on average for
/// equal scatter and holds the truth in 89 to 96 %, as scatter goes with the loss and so with the
/// leverage; one (the jackknife's) holds it in up to 99 %, of twenty runs.
const LEVERAGE: f64 = 0.75;

/// Columns of runs.
struct Points {
    n: Vec<f64>,
    d: Vec<f64>,
    loss: Vec<f64>,
}

/// One method at given points.
struct Method<'a> {
    method: SurfaceMethod,
    /// The exponent of N* that is held.
    held: Option<f64>,
    points: &'a Points,
    options: &'a IsoflopOptions,
}

impl Method<'_> {
    fn fit(
        &self,
        loss: &[f64],
        weights: &[f64],
        from: Option<Surface>,
    ) -> Result<SurfaceFit, StatsError> {
        let Points { n, d, .. } = self.points;
        let search = Search { from, near: from.is_some(), size_exponent: self.held };
        let objective =
            Huber { delta: self.options.huber_delta, residual: self.options.huber_residual };
        match self.method {
            SurfaceMethod::VariableProjection => project(n, d, loss, search),
            SurfaceMethod::Huber => huber_weighted(n, d, loss, weights, objective, search),
        }
    }

    /// Of what a residual is the difference.
    fn residual(&self) -> Residual {
        match self.method {
            SurfaceMethod::VariableProjection => Residual::Loss,
            SurfaceMethod::Huber => self.options.huber_residual,
        }
    }

    /// Share of the runs whose residuals are squared.
    fn squared(&self, fit: &SurfaceFit) -> f64 {
        if self.method == SurfaceMethod::VariableProjection {
            return 1.0;
        }
        let close = fit.residuals.iter().zip(&self.points.loss).filter(|(residual, loss)| {
            let difference = match self.options.huber_residual {
                Residual::Loss => residual.abs(),
                Residual::Logarithm => (*loss / (*loss - **residual)).ln().abs(),
            };
            difference <= self.options.huber_delta
        });
        close.count() as f64 / fit.residuals.len() as f64
    }
}

/// The exponent of N* that a form holds, or the options.
fn held(form: SurfaceForm, options: &IsoflopOptions) -> Option<f64> {
    match form {
        SurfaceForm::Chinchilla => options.size_exponent,
        SurfaceForm::OverTraining => Some(0.5),
    }
}

/// Fits a form by one method and draws again.
///
/// # Errors
/// The reason in words.
pub(super) fn draw(
    form: SurfaceForm,
    method: SurfaceMethod,
    runs: &[SweepRun],
    options: &IsoflopOptions,
) -> Result<Drawn, String> {
    let column = |of: fn(&SweepRun) -> f64| runs.iter().map(of).collect::<Vec<f64>>();
    let points = Points {
        n: column(|run| run.params),
        d: column(|run| run.tokens),
        loss: column(|run| run.loss),
    };
    let held = held(form, options);
    let solver = Method { method, held, points: &points, options };
    let count = runs.len() as f64;
    let mut weights = vec![1.0; runs.len()];
    let fit = solver.fit(&points.loss, &weights, None).map_err(|refusal| match refusal {
        StatsError::TooFewPoints { given, needed } => {
            format!("{given} runs, and a surface needs at least {needed}")
        }
        other => other.to_string(),
    })?;
    within_numbers(&fit.surface)?;
    let tangent =
        Tangent::new(fit.surface, &points.n, &points.d, solver.residual(), held.is_some());
    let few = if held.is_some() { 4 } else { 5 };
    let parameters = few as f64;
    let even = vec![(parameters / count).min(0.999); runs.len()];
    let leverage = tangent.as_ref().map_or(&even[..], Tangent::leverage);
    let mut loss = points.loss.clone();
    let (mut replicates, mut failed) = (Vec::new(), 0);
    for resample in 0..u64::from(options.resamples) {
        match method {
            SurfaceMethod::VariableProjection => {
                signs(options.seed, resample, &mut weights);
                for (at, loss) in loss.iter_mut().enumerate() {
                    let residual = fit.residuals[at];
                    let turned = weights[at] * residual / (1.0 - leverage[at]).powf(LEVERAGE);
                    *loss = points.loss[at] - residual + turned;
                }
            }
            SurfaceMethod::Huber => exponentials(options.seed, resample, &mut weights),
        }
        match solver.fit(&loss, &weights, Some(fit.surface)) {
            Ok(again) => replicates.push(again.surface),
            Err(_) => failed += 1,
        }
    }
    let squared = solver.squared(&fit);
    let widened = match method {
        SurfaceMethod::VariableProjection => 1.0,
        SurfaceMethod::Huber => (count / (count - squared * parameters)).sqrt(),
    };
    let freedom = count - parameters;
    let of_logarithms = fit.residuals.iter().zip(&points.loss);
    let squares: f64 = of_logarithms.map(|(r, loss)| (loss / (loss - r)).ln().powi(2)).sum();
    let scatter = squares / freedom;
    Ok(Drawn {
        freedom,
        squared,
        widened,
        fit,
        replicates,
        failed,
        tangent,
        parameters: few,
        scatter,
    })
}

/// Refuses a surface that so few or so equal runs let run away: its coefficients are no numbers
/// that a result could hold.
///
/// # Errors
/// In words.
fn within_numbers(surface: &Surface) -> Result<(), String> {
    let coefficients = [("A", surface.coefficient_a()), ("B", surface.coefficient_b())];
    let (optimum_n, optimum_d) = surface.optimum(1.0);
    let held = [
        surface.e,
        surface.alpha,
        surface.beta,
        surface.size_exponent(),
        surface.tokens_exponent(),
    ];
    let beyond = coefficients.iter().find(|(_, value)| !value.is_finite());
    let all = held.iter().all(|value| value.is_finite())
        && optimum_n.is_finite()
        && optimum_d.is_finite();
    if beyond.is_none() && all {
        return Ok(());
    }
    let which = beyond.map_or("its optimum", |(name, _)| name);
    Err(format!(
        "these runs do not tell it: the best has alpha {:.3e} and beta {:.3e}, and {which} lies beyond the range of numbers",
        surface.alpha, surface.beta
    ))
}

impl Drawn {
    /// A quantity of the surface with its interval.
    pub(super) fn estimate(
        &self,
        unit: &str,
        scale: Scale,
        level: f64,
        quantity: impl Fn(&Surface) -> f64,
    ) -> Estimate {
        let value = quantity(&self.fit.surface);
        spread::estimate(value, unit, &self.spread(scale, quantity), scale, level)
    }

    /// How a quantity of the surface scatters over the draws.
    fn spread(&self, scale: Scale, quantity: impl Fn(&Surface) -> f64) -> Spread {
        let centre = scale.apply(quantity(&self.fit.surface));
        let draws = self.replicates.iter().map(|surface| scale.apply(quantity(surface)));
        let sample = Sample::new(draws.map(|draw| centre + self.widened * (draw - centre)));
        let of_least_squares = self
            .tangent
            .as_ref()
            .and_then(|about| about.degrees_of_freedom(|s| scale.apply(quantity(s))));
        let freedom = match of_least_squares {
            None => self.freedom,
            Some(few) => self.squared * few.min(self.freedom) + (1.0 - self.squared) * self.freedom,
        };
        Spread::of(&sample, freedom)
    }

    /// The loss of a further run of such size and tokens: the interval holds how badly the surface
    /// is known there and how far runs lie beside it. Beside it the interval of the surface alone.
    pub(super) fn run(&self, n: f64, d: f64, level: f64) -> (Estimate, Interval) {
        let of_surface = self.spread(Scale::Logarithm, |surface| surface.at(n, d));
        let value = self.fit.surface.at(n, d);
        let told =
            |spread: &Spread| spread::estimate(value, "loss", spread, Scale::Logarithm, level);
        let of_run = of_surface.clone().with(self.scatter, self.freedom);
        (told(&of_run), told(&of_surface).interval)
    }
}

/// What leaves this crate. `per_product`: FLOPs of a run by its N D.
pub(super) fn describe(
    method: SurfaceMethod,
    drawn: &Result<Drawn, String>,
    per_product: Option<f64>,
    options: &IsoflopOptions,
) -> IsoflopSurface {
    let outcome = drawn.as_ref().map(|drawn| law(drawn, per_product, options)).into();
    IsoflopSurface { method, outcome }
}

/// Share of the resamples without a surface from which on that is flagged.
const FAILED: f64 = 0.05;

fn law(drawn: &Drawn, per_product: Option<f64>, options: &IsoflopOptions) -> SurfaceLaw {
    let of = |unit: &str, scale: Scale, quantity: &dyn Fn(&Surface) -> f64| {
        drawn.estimate(unit, scale, options.level, quantity)
    };
    let fit = &drawn.fit;
    // Prefactors of the laws in C: the best of one FLOP.
    let prefactor = |unit: &str, quantity: &dyn Fn((f64, f64)) -> f64| {
        let product = 1.0 / per_product?;
        Some(of(unit, Scale::Logarithm, &|surface| quantity(surface.optimum(product))))
    };
    SurfaceLaw {
        e: of("loss", Scale::NotNegative, &|surface| surface.e),
        a: of("loss", Scale::Logarithm, &Surface::coefficient_a),
        b: of("loss", Scale::Logarithm, &Surface::coefficient_b),
        alpha: of("1", Scale::NotNegative, &|surface| surface.alpha),
        beta: of("1", Scale::NotNegative, &|surface| surface.beta),
        size_exponent: exponent(of("1", Scale::NotNegative, &Surface::size_exponent), options),
        tokens_exponent: exponent(of("1", Scale::NotNegative, &Surface::tokens_exponent), options),
        size_prefactor: prefactor("parameters", &|(n, _)| n),
        tokens_prefactor: prefactor("tokens", &|(_, d)| d),
        objective: fit.objective,
        confirmed: fit.confirmed,
        failed_resamples: drawn.failed,
        residual_standard_deviation: drawn.residual_standard_deviation(),
        flags: drawn.flags(options),
    }
}

impl Drawn {
    /// Root mean square of `L - fitted`, its parameters counted.
    pub(super) fn residual_standard_deviation(&self) -> Option<f64> {
        (self.freedom > 0.0).then(|| (self.squares() / self.freedom).sqrt())
    }

    /// Sum of squares of `L - fitted`.
    pub(super) fn squares(&self) -> f64 {
        self.fit.residuals.iter().map(|r| r * r).sum()
    }

    /// What to doubt of it.
    pub(super) fn flags(&self, options: &IsoflopOptions) -> Vec<Flag> {
        let fit = &self.fit;
        let mut flags = Vec::new();
        if fit.floor_at_zero {
            let message = "the floor E stands at 0: these runs show none";
            flags.push(Flag::new(FlagCode::AtBound, message));
        }
        if !fit.confirmed {
            let message = "a second method did not arrive at the same objective";
            flags.push(Flag::new(FlagCode::Unconfirmed, message));
        }
        if f64::from(self.failed) > FAILED * f64::from(options.resamples) {
            let message = format!(
                "no surface fits {} of {} draws of the runs (the loss does not fall with size or not with tokens), so the intervals, which are of the others, are \
                 too narrow",
                self.failed, options.resamples
            );
            flags.push(Flag::new(FlagCode::FailedRefits, message));
        }
        flags
    }
}

/// An exponent that was held has no interval.
fn exponent(found: Estimate, options: &IsoflopOptions) -> Estimate {
    match options.size_exponent {
        None => found,
        Some(_) => Estimate {
            standard_error: None,
            interval: Interval::None { reason: HELD.to_owned() },
            ..found
        },
    }
}
