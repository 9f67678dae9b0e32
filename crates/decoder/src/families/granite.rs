//! Granite 3 (IBM; the dense ones): Llama with four factors, of the embedding, of the scores, of
//! what a part adds to the residual stream, and, as a divisor, of the logits.
//!
//! Source: `GraniteConfig` and `GraniteForCausalLM` of transformers 4.57. Weights are left as they
//! are: factors folded into them would be rounded again where they are kept in bf16. Those with
//! experts or Mamba are other `model_type`s.

use super::config::Config;
use super::family::Family;
use super::llama_like::{self, Sizes};
use crate::error::Result;
use crate::spec::{Biases, Spec};

pub(super) const FAMILY: Family = Family {
    name: "granite",
    spec,
    ignored: &[],
    ends: [Some(1), Some(2)],
    names: &llama_like::NAMES,
};

/// `GraniteConfig`.
const SIZES: Sizes = Sizes {
    vocabulary: 32_000,
    width: 4096,
    hidden: 11_008,
    layers: 32,
    heads: 32,
    kv_heads: None,
    head_width: None,
    context: 2048,
};

fn spec(config: &mut Config) -> Result<Spec> {
    config.only_full_attention()?;
    // No key of its own: taken where a file has it, and null is no width there.
    config.optional_number("head_dim")?;
    let attention = config.flag("attention_bias", false)?;
    let mlp = config.flag("mlp_bias", false)?;
    let biases = Biases { query_key_value: attention, attention_output: attention, mlp };
    let mut spec = Spec {
        embedding_scale: factor(config, "embedding_multiplier")? as f32,
        residual_scale: factor(config, "residual_multiplier")? as f32,
        logit_scale: (1.0 / factor(config, "logits_scaling")?) as f32,
        ..llama_like::spec(config, biases, &SIZES)?
    };
    let scale = factor(config, "attention_multiplier")?;
    spec.layers.iter_mut().for_each(|layer| layer.scale = Some(scale));
    Ok(spec)
}

/// 1 where the key is absent, the attention's as well.
fn factor(config: &mut Config, key: &str) -> Result<f64> {
    match config.optional_number(key)?.unwrap_or(1.0) {
        factor if factor > 0.0 => Ok(factor),
        factor => Err(config.broken(format!("{key} = {factor} is not positive"))),
    }
}
