//! The likelihood of one parameter with the other at its best: what says whether it is identified.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::error::StatsError;

use super::fit::{Fit, quick_log_likelihood};
use super::histogram::Histogram;
use super::kind::Kind;
use super::maximise::follow;

/// The values of a parameter that a likelihood-ratio test does not reject.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileInterval {
    /// Lower end; `None` when no value downwards is rejected as far as was looked.
    pub low: Option<f64>,
    /// Upper end; `None` likewise.
    pub high: Option<f64>,
}

/// `(value, log-likelihood)` of parameter number `index` of a fit to `data`, at each value of
/// `grid`, the other parameter at its best for it.
///
/// A profile that falls by less than 1.92 within the grid on one side leaves the parameter's 95 %
/// interval open there.
///
/// # Errors
/// No such parameter; a grid value outside its domain.
pub fn profile(
    fit: &Fit,
    data: &Histogram,
    index: usize,
    grid: &[f64],
) -> Result<Vec<(f64, f64)>, StatsError> {
    let mut walk = Walk::begin(fit, data, index)?;
    // Outwards from the top on both sides, so that each starts from its neighbour's best.
    let mut order: Vec<usize> = (0..grid.len()).collect();
    order.sort_by(|&a, &b| grid[a].total_cmp(&grid[b]));
    let above = order.partition_point(|&i| grid[i] < walk.top_value);
    let mut heights = vec![f64::NAN; grid.len()];
    for side in [order[above..].to_vec(), order[..above].iter().rev().copied().collect()] {
        walk.back_to_top();
        for i in side {
            heights[i] = walk.height(grid[i])?;
        }
    }
    Ok(grid.iter().copied().zip(heights).collect())
}

/// The interval of parameter number `index` within which the profile is no more than half the
/// chi-squared quantile below its top (Wilks 1938).
///
/// It is searched outwards in doubling steps up to 2^16 times the first; an end not met by then is
/// given as `None`: the data do not bound the parameter on that side.
///
/// # Errors
/// As [`profile`]; a level that is no probability.
pub fn profile_interval(
    fit: &Fit,
    data: &Histogram,
    index: usize,
    level: f64,
) -> Result<ProfileInterval, StatsError> {
    if !(level > 0.0 && level < 1.0) {
        return Err(StatsError::Level { level });
    }
    let drop = 0.5 * ChiSquared::new(1.0).map_or(f64::NAN, |chi| chi.inverse_cdf(level));
    let mut walk = Walk::begin(fit, data, index)?;
    let mut end = |way: f64| -> Result<Option<f64>, StatsError> {
        walk.back_to_top();
        let scale = walk.scale();
        let floor = walk.top - drop;
        let (mut inner, mut step) = (scale.spread(walk.top_value), walk.first_step());
        for _ in 0..16 {
            let outer = inner + way * step;
            if !scale.holds(scale.value(outer)) || walk.height(scale.value(outer))? > floor {
                inner = outer;
                step *= 2.0;
                if !scale.holds(scale.value(inner)) {
                    return Ok(None);
                }
                continue;
            }
            return root(inner, outer, step, |place| {
                // The root of the drop is nearly a line, so few places are asked for.
                let height = walk.height(scale.value(place))?;
                Ok((walk.top - height).max(0.0).sqrt() - drop.sqrt())
            })
            .map(|place| Some(scale.value(place)));
        }
        Ok(None)
    };
    Ok(ProfileInterval { low: end(-1.0)?, high: end(1.0)? })
}

/// Where `excess` crosses zero between `inside`, where it is below, and `outside`: false position
/// with the Illinois change (Dowell and Jarratt 1971), to a hundred-thousandth of `step`.
fn root(
    mut inside: f64,
    mut outside: f64,
    step: f64,
    mut excess: impl FnMut(f64) -> Result<f64, StatsError>,
) -> Result<f64, StatsError> {
    let (mut below, mut above) = (excess(inside)?, excess(outside)?);
    let mut last = 0;
    for _ in 0..60 {
        let place = (inside * above - outside * below) / (above - below);
        let here = excess(place)?;
        let side = if here < 0.0 { -1 } else { 1 };
        if side < 0 {
            if (place - inside).abs() < 1e-5 * step {
                return Ok(place);
            }
            (inside, below) = (place, here);
            if last == side {
                above *= 0.5;
            }
        } else {
            if (place - outside).abs() < 1e-5 * step {
                return Ok(place);
            }
            (outside, above) = (place, here);
            if last == side {
                below *= 0.5;
            }
        }
        last = side;
    }
    Ok(0.5 * (inside + outside))
}

/// A walk along the ridge of the likelihood.
struct Walk<'a> {
    kind: Kind,
    data: &'a Histogram,
    upper: u32,
    index: usize,
    top_value: f64,
    top: f64,
    /// The other parameter at the top, evenly spaced; `None` for kinds of one parameter.
    top_other: Option<f64>,
    other: Option<f64>,
    /// The place before, to lead the next start along the ridge.
    last: (f64, Option<f64>),
    slope: f64,
}

impl<'a> Walk<'a> {
    fn begin(fit: &Fit, data: &'a Histogram, index: usize) -> Result<Self, StatsError> {
        let (kind, upper) = (fit.kind, fit.upper);
        let family = kind.family();
        if index >= family.names().len() {
            return Err(StatsError::NoParameter { form: kind.title(), index });
        }
        let parameters = family.parameters(&fit.top);
        let other = (parameters.len() > 1)
            .then(|| family.scales()[1 - index].spread(parameters[1 - index]));
        let top_value = parameters[index];
        let place = family.scales()[index].spread(top_value);
        Ok(Self {
            kind,
            data,
            upper,
            index,
            top_value,
            top: fit.top_value,
            top_other: other,
            other,
            last: (place, other),
            slope: 0.0,
        })
    }

    fn scale(&self) -> super::family::Scale {
        self.kind.family().scales()[self.index]
    }

    fn first_step(&self) -> f64 {
        let place = self.scale().spread(self.top_value);
        1e-3 * place.abs().max(1.0)
    }

    fn back_to_top(&mut self) {
        self.other = self.top_other;
        self.last = (self.scale().spread(self.top_value), self.top_other);
        self.slope = 0.0;
    }

    /// The profile at a value; the next one starts from here.
    fn height(&mut self, value: f64) -> Result<f64, StatsError> {
        let family = self.kind.family();
        let scale = self.scale();
        if !scale.holds(value) {
            return Err(StatsError::Parameter {
                name: family.names()[self.index],
                value,
                domain: scale.domain(),
            });
        }
        let place = scale.spread(value);
        let Some(near) = self.other else {
            return Ok(quick_log_likelihood(family, &[value], self.data, self.upper));
        };
        let other_scale = family.scales()[1 - self.index];
        let index = self.index;
        let height = |point: &[f64]| {
            let other = other_scale.value(point[0]);
            if !other_scale.holds(other) {
                return f64::NEG_INFINITY;
            }
            let parameters = if index == 0 { [value, other] } else { [other, value] };
            quick_log_likelihood(family, &parameters, self.data, self.upper)
        };
        // Straight on in the direction of the last step, and from where the last step ended.
        let ahead = near + self.slope * (place - self.last.0);
        let (other, top) = follow(&height, &[ahead, near])
            .ok_or(StatsError::Overflow { what: "the log-likelihood on a profile" })?;
        let moved = place - self.last.0;
        if moved != 0.0 {
            self.slope = (other - near) / moved;
        }
        self.last = (place, Some(other));
        self.other = Some(other);
        Ok(top)
    }
}
