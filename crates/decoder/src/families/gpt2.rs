//! GPT-2: learned positions, pre-norm, GELU in its tanh form, tied head, `Conv1D` matrices stored
//! `[in, out]`.
//!
//! Source: `GPT2Config` and `GPT2LMHeadModel` of transformers 4.57. `reorder_and_upcast_attn` only
//! changes in which precision the reference computes the scores; ours are f32 in any case.

use super::config::Config;
use super::family::Family;
use super::names::{Names, Stored};
use crate::error::Result;
use crate::spec::{Activation, Biases, Layer, NormKind, Positions, Spec};

pub(super) const FAMILY: Family = Family {
    name: "gpt2",
    spec,
    ignored: &[
        "n_ctx",
        "n_special",
        "predict_special_tokens",
        "reorder_and_upcast_attn",
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
        buffers: &[".attn.bias", ".attn.masked_bias"],
        transposed: true,
        token_embedding: "wte",
        position_embedding: "wpe",
        final_norm: "ln_f",
        attention_norm: "ln_1",
        // One product already: queries, keys, values.
        query_key_value: Stored::Whole("attn.c_attn"),
        attention_output: "attn.c_proj",
        mlp_norm: "ln_2",
        up: Stored::Whole("mlp.c_fc"),
        down: "mlp.c_proj",
        ..Names::NONE
    },
};

fn spec(config: &mut Config) -> Result<Spec> {
    let width = config.size_of_two("n_embd", "hidden_size", 768)?;
    let heads = config.size_of_two("n_head", "num_attention_heads", 12)?;
    let head_width = config.head_width(width, heads)?;
    let context = config.size_of_two("n_positions", "max_position_embeddings", 1024)?;
    let layers = config.size_of_two("n_layer", "num_hidden_layers", 12)?;
    let by_head_width = config.flag("scale_attn_weights", true)?;
    let by_layer = config.flag("scale_attn_by_inverse_layer_idx", false)?;
    let scale = |layer: usize| {
        let whole = if by_head_width { 1.0 / (head_width as f64).sqrt() } else { 1.0 };
        if by_layer { whole / (layer + 1) as f64 } else { whole }
    };
    Ok(Spec {
        vocabulary: config.size("vocab_size", 50_257)?,
        width,
        heads,
        kv_heads: heads,
        head_width,
        hidden: config.optional_size("n_inner")?.unwrap_or(4 * width),
        context,
        layers: config
            .layers(layers, |layer| Layer { scale: Some(scale(layer)), ..Layer::default() })?,
        positions: Positions::Learned { offset: 0, rows: context },
        norm: NormKind::Layer,
        norm_epsilon: config.epsilon("layer_norm_epsilon", 1e-5)?,
        activation: config.activation("activation_function", Activation::GeluTanh)?,
        gated: false,
        biases: Biases::ALL,
        tied: config.flag("tie_word_embeddings", true)?,
        ..Spec::default()
    })
}
