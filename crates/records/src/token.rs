//! One scored position: what the model said about the token that really came.

use serde::{Deserialize, Serialize};

use crate::provenance::TieRule;

/// What one row of logits says about the token that really came.
///
/// With `z[v]` the logit of vocabulary entry `v`, `z_t` that of the right token, and both
/// restricted to the entries that count (see [`crate::provenance::VocabularyRule`]).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// `R = #{v : z[v] >= z_t}`: 1 is best; entries that tie count against the model. Of an engine
    /// that does not tell ties, by the rule of
    /// [`ScoringProvenance::rank_rule`](crate::provenance::ScoringProvenance::rank_rule).
    pub rank: u32,
    /// `#{v : z[v] == z_t} - 1`: other entries exactly equal. `rank - ties` is the optimistic rank.
    /// `None` where the engine does not tell (see [`crate::provenance::ScoreColumn`]).
    pub ties: Option<u32>,
    /// `logsumexp(z) - z_t`, in nats.
    pub nll: f32,
    /// `-sum p ln p` of the predictive distribution, in nats; `None` where the engine does not tell
    /// it.
    pub entropy: Option<f32>,
    /// The entry with the largest logit; the lowest id when several share it. `None` where the
    /// engine does not tell.
    pub argmax: Option<u32>,
}

impl Score {
    /// The rank with ties in the model's favour, `#{v : z[v] > z_t} + 1`: what the published code
    /// of the rank law stores. The stored rank where ties are not told.
    pub fn optimistic_rank(&self) -> u32 {
        self.rank.saturating_sub(self.ties.unwrap_or(0))
    }

    /// The rank that is compared with k: equal logits count as `rule` says. Where ties are not told
    /// there is one rank only, whatever the rule; whoever plans a run sees to it that it is that of
    /// the rule.
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
        let score =
            Score { rank: 37, ties: Some(36), nll: 3.6, entropy: Some(3.6), argmax: Some(0) };
        assert_eq!(score.optimistic_rank(), 1);
        let untold = Score { ties: None, ..score };
        assert_eq!(untold.rank_by(TieRule::Greater), 37);
    }
}
