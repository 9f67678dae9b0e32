//! OLMo 1: Llama with LayerNorms that carry neither gain nor bias.
//!
//! Source: `OlmoConfig` and `OlmoForCausalLM` of transformers 4.57. `clip_qkv`, which bounds
//! queries, keys and values in OLMo 1.7 and later, is refused. Rotary scaling as in OLMo 2.

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
    if let Some(bound) = config.get("clip_qkv") {
        return Err(config.unsupported("clip_qkv", &bound));
    }
    Ok(Spec {
        norm: NormKind::Layer,
        norm_gain: Gain::None,
        // No key says it.
        norm_epsilon: 1e-5,
        ..llama_like(config)?
    })
}

/// What OLMo 1 and 2 share, by Llama's keys.
pub(super) fn llama_like(config: &mut Config) -> Result<Spec> {
    config.only_full_attention()?;
    // No key of its own: taken where a file has it, and null is no width there.
    config.optional_number("head_dim")?;
    let bias = config.flag("attention_bias", false)?;
    let biases = Biases { query_key_value: bias, attention_output: bias, mlp: false };
    llama_like::spec(config, biases, &SIZES)
}
