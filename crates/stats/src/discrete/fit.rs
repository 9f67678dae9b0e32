//! Maximum likelihood from a histogram.

use crate::error::StatsError;

use super::caution::Caution;
use super::distribution::Distribution;
use super::family::Family;
use super::histogram::Histogram;
use super::kind::Kind;
use super::maximise::{End, Maximum, maximise};
use super::sum::Sum;

/// Correlation from which two parameters count as not identified apart: the error of each is then
/// more than seven times what it would be if the other were known, `1 / sqrt(1 - 0.99²)`.
const RIDGE: f64 = 0.99;

/// One parameter of a fitted distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name, as in [`Kind::parameter_names`].
    pub name: &'static str,
    /// The value of largest likelihood.
    pub value: f64,
    /// From the curvature of the likelihood, taking observations as independent; `None` where it
    /// has none (see the cautions).
    pub standard_error: Option<f64>,
}

/// A distribution fitted by maximum likelihood.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The kind of distribution.
    pub kind: Kind,
    /// The largest value, where it is cut off.
    pub upper: u32,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Correlation of the first two parameters' errors.
    pub correlation: Option<f64>,
    /// `sum_k n_k ln p_k`, over all observations.
    pub log_likelihood: f64,
    /// `2 x parameters - 2 x log-likelihood`.
    pub aic: f64,
    /// Kolmogorov and Smirnov's distance, the largest `|share up to k - P(R <= k)|` over all k. A
    /// distance only: with parameters from the same data, its tabulated p-values do not hold.
    pub ks: f64,
    /// What to know before quoting the parameters.
    pub cautions: Vec<Caution>,
    /// The distribution itself.
    pub distribution: Distribution,
    /// Where the climb ended, in free coordinates: a profile starts there.
    pub(super) top: Vec<f64>,
    /// The sum over the histogram's nodes there.
    pub(super) top_value: f64,
}

impl Fit {
    /// `ln P(R = k)`; minus infinity outside of 1, ..., upper.
    pub fn ln_mass(&self, k: u32) -> f64 {
        self.distribution.ln_mass(k)
    }

    /// `P(R <= k)`.
    pub fn cdf(&self, k: u32) -> f64 {
        self.distribution.cdf(k)
    }

    /// `P(R > k)`, which keeps its digits where it is small.
    pub fn survival(&self, k: u32) -> f64 {
        self.distribution.survival(k)
    }

    /// Whether the parameters may be quoted apart from each other: no ridge, no limit, no flat
    /// direction.
    pub fn is_identified(&self) -> bool {
        !self.cautions.iter().any(|caution| {
            matches!(caution, Caution::AtLimit { .. } | Caution::Ridge { .. } | Caution::Flat)
        })
    }
}

/// Fits a kind of distribution, cut off above `upper`, to a histogram.
///
/// ```
/// use relscale_stats::discrete::{Histogram, Kind, fit};
/// // Four times as many at 1 as at 2, nothing else possible: k^-2 to the letter.
/// let fit = fit(Kind::Zeta, &Histogram::new(&[1, 2], &[80, 20]).unwrap(), 2).unwrap();
/// assert!((fit.parameters[0].value - 2.0).abs() < 1e-6 && fit.ks < 1e-6);
/// ```
///
/// # Errors
/// A value above `upper`; observations that all have one value, which leave nothing to fit.
pub fn fit(kind: Kind, data: &Histogram, upper: u32) -> Result<Fit, StatsError> {
    let family = kind.family();
    let maximum = climb(family, data, upper)?;
    let values = family.parameters(&maximum.point);
    let distribution = Distribution::new(kind, &values, upper)?;
    let log_likelihood = log_likelihood(&distribution, data);
    if !log_likelihood.is_finite() {
        return Err(StatsError::Overflow { what: "the log-likelihood" });
    }
    let errors =
        maximum.covariance.as_ref().map(|covariance| errors(family, &maximum.point, covariance));
    let parameters: Vec<Parameter> = family
        .names()
        .iter()
        .zip(&values)
        .enumerate()
        .map(|(i, (&name, &value))| {
            let standard_error =
                errors.as_ref().map(|errors| errors.standard[i]).filter(|e| e.is_finite());
            Parameter { name, value, standard_error }
        })
        .collect();
    let correlation = errors.and_then(|errors| errors.correlation);
    Ok(Fit {
        kind,
        upper,
        aic: 2.0 * parameters.len() as f64 - 2.0 * log_likelihood,
        ks: kolmogorov_smirnov(&distribution, data),
        cautions: cautions(family, &maximum, correlation),
        parameters,
        correlation,
        log_likelihood,
        distribution,
        top_value: maximum.value,
        top: maximum.point,
    })
}

