//! Mamba: a selective state space behind a causal convolution in every block, and nothing else; and
//! Falcon Mamba, which norms time steps, `B` and `C`.
//!
//! Source: `MambaConfig`, `MambaForCausalLM` and their Falcon kin of transformers 4.57, by the path
//! that runs everywhere (`slow_forward`). No length is in the configuration; the state-spaces
//! models were trained at 2048 tokens (Gu & Dao 2023), Falcon Mamba at up to 8192 (Zuo et al.
//! 2024). `time_step_*` but the rank are for initialisation; `d_model`, `d_inner` and `n_layer`
//! stand in converted files, which transformers does not read.

use serde_json::Value;

use super::config::Config;
use super::family::Family;
use super::names::Names;
use crate::error::Result;
use crate::parts::StateSpacePart;
use crate::spec::{Activation, Layer, Mixer, Selection, Spec, StateSpace};

/// Keys of initialisation, of training, of chunks, and of the state-spaces repository's own
/// configurations.
pub(super) const IGNORED: &[&str] = &[
    "chunk_size",
    "d_inner",
    "d_model",
    "fused_add_norm",
    "n_layer",
    // In the first configurations of Mamba 2; the gate comes first in any case.
    "norm_before_gate",
    "rescale_prenorm_residual",
    // The stream is f32 in any case.
    "residual_in_fp32",
    "time_step_floor",
    "time_step_init_scheme",
    "time_step_max",
    "time_step_min",
    "time_step_scale",
    "use_falcon_mambapy",
    // How version 5 sums; the sum is the same.
    "use_associative_scan",
    "use_mambapy",
];

pub(super) const FAMILY: Family = Family {
    name: "mamba",
    spec: |config| spec(config, &MAMBA),
    ignored: IGNORED,
    ends: [Some(0), Some(0)],
    names: &NAMES,
};

pub(super) const FALCON: Family = Family {
    name: "falcon_mamba",
    spec: |config| spec(config, &FALCON_MAMBA),
    ignored: IGNORED,
    ends: [Some(0), Some(0)],
    names: &Names { token_embedding_once: "", ..NAMES },
};

pub(super) const NAMES: Names = Names {
    prefixes: &["backbone.", ""],
    block: "layers.",
    token_embedding: "embeddings",
    token_embedding_once: "embedding",
    final_norm: "norm_f",
    state_space: |part| match part {
        StateSpacePart::Norm => "norm",
        StateSpacePart::Input => "mixer.in_proj",
        StateSpacePart::Taps => "mixer.conv1d",
        StateSpacePart::Selection => "mixer.x_proj",
        StateSpacePart::Step => "mixer.dt_proj",
        StateSpacePart::Rate => "mixer.A_log",
        StateSpacePart::Skip => "mixer.D",
        // Mamba 2 alone has one.
        StateSpacePart::OutputNorm => "mixer.norm",
        StateSpacePart::Output => "mixer.out_proj",
    },
    ..Names::NONE
};

/// What sets one apart from the other.
struct Kin {
    /// Tokens of a sequence in training.
    context: usize,
    /// Whether time steps, `B` and `C` are normed.
    norms: bool,
}

const MAMBA: Kin = Kin { context: 2048, norms: false };
const FALCON_MAMBA: Kin = Kin { context: 8192, norms: true };

fn spec(config: &mut Config, kin: &Kin) -> Result<Spec> {
    let width = config.size("hidden_size", 768)?;
    let inner = inner(config, width, kin.norms)?;
    let rank = match config.get("time_step_rank") {
        Some(Value::String(text)) if text == "auto" => width.div_ceil(16),
        Some(value) => config.as_size("time_step_rank", &value)?,
        None if config.has("time_step_rank") => return Err(config.null("time_step_rank")),
        None => width.div_ceil(16),
    };
    let norm_epsilon = match kin.norms {
        true => Some(config.epsilon("mixer_rms_eps", 1e-6)?),
        false => None,
    };
    let mixer = StateSpace {
        inner,
        state: config.size("state_size", 16)?,
        taps: config.size("conv_kernel", 4)?,
        selection: Selection::Channels { rank, norm_epsilon },
        biases: config.flag("use_bias", false)?,
        convolution_bias: config.flag("use_conv_bias", true)?,
    };
    let sizes = Sizes { vocabulary: 50_280, width, layers: 32, context: kin.context, tied: true };
    shared(config, sizes, mixer)
}

/// `intermediate_size`, or `expand` times the width. Mamba takes `null` for a size, and computes
/// with `expand` in any case; its Falcon kin, which `falls_back`, does neither.
fn inner(config: &mut Config, width: usize, falls_back: bool) -> Result<usize> {
    let said = config.optional_size("intermediate_size")?;
    match said {
        Some(inner) if falls_back => {
            config.get("expand");
            Ok(inner)
        }
        None if config.has("intermediate_size") && !falls_back => {
            Err(config.null("intermediate_size"))
        }
        _ => {
            let expanded = expanded(config, width)?;
            Ok(said.unwrap_or(expanded))
        }
    }
}

/// `expand` times the width, cut to a whole number as Python does.
pub(super) fn expanded(config: &mut Config, width: usize) -> Result<usize> {
    let expand = config.optional_number("expand")?.unwrap_or(2.0);
    let inner = expand * width as f64;
    if !(0.0..=f64::from(1 << 24)).contains(&inner) {
        return Err(config.broken(format!("expand = {expand} of a width of {width} is no width")));
    }
    Ok(inner as usize)
}

/// The width, and what a family takes for what its configuration does not say.
pub(super) struct Sizes {
    pub(super) vocabulary: usize,
    pub(super) width: usize,
    pub(super) layers: usize,
    /// Tokens of a sequence in training.
    pub(super) context: usize,
    pub(super) tied: bool,
}

/// What the whole of a model has beside its mixer.
pub(super) fn shared(config: &mut Config, sizes: Sizes, mixer: StateSpace) -> Result<Spec> {
    let Sizes { vocabulary, width, layers, context, tied } = sizes;
    config.gated_activation("hidden_act", Activation::Silu)?;
    // Of the state-spaces repository: without it, their norm is another one.
    config.only("rms_norm", true)?;
    match config.get("ssm_cfg") {
        Some(Value::Object(settings)) if settings.is_empty() => {}
        Some(settings) => return Err(config.unsupported("ssm_cfg", &settings)),
        None => {}
    }
    let layers = config.size("num_hidden_layers", layers)?;
    Ok(Spec {
        vocabulary: config.size("vocab_size", vocabulary)?,
        width,
        mixer: Mixer::StateSpace(mixer),
        context,
        layers: config.layers(layers, |_| Layer::default())?,
        norm_epsilon: config.epsilon("layer_norm_epsilon", 1e-5)?,
        tied: config.flag("tie_word_embeddings", tied)?,
        ..Spec::default()
    })
}
