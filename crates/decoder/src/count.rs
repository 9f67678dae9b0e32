//! How many parameters an architecture has, exactly, by what they are for.
//!
//! The law's `S` is [`ParameterCount::non_embedding`]: every weight, bias and norm parameter except
//! the token table, the position table and the head. A tied head is the token table and counts
//! there. OPT-350m's two projections between embedding and width count as non-embedding, as in the
//! counts of the rank law's authors.

use crate::parts::{Part, sizes};
use crate::spec::Spec;

/// Parameters of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ParameterCount {
    /// `S`: blocks, final norm, embedding projections.
    pub non_embedding: u64,
    /// The token table, `V E`.
    pub token_embedding: u64,
    /// The position table, all rows, or 0.
    pub position_embedding: u64,
    /// The head, `V E`, or 0 when tied.
    pub head: u64,
    /// All of them: what the checkpoint holds.
    pub total: u64,
}

impl ParameterCount {
    /// Counts the parameters that `spec` describes; padding rows of the vocabulary included.
    ///
    /// ```
    /// # use relscale_decoder::{count::ParameterCount, spec::*};
    /// // Two channels, one head, one block, four inner channels, no biases: 4*2*2 + 2*2*4 + three norms of 2.
    /// let spec = Spec {
    ///     vocabulary: 7, width: 2, heads: 1, kv_heads: 1, head_width: 2, hidden: 4, context: 8,
    ///     layers: vec![Layer::default()], gated: false, tied: true, ..Spec::default()
    /// };
    /// let count = ParameterCount::from_spec(&spec);
    /// assert_eq!((count.non_embedding, count.token_embedding, count.total), (38, 14, 52));
    /// ```
    pub fn from_spec(spec: &Spec) -> Self {
        let sizes = sizes(spec);
        let sum = |of: fn(Part) -> bool| {
            sizes.iter().filter(|(part, _)| of(*part)).map(|(_, size)| size).sum()
        };
        let token_embedding = sum(|part| part == Part::TokenEmbedding);
        let position_embedding = sum(|part| part == Part::PositionEmbedding);
        let head = sum(|part| part == Part::Head);
        let total: u64 = sum(|_| true);
        Self {
            non_embedding: total - token_embedding - position_embedding - head,
            token_embedding,
            position_embedding,
            head,
            total,
        }
    }
}
