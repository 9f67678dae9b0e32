//! How many parameters an architecture has, exactly, by what they are for.
//!
//! The law's `S` is [`ParameterCount::non_embedding`]: every weight, bias and norm parameter except the token table, the
//! position table and the head. A tied head is the token table and counts there. OPT-350m's two projections between
//! embedding and width count as non-embedding, as in the counts of the rank law's authors.

use crate::spec::{NormKind, Positions, Spec};

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
    ///     family: "llama".into(), vocabulary: 7, width: 2, layers: 1, heads: 1, kv_heads: 1, head_width: 2, hidden: 4,
    ///     context: 8, positions: Positions::Rotary(Rotary { width: 2, base: 1e4, scaling: None }), norm: NormKind::Rms,
    ///     norm_epsilon: 1e-5, norm_placement: NormPlacement::Pre, norm_affine: true, final_norm: true,
    ///     residual: Residual::Sequential, activation: Activation::Gelu,
    ///     biases: Biases { query_key_value: false, attention_output: false, mlp: false },
    ///     attention_scale: AttentionScale { by_head_width: true, by_layer: false }, windows: vec![], embedding_width: 2, tied: true,
    /// };
    /// let count = ParameterCount::of(&spec);
    /// assert_eq!((count.non_embedding, count.token_embedding, count.total), (38, 14, 52));
    /// ```
    pub fn of(spec: &Spec) -> Self {
        let n = |size: usize| size as u64;
        let (c, f, e, v) = (n(spec.width), n(spec.hidden), n(spec.embedding_width), n(spec.vocabulary));
        let linear = |inputs: u64, outputs: u64, bias: bool| outputs * (inputs + u64::from(bias));
        let norm = match (spec.norm_affine, spec.norm) {
            (false, _) => 0,
            (true, NormKind::Layer) => 2 * c,
            (true, NormKind::Rms) => c,
        };
        let attention = linear(c, n(spec.qkv_width()), spec.biases.query_key_value)
            + linear(n(spec.attention_width()), c, spec.biases.attention_output);
        let mlp = linear(c, n(spec.up_width()), spec.biases.mlp) + linear(f, c, spec.biases.mlp);
        let projections = if e == c { 0 } else { 2 * c * e };
        let non_embedding = n(spec.layers) * (attention + mlp + 2 * norm)
            + if spec.final_norm { norm } else { 0 }
            + projections;
        let token_embedding = v * e;
        let position_embedding = match spec.positions {
            Positions::Learned { rows, .. } => n(rows) * c,
            Positions::Rotary(_) => 0,
        };
        let head = if spec.tied { 0 } else { v * e };
        Self {
            non_embedding,
            token_embedding,
            position_embedding,
            head,
            total: non_embedding + token_embedding + position_embedding + head,
        }
    }
}
