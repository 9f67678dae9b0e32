//! Mamba 2: heads of channels that share a time step and a rate; `B` and `C` come from the first
//! map and pass the convolution; the gated output is normed.
//!
//! Source: `Mamba2Config` and `Mamba2ForCausalLM` of transformers 4.57 (`torch_forward`). The size
//! of its chunks changes no sum but its order; `time_step_*` but the limit are for initialisation.
//! The gated output is normed a group of `B` and `C` at a time, as the original and version 5 do;
//! 4.57 norms all of it at once, which is the same where there is one group. Trained at 2048 tokens
//! (Dao & Gu 2024).

use serde_json::Value;

use super::config::Config;
use super::family::Family;
use super::mamba::{IGNORED, NAMES, Sizes, expanded, shared};
use super::names::Names;
use crate::error::Result;
use crate::parts::StateSpacePart;
use crate::spec::{Selection, Spec, StateSpace};

pub(super) const FAMILY: Family = Family {
    name: "mamba2",
    spec,
    ignored: IGNORED,
    ends: [Some(0), Some(2)],
    names: &Names {
        state_space: |part| match part {
            StateSpacePart::Step => "mixer.dt_bias",
            part => (NAMES.state_space)(part),
        },
        ..NAMES
    },
};

fn spec(config: &mut Config) -> Result<Spec> {
    let width = config.size("hidden_size", 4096)?;
    let inner = expanded(config, width)?;
    let heads = config.size("num_heads", 128)?;
    let head_width = config.size("head_dim", 64)?;
    if heads.saturating_mul(head_width) != inner {
        return Err(config.broken(format!(
            "{heads} heads of {head_width} are not the {inner} channels of expand times hidden_size"
        )));
    }
    // Of Mamba 1, and of no use here.
    config.get("time_step_rank");
    let limits = limits(config)?;
    let mixer = StateSpace {
        inner,
        state: config.size("state_size", 128)?,
        taps: config.size("conv_kernel", 4)?,
        selection: Selection::Heads { heads, groups: config.size("n_groups", 8)?, limits },
        biases: config.flag("use_bias", false)?,
        convolution_bias: config.flag("use_conv_bias", true)?,
    };
    let sizes = Sizes { vocabulary: 32_768, width, layers: 64, context: 2048, tied: false };
    shared(config, sizes, mixer)
}

/// `time_step_limit`, two numbers, of which Python writes the second as `Infinity`.
fn limits(config: &mut Config) -> Result<[f32; 2]> {
    let Some(value) = config.get("time_step_limit") else {
        return match config.has("time_step_limit") {
            true => Err(config.null("time_step_limit")),
            false => Ok([0.0, f32::INFINITY]),
        };
    };
    // Version 5 writes `{"__float__": "Infinity"}`.
    let number = |value: &Value| match value.get("__float__").unwrap_or(value).as_str() {
        Some("Infinity") => Some(f32::INFINITY),
        _ => value.as_f64().map(|number| number as f32),
    };
    match value.as_array().map(Vec::as_slice) {
        Some([low, high]) => number(low).zip(number(high)).map(|(low, high)| [low, high]),
        _ => None,
    }
    .ok_or_else(|| config.unsupported("time_step_limit", &value))
}
