//! Gemma 2: Gemma with norms before and behind each part, scores and logits that a tanh caps, a
//! scale of the scores of its own, and a window in every other block.
//!
//! Source: `Gemma2Config` and `Gemma2ForCausalLM` of transformers 4.57 with `eager` attention; its
//! `sdpa` leaves the cap of the scores out.

use super::config::Config;
use super::family::Family;
use super::gemma;
use super::llama_like::{self, Sizes};
use super::names::Names;
use crate::error::Result;
use crate::spec::{Activation, NormPlacement, Spec};

pub(super) const FAMILY: Family =
    // Files have Gemma 1's key as well, which is not read.
    Family { name: "gemma2", spec, ignored: &["hidden_act"], ends: gemma::ENDS, names: &NAMES };

pub(super) const NAMES: Names = Names {
    attention_branch_norm: "post_attention_layernorm",
    mlp_norm: "pre_feedforward_layernorm",
    mlp_branch_norm: "post_feedforward_layernorm",
    ..llama_like::NAMES
};

/// `Gemma2Config`.
pub(super) const SIZES: Sizes = Sizes {
    vocabulary: 256_000,
    width: 2304,
    hidden: 9216,
    layers: 26,
    heads: 8,
    kv_heads: Some(4),
    head_width: Some(256),
    context: 8192,
};

fn spec(config: &mut Config) -> Result<Spec> {
    let mut spec = gemma::common(config, &SIZES)?;
    llama_like::rotate(config, &mut spec, &llama_like::ROTARY)?;
    let mut spec = Spec {
        attention_cap: cap(config, "attn_logit_softcapping", Some(50.0))?,
        logit_cap: cap(config, "final_logit_softcapping", Some(30.0))?,
        ..later(config, spec)?
    };
    let sliding = llama_like::kinds(config, spec.layers.len())?
        .unwrap_or_else(|| by_turns(spec.layers.len(), 2));
    window(config, &mut spec, &sliding)?;
    Ok(spec)
}

/// What Gemma 3 has as well: the key of the activation, norms on both sides, the scale of the
/// scores.
pub(super) fn later(config: &mut Config, mut spec: Spec) -> Result<Spec> {
    config.gated_activation("hidden_activation", Activation::GeluTanh)?;
    spec.norm_placement = NormPlacement::Both;
    let scalar = config.optional_number("query_pre_attn_scalar")?.unwrap_or(256.0);
    if scalar <= 0.0 {
        return Err(config.broken(format!("query_pre_attn_scalar = {scalar} is not positive")));
    }
    spec.layers.iter_mut().for_each(|layer| layer.scale = Some(1.0 / scalar.sqrt()));
    Ok(spec)
}

/// The windows of the blocks that slide.
pub(super) fn window(config: &mut Config, spec: &mut Spec, sliding: &[bool]) -> Result<()> {
    let window = config.size("sliding_window", 4096)?;
    llama_like::slide(spec, Some(window), sliding);
    Ok(())
}

/// Of `layers` blocks, all slide but the last of each `pattern`.
pub(super) fn by_turns(layers: usize, pattern: usize) -> Vec<bool> {
    (1..=layers).map(|layer| !layer.is_multiple_of(pattern)).collect()
}

/// A cap, null being none.
pub(super) fn cap(config: &mut Config, key: &str, default: Option<f32>) -> Result<Option<f32>> {
    match config.get(key) {
        Some(value) => config.as_number(key, &value).map(|cap| Some(cap as f32)),
        None => Ok(default.filter(|_| !config.has(key))),
    }
}
