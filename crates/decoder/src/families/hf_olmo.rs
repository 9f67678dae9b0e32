//! The first files of OLMo 1, and DataDecide: OLMo under its own program's names, with all of that
//! program's settings.
//!
//! Source: `ModelConfig`, `OLMo` and `OLMoForCausalLM` of the package ai2-olmo 0.6.0 (modules
//! `olmo` and `hf_olmo`). Queries, keys and values are one tensor, and so are up and gate, in this
//! order. Llama's imitation (`block_type`), groups of blocks, ALiBi and scaled logits, which no
//! published model has, are refused by name.

use std::ops::Range;

use serde_json::Value;

use super::config::Config;
use super::family::Family;
use super::names::{Names, Stored};
use super::olmo::clip;
use crate::error::Result;
use crate::spec::{
    Activation, Biases, Gain, Layer, NormKind, NormPlacement, NormSpan, Positions, Rotary, Spec,
};

pub(super) const FAMILY: Family = Family {
    name: "hf_olmo",
    spec,
    ignored: &[
        "alibi_bias_max",
        "emb_init_std",
        "init_cutoff_factor",
        "init_fn",
        "precision",
        "rope_full_precision",
        "scale_emb_init",
        // `weight_tying` says it here.
        "tie_word_embeddings",
    ],
    ends: [None, Some(50_256)],
    names: &Names {
        prefixes: &["model.transformer."],
        block: "blocks.",
        token_embedding: "wte",
        position_embedding: "wpe",
        embedding_norm: "emb_norm",
        final_norm: "ln_f",
        tie: "weight_tying",
        head: "model.transformer.ff_out",
        attention_norm: "attn_norm",
        query_key_value: Stored::Whole("att_proj"),
        query_norm: "q_norm",
        key_norm: "k_norm",
        attention_output: "attn_out",
        attention_branch_norm: "attn_norm",
        mlp_norm: "ff_norm",
        up: Stored::Ordered("ff_proj", gate_first),
        down: "ff_out",
        mlp_branch_norm: "ff_norm",
        ..Names::NONE
    },
};

fn spec(config: &mut Config) -> Result<Spec> {
    only(config, "block_type", "sequential")?;
    config.only("scale_logits", false)?;
    match config.size("block_group_size", 1)? {
        1 => {}
        blocks => return Err(config.unsupported("block_group_size", &blocks.into())),
    }
    let (width, heads) = (config.size("d_model", 768)?, config.size("n_heads", 12)?);
    let head_width = config.head_width(width, heads)?;
    let context = config.size("max_sequence_length", 1024)?;
    let (hidden, activation, gated) = mlp(config, width)?;
    let layers = config.size("n_layers", 12)?;
    let rotary = rotary(config, head_width)?;
    let positions = match rotary {
        Some(_) => Positions::Unadded,
        None => Positions::Learned { offset: 0, rows: context },
    };
    let embedding_norm = config.flag("embedding_layer_norm", false)?;
    if embedding_norm && rotary.is_none() {
        // The norm would stand before positions are added.
        return Err(config.unsupported("embedding_layer_norm", &Value::Bool(true)));
    }
    let bias = config.flag("include_bias", true)?;
    let tied = config.flag("weight_tying", true)?;
    if bias && !tied {
        // The head would have one too.
        return Err(config.unsupported("include_bias", &Value::Bool(true)));
    }
    let vocabulary = vocabulary(config)?;
    let norm = match config.get("layer_norm_type").as_ref().and_then(Value::as_str) {
        None if !config.has("layer_norm_type") => NormKind::Layer,
        // Low precision is one of training.
        Some("default" | "low_precision") => NormKind::Layer,
        Some("rms") => NormKind::Rms,
        _ => {
            let kind = config.get("layer_norm_type").unwrap_or_default();
            return Err(config.unsupported("layer_norm_type", &kind));
        }
    };
    let norm_gain = gain(config, norm, bias)?;
    let branches = config.flag("norm_after", false)?;
    Ok(Spec {
        vocabulary,
        width,
        heads,
        kv_heads: kv_heads(config, heads)?,
        head_width,
        hidden,
        context,
        layers: config.layers(layers, |_| Layer { rotary: rotary.clone(), ..Layer::default() })?,
        positions,
        embedding_norm,
        norm,
        norm_epsilon: config.epsilon("layer_norm_eps", 1e-5)?,
        norm_placement: if branches { NormPlacement::OnBranch } else { NormPlacement::Before },
        norm_gain,
        query_key_norm: query_key_norm(config, norm_gain)?,
        activation,
        gated,
        biases: if bias { Biases::ALL } else { Biases::NONE },
        clip: clip(config)?,
        tied,
        ..Spec::default()
    })
}

