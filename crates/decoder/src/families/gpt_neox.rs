//! GPT-NeoX (Pythia): rotary positions on a part of each head, attention and MLP side by side, GELU with the error
//! function, untied head, query/key/value rows interleaved by head.
//!
//! Source: `GPTNeoXConfig` and `GPTNeoXForCausalLM` of transformers 4.57. Pythia's files store causal masks and rotary
//! frequencies as buffers; they hold no parameters.

use std::ops::Range;

use super::Family;
use super::config::Config;
use super::rotary::{self, Spelling};
use super::tensors::{Naming, Tensors};
use crate::error::Result;
use crate::kernels::Packed;
use crate::spec::{AttentionScale, Biases, NormKind, NormPlacement, Positions, Residual, Spec};
use crate::weights::{Block, Keep, Matrix, Weights};

pub(super) const FAMILY: Family = Family {
    name: "gpt_neox",
    spec,
    // The reference's GPT-NeoX has no windows and does not read these.
    ignored: &["max_window_layers", "sliding_window", "use_sliding_window"],
    ends: [Some(0), Some(2)],
    dense: weights::<Matrix>,
    packed: weights::<Packed>,
};

const NAMING: Naming = Naming {
    prefixes: &["gpt_neox.", ""],
    signature: "embed_in.weight",
    block: "layers.",
    buffers: &[".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq"],
};

const ROTARY: Spelling = Spelling {
    base: &["rotary_emb_base", "rope_theta"],
    fraction: &["rotary_pct", "partial_rotary_factor"],
    default_fraction: 0.25,
};

fn spec(config: &mut Config) -> Result<Spec> {
    let (width, heads) = (config.size("hidden_size", 6144)?, config.size("num_attention_heads", 64)?);
    let head_width = config.head_width(width, heads)?;
    let attention_bias = config.flag("attention_bias", true)?;
    config.only_full_attention()?;
    let parallel = config.flag("use_parallel_residual", true)?;
    Ok(Spec {
        family: config.family().to_string(),
        vocabulary: config.size("vocab_size", 50_432)?,
        width,
        layers: config.size("num_hidden_layers", 44)?,
        heads,
        kv_heads: heads,
        head_width,
        hidden: config.size("intermediate_size", 24_576)?,
        context: config.size("max_position_embeddings", 2048)?,
        positions: Positions::Rotary(rotary::read(config, &ROTARY, head_width)?),
        norm: NormKind::Layer,
        norm_epsilon: config.epsilon("layer_norm_eps", 1e-5)?,
        norm_placement: NormPlacement::Pre,
        norm_affine: true,
        final_norm: true,
        residual: if parallel { Residual::Parallel } else { Residual::Sequential },
        activation: config.activation("hidden_act", "gelu")?,
        biases: Biases { query_key_value: attention_bias, attention_output: attention_bias, mlp: true },
        attention_scale: AttentionScale { by_head_width: true, by_layer: false },
        windows: Vec::new(),
        embedding_width: width,
        tied: config.flag("tie_word_embeddings", false)?,
    })
}

fn weights<M: Keep>(tensors: &mut Tensors<M>, spec: &Spec) -> Result<Weights<M>> {
    tensors.find_prefix(&NAMING)?;
    let (c, f) = (spec.width, spec.hidden);
    let (token_embedding, head) = tensors.embeddings("embed_in.weight", "embed_out.weight", spec)?;
    let mut block = |i: usize| -> Result<Block<M>> {
        let name = |part: &str| format!("layers.{i}.{part}");
        let (order, bias) = (by_kind(spec.heads, spec.head_width), spec.biases.query_key_value);
        Ok(Block {
            attention_norm: tensors.norm(&name("input_layernorm"), spec)?,
            qkv: tensors.in_order(&name("attention.query_key_value"), 3 * c, c, bias, order)?,
            attention_output: tensors.linear(&name("attention.dense"), c, c, spec.biases.attention_output)?,
            mlp_norm: tensors.norm(&name("post_attention_layernorm"), spec)?,
            up: tensors.linear(&name("mlp.dense_h_to_4h"), f, c, spec.biases.mlp)?,
            down: tensors.linear(&name("mlp.dense_4h_to_h"), c, f, spec.biases.mlp)?,
        })
    };
    let blocks = (0..spec.layers).map(&mut block).collect::<Result<_>>()?;
    Ok(Weights {
        token_embedding,
        position_embedding: None,
        project_in: None,
        blocks,
        final_norm: Some(tensors.norm("final_layer_norm", spec)?),
        project_out: None,
        head,
    })
}

/// Rows stored head by head as (query, key, value), in our order: all queries, all keys, all values.
fn by_kind(heads: usize, head_width: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    let stored = (0..3).flat_map(move |kind| (0..heads).map(move |head| 3 * head + kind));
    stored.map(move |n| n * head_width..(n + 1) * head_width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_two_heads_of_two_channels() {
        // Stored: q0 q0 k0 k0 v0 v0 q1 q1 k1 k1 v1 v1.
        let order: Vec<usize> = by_kind(2, 2).flatten().collect();
        assert_eq!(order, [0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]);
    }
}
