//! What every distribution must tell: two numbers of it at given parameters, and how a fit walks
//! over the parameters.

use std::fmt::Debug;

use super::histogram::{Histogram, Node, Place};
use super::sum::Sum;

/// A distribution on 1, 2, 3, ... at given parameters, up to a factor.
///
/// Both functions accept real numbers where a fit needs them: the weight is smooth in `k`.
pub(super) trait Shape: Debug + Send + Sync {
    /// Logarithm of the weight of `k >= 1`.
    fn ln_weight(&self, k: f64) -> f64;

    /// Logarithm of the weights of all whole numbers above `low` up to `high`, for whole
    /// `0 <= low < high`.
    fn ln_between(&self, low: f64, high: f64) -> f64;

    /// [`ln_weight`](Self::ln_weight) from logarithms that are known.
    fn ln_weight_at(&self, at: &Place) -> f64 {
        self.ln_weight(at.k)
    }

    /// Weighted sum of the logarithms over nodes: what a fit asks for some hundred times.
    fn ln_weights(&self, nodes: &[Node]) -> f64 {
        let mut sum = Sum::default();
        nodes.iter().for_each(|node| sum.add(node.weight * self.ln_weight_at(&node.at)));
        sum.value()
    }
}

/// A kind of distribution.
///
/// *Parameters* are what is reported. *Free coordinates* are what a fit walks in: as many, without
/// constraints but those of [`bounds`](Self::bounds), and chosen so that the likelihood is close to
/// a paraboloid in them.
pub(super) trait Family: Sync {
    /// Names of the parameters, in order.
    fn names(&self) -> &'static [&'static str];

    /// The scale of each parameter: what values it can have and how they are spaced.
    fn scales(&self) -> &'static [Scale];

    /// Lowest and highest free coordinates; where a fit ends at one, the data ask for a limit of
    /// the distribution.
    fn bounds(&self) -> &'static [Bounds];

    /// Parameters of free coordinates.
    fn parameters(&self, free: &[f64]) -> Vec<f64>;

    /// Free coordinates of parameters that are in their domains.
    fn free(&self, parameters: &[f64]) -> Vec<f64>;

    /// The distribution at parameters that are in their domains.
    fn shape(&self, parameters: &[f64]) -> Box<dyn Shape>;

    /// Free coordinates from which the likelihood is climbed.
    fn starts(&self, data: &Histogram) -> Vec<Vec<f64>>;
}

/// The range of a free coordinate, and what the distribution becomes at its ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) low: f64,
    pub(super) high: f64,
    /// What the lower end means, for the reader of a fit that ended there.
    pub(super) at_low: &'static str,
    /// What the upper end means.
    pub(super) at_high: &'static str,
}

/// The domain of a parameter, which also says how its values are spaced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// Any number.
    Real,
    /// A number above zero, spaced by its logarithm.
    Positive,
    /// A number above -1, spaced by the logarithm of its distance from there.
    AboveMinusOne,
    /// A probability, spaced by its log odds.
    Probability,
}

impl Scale {
    /// Whether the scale has the value.
    pub(super) fn holds(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Real => true,
                Self::Positive => value > 0.0,
                Self::AboveMinusOne => value > -1.0,
                Self::Probability => value > 0.0 && value < 1.0,
            }
    }

    /// The values allowed, in words.
    pub(super) fn domain(self) -> &'static str {
        match self {
            Self::Real => "a finite number",
            Self::Positive => "above 0",
            Self::AboveMinusOne => "above -1",
            Self::Probability => "between 0 and 1",
        }
    }

    /// Place of a value on the evenly spaced line.
    pub(super) fn spread(self, value: f64) -> f64 {
        match self {
            Self::Real => value,
            Self::Positive => value.ln(),
            Self::AboveMinusOne => value.ln_1p(),
            Self::Probability => (value / (1.0 - value)).ln(),
        }
    }

    /// The value at a place of the evenly spaced line.
    pub(super) fn value(self, place: f64) -> f64 {
        match self {
            Self::Real => place,
            Self::Positive => place.exp(),
            Self::AboveMinusOne => place.exp_m1(),
            Self::Probability => 1.0 / (1.0 + (-place).exp()),
        }
    }
}

/// Two points through which a start puts a distribution with a closed cumulative: the smallest
/// value and one in the middle of what is above it, with the shares of observations up to them. The
/// shares are kept off 0 and 1.
pub(super) fn anchors(data: &Histogram) -> [(f64, f64); 2] {
    let first = data.smallest();
    let above = data.total() - data.iter().next().map_or(0, |(_, count)| count);
    let mut seen = 0;
    let middle = data
        .iter()
        .skip(1)
        .find(|&(_, count)| {
            seen += count;
            2 * seen >= above
        })
        .map_or(first + 1, |(value, _)| value);
    let share = |k: u32| data.share_up_to(k).clamp(1e-6, 1.0 - 1e-6);
    [(f64::from(first), share(first)), (f64::from(middle), share(middle))]
}
