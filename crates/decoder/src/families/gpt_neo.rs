//! GPT-Neo (EleutherAI; TinyStories): GPT-2 with scores that are not scaled, and with attention
//! that in some blocks, every other in the published models, sees the last `window_size` tokens.
//!
//! Source: `GPTNeoConfig` and `GPTNeoForCausalLM` of transformers 4.57. Queries, keys and values
//! have no biases; matrices are stored `[out, in]`.

use serde_json::Value;

use super::config::Config;
use super::family::Family;
use super::names::{Names, Stored};
use crate::error::Result;
use crate::spec::{Activation, Biases, Layer, NormKind, Positions, Spec};

pub(super) const FAMILY: Family = Family {
    name: "gpt_neo",
    spec,
    ignored: &[
        "embed_dropout",
        "resid_dropout",
        "summary_activation",
        "summary_first_dropout",
        "summary_proj_to_labels",
        "summary_type",
        "summary_use_proj",
    ],
    ends: [Some(50_256), Some(50_256)],
    names: &Names {
        prefixes: &["transformer.", ""],
        block: "h.",
        buffers: &[".attn.attention.bias", ".attn.attention.masked_bias"],
        token_embedding: "wte",
        position_embedding: "wpe",
        final_norm: "ln_f",
        attention_norm: "ln_1",
        query_key_value: Stored::Apart(&[
            "attn.attention.q_proj",
            "attn.attention.k_proj",
            "attn.attention.v_proj",
        ]),
        attention_output: "attn.attention.out_proj",
        mlp_norm: "ln_2",
        up: Stored::Whole("mlp.c_fc"),
        down: "mlp.c_proj",
        ..Names::NONE
    },
};

fn spec(config: &mut Config) -> Result<Spec> {
    let width = config.size("hidden_size", 2048)?;
    let heads = config.size_of_two("num_heads", "num_attention_heads", 16)?;
    let layers = config.size_of_two("num_layers", "num_hidden_layers", 24)?;
    let context = config.size("max_position_embeddings", 2048)?;
    let mut layers = config.layers(layers, |_| Layer { scale: Some(1.0), ..Layer::default() })?;
    let local = local(config, layers.len())?;
    let window = match local.contains(&true) {
        true => Some(config.size("window_size", 256)?),
        false => config.optional_size("window_size")?,
    };
    // One as long as the context hides nothing.
    let window = window.filter(|window| *window < context);
    for (layer, local) in layers.iter_mut().zip(local) {
        layer.window = window.filter(|_| local);
    }
    Ok(Spec {
        vocabulary: config.size("vocab_size", 50_257)?,
        width,
        heads,
        kv_heads: heads,
        head_width: config.head_width(width, heads)?,
        hidden: config.optional_size("intermediate_size")?.unwrap_or(4 * width),
        context,
        layers,
        positions: Positions::Learned { offset: 0, rows: context },
        norm: NormKind::Layer,
        norm_epsilon: config.epsilon("layer_norm_epsilon", 1e-5)?,
        activation: config.activation("activation_function", Activation::GeluTanh)?,
        gated: false,
        biases: Biases { query_key_value: false, ..Biases::ALL },
        tied: config.flag("tie_word_embeddings", true)?,
        ..Spec::default()
    })
}

/// Which blocks see a window: by `attention_types`, a list of `[kinds, repetitions]`, and by
/// `attention_layers`, the same block by block, which the reference takes where it is given. Here
/// they must agree.
fn local(config: &mut Config, layers: usize) -> Result<Vec<bool>> {
    let [types, listed] = ["attention_types", "attention_layers"].map(|key| config.get(key));
    for (key, value) in [("attention_types", &types), ("attention_layers", &listed)] {
        if value.is_none() && config.has(key) {
            return Err(config.broken(format!(
                "{key} is null, with which transformers cannot compute either; give its value, or take it out for the default"
            )));
        }
    }
    let types = types.unwrap_or_else(|| serde_json::json!([[["global", "local"], 12]]));
    let unsupported = || config.unsupported("attention_types", &types);
    let mut local = Vec::new();
    for item in types.as_array().ok_or_else(unsupported)? {
        let [Value::Array(kinds), times] = item.as_array().map_or(&[][..], Vec::as_slice) else {
            return Err(unsupported());
        };
        let times = config.as_size("attention_types", times)?;
        let kinds: Option<Vec<bool>> = kinds.iter().map(is_local).collect();
        let kinds = kinds.ok_or_else(unsupported)?;
        if kinds.len() * times > layers - local.len() {
            return Err(config.broken(format!(
                "attention_types has kinds for more than the {layers} blocks of num_layers"
            )));
        }
        local.extend(kinds.repeat(times));
    }
    if local.len() != layers {
        return Err(config.broken(format!(
            "attention_types has kinds for {} blocks, and num_layers says {layers}",
            local.len()
        )));
    }
    if let Some(listed) = listed {
        let kinds = listed.as_array().map(|kinds| kinds.iter().map(is_local).collect());
        if kinds != Some(local.iter().copied().map(Some).collect::<Vec<_>>()) {
            return Err(config.broken(format!(
                "attention_layers = {listed} and attention_types = {types} contradict each other"
            )));
        }
    }
    Ok(local)
}

fn is_local(kind: &Value) -> Option<bool> {
    match kind.as_str() {
        Some("global") => Some(false),
        Some("local") => Some(true),
        _ => None,
    }
}
