//! OLMo 1: Llama with LayerNorms that carry neither gain nor bias.
//!
//! Source: `OlmoConfig` and `OlmoForCausalLM` of transformers 4.57. OLMo 1.7 bounds queries, keys
//! and values by `clip_qkv`. Rotary scaling as in OLMo 2.

use super::config::Config;
use super::family::Family;
use super::llama_like::{self, Sizes};
use crate::error::Result;
use crate::spec::{Biases, Gain, NormKind, Spec};

pub(super) const FAMILY: Family = Family {
    name: "olmo",
    spec,
    ignored: &[],
    ends: [None, Some(50_279)],
    names: &llama_like::NAMES,
};

/// `OlmoConfig`.
const SIZES: Sizes = Sizes {
    vocabulary: 50_304,
    width: 4096,
    hidden: 11_008,
    layers: 32,
    heads: 32,
    kv_heads: None,
    head_width: None,
    context: 2048,
};

fn spec(config: &mut Config) -> Result<Spec> {
    Ok(Spec {
        clip: clip(config)?,
        norm: NormKind::Layer,
        norm_gain: Gain::None,
        // No key says it.
        norm_epsilon: 1e-5,
        ..llama_like(config)?
    })
}

/// `clip_qkv`; none where it is `null`.
pub(super) fn clip(config: &mut Config) -> Result<Option<f32>> {
    match config.get("clip_qkv").map(|value| config.as_number("clip_qkv", &value)).transpose()? {
        Some(bound) if bound <= 0.0 => {
            Err(config.broken(format!("clip_qkv = {bound} is not positive")))
        }
        bound => Ok(bound.map(|bound| bound as f32)),
    }
}

/// What OLMo 1 and 2 share, by Llama's keys.
pub(super) fn llama_like(config: &mut Config) -> Result<Spec> {
    config.only_full_attention()?;
    let mut spec = without_rotary(config)?;
    llama_like::rotate(config, &mut spec, &llama_like::ROTARY)?;
    Ok(spec)
}

/// What OLMo 1 to 3 share, before positions are looked at.
pub(super) fn without_rotary(config: &mut Config) -> Result<Spec> {
    // No key of its own: taken where a file has it, and null is no width there.
    config.optional_number("head_dim")?;
    let bias = config.flag("attention_bias", false)?;
    let biases = Biases { query_key_value: bias, attention_output: bias, mlp: false };
    llama_like::without_rotary(config, biases, &SIZES)
}
