//! The keys of rotary positions, in the three spellings that configurations use.
//!
//! * top-level `rope_theta` and `rope_scaling` (Llama, Qwen2);
//! * top-level `rotary_emb_base` and `rotary_pct` (GPT-NeoX);
//! * one table `rope_parameters` with all of them (transformers 5).

use serde_json::{Map, Value};

use super::config::Config;
use crate::error::Result;
use crate::spec::{Rotary, RotaryScaling};

/// Names of the two top-level keys, and the reference's defaults.
pub(super) struct Spelling {
    /// Keys of the base; where several are given they must agree.
    pub(super) base: &'static [&'static str],
    /// The base when no key says it: [`BASE`] in most.
    pub(super) default_base: f64,
    /// Keys of the rotated fraction of each head; empty where all of it rotates.
    pub(super) fraction: &'static [&'static str],
    /// The fraction when no key says it.
    pub(super) default_fraction: f64,
}

/// The base of most families where no key says it.
pub(super) const BASE: f64 = 10_000.0;

/// Reads all keys of rotary positions.
pub(super) fn read(config: &mut Config, spelling: &Spelling, head_width: usize) -> Result<Rotary> {
    let old = table(config, "rope_scaling")?;
    let new = table(config, "rope_parameters")?;
    let (name, mut table) = match (old, new) {
        (Some(_), Some(_)) => {
            return Err(config.broken(
                "rope_scaling and rope_parameters are both given; keep the one that holds"
                    .to_string(),
            ));
        }
        (Some(table), None) => ("rope_scaling", table),
        (None, table) => ("rope_parameters", table.unwrap_or_default()),
    };
    let base =
        agreed(config, spelling.base, spelling.default_base, name, &mut table, "rope_theta")?
            .unwrap_or(spelling.default_base);
    if base <= 0.0 {
        return Err(config.broken(format!("a rotary base of {base} is not positive")));
    }
    let fraction = if spelling.fraction.is_empty() {
        // The reference's models of these families rotate whole heads.
        match agreed(
            config,
            &["partial_rotary_factor"],
            1.0,
            name,
            &mut table,
            "partial_rotary_factor",
        )? {
            None | Some(1.0) => 1.0,
            Some(other) => {
                return Err(config.unsupported("partial_rotary_factor", &serde_json::json!(other)));
            }
        }
    } else {
        agreed(
            config,
            spelling.fraction,
            spelling.default_fraction,
            name,
            &mut table,
            "partial_rotary_factor",
        )?
        .unwrap_or(spelling.default_fraction)
    };
    if !(fraction > 0.0 && fraction <= 1.0) {
        return Err(config.broken(format!("a rotary fraction of {fraction} is not in (0, 1]")));
    }
    let scaling = scaling(config, name, table)?;
    Ok(Rotary { width: (head_width as f64 * fraction) as usize, base, scaling })
}

fn table(config: &mut Config, key: &str) -> Result<Option<Map<String, Value>>> {
    match config.get(key) {
        None => Ok(None),
        Some(Value::Object(table)) => Ok(Some(table)),
        Some(other) => Err(config.unsupported(key, &other)),
    }
}

/// One number under several names, at the top or in the table; all that are given must agree. Of
/// the names at the top the reference reads the first alone, with `default` where it is absent.
fn agreed(
    config: &mut Config,
    keys: &[&str],
    default: f64,
    table_name: &str,
    table: &mut Map<String, Value>,
    inner: &str,
) -> Result<Option<f64>> {
    let mut found: Vec<(String, f64)> = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        // The family's own name may not be null; the others are only other spellings of it.
        let number = match config.get(key) {
            None if at > 0 => None,
            _ => config.optional_number(key)?,
        };
        if let Some(number) = number {
            found.push(((*key).to_string(), number));
        }
    }
    if let (Some(first), false) = (keys.first(), found.is_empty())
        && !config.has(first)
    {
        found.push((format!("{first} (absent, so its default)"), default));
    }
    if let Some(value) = table.remove(inner) {
        let key = format!("{table_name}.{inner}");
        let number = config.as_number(&key, &value)?;
        found.push((key, number));
    }
    if let [(first, a), rest @ ..] = &found[..]
        && let Some((other, b)) = rest.iter().find(|(_, b)| b != a)
    {
        return Err(config.broken(format!("{first} = {a} and {other} = {b} contradict each other")));
    }
    Ok(found.first().map(|(_, number)| *number))
}

/// The table's kind of scaling; every key that the kind does not use is refused.
fn scaling(
    config: &Config,
    name: &str,
    mut table: Map<String, Value>,
) -> Result<Option<RotaryScaling>> {
    let given = |value: &Value| !value.is_null();
    let new = table.remove("rope_type").filter(given);
    let kind = match (table.remove("type").filter(given), new) {
        (Some(old), Some(new)) if old != new => {
            return Err(config.broken(format!(
                "{name}: type = {old} and rope_type = {new} contradict each other; keep the one that holds"
            )));
        }
        (old, new) => new.or(old).unwrap_or_else(|| Value::String("default".to_string())),
    };
    let mut number = |key: &str| match table.remove(key) {
        Some(value) => match config.as_number(&format!("{name}.{key}"), &value)? {
            number if number > 0.0 => Ok(number),
            number => Err(config.broken(format!("{name}.{key} = {number} is not positive"))),
        },
        None => Err(config.broken(format!("{name} of type {kind} lacks {key}"))),
    };
    let scaling = match kind.as_str() {
        Some("default") => None,
        Some("linear") => Some(RotaryScaling::Linear { factor: number("factor")? }),
        // It stretches beyond `max_position_embeddings` only, and no sequence here is longer.
        Some("dynamic") => {
            number("factor")?;
            None
        }
        Some("llama3") => Some(RotaryScaling::Llama3 {
            factor: number("factor")?,
            low_frequency_factor: number("low_freq_factor")?,
            high_frequency_factor: number("high_freq_factor")?,
            original_context: number("original_max_position_embeddings")? as usize,
        }),
        _ => return Err(config.unsupported(&format!("{name}.rope_type"), &kind)),
    };
    if let Some(RotaryScaling::Llama3 {
        low_frequency_factor: low,
        high_frequency_factor: high,
        ..
    }) = scaling
        && low >= high
    {
        return Err(config.broken(format!(
            "{name}: low_freq_factor {low} is not below high_freq_factor {high}"
        )));
    }
    // Written beside every kind, read by few.
    if matches!(kind.as_str(), Some("linear" | "dynamic")) {
        table.remove("original_max_position_embeddings");
    }
    match table.iter().find(|(_, value)| !value.is_null()) {
        Some((key, value)) => Err(config.unsupported(&format!("{name}.{key}"), value)),
        None => Ok(scaling),
    }
}