/// The top of the likelihood in free coordinates.
pub(super) fn climb(
    family: &dyn Family,
    data: &Histogram,
    upper: u32,
) -> Result<Maximum, StatsError> {
    if data.largest() > upper {
        return Err(StatsError::AboveUpper { value: data.largest(), upper });
    }
    if data.distinct() == 1 {
        return Err(StatsError::OneValue { value: data.smallest() });
    }
    let bounds: Vec<(f64, f64)> =
        family.bounds().iter().map(|bounds| (bounds.low, bounds.high)).collect();
    let value = |free: &[f64]| quick_log_likelihood(family, &family.parameters(free), data, upper);
    maximise(&value, &family.starts(data), &bounds)
        .ok_or(StatsError::Overflow { what: "the log-likelihood at every start" })
}

/// The log-likelihood over the histogram's nodes: what a search walks on, equal to the exact one to
/// about 1e-12 of it.
pub(super) fn quick_log_likelihood(
    family: &dyn Family,
    parameters: &[f64],
    data: &Histogram,
    upper: u32,
) -> f64 {
    let shape = family.shape(parameters);
    shape.ln_weights(data.nodes()) - data.total() as f64 * shape.ln_between(0.0, f64::from(upper))
}

/// `sum_k n_k ln p_k` over all observations.
fn log_likelihood(distribution: &Distribution, data: &Histogram) -> f64 {
    let mut sum = Sum::default();
    data.iter().for_each(|(value, count)| sum.add(count as f64 * distribution.ln_mass(value)));
    sum.value()
}

struct Errors {
    standard: Vec<f64>,
    correlation: Option<f64>,
}

/// Errors of the parameters from those of the free coordinates, to first order.
fn errors(family: &dyn Family, free: &[f64], covariance: &[f64]) -> Errors {
    let n = free.len();
    // Derivatives of each parameter by each coordinate.
    let jacobian: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let step = 1e-5 * free[i].abs().max(1.0);
            let moved = |by: f64| {
                let mut point = free.to_vec();
                point[i] += by;
                family.parameters(&point)
            };
            moved(step)
                .iter()
                .zip(moved(-step))
                .map(|(up, down)| (up - down) / (2.0 * step))
                .collect()
        })
        .collect();
    let between = |p: usize, q: usize| -> f64 {
        (0..n)
            .flat_map(|i| (0..n).map(move |j| (i, j)))
            .map(|(i, j)| jacobian[i][p] * covariance[i * n + j] * jacobian[j][q])
            .sum()
    };
    let standard: Vec<f64> = (0..n).map(|p| between(p, p).sqrt()).collect();
    let correlation = (n > 1)
        .then(|| between(0, 1) / (standard[0] * standard[1]))
        .filter(|r| r.is_finite())
        .map(|r| r.clamp(-1.0, 1.0));
    Errors { standard, correlation }
}

fn cautions(family: &dyn Family, maximum: &Maximum, correlation: Option<f64>) -> Vec<Caution> {
    let mut cautions = Vec::new();
    for ((end, bounds), parameter) in
        maximum.at_bound.iter().zip(family.bounds()).zip(family.names())
    {
        let limit = match end {
            Some(End::Low) => bounds.at_low,
            Some(End::High) => bounds.at_high,
            None => continue,
        };
        cautions.push(Caution::AtLimit { parameter, limit });
    }
    if cautions.is_empty() && maximum.covariance.is_none() {
        cautions.push(Caution::Flat);
    }
    if let Some(correlation) = correlation.filter(|r| r.abs() >= RIDGE) {
        cautions.push(Caution::Ridge { correlation });
    }
    if !maximum.confirmed {
        cautions.push(Caution::Unconfirmed);
    }
    cautions
}

/// The largest distance of two staircases: at a value that occurs, or just below the next that
/// does.
fn kolmogorov_smirnov(distribution: &Distribution, data: &Histogram) -> f64 {
    let (mut largest, mut seen, mut k) = (0.0_f64, 0_u64, 0);
    let mut cumulative = Sum::default();
    for (value, count) in data.iter() {
        while k + 1 < value {
            k += 1;
            cumulative.add(distribution.ln_mass(k).exp());
        }
        let before = cumulative.value() - seen as f64 / data.total() as f64;
        k = value;
        cumulative.add(distribution.ln_mass(k).exp());
        seen += count;
        let after = cumulative.value() - seen as f64 / data.total() as f64;
        largest = largest.max(before.abs()).max(after.abs());
    }
    largest
}
