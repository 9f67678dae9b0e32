//! Llama 1 to 3.2, and Mistral, which is the same with a window on attention.
//!
//! Source: `LlamaConfig`, `MistralConfig` and their models in transformers 4.57. `pretraining_tp` splits products into
//! slices and adds them up: the same numbers.

use super::Family;
use super::config::Config;
use super::llama_like;
use crate::error::Result;
use crate::kernels::Packed;
use crate::spec::{Biases, Spec};
use crate::weights::Matrix;

pub(super) const FAMILY: Family = Family {
    name: "llama",
    spec,
    ignored: &["attention_dropout", "is_llama_config", "pretraining_tp"],
    dense: llama_like::weights::<Matrix>,
    packed: llama_like::weights::<Packed>,
};

pub(super) const MISTRAL: Family = Family {
    name: "mistral",
    spec: mistral_spec,
    ignored: &["attention_dropout"],
    dense: llama_like::weights::<Matrix>,
    packed: llama_like::weights::<Packed>,
};

fn spec(config: &mut Config) -> Result<Spec> {
    // Some forks rotate neighbouring channels; a file that says so holds its rows in another order.
    config.only("rope_interleaved", false)?;
    let attention = config.flag("attention_bias", false)?;
    let mlp = config.flag("mlp_bias", false)?;
    let biases = Biases { query_key_value: attention, attention_output: attention, mlp };
    llama_like::spec(config, biases)
}

fn mistral_spec(config: &mut Config) -> Result<Spec> {
    let biases = Biases { query_key_value: false, attention_output: false, mlp: false };
    let mut spec = llama_like::spec(config, biases)?;
    // Absent is not null: without the key the reference takes a window of 4096.
    let window =
        if config.has("sliding_window") { config.optional_size("sliding_window")? } else { Some(4096) };
    spec.windows = llama_like::windows(config, window, 0, &spec)?;
    Ok(spec)
}
