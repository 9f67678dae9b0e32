//! Sufficient statistics of *ranks*: how many positions had each exact rank, and their summed nll.
//!
//! The tally's hits at a grid of k say enough for the rank law; the distribution of ranks needs
//! every rank apart. A [`RankHistogram`] is kept a run, not a document: a vocabulary of 150 000
//! entries times thousands of documents would be as large as the rows themselves. It holds the
//! ranks that occur, a few ten thousand at most.
//!
//! Exactness: counts are integers, and so are the sums of nll, in units of 2^-40 nats. A nll is an
//! f32, and every one from 2^-17 nats up is a whole number of these units; smaller ones are rounded
//! by less than 5e-13 nats. Sums of integers do not depend on their order, so no way of splitting
//! and merging changes a bit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::provenance::TieRule;
use crate::token::ScoredToken;

/// Units of nll in a nat, 2^40.
const UNITS: f64 = (1_u64 << 40) as f64;

/// The positions of one rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Bin {
    tokens: u64,
    /// In 2^-40 nats. 128 bits: 64 would overflow at a billion positions of a few nats.
    nll: i128,
}

/// One rank of a [`RankHistogram`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankCount {
    /// The rank, from 1.
    pub rank: u32,
    /// Positions that have it.
    pub tokens: u64,
    /// Their summed nll, nats.
    pub sum_nll: f64,
}

/// Counts of positions, and their summed nll, by exact rank.
///
/// ```
/// use relscale_records::RankHistogram;
/// let mut ranks = RankHistogram::default();
/// for (rank, nll) in [(1, 0.5), (7, 3.0), (1, 0.25)] {
///     ranks.add(rank, nll);
/// }
/// let greedy = ranks.iter().next().unwrap();
/// assert_eq!((greedy.rank, greedy.tokens, greedy.sum_nll), (1, 2, 0.75));
/// assert_eq!(ranks.tokens(), 3);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankHistogram {
    bins: BTreeMap<u32, Bin>,
}

impl RankHistogram {
    /// Counts a position with this rank and a finite nll, in nats.
    pub fn add(&mut self, rank: u32, nll: f32) {
        let bin = self.bins.entry(rank).or_default();
        bin.tokens += 1;
        bin.nll += (f64::from(nll) * UNITS).round() as i128;
    }

    /// Counts a row, with its rank by `tie_rule`. A row with a non-finite logit has no rank and is
    /// passed over; the tally of its document counts it.
    pub fn add_token(&mut self, token: &ScoredToken, tie_rule: TieRule) {
        if let Some(score) = token.score {
            self.add(score.rank_by(tie_rule), score.nll);
        }
    }

    /// Adds the counts of other positions. Associative and commutative, bit for bit.
    pub fn merge(&mut self, other: &Self) {
        for (&rank, bin) in &other.bins {
            self.add_units(rank, bin.tokens, bin.nll);
        }
    }

    /// The ranks that occur, ascending.
    pub fn iter(&self) -> impl Iterator<Item = RankCount> + '_ {
        self.bins.iter().map(|(&rank, bin)| RankCount {
            rank,
            tokens: bin.tokens,
            sum_nll: bin.nll as f64 / UNITS,
        })
    }

    /// The ranks that occur, ascending, each with its positions and their nll in units of 2^-40
    /// nats.
    pub(crate) fn units(&self) -> impl Iterator<Item = (u32, u64, i128)> + '_ {
        self.bins.iter().map(|(&rank, bin)| (rank, bin.tokens, bin.nll))
    }

    /// Adds positions of one rank, their nll in units of 2^-40 nats.
    pub(crate) fn add_units(&mut self, rank: u32, tokens: u64, nll: i128) {
        let bin = self.bins.entry(rank).or_default();
        bin.tokens += tokens;
        bin.nll += nll;
    }

    /// Number of positions.
    pub fn tokens(&self) -> u64 {
        self.bins.values().map(|bin| bin.tokens).sum()
    }

    /// Number of different ranks.
    pub fn distinct(&self) -> usize {
        self.bins.len()
    }

    /// The largest rank that occurs; `None` without positions.
    pub fn largest(&self) -> Option<u32> {
        self.bins.last_key_value().map(|(&rank, _)| rank)
    }
}
