//! Llama 1 to 3.2, and Mistral, which is the same with a window on attention.
//!
//! Source: `LlamaConfig`, `MistralConfig` and their models in transformers 4.57. `pretraining_tp`
//! splits products into slices and adds them up: the same numbers.

use super::config::Config;
use super::family::Family;
use super::llama_like::{self, Sizes};
use crate::error::Result;
use crate::spec::{Biases, Spec};

pub(super) const FAMILY: Family = Family {
    name: "llama",
    spec,
    // The reference's Llama has no windows and does not read these.
    ignored: &[
        "is_llama_config",
        "max_window_layers",
        "pretraining_tp",
        "sliding_window",
        "use_sliding_window",
    ],
    ends: [Some(1), Some(2)],
    names: &llama_like::NAMES,
};

pub(super) const MISTRAL: Family = Family {
    name: "mistral",
    spec: mistral_spec,
    ignored: &["max_window_layers", "use_sliding_window"],
    ends: [Some(1), Some(2)],
    names: &llama_like::NAMES,
};

fn spec(config: &mut Config) -> Result<Spec> {
    config.only_full_attention()?;
    let attention = config.flag("attention_bias", false)?;
    let mlp = config.flag("mlp_bias", false)?;
    let biases = Biases { query_key_value: attention, attention_output: attention, mlp };
    llama_like::spec(config, biases, &SIZES)
}

/// `LlamaConfig`.
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

/// `MistralConfig`.
const MISTRAL_SIZES: Sizes =
    Sizes { hidden: 14_336, kv_heads: Some(8), context: 4096 * 32, ..SIZES };

fn mistral_spec(config: &mut Config) -> Result<Spec> {
    let mut spec = llama_like::spec(config, Biases::NONE, &MISTRAL_SIZES)?;
    // Absent is not null: without the key the reference takes a window of 4096.
    let window = config.size_or_null("sliding_window", 4096)?;
    llama_like::windows(config, window, 0, &mut spec)?;
    Ok(spec)
}
