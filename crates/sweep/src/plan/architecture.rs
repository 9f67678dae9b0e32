//! One planned model: its sizes, and how many parameters that makes by each convention.

use crate::error::{Error, Result};
use relscale_decoder::spec::{
    Activation, AttentionScale, Biases, NormKind, NormPlacement, Positions, Residual, Rotary, RotaryScaling,
    Spec,
};
use serde::{Deserialize, Serialize};

/// A decoder of Llama's kind: RMSNorm before each part and the head, gated MLP, rotary positions, no biases.
///
/// Wider than what this trainer trains: QK-norm and an untied head are planned and exported.
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
    /// Whether queries and keys pass an RMSNorm with a gain of `head_width` numbers before they are rotated (Qwen3).
    pub qk_norm: bool,
    /// Tokens that attention looks back at most, the query's own included; `None`: the whole sequence.
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

/// Parameters of a model by every convention in use; mixing them up moves the exponent of the optimum.
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
    /// Exact parameters: `L (C (H + 2 G) D + H D C + 3 C F + 2 C [+ 2 D with QK-norm]) + C`, and V C for table and head.
    pub fn parameters(&self) -> Parameters {
        let n = |size: usize| size as u64;
        let (c, f) = (n(self.width), n(self.hidden));
        let (queries, keys) = (n(self.heads * self.head_width), n(self.kv_heads * self.head_width));
        let gains = 2 * c + if self.qk_norm { 2 * n(self.head_width) } else { 0 };
        let block = c * (queries + 2 * keys) + queries * c + 3 * c * f + gains;
        let non_embedding = n(self.layers) * block + c;
        let table = n(self.vocabulary) * c;
        Parameters {
            non_embedding,
            non_embedding_and_head: non_embedding + table,
            total: non_embedding + if self.tied { table } else { 2 * table },
        }
    }

    /// Tokens that a query meets at most.
    pub fn span(&self) -> usize {
        self.window.map_or(self.sequence, |window| window.min(self.sequence))
    }

    /// The model as this program computes it.
    ///
    /// # Errors
    /// [`Error::Untrainable`] for QK-norm, which the decoder does not have; [`Error::Decoder`] for sizes at odds.
    pub fn spec(&self) -> Result<Spec> {
        if self.qk_norm {
            return Err(Error::Untrainable {
                family: "qwen3".to_owned(),
                reason: "queries and keys are normalised (QK-norm); export the plan to an engine that has it"
                    .to_owned(),
            });
        }
        let spec = Spec {
            family: "llama".to_owned(),
            vocabulary: self.vocabulary,
            width: self.width,
            layers: self.layers,
            heads: self.heads,
            kv_heads: self.kv_heads,
            head_width: self.head_width,
            hidden: self.hidden,
            context: self.sequence,
            positions: Positions::Rotary(Rotary {
                width: self.head_width,
                base: self.rope_base,
                scaling: self.rope_scaling.map(|scaling| RotaryScaling::Llama3 {
                    factor: scaling.factor,
                    low_frequency_factor: scaling.low_frequency_factor,
                    high_frequency_factor: scaling.high_frequency_factor,
                    original_context: scaling.original_context,
                }),
            }),
            norm: NormKind::Rms,
            norm_epsilon: self.norm_epsilon as f32,
            norm_placement: NormPlacement::Pre,
            norm_affine: true,
            final_norm: true,
            residual: Residual::Sequential,
            activation: Activation::SwiGlu,
            biases: Biases { query_key_value: false, attention_output: false, mlp: false },
            attention_scale: AttentionScale { by_head_width: true, by_layer: false },
            windows: vec![self.window; self.layers],
            embedding_width: self.width,
            tied: self.tied,
        };
        spec.check()?;
        Ok(spec)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use relscale_decoder::count::ParameterCount;

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

    #[test]
    fn parameters_are_those_that_the_decoder_counts() {
        for tied in [true, false] {
            let architecture = Architecture { tied, ..small() };
            let (mine, decoder) =
                (architecture.parameters(), ParameterCount::of(&architecture.spec().unwrap()));
            assert_eq!((mine.non_embedding, mine.total), (decoder.non_embedding, decoder.total));
            assert_eq!(mine.non_embedding_and_head, decoder.non_embedding + 50 * 8);
        }
    }

    #[test]
    fn qk_norm_adds_two_gains_a_block_and_is_not_trained_here() {
        let with = Architecture { qk_norm: true, ..small() };
        assert_eq!(with.parameters().total - small().parameters().total, 3 * 2 * 4);
        let refusal = with.spec().unwrap_err().to_string();
        assert!(refusal.contains("QK-norm"), "{refusal}");
    }
}
