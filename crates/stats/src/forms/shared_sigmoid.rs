//! One sigmoid of a loss for many shares, each of a height of its own.
//!
//! ```text
//! share_t(loss) = lower_t + height_t / (1 + exp(rate (loss - midpoint))),   rate > 0,  0 <= height_t <= 1 - lower_t
//! ```
//!
//! Rate and midpoint are of all series, by least squares of the shares; given them each height is
//! linear, so that a new series needs a point or two. The lower limits are given (chance).

use crate::check;
use crate::error::StatsError;
use crate::optimise::{Bound, nelder_mead};

use super::sigmoid::{MIDPOINT_STARTS, MIDPOINTS, RATE_STARTS, RATES, logistic};

/// Places of the grid from which the simplex starts.
const WALKS: usize = 2;

/// Shares at losses, with their lower limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// The losses.
    pub loss: Vec<f64>,
    /// A share each.
    pub share: Vec<f64>,
    /// The limit at large losses.
    pub lower: f64,
}

impl Shares {
    fn check(&self) -> Result<(), StatsError> {
        check::columns(&[("loss", &self.loss), ("share", &self.share)])?;
        let possible = |share: &f64| (0.0..=1.0).contains(share);
        match self.share.iter().chain([&self.lower]).find(|share| !possible(share)) {
            None => Ok(()),
            Some(&value) => {
                Err(StatsError::Parameter { name: "share", value, domain: "from 0 to 1" })
            }
        }
    }
}

/// What the series have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedSigmoid {
    /// How fast the shares fall, per unit of loss.
    pub rate: f64,
    /// The loss at half of each height.
    pub midpoint: f64,
    /// `Σ residual²` over all series.
    pub residual_sum_of_squares: f64,
}

impl SharedSigmoid {
    /// `1 / (1 + exp(rate (loss - midpoint)))`: the share above chance over its height.
    pub fn shape(&self, loss: f64) -> f64 {
        logistic(self.rate * (loss - self.midpoint))
    }

    /// The height of a series by least squares, in its bounds; 0 where the shape is 0 at all of its
    /// losses.
    pub fn height(&self, series: &Shares) -> f64 {
        height(series, |loss| self.shape(loss))
    }

    /// The share of a series of this lower limit and height.
    pub fn at(&self, lower: f64, height: f64, loss: f64) -> f64 {
        lower + height * self.shape(loss)
    }
}

fn height(series: &Shares, shape: impl Fn(f64) -> f64) -> f64 {
    let (mut above, mut below) = (0.0, 0.0);
    for (&loss, share) in series.loss.iter().zip(&series.share) {
        let g = shape(loss);
        above += g * (share - series.lower);
        below += g * g;
    }
    if below > 0.0 { (above / below).clamp(0.0, 1.0 - series.lower) } else { 0.0 }
}

