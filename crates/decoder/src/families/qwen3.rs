//! Qwen3, the dense ones: Llama with an RMSNorm of each head's queries and keys before they are
//! rotated, and a width of heads that is not the model's over their number.
//!
//! Source: `Qwen3Config` and `Qwen3ForCausalLM` of transformers 4.57. Windows are said as Qwen2
//! says them. Biases, which no published model has, stand on all four maps of attention. Qwen3-MoE
//! is another `model_type`.

use super::config::Config;
use super::family::Family;
use super::llama_like::{self, Sizes};
use super::names::Names;
use crate::error::Result;
use crate::spec::{Biases, NormSpan, Spec};

pub(super) const FAMILY: Family =
    Family { name: "qwen3", spec, ignored: &[], ends: [None, None], names: &NAMES };

const NAMES: Names =
    Names { query_norm: "self_attn.q_norm", key_norm: "self_attn.k_norm", ..llama_like::NAMES };

/// `Qwen3Config`.
const SIZES: Sizes = Sizes {
    vocabulary: 151_936,
    width: 4096,
    hidden: 22_016,
    layers: 32,
    heads: 32,
    kv_heads: Some(32),
    head_width: Some(128),
    context: 32_768,
};

fn spec(config: &mut Config) -> Result<Spec> {
    let bias = config.flag("attention_bias", false)?;
    let biases = Biases { query_key_value: bias, attention_output: bias, mlp: false };
    let mut spec = llama_like::spec(config, biases, &SIZES)?;
    spec.query_key_norm = Some(NormSpan::Head);
    llama_like::switched_windows(config, &mut spec)?;
    Ok(spec)
}
