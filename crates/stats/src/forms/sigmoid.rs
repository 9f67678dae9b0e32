//! The sigmoid of a share (an accuracy) that rises as a loss falls, between two limits.
//!
//! ```text
//! share = lower + (upper - lower) / (1 + exp(rate (loss - midpoint))),   rate > 0,  0 <= lower <= upper <= 1
//! ```
//!
//! It is no [`Form`](super::Form): those are shapes of `ln y` on `ln x`, this is fitted to the
//! share as it is, by least squares, and its loss may have any sign (`-ln x` makes it a curve of x
//! directly).
//!
//! From a fixed start such fits diverge or stop on the plateau. So the loss is described about the
//! middle of its range in units of that range; a grid of rates and midpoints is laid on it, each
//! with its best limits; the lowest places of the grid are where the
//! [search](crate::optimise::search) starts.
//!
//! The upper limit is known from points near the plateau alone. Where there are none the fit runs
//! to a limit of 1, which is said, and what the curve says beyond the points is then that
//! assumption.

use super::fit::{EXACT, ILL};
use crate::error::StatsError;
use crate::optimise::newton::Residuals;
use crate::optimise::search::{Found, LeastSquares, lowest, search};
use crate::optimise::{Bound, Symmetric};
use crate::outcome::Caution;

/// Rate times the range of the losses, at least and at most: a straight line, and a step between
/// two neighbours.
pub(super) const RATES: Bound = Bound { low: 0.02, high: 200.0 };

/// Midpoint from the middle of the losses, in ranges of the losses.
pub(super) const MIDPOINTS: Bound = Bound { low: -10.0, high: 10.0 };

/// Rates of the grid, in the same terms.
pub(super) const RATE_STARTS: [f64; 9] = [0.2, 0.7, 1.5, 3.0, 5.0, 8.0, 14.0, 30.0, 80.0];

/// Midpoints of the grid.
pub(super) const MIDPOINT_STARTS: [f64; 13] =
    [-5.0, -3.0, -2.0, -1.2, -0.8, -0.5, -0.25, 0.0, 0.25, 0.5, 0.8, 1.5, 3.0];

/// Places of the grid that are walked down.
const WALKS: usize = 6;

/// Condition number of the columns of all parameters from which on one at its limit is held there.
const TOLD_APART: f64 = 1e6;

const NAME: &str = "sigmoid";

/// A fitted sigmoid.
#[derive(Debug, Clone, PartialEq)]
pub struct Sigmoid {
    /// How fast the share falls, per unit of loss.
    pub rate: f64,
    /// The loss halfway between the limits.
    pub midpoint: f64,
    /// The share at losses far below the midpoint.
    pub upper: f64,
    /// The share at losses far above it: chance, where it was given.
    pub lower: f64,
    /// Whether `lower` was given, not fitted.
    pub lower_is_given: bool,
    /// `share - fitted`, in the order of the points.
    pub residuals: Vec<f64>,
    /// `Σ residual²`.
    pub residual_sum_of_squares: f64,
    /// `1 - Σ residual² / Σ (share - mean)²`; absent when all shares are equal.
    pub r_squared: Option<f64>,
    /// What to know before quoting the fit.
    pub cautions: Vec<Caution>,
    /// Standard error of rate, midpoint, upper and lower limit by the curvature at the optimum;
    /// `None` for one that is given, stands at its limit, or is not determined.
    pub standard_errors: [Option<f64>; 4],
    /// Which of the four the error of the curve counts: all that are not given, or, where the
    /// points do not determine those, all that stand at no limit besides.
    moving: Vec<usize>,
    /// Covariance of those, row-major; `None` when the points do not determine them.
    covariance: Option<Vec<f64>>,
}

