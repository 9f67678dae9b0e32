//! Counts by whole number from 1, with a short stand-in for sums of smooth functions over them.

use crate::error::StatsError;

/// Values up to this one stand for themselves.
const EXACT: u32 = 128;

/// Width of a cell in `ln k` beyond.
const CELL: f64 = 0.1;

/// Nodes that stand for the values of one cell.
const NODES: usize = 6;

/// How often each whole number occurred.
///
/// ```
/// use relscale_stats::discrete::Histogram;
/// let ranks = Histogram::new(&[1, 2, 7], &[60, 30, 10]).unwrap();
/// assert_eq!((ranks.total(), ranks.distinct(), ranks.largest()), (100, 3, 7));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    values: Vec<u32>,
    counts: Vec<u64>,
    total: u64,
    nodes: Vec<Node>,
}

/// A point with a weight, for sums over all observations of a function that is smooth in `ln k`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Node {
    pub(super) at: Place,
    pub(super) weight: f64,
}

/// A `k` with those of its logarithms that weights are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) k: f64,
    pub(super) ln_k: f64,
    /// `ln(k - 1)`, minus infinity at 1.
    pub(super) ln_below: f64,
    /// `ln(k / (k - 1))`, infinite at 1.
    pub(super) step: f64,
    /// The logarithm of that.
    pub(super) ln_step: f64,
}

impl Place {
    fn new(k: f64) -> Self {
        let below = k - 1.0;
        let step = ((k - below) / below).ln_1p();
        Self { k, ln_k: k.ln(), ln_below: below.ln(), step, ln_step: step.ln() }
    }
}

impl Histogram {
    /// `counts[i]` observations of `values[i]`, the values ascending from 1 or above.
    ///
    /// # Errors
    /// Slices of different lengths; a value of 0, or not above the one before it; no observation at
    /// all.
    pub fn new(values: &[u32], counts: &[u64]) -> Result<Self, StatsError> {
        if values.len() != counts.len() {
            return Err(StatsError::Lengths {
                left: "values",
                left_length: values.len(),
                right: "counts",
                right_length: counts.len(),
            });
        }
        let mut previous = 0;
        for (index, &value) in values.iter().enumerate() {
            if value <= previous {
                return Err(StatsError::NotAscending { index, value, previous });
            }
            previous = value;
        }
        let (values, counts): (Vec<u32>, Vec<u64>) =
            values.iter().zip(counts).filter(|&(_, &count)| count > 0).unzip();
        let total = counts.iter().sum();
        if total == 0 {
            return Err(StatsError::NoObservations);
        }
        let nodes = nodes(&values, &counts);
        Ok(Self { values, counts, total, nodes })
    }

    /// Counts the values of a sample, in any order.
    ///
    /// # Errors
    /// A value of 0; an empty sample.
    pub fn from_sample(sample: &[u32]) -> Result<Self, StatsError> {
        let mut sorted = sample.to_vec();
        sorted.sort_unstable();
        let (mut values, mut counts) = (Vec::new(), Vec::new());
        for run in sorted.chunk_by(|a, b| a == b) {
            values.push(run[0]);
            counts.push(run.len() as u64);
        }
        Self::new(&values, &counts)
    }

    /// The values that occur, ascending, each with its count.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.values.iter().copied().zip(self.counts.iter().copied())
    }

    /// Number of observations.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Number of different values.
    pub fn distinct(&self) -> usize {
        self.values.len()
    }

    /// The smallest value.
    pub fn smallest(&self) -> u32 {
        self.values[0]
    }

    /// The largest value.
    pub fn largest(&self) -> u32 {
        self.values[self.values.len() - 1]
    }

    /// Share of observations that are at most `k`.
    pub fn share_up_to(&self, k: u32) -> f64 {
        let upto: u64 =
            self.iter().take_while(|&(value, _)| value <= k).map(|(_, count)| count).sum();
        upto as f64 / self.total as f64
    }

    /// Mean of a function over the observations.
    pub(super) fn mean(&self, function: impl Fn(f64) -> f64) -> f64 {
        self.iter().map(|(value, count)| count as f64 * function(f64::from(value))).sum::<f64>()
            / self.total as f64
    }

    /// Points whose weighted sum of a function, smooth in `ln k`, is its sum over all observations.
    ///
    /// A histogram of ranks has up to 10^5 different values and a fit needs some hundred such sums.
    /// A function smooth in `ln k` is, within a cell of width 0.1, a polynomial of degree 5 to
    /// about 1e-12 of its sixth derivative; so each cell's observations are replaced by six nodes
    /// with the weights `sum n_k l_j(ln k)`, `l_j` Lagrange's polynomials. Weights may be negative.
    /// What is quoted of a fit is summed over all values again.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

