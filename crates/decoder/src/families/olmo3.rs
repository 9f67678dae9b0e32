//! OLMo 3: OLMo 2 with windows in three blocks of four, or as `layer_types` says; rotary scaling,
//! YaRN in the published models, is of full attention alone.
//!
//! Source: `Olmo3Config` and `Olmo3ForCausalLM` of transformers 4.57; the spelling of version 5
//! says the rotation of each kind of layer in a table of its own. Where version 5 reads the older
//! spelling otherwise, with another base in blocks with windows, version 4 is followed, of whose
//! time that spelling is.

use serde_json::Value;

use super::config::Config;
use super::family::Family;
use super::llama_like::ROTARY;
use super::rotary;
use super::{olmo, olmo2};
use crate::error::Result;
use crate::spec::{Rotary, RotaryScaling, Spec};

pub(super) const FAMILY: Family =
    Family { name: "olmo3", spec, ignored: &[], ends: [None, Some(50_279)], names: &olmo2::NAMES };

/// As `layer_types` names them.
const KINDS: [&str; 2] = ["full_attention", "sliding_attention"];

fn spec(config: &mut Config) -> Result<Spec> {
    let spec = olmo::without_rotary(config)?;
    let mut spec = olmo2::normed(config, spec)?;
    let sliding = sliding(config, spec.layers.len())?;
    // The reference makes both masks, whichever its layers take.
    let window = config.size("sliding_window", 4096)?;
    let [full, windowed] = rotations(config, &spec)?;
    for (layer, sliding) in spec.layers.iter_mut().zip(sliding) {
        // One as long as the context hides nothing.
        layer.window = Some(window).filter(|window| sliding && *window < spec.context);
        layer.rotary = Some(if sliding { windowed.clone() } else { full.clone() });
    }
    Ok(spec)
}

/// Which blocks see a window.
fn sliding(config: &mut Config, layers: usize) -> Result<Vec<bool>> {
    let Some(kinds) = config.get("layer_types") else {
        return Ok((1..=layers).map(|number| !number.is_multiple_of(4)).collect());
    };
    let sliding = |kind: &Value| match kind.as_str() {
        Some("full_attention") => Some(false),
        Some("sliding_attention") => Some(true),
        _ => None,
    };
    let sliding: Option<Vec<bool>> =
        kinds.as_array().and_then(|kinds| kinds.iter().map(sliding).collect());
    sliding
        .filter(|sliding| sliding.len() == layers)
        .ok_or_else(|| config.unsupported("layer_types", &kinds))
}

/// The rotation of each kind of layer.
fn rotations(config: &mut Config, spec: &Spec) -> Result<[Rotary; 2]> {
    let model = rotary::Model::of(spec);
    let rotations = match rotary::by_kind(config, &ROTARY, &model, KINDS)? {
        Some(rotations) => rotations,
        None if !config.has("rope_theta") => {
            return Err(config.broken(
                "rope_theta is missing, for which transformers 4 takes 10000 and version 5 500000; write the one with which the model was trained"
                    .to_owned(),
            ));
        }
        None => {
            let full = rotary::read_of(config, &ROTARY, &model)?;
            let plain = Rotary { scaling: None, ..full.clone() };
            [full, plain]
        }
    };
    // Version 5 looks for the key in another place, and so does not follow it.
    match &rotations[0].scaling {
        Some(RotaryScaling::Yarn { truncate: false, .. }) => {
            Err(config.unsupported("truncate", &Value::Bool(false)))
        }
        _ => Ok(rotations),
    }
}
