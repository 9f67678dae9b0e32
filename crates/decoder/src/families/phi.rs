//! Phi (Microsoft; 1, 1.5, 2): attention and MLP side by side behind one LayerNorm, rotary
//! positions on a part of each head, biases on all maps and on the head.
//!
//! Source: `PhiConfig` and `PhiForCausalLM` of transformers 4.57. `qk_layernorm`, which no
//! published model has, is a LayerNorm of each head's queries and keys before they turn. Phi 3 is
//! another `model_type`.

use super::config::Config;
use super::family::Family;
use super::llama_like;
use super::names::{Names, Stored};
use super::rotary::{self, BASE, Spelling};
use crate::error::Result;
use crate::spec::{Activation, Biases, Layer, NormKind, NormSpan, Residual, Spec};

pub(super) const FAMILY: Family =
    Family { name: "phi", spec, ignored: &[], ends: [Some(1), Some(2)], names: &NAMES };

const NAMES: Names = Names {
    final_norm: "final_layernorm",
    query_norm: "self_attn.q_layernorm",
    key_norm: "self_attn.k_layernorm",
    attention_output: "self_attn.dense",
    mlp_norm: "",
    up: Stored::Whole("mlp.fc1"),
    down: "mlp.fc2",
    ..llama_like::NAMES
};

const ROTARY: Spelling = Spelling {
    base: &["rope_theta"],
    default_base: BASE,
    fraction: &["partial_rotary_factor"],
    default_fraction: 0.5,
};

fn spec(config: &mut Config) -> Result<Spec> {
    let (width, heads) =
        (config.size("hidden_size", 2048)?, config.size("num_attention_heads", 32)?);
    // No key of its own: taken where a file has it, and null is no width there.
    let head_width = match config.has("head_dim") {
        true => config.size("head_dim", 0)?,
        false => config.head_width(width, heads)?,
    };
    let normed = config.flag("qk_layernorm", false)?;
    if normed && head_width.checked_mul(heads) != Some(width) {
        return Err(config.broken(format!(
            "qk_layernorm over {width} / {heads} channels does not fit heads of {head_width}"
        )));
    }
    let layers = config.size("num_hidden_layers", 24)?;
    let context = config.size("max_position_embeddings", 2048)?;
    let rotary = rotary::read(config, &ROTARY, head_width, context)?;
    Ok(Spec {
        vocabulary: config.size("vocab_size", 51_200)?,
        width,
        heads,
        kv_heads: config.optional_size("num_key_value_heads")?.unwrap_or(heads),
        head_width,
        hidden: config.size("intermediate_size", 8192)?,
        context,
        layers: config
            .layers(layers, |_| Layer { rotary: Some(rotary.clone()), ..Layer::default() })?,
        norm: NormKind::Layer,
        norm_epsilon: config.epsilon("layer_norm_eps", 1e-5)?,
        query_key_norm: normed.then_some(NormSpan::Head),
        residual: Residual::ParallelOneNorm,
        activation: config.activation("hidden_act", Activation::GeluTanh)?,
        gated: false,
        biases: Biases::ALL,
        head_bias: true,
        tied: config.flag("tie_word_embeddings", false)?,
        ..Spec::default()
    })
}
