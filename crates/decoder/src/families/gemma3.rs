//! Gemma 3: Gemma 2 with an RMSNorm of each head's queries and keys in place of the cap on scores,
//! and five blocks with a window to one without, the two of them at different rotary bases.
//!
//! `gemma3_text` is a folder of text alone (270M, 1B); in one of `gemma3` (4B and larger) the same
//! configuration stands under `text_config`, and its tensors beside those of a vision tower, which
//! no text reads and which are left alone.
//!
//! Source: `Gemma3TextConfig`, `Gemma3ForCausalLM`, `Gemma3Config` and
//! `Gemma3ForConditionalGeneration` of transformers 4.57. `attn_logit_softcapping` is read there
//! and then not applied: refused. Of a folder with a vision tower its version 4 ties the head by
//! the inner `tie_word_embeddings`, version 5 by the outer one: refused unless both are true.

use serde_json::Value;

use super::config::Config;
use super::family::Family;
use super::llama_like::{self, Sizes};
use super::names::Names;
use super::rotary::{self, Spelling};
use super::{gemma, gemma2};
use crate::error::Result;
use crate::spec::{NormSpan, Rotary, Spec};

pub(super) const TEXT: Family = Family {
    name: "gemma3_text",
    spec,
    ignored: &["hidden_act"],
    ends: gemma::ENDS,
    names: &NAMES,
};

pub(super) const FAMILY: Family = Family {
    name: "gemma3",
    spec: text_part,
    ignored: TEXT.ignored,
    ends: gemma::ENDS,
    names: &Names {
        prefixes: &["language_model.model.", "model.language_model."],
        elsewhere: &[
            "vision_tower.",
            "multi_modal_projector.",
            "model.vision_tower.",
            "model.multi_modal_projector.",
        ],
        ..NAMES
    },
};

const NAMES: Names =
    Names { query_norm: "self_attn.q_norm", key_norm: "self_attn.k_norm", ..gemma2::NAMES };

/// `Gemma3TextConfig`.
const SIZES: Sizes = Sizes { vocabulary: 262_208, context: 131_072, ..gemma2::SIZES };

/// Of the blocks without a window; `rope_scaling` is theirs alone.
const ROTARY: Spelling = Spelling { default_base: 1_000_000.0, ..llama_like::ROTARY };

fn spec(config: &mut Config) -> Result<Spec> {
    if let Some(cap) = config.get("attn_logit_softcapping") {
        return Err(config.unsupported("attn_logit_softcapping", &cap));
    }
    let spec = gemma::common(config, &SIZES)?;
    let mut spec = Spec {
        query_key_norm: Some(NormSpan::Head),
        logit_cap: gemma2::cap(config, "final_logit_softcapping", None)?,
        ..gemma2::later(config, spec)?
    };
    let sliding = sliding(config, spec.layers.len())?;
    gemma2::window(config, &mut spec, &sliding)?;
    let [full, local] = rotations(config, &spec)?;
    for (layer, sliding) in spec.layers.iter_mut().zip(&sliding) {
        layer.rotary = Some(if *sliding { local.clone() } else { full.clone() });
    }
    Ok(spec)
}

/// Those of blocks without a window, and with one: a table each, as version 5 writes them, or keys.
fn rotations(config: &mut Config, spec: &Spec) -> Result<[Rotary; 2]> {
    let model = rotary::Model::of(spec);
    let kinds = ["full_attention", "sliding_attention"];
    if let Some(rotations) = rotary::by_kind(config, &ROTARY, &model, kinds)? {
        return Ok(rotations);
    }
    let full = rotary::read_of(config, &ROTARY, &model)?;
    let local = Rotary { base: local_base(config)?, scaling: None, ..full.clone() };
    Ok([full, local])
}

/// The rotary base of the blocks with a window.
fn local_base(config: &mut Config) -> Result<f64> {
    let base = config.optional_number("rope_local_base_freq")?.unwrap_or(rotary::BASE);
    if base <= 0.0 {
        return Err(config.broken(format!("rope_local_base_freq = {base} is not positive")));
    }
    Ok(base)
}

/// Which blocks have a window: by `layer_types`, or all but every `sliding_window_pattern`-th.
fn sliding(config: &mut Config, layers: usize) -> Result<Vec<bool>> {
    let said = llama_like::kinds(config, layers)?;
    // transformers writes what it took under the first name, and reads it under the second.
    let [written, read] = ["_sliding_window_pattern", "sliding_window_pattern"];
    let taken = config.get(written);
    if let Some(sliding) = said {
        config.get(read);
        return Ok(sliding);
    }
    let pattern = match config.get_unless_null(read)? {
        Some(pattern) => config.as_size(read, &pattern)?,
        None => 6,
    };
    if pattern == 0 {
        return Err(config.broken(format!("{read} is 0; published models have 6")));
    }
    match taken {
        Some(taken) if taken != pattern => Err(config.broken(format!(
            "{written} = {taken} is not read by transformers, which would take a {read} of {pattern} without layer_types; \
             give layer_types"
        ))),
        _ => Ok(gemma2::by_turns(layers, pattern)),
    }
}

fn text_part(config: &mut Config) -> Result<Spec> {
    config.only("tie_word_embeddings", true)?;
    config.enter(
        "text_config",
        &[
            "boi_token_id",
            "boi_token_index",
            "eoi_token_id",
            "eoi_token_index",
            "image_token_id",
            "image_token_index",
            "mm_tokens_per_image",
            "vision_config",
        ],
    )?;
    match config.get("model_type") {
        Some(other) if other != TEXT.name => {
            return Err(config.unsupported("text_config.model_type", &other));
        }
        _ => config.only("tie_word_embeddings", true)?,
    }
    let spec = spec(config)?;
    match spec.tied {
        true => Ok(spec),
        // Null, which is false.
        false => Err(config.unsupported("tie_word_embeddings", &Value::Null)),
    }
}