/// Fits a sigmoid to `share` at `loss`, in any order; `lower` is the limit at large losses, where
/// it is known.
///
/// ```
/// use relscale_stats::forms::sigmoid;
/// let loss = [0.4, 0.6, 0.8, 1.0, 1.2, 1.4];
/// let share = loss.map(|loss: f64| 0.25 + 0.6 / (1.0 + (8.0 * (loss - 0.9)).exp()));
/// let fit = sigmoid::fit(&loss, &share, Some(0.25)).unwrap();
/// assert!((fit.rate - 8.0).abs() < 1e-5 && (fit.midpoint - 0.9).abs() < 1e-6 && (fit.upper - 0.85).abs() < 1e-6);
/// ```
///
/// # Errors
/// Slices of different length; no more points than parameters (3, or 4 with a lower limit to find);
/// a loss that is not finite; a share that does not lie between 0 and 1; all losses equal.
pub fn fit(loss: &[f64], share: &[f64], lower: Option<f64>) -> Result<Sigmoid, StatsError> {
    check(loss, share, lower)?;
    let low = loss.iter().copied().fold(f64::INFINITY, f64::min);
    let high = loss.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (centre, range) = (low + (high - low) / 2.0, high - low);
    let mean = share.iter().sum::<f64>() / share.len() as f64;
    let mut problem = Problem {
        u: loss.iter().map(|loss| (loss - centre) / range).collect(),
        share,
        given: lower,
    };
    let upper = Bound { low: lower.map_or(mean, |lower| mean.max(lower)), high: 1.0 };
    let mut bounds = vec![RATES, MIDPOINTS, upper];
    if lower.is_none() {
        bounds.push(Bound { low: 0.0, high: mean });
    }
    let found = best(&mut problem, &bounds, mean).ok_or(StatsError::NoStart { form: NAME })?;
    Ok(describe(&problem, &found, &bounds, (centre, range)))
}

impl Sigmoid {
    /// The share at a loss.
    pub fn at(&self, loss: f64) -> f64 {
        self.lower + (self.upper - self.lower) * logistic(self.rate * (loss - self.midpoint))
    }

    /// Its derivative by the loss: below zero.
    pub fn slope(&self, loss: f64) -> f64 {
        let g = logistic(self.rate * (loss - self.midpoint));
        -(self.upper - self.lower) * self.rate * g * (1.0 - g)
    }

    /// Number of parameters fitted: 3, or 4.
    pub fn parameters(&self) -> usize {
        4 - usize::from(self.lower_is_given)
    }

    /// Points less parameters, those at a limit included: at least 1.
    pub fn degrees_of_freedom(&self) -> usize {
        self.residuals.len() - self.parameters()
    }

    /// `Σ residual² / (n - p)`.
    pub fn residual_variance(&self) -> f64 {
        self.residual_sum_of_squares / self.degrees_of_freedom() as f64
    }

    /// Standard error of the curve at a loss by the delta method; `None` when the points do not
    /// determine the parameters.
    ///
    /// A parameter at a limit of its range counts as if it were free: it may stand elsewhere, and
    /// to hold it would take for known what no point shows (an upper limit of 1). Only where the
    /// points cannot tell it from the others is it held.
    pub fn mean_standard_error(&self, loss: f64) -> Option<f64> {
        let all = gradient(self.upper - self.lower, self.rate * (loss - self.midpoint));
        // By rate and midpoint in the units of the loss.
        let all = [all[0] * (loss - self.midpoint), all[1] * self.rate, all[2], all[3]];
        let covariance = self.covariance.as_ref()?;
        let size = self.moving.len();
        let variance: f64 = (0..size)
            .flat_map(|row| (0..size).map(move |column| (row, column)))
            .map(|(row, column)| {
                all[self.moving[row]] * all[self.moving[column]] * covariance[row * size + column]
            })
            .sum();
        Some(variance.max(0.0).sqrt()).filter(|error| error.is_finite())
    }
}

/// `1 / (1 + exp(z))`.
pub(super) fn logistic(z: f64) -> f64 {
    if z > 0.0 {
        let small = (-z).exp();
        small / (1.0 + small)
    } else {
        1.0 / (1.0 + z.exp())
    }
}

