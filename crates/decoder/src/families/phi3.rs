//! Phi-3 and Phi-4: Llama with queries, keys and values in one tensor, gate and up in another, a
//! rotation of a part of each head where the configuration says so, and LongRoPE.
//!
//! Source: `Phi3Config` and `Phi3ForCausalLM` of transformers 4.57; version 5 takes more keys with
//! LongRoPE. Its first configurations call that `su` or `yarn`.

use super::config::Config;
use super::family::Family;
use super::llama_like::{self, Sizes};
use super::names::{Names, Stored};
use super::rotary::{self, Spelling};
use crate::error::Result;
use crate::spec::{Biases, RotaryScaling, Spec};

pub(super) const FAMILY: Family =
    Family { name: "phi3", spec, ignored: &[], ends: [Some(1), Some(32_000)], names: &NAMES };

const NAMES: Names = Names {
    query_key_value: Stored::Whole("self_attn.qkv_proj"),
    up: Stored::Whole("mlp.gate_up_proj"),
    ..llama_like::NAMES
};

/// `Phi3Config`.
const SIZES: Sizes = Sizes {
    vocabulary: 32_064,
    width: 3072,
    hidden: 8192,
    layers: 32,
    heads: 32,
    kv_heads: None,
    head_width: None,
    context: 4096,
};

const ROTARY: Spelling = Spelling {
    base: &["rope_theta"],
    default_base: rotary::BASE,
    fraction: &["partial_rotary_factor"],
    default_fraction: 1.0,
};

fn spec(config: &mut Config) -> Result<Spec> {
    // No keys of its own, but found in files: the one is taken where it is, the other never.
    config.optional_number("head_dim")?;
    config.only("attention_bias", false)?;
    let mut spec = llama_like::without_rotary(config, Biases::NONE, &SIZES)?;
    // Llama's default is another.
    spec.norm_epsilon = config.epsilon("rms_norm_eps", 1e-5)?;
    let model = rotary::Model {
        original: Some(4096),
        kinds: &[("su", "longrope"), ("yarn", "longrope")],
        ..rotary::Model::of(&spec)
    };
    let rotary = rotary::read_of(config, &ROTARY, &model)?;
    if !matches!(rotary.scaling, None | Some(RotaryScaling::Long { .. })) {
        let key = ["rope_scaling", "rope_parameters"].into_iter().find(|key| config.has(key));
        let key = key.unwrap_or("rope_scaling");
        let value = config.get(key).unwrap_or_default();
        return Err(config.unsupported(key, &value));
    }
    spec.layers.iter_mut().for_each(|layer| layer.rotary = Some(rotary.clone()));
    let window = config.optional_size("sliding_window")?;
    llama_like::windows(config, window, 0, &mut spec)?;
    Ok(spec)
}
