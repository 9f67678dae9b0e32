//! Minima over budgets as power laws.
//!
//! The interval of an exponent, and of its prefactor, is Student's, from the scatter of the minima
//! about the line. Beside it stands one by the runs' own scatter: normal errors with the variance
//! of each budget's runs about its curve are drawn, curves, minima and line fitted anew, and the
//! spread of that counts with Student's t. Its degrees of freedom are those of the budgets
//! together,
//!
//! ```text
//! df = (Σ v)² / Σ v²/df_budget,   v = (weight of the budget in the line)² var(its minimum)
//! ```
//!
//! (Welch and Satterthwaite), v to first order. Percentiles of the same draws, and residuals with
//! turned signs, hold the truth in 80 to 90 % with five budgets: each budget knows its scatter from
//! few runs (`record/2026-11-28-isoflop-seeds.md`). A budget whose curve passes through all its
//! runs has no such scatter.

use relscale_stats::bootstrap::{Sample, normals};
use relscale_stats::interval::student::{self, StudentInterval};
use relscale_stats::interval::welch;
use relscale_stats::optimise::held_slope::{self, HeldSlope};
use relscale_stats::optimise::least_squares::{self, Line};
use relscale_stats::optimise::polynomial::Polynomial;

use super::budget::{OfBudget, ends, fitted, logarithms};
use super::floor;
use super::minima::{Quantity, minima};
use super::options::IsoflopOptions;
use super::spread::{Scale, Spread, estimate};
use crate::intervals::student_t;
use crate::result::{
    Along, Curve, Estimate, Interval, IsoflopBudget, OptimumPath, Outcome, PathLaw,
};

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
            Self::Found(line) => {
                (line.slope_standard_error(), student_t(student::slope(line, level)))
            }
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
        Ok(line) if !line.values().1.exp().is_finite() => Outcome::Refused {
            reason: format!(
                "the minima differ so much over budgets so close that the exponent is {:.3e} and the prefactor beyond the range of numbers",
                line.values().0
            ),
        },
        Ok(line) => Outcome::fitted(law(&line, curve, quantity, budgets, runs, options)),
        Err(reason) => Outcome::Refused { reason },
    };
    OptimumPath {
        curve,
        params: law(Quantity::Params),
        tokens: law(Quantity::Tokens),
        loss: law(Quantity::Loss),
        loss_with_floor: floor::describe(
            &floor::through(curve, budgets, options.level),
            options.level,
        ),
    }
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
    Growth::fit(&logarithms(x), &logarithms(y), quantity.held(options))
        .map_err(|refusal| refusal.to_string())
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
    let again = drawn(curve, quantity, budgets, runs, options);
    let by_runs =
        |value: f64, unit: &str, scale: Scale, of: &dyn Fn(&(f64, f64)) -> f64| match &again {
            Ok((lines, freedom)) => {
                let sample = Sample::new(lines.iter().map(|line| scale.apply(of(line))));
                estimate(value, unit, &Spread::of(&sample, *freedom), scale, options.level)
            }
            Err(reason) => none(value, unit, reason),
        };
    PathLaw {
        exponent: line.exponent(options.level),
        exponent_by_runs: match line {
            Growth::Found(_) => by_runs(exponent, "1", Scale::Plain, &|line| line.0),
            Growth::Held(_) => none(exponent, "1", HELD),
        },
        prefactor: line.prefactor(quantity.unit(), options.level),
        prefactor_by_runs: by_runs(
            log_prefactor.exp(),
            quantity.unit(),
            Scale::Logarithm,
            &|line| line.1.exp(),
        ),
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
struct Scattered<'a> {
    of: &'a OfBudget,
    fit: Polynomial,
    /// Standard deviation of a run about the curve, and its degrees of freedom; none where the
    /// curve passes through all runs.
    scatter: Option<(f64, f64)>,
    /// Standard error of the logarithm of the quantity, to first order.
    error: f64,
}