/// Derivatives of the share at `z = rate (loss - midpoint)`: by rate (to be multiplied by the
/// distance from the midpoint), by midpoint (by the rate), by upper and by lower limit.
fn gradient(height: f64, z: f64) -> [f64; 4] {
    let g = logistic(z);
    let steep = height * g * (1.0 - g);
    [-steep, steep, g, 1.0 - g]
}

/// The points in units of the range of the losses; a point of the search is rate, midpoint, upper
/// limit and, unless given, lower.
struct Problem<'a> {
    u: Vec<f64>,
    share: &'a [f64],
    given: Option<f64>,
}

impl Problem<'_> {
    fn lower(&self, point: &[f64]) -> f64 {
        self.given.unwrap_or_else(|| point[3])
    }

    fn sum(&self, point: &[f64]) -> f64 {
        let lower = self.lower(point);
        let fitted = |u: f64| lower + (point[2] - lower) * logistic(point[0] * (u - point[1]));
        self.u.iter().zip(self.share).map(|(u, share)| (fitted(*u) - share).powi(2)).sum()
    }

    /// Rate and midpoint with the limits that fit best there, each cut at its bounds: a start, no
    /// more.
    fn start(&self, rate: f64, midpoint: f64, bounds: &[Bound], mean: f64) -> Vec<f64> {
        let g: Vec<f64> = self.u.iter().map(|u| logistic(rate * (u - midpoint))).collect();
        let pairs = || g.iter().zip(self.share);
        let ratio = |above: f64, below: f64| if below > 0.0 { above / below } else { 0.0 };
        if let Some(lower) = self.given {
            let height = ratio(
                pairs().map(|(g, share)| g * (share - lower)).sum(),
                g.iter().map(|g| g * g).sum(),
            );
            return vec![rate, midpoint, bounds[2].clamp(lower + height)];
        }
        let centre = g.iter().sum::<f64>() / g.len() as f64;
        let height = ratio(
            pairs().map(|(g, share)| (g - centre) * (share - mean)).sum(),
            g.iter().map(|g| (g - centre).powi(2)).sum(),
        );
        let lower = bounds[3].clamp(mean - height * centre);
        vec![rate, midpoint, bounds[2].clamp(lower + height), lower]
    }
}

impl Residuals for Problem<'_> {
    fn residuals(&mut self, point: &[f64], out: &mut Vec<f64>) -> bool {
        let lower = self.lower(point);
        out.clear();
        out.extend(self.u.iter().zip(self.share).map(|(u, share)| {
            lower + (point[2] - lower) * logistic(point[0] * (u - point[1])) - share
        }));
        out.iter().all(|residual| residual.is_finite())
    }

    fn jacobian(&mut self, point: &[f64], columns: &mut [Vec<f64>]) {
        let lower = self.lower(point);
        columns.iter_mut().for_each(Vec::clear);
        for u in &self.u {
            let distance = u - point[1];
            let by = gradient(point[2] - lower, point[0] * distance);
            let by = [by[0] * distance, by[1] * point[0], by[2], by[3]];
            columns.iter_mut().zip(by).for_each(|(column, by)| column.push(by));
        }
    }
}

/// The best point seen, and whether two methods agree on it; `None` when no place of the grid is
/// allowed.
fn best(problem: &mut Problem<'_>, bounds: &[Bound], mean: f64) -> Option<Found> {
    let places =
        RATE_STARTS.iter().flat_map(|rate| MIDPOINT_STARTS.map(|midpoint| (*rate, midpoint)));
    let places: Vec<Vec<f64>> =
        places.map(|(rate, midpoint)| problem.start(rate, midpoint, bounds, mean)).collect();
    let starts = lowest(places, |start| problem.sum(start), WALKS);
    let from = starts.first()?.0.clone();
    let steps = [0.3 * from[0], 0.2, 0.1, 0.1];
    let noise = EXACT * problem.share.iter().map(|share| share * share).sum::<f64>();
    let mut methods =
        LeastSquares { problem, bounds, from: &from, steps: &steps[..bounds.len()], noise };
    search(&mut methods, starts.into_iter().map(|(start, _)| start), 1)
}

