//! StableLM (Stability AI; 3B, 2 1.6B, 2 12B): Llama's blocks with LayerNorm, rotary positions on a
//! quarter of each head; the 12B with attention and MLP side by side behind one norm, and a
//! LayerNorm of each head's queries and keys that has a gain for every head and no bias.
//!
//! Source: `StableLmConfig` and `StableLmForCausalLM` of transformers 4.57.

use super::config::Config;
use super::family::Family;
use super::llama_like;
use super::names::Names;
use super::rotary::{self, BASE, Spelling};
use crate::error::Result;
use crate::spec::{Activation, Biases, Layer, NormKind, NormSpan, Residual, Spec};

pub(super) const FAMILY: Family =
    Family { name: "stablelm", spec, ignored: &[], ends: [Some(0), Some(0)], names: &NAMES };

const NAMES: Names = Names {
    query_norm: "self_attn.q_layernorm.norms.{}",
    key_norm: "self_attn.k_layernorm.norms.{}",
    ..llama_like::NAMES
};

const ROTARY: Spelling = Spelling {
    base: &["rope_theta"],
    default_base: BASE,
    fraction: &["partial_rotary_factor"],
    default_fraction: 0.25,
};

fn spec(config: &mut Config) -> Result<Spec> {
    let (width, heads) =
        (config.size("hidden_size", 2560)?, config.size("num_attention_heads", 32)?);
    let head_width = config.head_width(width, heads)?;
    let layers = config.size("num_hidden_layers", 32)?;
    let context = config.size("max_position_embeddings", 4096)?;
    let rotary = rotary::read(config, &ROTARY, head_width, context)?;
    let parallel = config.flag("use_parallel_residual", false)?;
    let bias = config.flag("use_qkv_bias", false)?;
    Ok(Spec {
        vocabulary: config.size("vocab_size", 50_304)?,
        width,
        heads,
        kv_heads: config.size("num_key_value_heads", 32)?,
        head_width,
        hidden: config.size("intermediate_size", 6912)?,
        context,
        layers: config
            .layers(layers, |_| Layer { rotary: Some(rotary.clone()), ..Layer::default() })?,
        norm: NormKind::Layer,
        norm_epsilon: config.epsilon("layer_norm_eps", 1e-5)?,
        query_key_norm: config.flag("qk_layernorm", false)?.then_some(NormSpan::EachHead),
        residual: if parallel { Residual::ParallelOneNorm } else { Residual::Sequential },
        activation: config.gated_activation("hidden_act", Activation::Silu)?,
        biases: Biases { query_key_value: bias, ..Biases::NONE },
        tied: config.flag("tie_word_embeddings", false)?,
        ..Spec::default()
    })
}