/// Exponent and logarithm of the prefactor of every draw (NaN where too few budgets kept a
/// minimum), and the degrees of freedom of their spread.
type Lines = (Vec<(f64, f64)>, f64);

/// Lines through minima of scatter drawn again.
///
/// # Errors
/// In words: no run has any scatter about its curve.
fn drawn(
    curve: Curve,
    quantity: Quantity,
    budgets: &[IsoflopBudget],
    runs: &[OfBudget],
    options: &IsoflopOptions,
) -> Result<Lines, String> {
    let along = quantity.along();
    let scattered: Vec<Scattered<'_>> = budgets
        .iter()
        .zip(runs)
        .filter_map(|(budget, of)| {
            let (at, loss) = budget.minimum(curve, along)?.found()?;
            let fit = fitted(of, curve, along, options.curve_huber).ok()?;
            let scatter = fit
                .scatter()
                .map(|scatter| (scatter.variance.sqrt(), scatter.degrees_of_freedom as f64));
            let error = match quantity {
                Quantity::Params | Quantity::Tokens => fit.minimum_standard_error(at.ln()),
                Quantity::Loss => fit.standard_error(at.ln()).map(|error| error / loss),
            };
            Some(Scattered { of, fit, scatter, error: error.unwrap_or(0.0) })
        })
        .collect();
    let alone = scattered.iter().filter_map(|budget| Some(budget.scatter?.1)).sum::<f64>();
    // Runs on their curve to all digits have a scatter of 0, and it is known.
    let together =
        freedom(&scattered, quantity.held(options).is_some()).or((alone > 0.0).then_some(alone));
    let freedom = together.ok_or_else(|| {
        "every curve passes through all runs of its budget, so their scatter is not known"
            .to_owned()
    })?;
    let draw = |draw| {
        let mut points = (Vec::new(), Vec::new());
        for (number, budget) in scattered.iter().enumerate() {
            let Some((x, y)) =
                budget.again(options.seed.wrapping_add(number as u64), draw, curve, along, options)
            else {
                continue;
            };
            points.0.push(budget.of.budget.ln());
            points.1.push(quantity.value((x, y)).ln());
        }
        Growth::fit(&points.0, &points.1, quantity.held(options))
            .map_or((f64::NAN, f64::NAN), |line| line.values())
    };
    Ok(((0..u64::from(options.resamples)).map(draw).collect(), freedom))
}

impl Scattered<'_> {
    /// The minimum of the curve with other scatter about it.
    fn again(
        &self,
        seed: u64,
        draw: u64,
        curve: Curve,
        along: Along,
        options: &IsoflopOptions,
    ) -> Option<(f64, f64)> {
        let mut again = self.of.clone();
        let mut noise = vec![0.0; again.runs.len()];
        normals(seed, draw, &mut noise);
        let deviation = self.scatter.map_or(0.0, |(deviation, _)| deviation);
        for ((run, residual), noise) in again.runs.iter_mut().zip(&self.fit.residuals).zip(noise) {
            run.loss += deviation * noise - residual;
        }
        let fit = fitted(&again, curve, along, options.curve_huber).ok()?;
        let (low, high) = ends(&logarithms(&again.runs, along));
        let at = fit.minimum(low, high)?;
        Some((at.exp(), fit.at(at)))
    }
}

/// Degrees of freedom of the line's slope (of its height, where the slope is held) by the scatter
/// of the budgets' runs.
fn freedom(budgets: &[Scattered<'_>], held: bool) -> Option<f64> {
    let x: Vec<f64> = budgets.iter().map(|budget| budget.of.budget.ln()).collect();
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    welch::degrees_of_freedom(budgets.iter().zip(&x).filter_map(|(budget, x)| {
        let (_, freedom) = budget.scatter?;
        let weight = if held { 1.0 } else { x - mean };
        Some(((weight * budget.error).powi(2), freedom))
    }))
}
