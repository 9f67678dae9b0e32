//! How much the sum of a quantity over tokens varies when other documents are drawn.
//!
//! Tokens of one document are alike, so the variance of a sum over tokens is larger than tokens
//! times the variance of one. A tally holds a document's counts in the cells between neighbouring k
//! of its grid, not by exact rank. With `v_r` the quantity at rank r, `m` its mean, `m_c` its mean
//! in cell c and `n_dc` the tokens of document d in it, the variance of the sum is
//!
//! ```text
//! D/(D - 1) sum over documents of (sum over cells of n_dc (m_c - m))²  +  sum over ranks of n_r (v_r - m_c(r))²
//! ```
//!
//! Between cells documents are what varies, inside a cell tokens are. For several quantities the
//! squares are products.

use relscale_records::{DocumentTally, RunTally};

/// A quantity, or several, at each rank that occurs.
#[derive(Debug, Clone, Copy)]
pub(super) struct AtRank<const N: usize> {
    pub(super) rank: u32,
    pub(super) tokens: u64,
    pub(super) value: [f64; N],
}

/// Means and covariance of the sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread<const N: usize> {
    /// Mean a token.
    pub(super) mean: [f64; N],
    /// Covariance of the sums over all tokens.
    pub(super) covariance: [[f64; N]; N],
    /// Tokens.
    pub(super) tokens: f64,
    /// Documents with at least one.
    pub(super) documents: u32,
}

/// The spread over a run's documents. `None` with fewer than two of them.
pub(super) fn spread<const N: usize>(run: &RunTally, ranks: &[AtRank<N>]) -> Option<Spread<N>> {
    let documents: Vec<&DocumentTally> = run.documents.iter().filter(|d| d.scored > 0).collect();
    if documents.len() < 2 {
        return None;
    }
    let cell = |rank: u32| run.k_grid.partition_point(|&k| k < rank);
    let mut counts = vec![0.0; run.k_grid.len() + 1];
    let mut means = vec![[0.0; N]; counts.len()];
    for at in ranks {
        counts[cell(at.rank)] += at.tokens as f64;
        add(&mut means[cell(at.rank)], at.tokens as f64, at.value);
    }
    let tokens: f64 = counts.iter().sum();
    let mut mean = [0.0; N];
    means.iter().for_each(|sum| add(&mut mean, 1.0 / tokens, *sum));
    for (sum, count) in means.iter_mut().zip(&counts) {
        *sum = if *count > 0.0 { sum.map(|sum| sum / count) } else { mean };
    }
    let mut covariance = [[0.0; N]; N];
    for at in ranks {
        let off = std::array::from_fn(|i| at.value[i] - means[cell(at.rank)][i]);
        add_square(&mut covariance, at.tokens as f64, off);
    }
    let factor = documents.len() as f64 / (documents.len() as f64 - 1.0);
    for document in &documents {
        let mut sum = [0.0; N];
        let mut below = 0;
        for (hits, cell_mean) in document.hits.iter().copied().chain([document.scored]).zip(&means)
        {
            add(&mut sum, (hits - below) as f64, std::array::from_fn(|i| cell_mean[i] - mean[i]));
            below = hits;
        }
        add_square(&mut covariance, factor, sum);
    }
    Some(Spread { mean, covariance, tokens, documents: documents.len() as u32 })
}

fn add<const N: usize>(sum: &mut [f64; N], weight: f64, value: [f64; N]) {
    sum.iter_mut().zip(value).for_each(|(sum, value)| *sum += weight * value);
}

fn add_square<const N: usize>(sum: &mut [[f64; N]; N], weight: f64, value: [f64; N]) {
    sum.iter_mut().zip(value).for_each(|(row, factor)| add(row, weight * factor, value));
}
