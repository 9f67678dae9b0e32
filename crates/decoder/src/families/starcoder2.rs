//! StarCoder2 (BigCode): Llama's attention with a window, LayerNorm, an MLP without gate, biases on
//! all maps.
//!
//! Source: `Starcoder2Config` and `Starcoder2ForCausalLM` of transformers 4.57. A `sliding_window`
//! holds in all blocks.

use super::config::Config;
use super::family::Family;
use super::llama_like;
use super::names::{Names, Stored};
use super::rotary::{self, BASE, Spelling};
use crate::error::Result;
use crate::spec::{Activation, Biases, Layer, NormKind, Spec};

pub(super) const FAMILY: Family = Family {
    name: "starcoder2",
    spec,
    // Of the program that trained it; the reference does not read these.
    ignored: &[
        "attention_softmax_in_fp32",
        "layer_norm_epsilon",
        "mlp_type",
        "norm_type",
        "scale_attention_softmax_in_fp32",
        "scale_attn_weights",
    ],
    ends: [Some(50_256), Some(50_256)],
    names: &Names { up: Stored::Whole("mlp.c_fc"), down: "mlp.c_proj", ..llama_like::NAMES },
};

const ROTARY: Spelling =
    Spelling { base: &["rope_theta"], default_base: BASE, fraction: &[], default_fraction: 1.0 };

fn spec(config: &mut Config) -> Result<Spec> {
    let (width, heads) =
        (config.size("hidden_size", 3072)?, config.size("num_attention_heads", 24)?);
    let head_width = match config.optional_size("head_dim")? {
        Some(head_width) => head_width,
        None => config.head_width(width, heads)?,
    };
    let layers = config.size("num_hidden_layers", 30)?;
    let context = config.size("max_position_embeddings", 4096)?;
    let rotary = rotary::read(config, &ROTARY, head_width, context)?;
    // One as long as the context hides nothing.
    let window = config.optional_size("sliding_window")?.filter(|window| *window < context);
    let bias = config.flag("use_bias", true)?;
    Ok(Spec {
        vocabulary: config.size("vocab_size", 49_152)?,
        width,
        heads,
        kv_heads: config.size("num_key_value_heads", 2)?,
        head_width,
        hidden: config.size("intermediate_size", 12_288)?,
        context,
        layers: config.layers(layers, |_| Layer {
            window,
            rotary: Some(rotary.clone()),
            ..Layer::default()
        })?,
        norm: NormKind::Layer,
        norm_epsilon: config.epsilon("norm_epsilon", 1e-5)?,
        activation: config.activation("hidden_act", Activation::GeluTanh)?,
        gated: false,
        biases: if bias { Biases::ALL } else { Biases::NONE },
        tied: config.flag("tie_word_embeddings", true)?,
        ..Spec::default()
    })
}
