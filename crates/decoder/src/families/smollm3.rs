//! SmolLM3: Llama with blocks, every fourth in the published model, whose queries and keys are not
//! turned (NoPE); a window, where it is switched on, stands in those.
//!
//! Source: `SmolLM3Config` and `SmolLM3ForCausalLM` of transformers 4.57. Where `layer_types` asks
//! for a window that `use_sliding_window` switches off, its implementations of attention differ:
//! refused.

use serde_json::Value;

use super::config::Config;
use super::family::Family;
use super::llama_like::{self, Sizes};
use super::rotary::Spelling;
use crate::error::Result;
use crate::spec::{Activation, Biases, Spec};

pub(super) const FAMILY: Family = Family {
    name: "smollm3",
    spec,
    // Written by the published model, read by nobody.
    ignored: &["max_window_layers", "pretraining_tp"],
    ends: [Some(128_000), Some(128_001)],
    names: &llama_like::NAMES,
};

/// `SmolLM3Config`.
const SIZES: Sizes = Sizes {
    vocabulary: 128_256,
    width: 2048,
    hidden: 11_008,
    layers: 36,
    heads: 16,
    kv_heads: Some(4),
    head_width: None,
    context: 32_768,
};

const ROTARY: Spelling = Spelling { default_base: 2_000_000.0, ..llama_like::ROTARY };

fn spec(config: &mut Config) -> Result<Spec> {
    // No key of its own: taken where a file has it, and null is no width there.
    config.optional_number("head_dim")?;
    let attention = config.flag("attention_bias", false)?;
    let mlp = config.flag("mlp_bias", false)?;
    let biases = Biases { query_key_value: attention, attention_output: attention, mlp };
    let mut spec = Spec {
        activation: config.gated_activation("hidden_act", Activation::Silu)?,
        tied: config.flag("tie_word_embeddings", true)?,
        ..llama_like::body(config, biases, &SIZES, &ROTARY)?
    };
    let still = still(config, spec.layers.len())?;
    for (layer, _) in spec.layers.iter_mut().zip(&still).filter(|(_, still)| **still) {
        layer.rotary = None;
    }
    let switched_on = config.flag("use_sliding_window", false)?;
    let window = config.optional_size("sliding_window")?.filter(|_| switched_on);
    match config.get("layer_types") {
        Some(_) => llama_like::windows(config, window, 0, &mut spec)?,
        None => llama_like::slide(&mut spec, window, &still),
    }
    Ok(spec)
}

/// The blocks without positions: those at 0 in `no_rope_layers`, whose name says the contrary, or
/// every `no_rope_layer_interval`-th.
fn still(config: &mut Config, layers: usize) -> Result<Vec<bool>> {
    let Some(listed) = config.get("no_rope_layers") else {
        let interval = match config.get_unless_null("no_rope_layer_interval")? {
            Some(interval) => config.as_size("no_rope_layer_interval", &interval)?,
            None => 4,
        };
        if interval == 0 {
            return Err(
                config.broken("no_rope_layer_interval is 0; the published model has 4".to_owned())
            );
        }
        return Ok((1..=layers).map(|layer| layer.is_multiple_of(interval)).collect());
    };
    config.get("no_rope_layer_interval");
    let still = |turned: &Value| match turned {
        Value::Bool(turned) => Some(!turned),
        _ => turned.as_u64().filter(|turned| *turned <= 1).map(|turned| turned == 0),
    };
    let unsupported = || config.unsupported("no_rope_layers", &listed);
    let all: Option<Vec<bool>> =
        listed.as_array().and_then(|listed| listed.iter().map(still).collect());
    let mut all = all.ok_or_else(unsupported)?;
    if all.len() < layers {
        let listed = all.len();
        return Err(
            config.broken(format!("no_rope_layers has {listed} entries for {layers} blocks"))
        );
    }
    all.truncate(layers);
    Ok(all)
}
