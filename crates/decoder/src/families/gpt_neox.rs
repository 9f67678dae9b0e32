//! GPT-NeoX (Pythia): rotary positions on a part of each head, attention and MLP side by side, GELU
//! with the error function, untied head, query/key/value rows interleaved by head.
//!
//! Source: `GPTNeoXConfig` and `GPTNeoXForCausalLM` of transformers 4.57. Pythia's files store
//! causal masks and rotary frequencies as buffers; they hold no parameters.

use std::ops::Range;

use super::config::Config;
use super::family::Family;
use super::names::{Names, Stored};
use super::rotary::{self, Spelling};
use crate::error::Result;
use crate::spec::{Activation, Biases, Layer, NormKind, Residual, Spec};

pub(super) const FAMILY: Family = Family {
    name: "gpt_neox",
    spec,
    // The reference's GPT-NeoX has no windows and does not read these.
    ignored: &["max_window_layers", "sliding_window", "use_sliding_window"],
    ends: [Some(0), Some(2)],
    names: &Names {
        prefixes: &["gpt_neox.", ""],
        block: "layers.",
        buffers: &[".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq"],
        token_embedding: "embed_in",
        final_norm: "final_layer_norm",
        head: "embed_out",
        attention_norm: "input_layernorm",
        query_key_value: Stored::Ordered("attention.query_key_value", by_kind),
        attention_output: "attention.dense",
        mlp_norm: "post_attention_layernorm",
        up: Stored::Whole("mlp.dense_h_to_4h"),
        down: "mlp.dense_4h_to_h",
        ..Names::NONE
    },
};

const ROTARY: Spelling = Spelling {
    base: &["rotary_emb_base", "rope_theta"],
    default_base: rotary::BASE,
    fraction: &["rotary_pct", "partial_rotary_factor"],
    default_fraction: 0.25,
};

fn spec(config: &mut Config) -> Result<Spec> {
    let (width, heads) =
        (config.size("hidden_size", 6144)?, config.size("num_attention_heads", 64)?);
    let head_width = config.head_width(width, heads)?;
    let attention_bias = config.flag("attention_bias", true)?;
    config.only_full_attention()?;
    let parallel = config.flag("use_parallel_residual", true)?;
    let layers = config.size("num_hidden_layers", 44)?;
    let context = config.size("max_position_embeddings", 2048)?;
    let rotary = rotary::read(config, &ROTARY, head_width, context)?;
    Ok(Spec {
        vocabulary: config.size("vocab_size", 50_432)?,
        width,
        heads,
        kv_heads: heads,
        head_width,
        hidden: config.size("intermediate_size", 24_576)?,
        context,
        layers: config
            .layers(layers, |_| Layer { rotary: Some(rotary.clone()), ..Layer::default() })?,
        norm: NormKind::Layer,
        norm_epsilon: config.epsilon("layer_norm_eps", 1e-5)?,
        residual: if parallel { Residual::Parallel } else { Residual::Sequential },
        activation: config.activation("hidden_act", Activation::Gelu)?,
        gated: false,
        biases: Biases {
            query_key_value: attention_bias,
            attention_output: attention_bias,
            mlp: true,
        },
        tied: config.flag("tie_word_embeddings", false)?,
        ..Spec::default()
    })
}

/// Rows stored head by head as (query, key, value), in our order: all queries, all keys, all
/// values.
pub(super) fn by_kind(spec: &Spec) -> Vec<Range<usize>> {
    let (heads, d) = (spec.heads, spec.head_width);
    let stored = (0..3).flat_map(|kind| (0..heads).map(move |head| 3 * head + kind));
    stored.map(|n| n * d..(n + 1) * d).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_two_heads_of_two_channels() {
        // Stored: q0 q0 k0 k0 v0 v0 q1 q1 k1 k1 v1 v1.
        let order: Vec<usize> = by_kind(&Spec { heads: 2, head_width: 2, ..Spec::default() })
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(order, [0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]);
    }
}