fn nodes(values: &[u32], counts: &[u64]) -> Vec<Node> {
    let itself = |i: usize| Node { at: Place::new(f64::from(values[i])), weight: counts[i] as f64 };
    let first = values.partition_point(|&value| value <= EXACT);
    let mut nodes: Vec<Node> = (0..first).map(itself).collect();
    let mut begin = first;
    while begin < values.len() {
        let low = f64::from(values[begin]).ln();
        let end =
            begin + values[begin..].partition_point(|&value| f64::from(value).ln() < low + CELL);
        if end - begin <= NODES {
            nodes.extend((begin..end).map(itself));
        } else {
            nodes.extend(interpolating(&values[begin..end], &counts[begin..end]));
        }
        begin = end;
    }
    nodes
}

/// Chebyshev's nodes of the cell that the values span, each with the sum of its Lagrange
/// polynomial.
fn interpolating(values: &[u32], counts: &[u64]) -> [Node; NODES] {
    let (low, high) = (f64::from(values[0]).ln(), f64::from(values[values.len() - 1]).ln());
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    let at: [f64; NODES] =
        std::array::from_fn(|j| -((j as f64 + 0.5) * std::f64::consts::PI / NODES as f64).cos());
    let mut nodes = at.map(|x| Node { at: Place::new((middle + half * x).exp()), weight: 0.0 });
    for (&value, &count) in values.iter().zip(counts) {
        let x = (f64::from(value).ln() - middle) / half;
        for (j, node) in nodes.iter_mut().enumerate() {
            let others = (0..NODES).filter(|&i| i != j);
            node.weight +=
                count as f64 * others.map(|i| (x - at[i]) / (at[j] - at[i])).product::<f64>();
        }
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    type Named = (&'static str, fn(f64) -> f64);

    #[test]
    fn what_is_no_histogram_is_refused() {
        assert!(matches!(Histogram::new(&[1, 2], &[1]), Err(StatsError::Lengths { .. })));
        assert!(matches!(
            Histogram::new(&[0, 2], &[1, 1]),
            Err(StatsError::NotAscending { index: 0, .. })
        ));
        assert!(matches!(
            Histogram::new(&[3, 3], &[1, 1]),
            Err(StatsError::NotAscending { index: 1, .. })
        ));
        assert_eq!(Histogram::new(&[1], &[0]).unwrap_err(), StatsError::NoObservations);
        assert_eq!(Histogram::from_sample(&[]).unwrap_err(), StatsError::NoObservations);
    }

    #[test]
    fn a_value_that_never_occurred_is_as_if_not_given() {
        let with = Histogram::new(&[1, 5, 9], &[3, 0, 2]).unwrap();
        assert_eq!(with, Histogram::from_sample(&[9, 1, 1, 9, 1]).unwrap());
        assert_eq!(with.share_up_to(8), 0.6);
    }

    /// Fifty thousand different values become some hundred nodes, and sums of the functions that
    /// fits need stay the same.
    #[test]
    fn nodes_sum_as_the_observations_do() {
        let values: Vec<u32> = (1..=50_257).collect();
        let counts: Vec<u64> =
            values.iter().map(|&k| 1 + 100_000 / u64::from(k) + u64::from(k % 3)).collect();
        let ranks = Histogram::new(&values, &counts).unwrap();
        assert!(ranks.nodes().len() < 600, "{}", ranks.nodes().len());
        let functions: [Named; 5] = [
            ("1", |_| 1.0),
            ("ln² k", |k| k.ln().powi(2)),
            ("k", |k| k),
            ("ln(1 + k²/9)", |k| (k * k / 9.0).ln_1p()),
            ("exp(-k/30 000)", |k| (-k / 30_000.0).exp()),
        ];
        for (name, function) in functions {
            let exact = ranks.mean(function) * ranks.total() as f64;
            let short: f64 =
                ranks.nodes().iter().map(|node| node.weight * function(node.at.k)).sum();
            assert!((short / exact - 1.0).abs() < 1e-12, "{name}: {short} against {exact}");
        }
    }
}
