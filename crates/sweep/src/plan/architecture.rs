//! One planned model: its sizes, and how many parameters that makes by each convention.

use relscale_decoder::count::ParameterCount;
use relscale_decoder::spec::{Layer, NormSpan, Rotary, RotaryScaling, Spec};
use serde::{Deserialize, Serialize};

/// A decoder of Llama's kind: RMSNorm before each part and the head, gated MLP, rotary positions,
/// no biases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Architecture {
    /// Entries of the vocabulary, V.
    pub vocabulary: usize,
    /// Tokens of one training sequence, and the context of the model.
    pub sequence: usize,
    /// Channels, C.
    pub width: usize,
    /// Blocks.
    pub layers: usize,
    /// Query heads.
    pub heads: usize,
    /// Key/value heads.
    pub kv_heads: usize,
    /// Channels of one head.
    pub head_width: usize,
    /// Inner channels of the gated MLP, F.
    pub hidden: usize,
    /// Whether the head is the token embedding.
    pub tied: bool,
    /// Whether queries and keys pass an RMSNorm with a gain of `head_width` numbers before they are
    /// rotated (Qwen3).
    pub qk_norm: bool,
    /// Tokens that attention looks back at most, the query's own included; `None`: the whole
    /// sequence.
    pub window: Option<usize>,
    /// Base of the rotary frequencies.
    pub rope_base: f64,
    /// Llama 3's change of the low frequencies.
    pub rope_scaling: Option<Llama3Scaling>,
    /// Added to the mean square in norms.
    pub norm_epsilon: f64,
}

/// Llama 3's change of rotary frequencies, by the names of its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Llama3Scaling {
    /// Divisor of the low frequencies.
    pub factor: f64,
    /// `original / low` is the wavelength above which a frequency is low.
    pub low_frequency_factor: f64,
    /// `original / high` is the wavelength below which a frequency is high.
    pub high_frequency_factor: f64,
    /// Context of the original training, tokens.
    pub original_context: usize,
}

/// Parameters of a model by every convention in use; mixing them up moves the exponent of the
/// optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// `S`: everything but token table and head.
    pub non_embedding: u64,
    /// `S` and the head, tied or not: what takes part in products.
    pub non_embedding_and_head: u64,
    /// Everything that the checkpoint holds; a tied head counts once.
    pub total: u64,
}

impl Architecture {
    /// Exact parameters.
    pub fn parameters(&self) -> Parameters {
        let count = ParameterCount::from_spec(&self.spec());
        Parameters {
            non_embedding: count.non_embedding,
            non_embedding_and_head: count.non_embedding + count.token_embedding,
            total: count.total,
        }
    }

    /// Tokens that a query meets at most.
    pub fn span(&self) -> usize {
        self.window.map_or(self.sequence, |window| window.min(self.sequence))
    }

    /// The model as the decoder describes it.
    pub fn spec(&self) -> Spec {
        let scaling = self.rope_scaling.map(|scaling| RotaryScaling::Llama3 {
            factor: scaling.factor,
            low_frequency_factor: scaling.low_frequency_factor,
            high_frequency_factor: scaling.high_frequency_factor,
            original_context: scaling.original_context,
        });
        let rotary = Rotary { width: self.head_width, base: self.rope_base, scaling };
        let layer = Layer { window: self.window, rotary: Some(rotary), scale: None };
        Spec {
            family: if self.qk_norm { "qwen3" } else { "llama" }.to_owned(),
            vocabulary: self.vocabulary,
            width: self.width,
            heads: self.heads,
            kv_heads: self.kv_heads,
            head_width: self.head_width,
            hidden: self.hidden,
            context: self.sequence,
            layers: vec![layer; self.layers],
            norm_epsilon: self.norm_epsilon as f32,
            query_key_norm: self.qk_norm.then_some(NormSpan::Head),
            tied: self.tied,
            ..Spec::default()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn small() -> Architecture {
        Architecture {
            vocabulary: 50,
            sequence: 16,
            width: 8,
            layers: 3,
            heads: 2,
            kv_heads: 1,
            head_width: 4,
            hidden: 24,
            tied: true,
            qk_norm: false,
            window: None,
            rope_base: 1e4,
            rope_scaling: None,
            norm_epsilon: 1e-5,
        }
    }

    /// `L (C (H + 2 G) D + H D C + 3 C F + 2 C [+ 2 D with QK-norm]) + C`, and V C for table and
    /// head: 3 blocks of 2 heads of 4 with 1 key/value head, C = 8, F = 24, V = 50.
    #[test]
    fn parameters_are_those_of_the_formula() {
        let block = 8 * (2 + 2) * 4 + 8 * 8 + 3 * 8 * 24 + 2 * 8;
        for (tied, qk_norm) in [(true, false), (false, false), (true, true)] {
            let non_embedding = 3 * (block + if qk_norm { 2 * 4 } else { 0 }) + 8;
            let table = 50 * 8;
            let wanted = Parameters {
                non_embedding,
                non_embedding_and_head: non_embedding + table,
                total: non_embedding + if tied { table } else { 2 * table },
            };
            assert_eq!(Architecture { tied, qk_norm, ..small() }.parameters(), wanted);
        }
    }
}
