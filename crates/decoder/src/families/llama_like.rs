//! What Llama, Qwen2, Qwen3, Mistral, OLMo and Phi-3 share: RMSNorm before each part, rotary
//! positions on whole heads, grouped-query attention, SwiGLU; keys and tensor names are the same
//! too. They differ in which maps carry a bias, Qwen3 and OLMo 2 in a norm of queries and keys,
//! OLMo in where its norms stand and what they carry, Phi-3 in how much of a head it rotates.
//! Gemma, SmolLM3 and Granite take it from here, and each says in its file what else it has.

use serde_json::Value;

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

pub(super) const ROTARY: Spelling = Spelling {
    base: &["rope_theta"],
    default_base: rotary::BASE,
    fraction: &[],
    default_fraction: 1.0,
};

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
    let mut spec = without_rotary(config, biases, default)?;
    rotate(config, &mut spec, &ROTARY)?;
    Ok(spec)
}

/// As [`spec`], but for the activation and the tie, of which the family takes another default.
pub(super) fn body(
    config: &mut Config,
    biases: Biases,
    default: &Sizes,
    spelling: &Spelling,
) -> Result<Spec> {
    let mut spec = bare(config, biases, default)?;
    rotate(config, &mut spec, spelling)?;
    Ok(spec)
}

/// Rotary positions, the same in all blocks.
pub(super) fn rotate(config: &mut Config, spec: &mut Spec, spelling: &Spelling) -> Result<()> {
    let rotary = rotary::read(config, spelling, spec.head_width, spec.context)?;
    spec.layers.iter_mut().for_each(|layer| layer.rotary = Some(rotary.clone()));
    Ok(())
}

/// As [`spec`], before positions are looked at.
pub(super) fn without_rotary(config: &mut Config, biases: Biases, default: &Sizes) -> Result<Spec> {
    Ok(Spec {
        activation: config.gated_activation("hidden_act", Activation::Silu)?,
        tied: config.flag("tie_word_embeddings", false)?,
        ..bare(config, biases, default)?
    })
}

/// The sizes, and what else all of them say: no positions, activation or tie.
pub(super) fn bare(config: &mut Config, biases: Biases, default: &Sizes) -> Result<Spec> {
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
    Ok(Spec {
        vocabulary: config.size("vocab_size", default.vocabulary)?,
        width,
        heads,
        kv_heads: kv_heads.unwrap_or(heads),
        head_width,
        hidden: config.size("intermediate_size", default.hidden)?,
        context: config.size("max_position_embeddings", default.context)?,
        layers: config.layers(layers, |_| Layer::default())?,
        norm_epsilon: config.epsilon("rms_norm_eps", 1e-6)?,
        biases,
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
    let sliding = match kinds(config, spec.layers.len())? {
        // Without a window, or with it switched off, the reference has none to take.
        Some(kinds) if window.is_none() && kinds.contains(&true) => {
            let kinds = config.get("layer_types").unwrap_or_default();
            return Err(config.unsupported("layer_types", &kinds));
        }
        Some(kinds) => kinds,
        None => (0..spec.layers.len()).map(|layer| layer >= first).collect(),
    };
    slide(spec, window, &sliding);
    Ok(())
}

/// Which of the blocks see a window only, by `layer_types`; `None` without the key.
pub(super) fn kinds(config: &mut Config, layers: usize) -> Result<Option<Vec<bool>>> {
    let Some(kinds) = config.get("layer_types") else { return Ok(None) };
    let sliding = |kind: &Value| match kind.as_str() {
        Some("full_attention") => Some(false),
        Some("sliding_attention") => Some(true),
        _ => None,
    };
    let known = kinds.as_array().filter(|kinds| kinds.len() == layers);
    match known.and_then(|kinds| kinds.iter().map(sliding).collect()) {
        Some(sliding) => Ok(Some(sliding)),
        None => Err(config.unsupported("layer_types", &kinds)),
    }
}

/// A window on the blocks that slide. One as long as the context hides nothing.
pub(super) fn slide(spec: &mut Spec, window: Option<usize>, sliding: &[bool]) {
    let window = window.filter(|window| *window < spec.context);
    for (layer, sliding) in spec.layers.iter_mut().zip(sliding) {
        layer.window = window.filter(|_| *sliding);
    }
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