/// Fits the shape of all series.
///
/// ```
/// use relscale_stats::forms::shared_sigmoid::{Shares, fit};
/// let loss: Vec<f64> = vec![1.0, 1.5, 2.0, 2.5, 3.0];
/// let series = |lower: f64, height: f64| Shares {
///     share: loss.iter().map(|l| lower + height / (1.0 + (4.0 * (l - 1.8)).exp())).collect(),
///     loss: loss.clone(),
///     lower,
/// };
/// let shape = fit(&[series(0.25, 0.6), series(0.5, 0.2)]).unwrap();
/// assert!((shape.rate - 4.0).abs() < 1e-4 && (shape.midpoint - 1.8).abs() < 1e-5);
/// ```
///
/// # Errors
/// No more points than parameters (2, and a height a series); a number that is not finite; a share
/// that does not lie between 0 and 1; all losses equal.
pub fn fit(series: &[Shares]) -> Result<SharedSigmoid, StatsError> {
    series.iter().try_for_each(Shares::check)?;
    let points: usize = series.iter().map(|series| series.loss.len()).sum();
    let needed = series.len() + 3;
    if points < needed || series.is_empty() {
        return Err(StatsError::TooFewPoints { given: points, needed });
    }
    let losses = || series.iter().flat_map(|series| series.loss.iter().copied());
    let (low, high) =
        (losses().fold(f64::INFINITY, f64::min), losses().fold(f64::NEG_INFINITY, f64::max));
    if low >= high {
        return Err(StatsError::NoSpread { points, x: low });
    }
    let (centre, range) = (low + (high - low) / 2.0, high - low);
    let sum = |place: &[f64]| -> f64 {
        let shape = |loss: f64| logistic(place[0].exp() * ((loss - centre) / range - place[1]));
        series
            .iter()
            .map(|series| {
                let height = height(series, shape);
                let pairs = series.loss.iter().zip(&series.share);
                let fitted = |loss: f64| series.lower + height * shape(loss);
                pairs.map(|(loss, share)| (share - fitted(*loss)).powi(2)).sum::<f64>()
            })
            .sum()
    };
    let mut grid: Vec<(f64, [f64; 2])> = RATE_STARTS
        .iter()
        .flat_map(|rate: &f64| MIDPOINT_STARTS.map(|midpoint| [rate.ln(), midpoint]))
        .map(|place| (sum(&place), place))
        .collect();
    grid.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bounds = [Bound { low: RATES.low.ln(), high: RATES.high.ln() }, MIDPOINTS];
    let found = grid
        .iter()
        .take(WALKS)
        .map(|(_, place)| nelder_mead::minimise(sum, place, &[0.3, 0.2], &bounds))
        .min_by(|a, b| a.value.total_cmp(&b.value))
        .ok_or(StatsError::Undetermined)?;
    Ok(SharedSigmoid {
        rate: found.point[0].exp() / range,
        midpoint: centre + range * found.point[1],
        residual_sum_of_squares: found.value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_order_change_nothing_and_a_series_at_chance_says_nothing() {
        let loss = [1.0, 1.4, 2.0, 2.6, 3.1];
        let noise = [0.01, -0.012, 0.004, 0.009, -0.006];
        let series = |unit: f64, lower: f64, height: f64| Shares {
            loss: loss.iter().map(|loss| unit * loss).collect(),
            share: (0..5)
                .map(|at| lower + height / (1.0 + (3.0 * (loss[at] - 2.0)).exp()) + noise[at])
                .collect(),
            lower,
        };
        let of = |unit| fit(&[series(unit, 0.25, 0.5), series(unit, 0.5, 0.3)]).unwrap();
        let (one, thousand) = (of(1.0), of(1e3));
        assert!((one.rate - 1e3 * thousand.rate).abs() < 1e-4 * one.rate, "{one:?} {thousand:?}");
        assert!((one.midpoint - thousand.midpoint / 1e3).abs() < 1e-4);
        let turned = fit(&[series(1.0, 0.5, 0.3), series(1.0, 0.25, 0.5)]).unwrap();
        assert!((turned.rate - one.rate).abs() < 1e-4 * one.rate);
        let flat = Shares { loss: loss.to_vec(), share: vec![0.4; 5], lower: 0.5 };
        assert_eq!(one.height(&flat), 0.0);
        assert_eq!(one.at(0.5, 0.0, 1.0), 0.5);
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        let of = |loss: &[f64], share: &[f64]| Shares {
            loss: loss.to_vec(),
            share: share.to_vec(),
            lower: 0.0,
        };
        assert!(fit(&[]).is_err());
        assert!(fit(&[of(&[1.0, 2.0, 3.0], &[0.5, 0.4, 0.3])]).is_err());
        assert!(fit(&[of(&[1.0; 5], &[0.5; 5])]).is_err());
        assert!(fit(&[of(&[1.0, 2.0, 3.0, 4.0], &[0.5, 0.4, 0.3, 1.3])]).is_err());
        assert!(fit(&[of(&[1.0, 2.0, 3.0, f64::NAN], &[0.5, 0.4, 0.3, 0.3])]).is_err());
    }
}