/// What each bound means, for rate, midpoint, upper and lower limit.
fn at_bound(axis: usize, upper: bool) -> &'static str {
    match (axis, upper) {
        (0, false) => "the share is a straight line in the loss, so no limit shows",
        (0, true) => "the share is a step between two losses",
        (1, _) => {
            "the midpoint is far outside the losses, so no more than a tail of the curve shows"
        }
        (2, true) => {
            "the upper limit is 1, so the points show no plateau and the curve beyond them is assumed"
        }
        (2, false) => "the share does not rise as the loss falls",
        (_, false) => "the lower limit is 0, so the points show no plateau at large losses",
        (_, true) => "the share does not fall as the loss rises",
    }
}

fn describe(
    problem: &Problem<'_>,
    found: &Found,
    bounds: &[Bound],
    (centre, range): (f64, f64),
) -> Sigmoid {
    let (point, sum) = (&found.best.point, found.best.value);
    let lower = problem.lower(point);
    let (rate, midpoint, upper) = (point[0] / range, centre + range * point[1], point[2]);
    let mean = problem.share.iter().sum::<f64>() / problem.share.len() as f64;
    let total: f64 = problem.share.iter().map(|share| (share - mean).powi(2)).sum();
    let constant = problem.share.iter().all(|share| *share == problem.share[0]);
    let exact = sum <= EXACT * total;

    let mut cautions = Vec::new();
    if constant {
        cautions.push(Caution::Constant);
    } else if exact {
        cautions.push(Caution::Exact);
    }
    let mut free = Vec::new();
    for (axis, (value, bound)) in point.iter().zip(bounds).enumerate() {
        let near = 1e-9 * (bound.high - bound.low);
        if value - bound.low <= near || bound.high - value <= near {
            cautions.push(Caution::AtBound { meaning: at_bound(axis, bound.high - value <= near) });
        } else {
            free.push(axis);
        }
    }

    // Columns of some parameters in the units of the loss.
    let columns = |axes: &[usize]| -> Vec<Vec<f64>> {
        let of = |axis: usize, u: f64| {
            let distance = u - point[1];
            let by = gradient(upper - lower, point[0] * distance);
            [by[0] * distance * range, by[1] * rate, by[2], by[3]][axis]
        };
        axes.iter().map(|&axis| problem.u.iter().map(|u| of(axis, *u)).collect()).collect()
    };
    let normal = Symmetric::from_columns(&columns(&free));
    let condition = if free.is_empty() { 1.0 } else { normal.condition() };
    if condition > ILL {
        cautions.push(Caution::IllConditioned { condition });
    }
    if !found.confirmed {
        cautions.push(Caution::Unconfirmed);
    }

    let given = problem.given.is_some();
    let freedom = problem.share.len() - (4 - usize::from(given));
    let variance = sum / freedom as f64;
    let covariance_of = |normal: &Symmetric| -> Option<Vec<f64>> {
        normal.inverse().map(|inverse| inverse.into_iter().map(|entry| entry * variance).collect())
    };
    let mut covariance = covariance_of(&normal);
    let mut standard_errors = [None; 4];
    if let Some(covariance) = &covariance {
        for (at, &axis) in free.iter().enumerate() {
            let error = covariance[at * free.len() + at].max(0.0).sqrt();
            standard_errors[axis] = Some(error).filter(|error| error.is_finite() && *error > 0.0);
        }
    }
    let mut moving = free;
    if moving.len() < bounds.len() {
        let all: Vec<usize> = (0..bounds.len()).collect();
        let of_all = Symmetric::from_columns(&columns(&all));
        if of_all.condition() <= TOLD_APART
            && let Some(found) = covariance_of(&of_all)
        {
            (moving, covariance) = (all, Some(found));
        }
    }
    let fitted = |u: f64| lower + (upper - lower) * logistic(point[0] * (u - point[1]));
    Sigmoid {
        rate,
        midpoint,
        upper,
        lower,
        lower_is_given: given,
        residuals: problem
            .u
            .iter()
            .zip(problem.share)
            .map(|(u, share)| share - fitted(*u))
            .collect(),
        residual_sum_of_squares: sum,
        r_squared: (!constant && total > 0.0).then(|| (1.0 - sum / total).clamp(0.0, 1.0)),
        cautions,
        standard_errors,
        moving,
        covariance,
    }
}

