//! Minima over budgets as power laws.
//!
//! The interval of an exponent is Student's, from the scatter of the minima about the line. Beside it the runs' own scatter about their curves is
//! turned again (wild bootstrap: each residual over `sqrt(1 - leverage)` with a random sign), curves, minima and line fitted anew. A budget whose
//! curve passes through all its runs has no such scatter.

use relscale_stats::bootstrap::{Sample, signs};
use relscale_stats::interval::student;
use relscale_stats::optimise::least_squares::{Line, line};
use relscale_stats::optimise::polynomial::Polynomial;

use super::budget::{fitted, logarithms};
use super::options::IsoflopOptions;
use super::read::Run;
use crate::result::{Along, Curve, Estimate, Interval, IsoflopBudget, OptimumPath, PathLaw, PathOutcome};

/// Which quantity of the minima.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Params,
    Tokens,
    /// The least loss of the curve along tokens.
    Loss,
}

impl Quantity {
    fn along(self) -> Along {
        match self {
            Self::Params => Along::Params,
            Self::Tokens | Self::Loss => Along::Tokens,
        }
    }

    fn of(self, (at, loss): (f64, f64)) -> f64 {
        match self {
            Self::Params | Self::Tokens => at,
            Self::Loss => loss,
        }
    }
}

/// All three laws of one curve.
pub(super) fn describe(
    curve: Curve,
    budgets: &[IsoflopBudget],
    runs: &[(f64, Vec<Run>)],
    options: &IsoflopOptions,
) -> OptimumPath {
    let law = |quantity| match through(curve, quantity, budgets) {
        Ok(line) => PathOutcome::Fitted(Box::new(law(&line, curve, quantity, budgets, runs, options))),
        Err(reason) => PathOutcome::Refused { reason },
    };
    OptimumPath {
        curve,
        params: law(Quantity::Params),
        tokens: law(Quantity::Tokens),
        loss: law(Quantity::Loss),
    }
}

/// The line through the logarithms of budgets and minima.
///
/// # Errors
/// In words: fewer than two budgets with a minimum.
pub(super) fn through(curve: Curve, quantity: Quantity, budgets: &[IsoflopBudget]) -> Result<Line, String> {
    let points: Vec<(f64, f64)> = budgets
        .iter()
        .filter_map(|budget| {
            let found = budget.minimum(curve, quantity.along())?.found()?;
            Some((budget.budget.ln(), quantity.of(found).ln()))
        })
        .collect();
    if points.len() < 2 {
        return Err(format!("{} budgets have a minimum, and a law needs two", points.len()));
    }
    let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
    line(&x, &y).map_err(|refusal| refusal.to_string())
}

fn law(
    line: &Line,
    curve: Curve,
    quantity: Quantity,
    budgets: &[IsoflopBudget],
    runs: &[(f64, Vec<Run>)],
    options: &IsoflopOptions,
) -> PathLaw {
    let interval = student::slope(line, options.level).map_or_else(
        |refusal| Interval::None { reason: refusal.to_string() },
        |t| Interval::StudentT {
            low: t.low,
            high: t.high,
            level: t.level,
            degrees_of_freedom: t.degrees_of_freedom as u32,
        },
    );
    PathLaw {
        exponent: Estimate {
            value: line.slope,
            unit: "1".to_owned(),
            standard_error: line.slope_standard_error(),
            interval,
        },
        exponent_by_runs: by_runs(line.slope, curve, quantity, budgets, runs, options),
        prefactor: line.intercept.exp(),
        r_squared: line.r_squared,
        budgets: line.points() as u32,
    }
}

/// One budget, ready to be scattered again.
struct Scattered {
    log_budget: f64,
    runs: Vec<Run>,
    fit: Polynomial,
    /// Smallest and largest place, in logarithms.
    range: (f64, f64),
}

fn by_runs(
    slope: f64,
    curve: Curve,
    quantity: Quantity,
    budgets: &[IsoflopBudget],
    runs: &[(f64, Vec<Run>)],
    options: &IsoflopOptions,
) -> Estimate {
    let along = quantity.along();
    let scattered: Vec<Scattered> = budgets
        .iter()
        .zip(runs)
        .filter(|(budget, _)| budget.minimum(curve, along).is_some_and(|minimum| minimum.found().is_some()))
        .filter_map(|(budget, (_, runs))| {
            let fit = fitted(runs, curve, along, options.curve_huber).ok()?;
            let x = logarithms(runs, along);
            let range = (
                x.iter().copied().fold(f64::INFINITY, f64::min),
                x.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            );
            Some(Scattered { log_budget: budget.budget.ln(), runs: runs.clone(), fit, range })
        })
        .collect();
    if scattered.iter().all(|budget| budget.fit.degrees_of_freedom() == 0) {
        let reason =
            "every curve passes through all runs of its budget, so their scatter is not known".to_owned();
        let interval = Interval::None { reason };
        return Estimate { value: slope, unit: "1".to_owned(), standard_error: None, interval };
    }
    let replicates = (0..u64::from(options.resamples)).map(|resample| {
        let mut points = (Vec::new(), Vec::new());
        for (number, budget) in scattered.iter().enumerate() {
            let mut turned = vec![0.0; budget.runs.len()];
            signs(options.seed.wrapping_add(number as u64), resample, &mut turned);
            let mut again = budget.runs.clone();
            for (at, (run, sign)) in again.iter_mut().zip(&turned).enumerate() {
                let (residual, leverage) = (budget.fit.residuals[at], budget.fit.leverage[at]);
                // A point that its curve passes through by itself has no scatter to turn.
                let scatter = if leverage < 0.999 { residual / (1.0 - leverage).sqrt() } else { 0.0 };
                run.loss = run.loss - residual + sign * scatter;
            }
            let Ok(fit) = fitted(&again, curve, along, options.curve_huber) else { continue };
            let Some(at) = fit.minimum(budget.range.0, budget.range.1) else { continue };
            points.0.push(budget.log_budget);
            points.1.push(quantity.of((at.exp(), fit.at(at))).ln());
        }
        line(&points.0, &points.1).map_or(f64::NAN, |line| line.slope)
    });
    let sample = Sample::new(replicates);
    super::surface::estimate(slope, "1", &sample, options.level)
}
