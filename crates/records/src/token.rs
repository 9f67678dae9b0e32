//! One scored position: what the model said about the token that really came.

use serde::{Deserialize, Serialize};

use crate::provenance::TieRule;

/// What one row of logits says about the token that really came.
///
/// With `z[v]` the logit of vocabulary entry `v`, `z_t` that of the right token, and both
/// restricted to the entries that count (see [`crate::provenance::VocabularyRule`]).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// `R = #{v : z[v] >= z_t}`: 1 is best; entries that tie count against the model.
    pub rank: u32,
    /// `#{v : z[v] == z_t} - 1`: other entries exactly equal. `rank - ties` is the optimistic rank.
    pub ties: u32,
    /// `logsumexp(z) - z_t`, in nats.
    pub nll: f32,
    /// `-sum p ln p` of the predictive distribution, in nats.
    pub entropy: f32,
    /// The entry with the largest logit; the lowest id when several share it.
    pub argmax: u32,
}

impl Score {
    /// The rank with ties in the model's favour, `#{v : z[v] > z_t} + 1`: what the published code
    /// of the rank law stores.
    pub fn optimistic_rank(&self) -> u32 {
        self.rank.saturating_sub(self.ties)
    }

    /// The rank that is compared with k: equal logits count as `rule` says.
    pub fn rank_by(&self, rule: TieRule) -> u32 {
        match rule {
            TieRule::AtLeast => self.rank,
            TieRule::Greater => self.optimistic_rank(),
        }
    }
}

/// A [`Score`] with its place in the corpus: one row of a token part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScoredToken {
    /// Ordinal of the document in its corpus, from 0.
    pub document: u32,
    /// Index of the token in its document, from 0.
    pub position: u32,
    /// Id of the token that really came.
    pub token: u32,
    /// Bytes of source text this token stands for. The bytes of a document's tokens add up to the
    /// document's, also where a token holds half a character, so bits per byte are exact.
    pub bytes: u32,
    /// Tokens before this one in its window, the prefix (beginning-of-text id) included.
    pub context: u32,
    /// `None` when a logit of this position was not finite: the row is kept and counted, and enters
    /// no average.
    pub score: Option<Score>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optimistic_rank_takes_ties_in_the_models_favour() {
        let score = Score { rank: 37, ties: 36, nll: 3.6, entropy: 3.6, argmax: 0 };
        assert_eq!(score.optimistic_rank(), 1);
    }
}
