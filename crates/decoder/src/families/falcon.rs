//! Falcon: attention and MLP side by side behind one norm (7B, 11B) or one each (40B, 180B), or one
//! after the other (RW); one key/value head, some, or as many as there are queries; rotary
//! positions, or ALiBi in numbers of bfloat16 (RW); query/key/value rows by group of heads.
//!
//! Source: `FalconConfig` and `FalconForCausalLM` of transformers 4.57. With ALiBi its attention by
//! `sdpa`, the default, is followed: `eager` adds the slopes twice. What the reference reads
//! depends on the architecture (`new_decoder_architecture`); combinations that it cannot compute
//! are refused.

use std::ops::Range;

use super::config::Config;
use super::family::Family;
use super::names::{Names, Stored};
use super::rotary::{self, BASE, Spelling};
use crate::error::Result;
use crate::spec::{Activation, Biases, Layer, NormKind, Positions, Residual, Spec};

pub(super) const FAMILY: Family = Family {
    name: "falcon",
    spec,
    ignored: &["ff_factor"],
    ends: [Some(11), Some(11)],
    names: &Names {
        parallel: Some(&Names { attention_norm: "ln_attn", mlp_norm: "ln_mlp", ..NAMES }),
        ..NAMES
    },
};

const NAMES: Names = Names {
    prefixes: &["transformer.", ""],
    block: "h.",
    buffers: &[".rotary_emb.inv_freq", ".maybe_rotary.inv_freq"],
    token_embedding: "word_embeddings",
    final_norm: "ln_f",
    attention_norm: "input_layernorm",
    query_key_value: Stored::Ordered("self_attention.query_key_value", by_group),
    attention_output: "self_attention.dense",
    mlp_norm: "post_attention_layernorm",
    up: Stored::Whole("mlp.dense_h_to_4h"),
    down: "mlp.dense_4h_to_h",
    ..Names::NONE
};

const ROTARY: Spelling =
    Spelling { base: &["rope_theta"], default_base: BASE, fraction: &[], default_fraction: 1.0 };

/// `FalconConfig`'s width.
const WIDTH: usize = 4544;

fn spec(config: &mut Config) -> Result<Spec> {
    // The reference takes it from this key, whatever the width is called.
    let inner = 4 * config.optional_size("hidden_size")?.unwrap_or(WIDTH);
    let width = config.size_or_older("hidden_size", "n_embed", WIDTH)?;
    let heads = config.size("num_attention_heads", 71)?;
    let head_width = config.head_width(width, heads)?;
    let layers = config.size("num_hidden_layers", 32)?;
    let new = config.flag("new_decoder_architecture", false)?;
    let residual = residual(config, new)?;
    let kv_heads = kv_heads(config, new, heads)?;
    let bias = config.flag("bias", false)?;
    config.only("apply_residual_connection_post_layernorm", false)?;
    let alibi = config.flag("alibi", false)?;
    let context = config.size("max_position_embeddings", 2048)?;
    let rotary = rotary::read(config, &ROTARY, head_width, context)?;
    let rotary = (!alibi).then_some(rotary);
    Ok(Spec {
        vocabulary: config.size("vocab_size", 65_024)?,
        width,
        heads,
        kv_heads,
        head_width,
        hidden: config.optional_size("ffn_hidden_size")?.unwrap_or(inner),
        context,
        layers: config.layers(layers, |_| Layer { rotary: rotary.clone(), ..Layer::default() })?,
        positions: if alibi { Positions::RoundedAlibi } else { Positions::Unadded },
        norm: NormKind::Layer,
        norm_epsilon: config.epsilon("layer_norm_epsilon", 1e-5)?,
        residual,
        activation: config.activation("activation", Activation::Gelu)?,
        gated: false,
        biases: if bias { Biases::ALL } else { Biases::NONE },
        tied: config.flag("tie_word_embeddings", true)?,
        ..Spec::default()
    })
}

/// How a block's parts join. Two norms side by side are of the new architecture alone, which has no
/// other than parallel blocks.
fn residual(config: &mut Config, new: bool) -> Result<Residual> {
    let parallel = config.flag("parallel_attn", true)?;
    let norms = config.optional_size("num_ln_in_parallel_attn")?;
    let refuse = |what: &str| {
        Err(config.broken(format!(
            "new_decoder_architecture = {new} with {what} is nothing that transformers can \
            compute either"
        )))
    };
    match (new, parallel, norms) {
        (true, false, _) => refuse("parallel_attn false"),
        (true, true, None | Some(2)) => Ok(Residual::Parallel),
        (true, true, Some(1)) => Ok(Residual::ParallelOneNorm),
        (true, true, Some(norms)) => refuse(&format!("num_ln_in_parallel_attn = {norms}")),
        (false, false, _) => Ok(Residual::Sequential),
        (false, true, Some(2)) => refuse("num_ln_in_parallel_attn = 2"),
        (false, true, _) => Ok(Residual::ParallelOneNorm),
    }
}

/// `num_kv_heads` counts in the new architecture; in the old there is one, or one a query head.
fn kv_heads(config: &mut Config, new: bool, heads: usize) -> Result<usize> {
    let one = config.flag("multi_query", true)?;
    let said = config.optional_size("num_kv_heads")?;
    match (new, one, said) {
        (true, _, said) => Ok(said.unwrap_or(heads)),
        (false, true, _) => Ok(1),
        (false, false, Some(said)) if said != heads => Err(config.broken(format!(
            "num_kv_heads = {said} of {heads} heads, without multi_query and without \
            new_decoder_architecture, is nothing that transformers can compute either"
        ))),
        (false, false, _) => Ok(heads),
    }
}

/// Rows stored group by group as (its queries, its key, its value), in our order: all queries, all
/// keys, all values. One group where there is one key/value head.
fn by_group(spec: &Spec) -> Vec<Range<usize>> {
    let (groups, d) = (spec.kv_heads, spec.head_width);
    let queries = spec.heads / groups.max(1);
    let stored = (queries + 2) * d;
    let part = |first: usize, count: usize| {
        (0..groups).map(move |g| {
            let start = g * stored + first * d;
            start..start + count * d
        })
    };
    part(0, queries).chain(part(queries, 1)).chain(part(queries + 1, 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_two_groups_of_two_queries() {
        // Stored: q0 q1 k0 v0 q2 q3 k1 v1, one channel each.
        let spec = Spec { heads: 4, kv_heads: 2, head_width: 1, ..Spec::default() };
        let order: Vec<usize> = by_group(&spec).into_iter().flatten().collect();
        assert_eq!(order, [0, 1, 4, 5, 2, 6, 3, 7]);
        // One group is in our order already; as many as there are queries are as in GPT-NeoX.
        let one = by_group(&Spec { kv_heads: 1, ..spec.clone() });
        assert_eq!(one.into_iter().flatten().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        let all = Spec { kv_heads: 4, head_width: 3, ..spec };
        assert_eq!(by_group(&all), super::super::gpt_neox::by_kind(&all));
    }
}
