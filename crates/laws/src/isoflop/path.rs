//! Minima over budgets as power laws.
//!
//! The interval of an exponent, and of its prefactor, is Student's, from the scatter of the minima about the line. Beside it the runs' own scatter
//! about their curves is turned again (wild bootstrap: each residual over `sqrt(1 - leverage)` with a random sign), curves, minima and line fitted
//! anew. A budget whose curve passes through all its runs has no such scatter.

use relscale_stats::bootstrap::{Sample, signs};
use relscale_stats::interval::student::{self, StudentInterval};
use relscale_stats::optimise::held_slope::{self, HeldSlope};
use relscale_stats::optimise::least_squares::{self, Line};
use relscale_stats::optimise::polynomial::Polynomial;

use super::budget::{OfBudget, fitted, logarithms};
use super::floor;
use super::options::IsoflopOptions;
use super::read::Run;
use super::surface::estimate;
use crate::power_law::student_t;
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

    /// Unit of the quantity.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Params => "parameters",
            Self::Tokens => "tokens",
            Self::Loss => "loss",
        }
    }

    /// The exponent that it is held to: N* that of the option, D* what is left of the budget.
    fn held(self, options: &IsoflopOptions) -> Option<f64> {
        match self {
            Self::Params => options.size_exponent,
            Self::Tokens => options.size_exponent.map(|a| 1.0 - a),
            Self::Loss => None,
        }
    }
}

/// A line through the logarithms of budgets and minima.
pub(super) enum Growth {
    Found(Line),
    Held(HeldSlope),
}

impl Growth {
    fn fit(x: &[f64], y: &[f64], held: Option<f64>) -> Result<Self, relscale_stats::StatsError> {
        Ok(match held {
            None => Self::Found(least_squares::line(x, y)?),
            Some(slope) => Self::Held(held_slope::fit(x, y, slope)?),
        })
    }

    /// Exponent and logarithm of the prefactor.
    fn values(&self) -> (f64, f64) {
        match self {
            Self::Found(line) => (line.slope, line.intercept),
            Self::Held(line) => (line.slope, line.intercept),
        }
    }

    fn points(&self) -> usize {
        match self {
            Self::Found(line) => line.points(),
            Self::Held(line) => line.residuals.len(),
        }
    }

    fn r_squared(&self) -> Option<f64> {
        match self {
            Self::Found(line) => line.r_squared,
            Self::Held(line) => line.r_squared,
        }
    }

    fn exponent(&self, level: f64) -> Estimate {
        let (value, _) = self.values();
        let (standard_error, interval) = match self {
            Self::Found(line) => (line.slope_standard_error(), student_t(student::slope(line, level))),
            Self::Held(_) => (None, Interval::None { reason: HELD.to_owned() }),
        };
        Estimate { value, unit: "1".to_owned(), standard_error, interval }
    }

    fn prefactor(&self, unit: &str, level: f64) -> Estimate {
        let (error, interval) = match self {
            Self::Found(line) => (line.intercept_standard_error(), student::intercept(line, level)),
            Self::Held(line) => {
                (line.standard_error(), about(line, line.intercept, line.standard_error(), level))
            }
        };
        let (_, log) = self.values();
        exponential(log, error, interval, unit)
    }

    /// Where the minimum of one new budget is expected.
    pub(super) fn predicted(&self, budget: f64, unit: &str, level: f64) -> Estimate {
        let x = budget.ln();
        match self {
            Self::Found(line) => {
                let error = line.prediction_standard_error(x, 1.0);
                exponential(line.at(x), error, student::prediction(line, x, level), unit)
            }
            Self::Held(line) => {
                let error = line.prediction_standard_error();
                exponential(line.at(x), error, about(line, line.at(x), error, level), unit)
            }
        }
    }
}

/// Why a held exponent has no interval.
pub(super) const HELD: &str = "held, not found";

fn about(
    line: &HeldSlope,
    value: f64,
    error: Option<f64>,
    level: f64,
) -> Result<StudentInterval, relscale_stats::StatsError> {
    let degrees_of_freedom = line.degrees_of_freedom();
    let error = error.ok_or(relscale_stats::StatsError::NoDegreesOfFreedom)?;
    let half = student::two_sided_quantile(level, degrees_of_freedom)? * error;
    Ok(StudentInterval { low: value - half, high: value + half, level, degrees_of_freedom })
}

