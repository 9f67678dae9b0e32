//! Qwen2 and Qwen2.5: Llama with biases on query, key and value.
//!
//! Source: `Qwen2Config` and `Qwen2ForCausalLM` of transformers 4.57. The window stands in most
//! configurations and is switched off by `use_sliding_window: false`; switched on, it holds from
//! layer `max_window_layers` on.

use super::config::Config;
use super::family::Family;
use super::llama_like::{self, Sizes};
use crate::error::Result;
use crate::spec::{Biases, Spec};

pub(super) const FAMILY: Family =
    Family { name: "qwen2", spec, ignored: &[], ends: [None, None], names: &llama_like::NAMES };

/// `Qwen2Config`.
const SIZES: Sizes = Sizes {
    vocabulary: 151_936,
    width: 4096,
    hidden: 22_016,
    layers: 32,
    heads: 32,
    kv_heads: Some(32),
    head_width: None,
    context: 32_768,
};

fn spec(config: &mut Config) -> Result<Spec> {
    let biases = Biases { query_key_value: true, ..Biases::NONE };
    let mut spec = llama_like::spec(config, biases, &SIZES)?;
    llama_like::switched_windows(config, &mut spec)?;
    Ok(spec)
}
