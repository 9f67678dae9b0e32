//! Qwen2 and Qwen2.5: Llama with biases on query, key and value.
//!
//! Source: `Qwen2Config` and `Qwen2ForCausalLM` of transformers 4.57. The window stands in most configurations and is
//! switched off by `use_sliding_window: false`; switched on, it holds from layer `max_window_layers` on.

use super::Family;
use super::config::Config;
use super::llama_like;
use crate::error::Result;
use crate::kernels::Packed;
use crate::spec::{Biases, Spec};
use crate::weights::Matrix;

pub(super) const FAMILY: Family = Family {
    name: "qwen2",
    spec,
    ignored: &["attention_dropout"],
    dense: llama_like::weights::<Matrix>,
    packed: llama_like::weights::<Packed>,
};

fn spec(config: &mut Config) -> Result<Spec> {
    let biases = Biases { query_key_value: true, attention_output: false, mlp: false };
    let mut spec = llama_like::spec(config, biases)?;
    config.only("use_mrope", false)?;
    let switched_on = config.flag("use_sliding_window", false)?;
    let window = config.optional_size("sliding_window")?;
    let first = config.optional_size("max_window_layers")?.unwrap_or(0);
    let window = window.filter(|_| switched_on);
    spec.windows = llama_like::windows(config, window, first, &spec)?;
    Ok(spec)
}
