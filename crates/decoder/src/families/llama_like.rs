//! What Llama, Qwen2, Qwen3, Mistral and OLMo share: RMSNorm before each part, rotary positions on
//! whole heads, grouped-query attention, SwiGLU; keys and tensor names are the same too. They
//! differ in which maps carry a bias, Qwen3 and OLMo 2 in a norm of queries and keys, OLMo in where
//! its norms stand and what they carry.

use super::config::Config;
use super::names::{Names, Stored};
use super::rotary::{self, Spelling};
use crate::error::Result;
use crate::spec::{Activation, Biases, Layer, Spec};

pub(super) const NAMES: Names = Names {
    prefixes: &["model.", ""],
    block: "layers.",
    buffers: &[".rotary_emb.inv_freq"],
    token_embedding: "embed_tokens",
    final_norm: "norm",
    attention_norm: "input_layernorm",
    query_key_value: Stored::Apart(&["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]),
    attention_output: "self_attn.o_proj",
    mlp_norm: "post_attention_layernorm",
    up: Stored::Apart(&["mlp.gate_proj", "mlp.up_proj"]),
    down: "mlp.down_proj",
    ..Names::NONE
};

const ROTARY: Spelling = Spelling { base: &["rope_theta"], fraction: &[], default_fraction: 1.0 };

/// What a family takes for sizes that its configuration does not say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) vocabulary: usize,
    pub(super) width: usize,
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    /// `None`: as many as there are heads, as `null` has it in all of them.
    pub(super) kv_heads: Option<usize>,
    /// `None`: an even share of the width, for `null` as well; else the key may not be `null`.
    pub(super) head_width: Option<usize>,
    pub(super) context: usize,
}

/// The spec of a configuration whose biases are these.
pub(super) fn spec(config: &mut Config, biases: Biases, default: &Sizes) -> Result<Spec> {
    let width = config.size("hidden_size", default.width)?;
    let heads = config.size("num_attention_heads", default.heads)?;
    let kv_heads = match default.kv_heads {
        Some(kv_heads) => config.size_or_null("num_key_value_heads", kv_heads)?,
        None => config.optional_size("num_key_value_heads")?,
    };
    let head_width = match default.head_width {
        Some(head_width) => config.size("head_dim", head_width)?,
        None => match config.optional_size("head_dim")? {
            Some(head_width) => head_width,
            None => config.head_width(width, heads)?,
        },
    };
    let layers = config.size("num_hidden_layers", default.layers)?;
    let rotary = rotary::read(config, &ROTARY, head_width)?;
    Ok(Spec {
        vocabulary: config.size("vocab_size", default.vocabulary)?,
        width,
        heads,
        kv_heads: kv_heads.unwrap_or(heads),
        head_width,
        hidden: config.size("intermediate_size", default.hidden)?,
        context: config.size("max_position_embeddings", default.context)?,
        layers: config
            .layers(layers, |_| Layer { rotary: Some(rotary.clone()), ..Layer::default() })?,
        norm_epsilon: config.epsilon("rms_norm_eps", 1e-6)?,
        activation: config.gated_activation("hidden_act", Activation::Silu)?,
        biases,
        tied: config.flag("tie_word_embeddings", false)?,
        ..Spec::default()
    })
}

/// The windows of all blocks. `window` is the key's value, or the reference's default when the key
/// is absent; without `layer_types`, by which newer configurations say it block by block, it holds
/// in block `first` and all after it.
pub(super) fn windows(
    config: &mut Config,
    window: Option<usize>,
    first: usize,
    spec: &mut Spec,
) -> Result<()> {
    // One as long as the context hides nothing.
    let there = window.is_some();
    let window = window.filter(|window| *window < spec.context);
    let Some(kinds) = config.get("layer_types") else {
        spec.layers.iter_mut().skip(first).for_each(|layer| layer.window = window);
        return Ok(());
    };
    let unsupported = config.unsupported("layer_types", &kinds);
    let Some(kinds) = kinds.as_array().filter(|kinds| kinds.len() == spec.layers.len()) else {
        return Err(unsupported);
    };
    for (layer, kind) in spec.layers.iter_mut().zip(kinds) {
        layer.window = match kind.as_str() {
            Some("full_attention") => None,
            // Without a window, or with it switched off, the reference has none to take.
            Some("sliding_attention") if there => window,
            _ => return Err(unsupported),
        };
    }
    Ok(())
}

/// The windows of Qwen2 and its kin: off unless `use_sliding_window` switches them on, then from
/// `max_window_layers` on.
pub(super) fn switched_windows(config: &mut Config, spec: &mut Spec) -> Result<()> {
    let switched_on = config.flag("use_sliding_window", false)?;
    let window = config.size_or_null("sliding_window", 4096)?;
    // While it is switched off, or said layer by layer, nothing depends on it.
    let first = match switched_on && config.get("layer_types").is_none() {
        true => config.size("max_window_layers", 28)?,
        false => config.optional_size("max_window_layers")?.unwrap_or(28),
    };
    let window = window.filter(|_| switched_on);
    windows(config, window, first, spec)
}
