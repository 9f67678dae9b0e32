//! The rank head: from hidden rows and targets to rank, ties, nll, entropy and argmax.
//!
//! The definitions (arXiv 2510.20387, eq. 3, and `docs/methods.md`), for logits `z` `[V]` of one
//! position and its target `t`:
//!
//! * `rank R = #{v : z[v] >= z[t]}`, 1 is best; the target counts itself exactly once, and ties
//!   count against the model;
//! * `ties = #{v != t : z[v] == z[t]}`, so that `R - ties` is the optimistic rank;
//! * `nll = logsumexp(z) - z[t]` and `entropy = -sum p ln p`, nats;
//! * `argmax`: the smallest `v` whose logit is the largest;
//! * a position with a non-finite logit has no score (`None`). NaN compares false with everything,
//!   so without this rule it would look like rank 1.
//!
//! [`mod@reference`] holds all logits of a row and is the judge; [`tiled`] is what runs. Both face
//! the cases of `testdata/ranks`, and so will every later one.

pub mod reference;
pub mod tiled;

use crate::error::{Error, Result};

/// What the head says of one scored position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// `R`, from 1; ties count against the model.
    pub rank: u32,
    /// Other entries whose logit equals the target's.
    pub ties: u32,
    /// Negative log-likelihood of the target, nats.
    pub nll: f32,
    /// Entropy of the predictive distribution, nats.
    pub entropy: f32,
    /// The best entry, the first of equals.
    pub argmax: u32,
}

/// Which rows of the head take part in ranks and in the softmax.
///
/// Output rows are padded, and differently inside one family: by default, rows that no token maps
/// to are left out, as if they were not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    rows: usize,
    /// Rows left out, as sorted, disjoint, non-empty ranges.
    left_out: Vec<std::ops::Range<usize>>,
}

impl Vocabulary {
    /// Every one of `rows` rows takes part (`--vocab rows`).
    pub fn all(rows: usize) -> Self {
        Self { rows, left_out: Vec::new() }
    }

    /// Only the rows for which `known` holds take part (`--vocab tokens`).
    pub fn only(rows: usize, known: impl Fn(u32) -> bool) -> Self {
        let mut left_out: Vec<std::ops::Range<usize>> = Vec::new();
        for row in (0..rows).filter(|&row| !known(row as u32)) {
            match left_out.last_mut() {
                Some(last) if last.end == row => last.end += 1,
                _ => left_out.push(row..row + 1),
            }
        }
        Self { rows, left_out }
    }

    /// `V`: rows of the head.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Rows that take part.
    pub fn counted(&self) -> usize {
        self.rows - self.left_out.iter().map(ExactSizeIterator::len).sum::<usize>()
    }

    /// Whether a row takes part.
    pub fn contains(&self, row: u32) -> bool {
        let row = row as usize;
        row < self.rows && !self.left_out.iter().any(|range| range.contains(&row))
    }

    /// The rows of `first..end` that are left out, as ranges relative to `first`.
    fn left_out_within(
        &self,
        first: usize,
        end: usize,
    ) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.left_out
            .iter()
            .map(move |range| range.start.max(first)..range.end.min(end))
            .filter(|range| !range.is_empty())
            .map(move |range| range.start - first..range.end - first)
    }

    /// Refuses a target that takes no part.
    pub(crate) fn check_target(&self, index: usize, target: u32) -> Result<()> {
        if self.contains(target) {
            return Ok(());
        }
        let reason = if (target as usize) < self.rows {
            format!(
                "token {target} is a row that no token of the tokenizer maps to; count all rows instead"
            )
        } else {
            format!(
                "token {target} is beyond the {} rows of the head: the tokenizer does not fit the model",
                self.rows
            )
        };
        Err(Error::Sequence { index, reason })
    }
}

#[cfg(test)]
mod tests;