/// Refuses `key` at any text but this one, which is its default.
fn only(config: &mut Config, key: &str, accepted: &str) -> Result<()> {
    match config.get(key) {
        Some(value) if value != accepted => Err(config.unsupported(key, &value)),
        None if config.has(key) => Err(config.unsupported(key, &Value::Null)),
        _ => Ok(()),
    }
}

/// Inner channels, activation, and whether it is that of a gate. A gate takes half of what the
/// first product yields.
fn mlp(config: &mut Config, width: usize) -> Result<(usize, Activation, bool)> {
    let hidden = config.optional_size("mlp_hidden_size")?;
    let hidden = match hidden {
        Some(hidden) => {
            config.optional_size("mlp_ratio")?;
            hidden
        }
        None => config.size("mlp_ratio", 4)? * width,
    };
    let kind = config.get("activation_type");
    let (activation, gated) = match kind.as_ref().and_then(Value::as_str) {
        None if !config.has("activation_type") => (Activation::Silu, true),
        Some("swiglu") => (Activation::Silu, true),
        Some("gelu") => (Activation::Gelu, false),
        Some("relu") => (Activation::Relu, false),
        _ => return Err(config.unsupported("activation_type", &kind.unwrap_or_default())),
    };
    if gated && !hidden.is_multiple_of(2) {
        return Err(config.broken(format!("{hidden} channels of the MLP have no half for a gate")));
    }
    Ok((if gated { hidden / 2 } else { hidden }, activation, gated))
}

/// `None`: positions are learned.
fn rotary(config: &mut Config, width: usize) -> Result<Option<Rotary>> {
    if !config.flag("rope", false)? {
        config.get("rope_theta");
        return Ok(None);
    }
    let base = config.optional_number("rope_theta")?.unwrap_or(10_000.0);
    if base <= 0.0 {
        return Err(config.broken(format!("a rotary base of {base} is not positive")));
    }
    Ok(Some(Rotary { width, base, scaling: None }))
}

/// Rows of the embedding: padded, beside the tokens of `vocab_size`.
fn vocabulary(config: &mut Config) -> Result<usize> {
    let tokens = config.size("vocab_size", 50_257)?;
    match config.size_or_null("embedding_size", 50_304)? {
        None | Some(0) => Ok(tokens),
        Some(rows) if rows < tokens => Err(config.broken(format!(
            "embedding_size = {rows} has no rows for all tokens of vocab_size = {tokens}"
        ))),
        Some(rows) => Ok(rows),
    }
}

/// By `n_kv_heads`, or by its older spelling, which must agree.
fn kv_heads(config: &mut Config, heads: usize) -> Result<usize> {
    let given = config.optional_size("n_kv_heads")?;
    let one = match config.get("multi_query_attention") {
        None => None,
        Some(_) => Some(config.flag("multi_query_attention", false)?),
    };
    let older = match one {
        Some(true) => 1,
        _ => heads,
    };
    match given {
        Some(given) if one.is_some() && given != older => Err(config.broken(format!(
            "n_kv_heads = {given} and multi_query_attention, which makes {older}, contradict each other"
        ))),
        given => Ok(given.unwrap_or(older)),
    }
}

/// What norms carry.
fn gain(config: &mut Config, norm: NormKind, bias: bool) -> Result<Gain> {
    let gain = config.flag("layer_norm_with_affine", true)?;
    let key = "bias_for_layer_norm";
    let bias = match config.get(key) {
        None => bias,
        Some(_) => config.flag(key, false)?,
    };
    match (gain, norm, bias) {
        (false, ..) => Ok(Gain::None),
        (true, NormKind::Rms, true) => Err(config.unsupported(key, &Value::Bool(true))),
        (true, NormKind::Layer, false) => Ok(Gain::NoBias),
        (true, ..) => Ok(Gain::Plain),
    }
}

/// Norms of queries and keys; one that carries something else than the others is refused.
fn query_key_norm(config: &mut Config, others: Gain) -> Result<Option<NormSpan>> {
    let there = config.flag("attention_layer_norm", false)?;
    let key = "attention_layer_norm_with_affine";
    let gain = match config.get(key) {
        None if config.has(key) => others != Gain::None,
        _ => config.flag(key, true)?,
    };
    if there && gain != (others != Gain::None) {
        return Err(config.unsupported(key, &Value::Bool(gain)));
    }
    Ok(there.then_some(NormSpan::Width))
}

/// Up is stored before the gate.
fn gate_first(spec: &Spec) -> Vec<Range<usize>> {
    let f = spec.hidden;
    if spec.gated { vec![f..2 * f, 0..f] } else { vec![0..f; 1] }
}
