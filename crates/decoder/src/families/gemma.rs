//! Gemma 1, and what all three share: Llama's keys and names, gains stored as their difference from
//! 1, an embedding scaled by the root of the width, a GELU (tanh) as gate, heads of a width of
//! their own.
//!
//! Source: `GemmaConfig` and `GemmaForCausalLM` of transformers 4.57. The root is taken in f32, as
//! there when it computes in f32; in bf16 it rounds it as well (45.25 for 45.2548 of the 2B).
//!
//! The first releases say `hidden_act: gelu` and mean the tanh form, with which they were trained.
//! Version 5 takes it so, and so do we; 4.57 takes the error function, and versions before it read
//! `hidden_activation` alone.

use super::config::Config;
use super::family::Family;
use super::llama_like::{self, Sizes};
use crate::error::Result;
use crate::spec::{Activation, Biases, Gain, Spec};

pub(super) const FAMILY: Family =
    Family { name: "gemma", spec, ignored: &[], ends: ENDS, names: &llama_like::NAMES };

/// Of all three.
pub(super) const ENDS: [Option<u32>; 2] = [Some(2), Some(1)];

/// `GemmaConfig`.
const SIZES: Sizes = Sizes {
    vocabulary: 256_000,
    width: 3072,
    hidden: 24_576,
    layers: 28,
    heads: 16,
    kv_heads: Some(16),
    head_width: Some(256),
    context: 8192,
};

fn spec(config: &mut Config) -> Result<Spec> {
    if config.get("hidden_act").is_none_or(|act| act != "gelu") {
        config.gated_activation("hidden_act", Activation::GeluTanh)?;
    }
    if config.get("hidden_activation").is_some() {
        config.gated_activation("hidden_activation", Activation::GeluTanh)?;
    }
    let mut spec = common(config, &SIZES)?;
    llama_like::rotate(config, &mut spec, &llama_like::ROTARY)?;
    Ok(spec)
}

/// All but positions, the activation, whose key is not the same in all, and what came later.
pub(super) fn common(config: &mut Config, default: &Sizes) -> Result<Spec> {
    config.only("use_bidirectional_attention", false)?;
    // Null is as many as heads in Llama alone.
    config.get_unless_null("num_key_value_heads")?;
    let bias = config.flag("attention_bias", false)?;
    let biases = Biases { query_key_value: bias, attention_output: bias, mlp: false };
    let spec = llama_like::bare(config, biases, default)?;
    Ok(Spec {
        embedding_scale: (spec.width as f64).sqrt() as f32,
        norm_gain: Gain::OnePlus,
        activation: Activation::GeluTanh,
        tied: config.flag("tie_word_embeddings", true)?,
        ..spec
    })
}