fn check(loss: &[f64], share: &[f64], lower: Option<f64>) -> Result<(), StatsError> {
    if loss.len() != share.len() {
        return Err(StatsError::Lengths {
            left: "loss",
            left_length: loss.len(),
            right: "share",
            right_length: share.len(),
        });
    }
    if let Some(index) = loss.iter().position(|loss| !loss.is_finite()) {
        return Err(StatsError::NonFinite { what: "loss", index, value: loss[index] });
    }
    let shares = share.iter().map(|share| ("share", *share));
    for (name, value) in shares.chain(lower.map(|lower| ("lower limit", lower))) {
        if !(0.0..=1.0).contains(&value) {
            return Err(StatsError::Parameter { name, value, domain: "from 0 to 1" });
        }
    }
    let parameters = 3 + usize::from(lower.is_none());
    if loss.len() <= parameters {
        return Err(StatsError::TooFewForForm {
            form: NAME,
            parameters,
            given: loss.len(),
            needed: parameters + 1,
        });
    }
    if loss.iter().all(|value| *value == loss[0]) {
        return Err(StatsError::NoSpread { points: loss.len(), x: loss[0] });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MMLU humanities of OLMo ladder models up to 1B: bits a byte and accuracy. scipy 1.17
    /// (`least_squares`, 96 starts) has rate 11.00583535, midpoint 0.68101915, upper limit
    /// 0.39032522, sum of squares 0.0001150681619703064 with lower limit 0.25.
    const HUMANITIES: [(f64, f64); 16] = [
        (1.059488, 0.256961),
        (0.996486, 0.260149),
        (0.924244, 0.255898),
        (0.898068, 0.262487),
        (0.947577, 0.258236),
        (0.876711, 0.263762),
        (0.828616, 0.268225),
        (0.801281, 0.281403),
        (0.845086, 0.267588),
        (0.793274, 0.28119),
        (0.749518, 0.294793),
        (0.722893, 0.304782),
        (0.778874, 0.288417),
        (0.74038, 0.298406),
        (0.688736, 0.318385),
        (0.671569, 0.32221),
    ];

    #[test]
    fn published_points_as_scipy_fits_them() {
        let (loss, share): (Vec<f64>, Vec<f64>) = HUMANITIES.into_iter().unzip();
        let fit = fit(&loss, &share, Some(0.25)).unwrap();
        assert!((fit.rate / 11.005_835_35 - 1.0).abs() < 1e-6, "{fit:?}");
        assert!((fit.midpoint / 0.681_019_15 - 1.0).abs() < 1e-6);
        assert!((fit.upper / 0.390_325_22 - 1.0).abs() < 1e-6);
        assert!((fit.residual_sum_of_squares / 1.150_681_619_7e-4 - 1.0).abs() < 1e-9);
        assert!(!fit.cautions.contains(&Caution::Unconfirmed));
    }

    #[test]
    fn a_plateau_at_either_end_does_not_stop_the_search() {
        // Most points on the plateau, where a start at the mean sees no slope (scipy issues 5980,
        // 10652).
        let loss: Vec<f64> = (0..40).map(|at| 0.1 * f64::from(at)).collect();
        for (rate, midpoint) in [(25.0, 3.5), (25.0, 0.4), (3.0, 2.0), (40.0, 1.95)] {
            let share: Vec<f64> =
                loss.iter().map(|loss| 0.2 + 0.7 * logistic(rate * (loss - midpoint))).collect();
            for lower in [Some(0.2), None] {
                let fit = fit(&loss, &share, lower).unwrap();
                assert!((fit.rate / rate - 1.0).abs() < 1e-4, "{rate} {midpoint} {fit:?}");
                assert!((fit.midpoint - midpoint).abs() < 1e-5);
                assert!((fit.upper - 0.9).abs() < 1e-6 && (fit.lower - 0.2).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn units_of_the_loss_change_names_alone() {
        let (loss, share): (Vec<f64>, Vec<f64>) = HUMANITIES.into_iter().unzip();
        let one = fit(&loss, &share, Some(0.25)).unwrap();
        for (scale, shift) in [(1e-6, 0.0), (1e9, 5e9), (1.0, -40.0)] {
            let moved: Vec<f64> = loss.iter().map(|loss| loss * scale + shift).collect();
            let other = fit(&moved, &share, Some(0.25)).unwrap();
            assert!((other.rate * scale / one.rate - 1.0).abs() < 1e-6, "{scale}");
            assert!((other.at(0.5 * scale + shift) - one.at(0.5)).abs() < 1e-8);
            let (a, b) =
                (other.mean_standard_error(0.5 * scale + shift), one.mean_standard_error(0.5));
            assert!((a.unwrap() / b.unwrap() - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn what_the_points_do_not_show_is_said() {
        let loss = [1.0, 1.2, 1.4, 1.6, 1.8];
        let bound = |share: &[f64], what: &str| {
            let fit = fit(&loss, share, Some(0.25)).unwrap();
            let said = fit.cautions.iter().any(
                |caution| matches!(caution, Caution::AtBound { meaning } if meaning.contains(what)),
            );
            assert!(said, "{what}: {:?}", fit.cautions);
            fit
        };
        let fit = bound(&[0.42, 0.36, 0.32, 0.29, 0.28], "upper limit is 1");
        assert_eq!((fit.upper, fit.standard_errors[2], fit.standard_errors[3]), (1.0, None, None));
        assert!(fit.standard_errors[0].is_some());
        bound(&[0.26, 0.29, 0.35, 0.4, 0.5], "does not rise");
    }

    #[test]
    fn too_little_and_impossible_shares_are_refused() {
        assert!(fit(&[1.0, 2.0, 3.0], &[0.5, 0.4, 0.3], Some(0.25)).is_err());
        assert!(fit(&[1.0, 2.0, 3.0, 4.0], &[0.5, 0.4, 0.3, 0.3], None).is_err());
        assert!(fit(&[1.0; 5], &[0.5, 0.4, 0.3, 0.3, 0.3], None).is_err());
        let loss = [1.0, 2.0, 3.0, 4.0];
        assert!(
            fit(&loss, &[50.0, 0.4, 0.3, 0.3], Some(0.25))
                .unwrap_err()
                .to_string()
                .contains("share is 50")
        );
        assert!(
            fit(&loss, &[0.5, 0.4, 0.3, 0.3], Some(25.0))
                .unwrap_err()
                .to_string()
                .contains("lower limit")
        );
    }

    #[test]
    fn the_slope_is_the_derivative() {
        let (loss, share): (Vec<f64>, Vec<f64>) = HUMANITIES.into_iter().unzip();
        let fit = fit(&loss, &share, None).unwrap();
        for at in [0.4, 0.68, 1.0] {
            let numeric = (fit.at(at + 1e-6) - fit.at(at - 1e-6)) / 2e-6;
            assert!((fit.slope(at) - numeric).abs() < 1e-8, "{at}");
        }
    }
}