/// A logarithm with its error and interval as the quantity itself.
fn exponential(
    log: f64,
    error: Option<f64>,
    interval: Result<StudentInterval, relscale_stats::StatsError>,
    unit: &str,
) -> Estimate {
    let interval = interval.map(|t| StudentInterval { low: t.low.exp(), high: t.high.exp(), ..t });
    Estimate {
        value: log.exp(),
        unit: unit.to_owned(),
        standard_error: error.map(|error| error * log.exp()).filter(|error| error.is_finite()),
        interval: student_t(interval),
    }
}

/// All laws of one curve.
pub(super) fn describe(
    curve: Curve,
    budgets: &[IsoflopBudget],
    runs: &[OfBudget],
    options: &IsoflopOptions,
) -> OptimumPath {
    let law = |quantity| match through(curve, quantity, budgets, options) {
        Ok(line) => PathOutcome::Fitted(Box::new(law(&line, curve, quantity, budgets, runs, options))),
        Err(reason) => PathOutcome::Refused { reason },
    };
    OptimumPath {
        curve,
        params: law(Quantity::Params),
        tokens: law(Quantity::Tokens),
        loss: law(Quantity::Loss),
        loss_with_floor: floor::describe(&floor::through(curve, budgets, options.level), options.level),
    }
}

/// Budgets with a minimum, and the quantity there.
pub(super) fn minima(curve: Curve, quantity: Quantity, budgets: &[IsoflopBudget]) -> (Vec<f64>, Vec<f64>) {
    let point = |budget: &IsoflopBudget| {
        let found = budget.minimum(curve, quantity.along())?.found()?;
        Some((budget.budget, quantity.of(found)))
    };
    budgets.iter().filter_map(point).unzip()
}

/// The line through the logarithms of budgets and minima.
///
/// # Errors
/// In words: fewer than two budgets with a minimum.
pub(super) fn through(
    curve: Curve,
    quantity: Quantity,
    budgets: &[IsoflopBudget],
    options: &IsoflopOptions,
) -> Result<Growth, String> {
    let (x, y) = minima(curve, quantity, budgets);
    if x.len() < 2 {
        return Err(format!("{} budgets have a minimum, and a law needs two", x.len()));
    }
    let logarithms = |values: Vec<f64>| values.into_iter().map(f64::ln).collect::<Vec<f64>>();
    Growth::fit(&logarithms(x), &logarithms(y), quantity.held(options)).map_err(|refusal| refusal.to_string())
}

fn law(
    line: &Growth,
    curve: Curve,
    quantity: Quantity,
    budgets: &[IsoflopBudget],
    runs: &[OfBudget],
    options: &IsoflopOptions,
) -> PathLaw {
    let (exponent, log_prefactor) = line.values();
    let again = turned(curve, quantity, budgets, runs, options);
    let by_runs = |value: f64, unit: &str, of: &dyn Fn(&(f64, f64)) -> f64| match &again {
        Ok(lines) => estimate(value, unit, &Sample::new(lines.iter().map(of)), options.level),
        Err(reason) => none(value, unit, reason),
    };
    PathLaw {
        exponent: line.exponent(options.level),
        exponent_by_runs: match line {
            Growth::Found(_) => by_runs(exponent, "1", &|line| line.0),
            Growth::Held(_) => none(exponent, "1", HELD),
        },
        prefactor: line.prefactor(quantity.unit(), options.level),
        prefactor_by_runs: by_runs(log_prefactor.exp(), quantity.unit(), &|line| line.1.exp()),
        r_squared: line.r_squared(),
        budgets: line.points() as u32,
    }
}

/// A value of which no interval is known.
fn none(value: f64, unit: &str, reason: &str) -> Estimate {
    let interval = Interval::None { reason: reason.to_owned() };
    Estimate { value, unit: unit.to_owned(), standard_error: None, interval }
}

/// One budget, ready to be scattered again.
struct Scattered {
    log_budget: f64,
    runs: Vec<Run>,
    fit: Polynomial,
    /// Smallest and largest place, in logarithms.
    range: (f64, f64),
}

/// Exponent and logarithm of the prefactor of every resample; NaN where too few budgets kept a minimum.
///
/// # Errors
/// In words: no run has any scatter about its curve.
fn turned(
    curve: Curve,
    quantity: Quantity,
    budgets: &[IsoflopBudget],
    runs: &[OfBudget],
    options: &IsoflopOptions,
) -> Result<Vec<(f64, f64)>, String> {
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
        return Err(
            "every curve passes through all runs of its budget, so their scatter is not known".to_owned()
        );
    }
    let resample = |resample| {
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
        Growth::fit(&points.0, &points.1, quantity.held(options))
            .map_or((f64::NAN, f64::NAN), |line| line.values())
    };
    Ok((0..u64::from(options.resamples)).map(resample).collect())
}
