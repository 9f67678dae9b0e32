//! The keys of rotary positions, in the spellings that configurations use.
//!
//! * top-level `rope_theta` and `rope_scaling` (Llama, Qwen2);
//! * top-level `rotary_emb_base` and `rotary_pct` (GPT-NeoX);
//! * one table `rope_parameters` with all of them (transformers 5);
//! * in it, a table a kind of layer (transformers 5: OLMo 3).
//!
//! `scaling` reads the kinds of scaling. Where transformers 4 and 5 compute two things of one
//! configuration, it is refused.

mod scaling;

use serde_json::{Map, Value};

use super::config::Config;
use crate::error::Result;
use crate::spec::{Rotary, RotaryScaling, Spec};
use scaling::Table;

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

/// What else of a model its rotation depends on.
pub(super) struct Model<'a> {
    /// Channels of a head.
    pub(super) head_width: usize,
    /// `max_position_embeddings`.
    pub(super) context: usize,
    /// What the family takes for `original_max_position_embeddings` where no key says it.
    pub(super) original: Option<usize>,
    /// Other names that the family has for kinds of scaling, each with the usual one.
    pub(super) kinds: &'a [(&'a str, &'a str)],
}

impl Model<'_> {
    /// Of a family like most.
    pub(super) fn of(spec: &Spec) -> Self {
        Self { head_width: spec.head_width, context: spec.context, original: None, kinds: &[] }
    }

    /// The usual name of a kind of scaling.
    fn usual<'k>(&self, kind: &'k str) -> &'k str
    where
        Self: 'k,
    {
        self.kinds.iter().find(|(other, _)| *other == kind).map_or(kind, |(_, usual)| usual)
    }
}

/// Reads all keys of rotary positions of heads of `head_width`, in a model of this context.
pub(super) fn read(
    config: &mut Config,
    spelling: &Spelling,
    head_width: usize,
    context: usize,
) -> Result<Rotary> {
    read_of(config, spelling, &Model { head_width, context, original: None, kinds: &[] })
}

/// As [`read`], of any model.
pub(super) fn read_of(
    config: &mut Config,
    spelling: &Spelling,
    model: &Model<'_>,
) -> Result<Rotary> {
    let old = table(config, "rope_scaling")?;
    let new = table(config, "rope_parameters")?;
    let (name, table) = match (old, new) {
        (Some(_), Some(_)) => {
            return Err(config.broken(
                "rope_scaling and rope_parameters are both given; keep the one that holds"
                    .to_string(),
            ));
        }
        (Some(table), None) => ("rope_scaling", table),
        (None, table) => ("rope_parameters", table.unwrap_or_default()),
    };
    of_table(config, spelling, model, name, table)
}

/// The rotations of kinds of layers, as transformers 5 writes them: `rope_parameters` has a table
/// for each. `None` without the key; a table that is not of these kinds is refused.
pub(super) fn by_kind<const N: usize>(
    config: &mut Config,
    spelling: &Spelling,
    model: &Model<'_>,
    kinds: [&str; N],
) -> Result<Option<[Rotary; N]>> {
    let Some(tables) = table(config, "rope_parameters")? else { return Ok(None) };
    if let Some((key, value)) = tables.iter().find(|(key, _)| !kinds.contains(&key.as_str())) {
        return Err(config.unsupported(&format!("rope_parameters.{key}"), value));
    }
    if let Some(old) = config.get("rope_scaling") {
        return Err(config.unsupported("rope_scaling", &old));
    }
    let mut rotations = Vec::with_capacity(N);
    for kind in kinds {
        let name = format!("rope_parameters.{kind}");
        let table = match tables.get(kind) {
            Some(Value::Object(table)) if table.contains_key("rope_theta") => table.clone(),
            _ => return Err(config.broken(format!("{name} lacks rope_theta"))),
        };
        rotations.push(of_table(config, spelling, model, &name, table)?);
    }
    Ok(rotations.try_into().ok())
}

/// What the keys at the top and those of one table say.
fn of_table(
    config: &mut Config,
    spelling: &Spelling,
    model: &Model<'_>,
    name: &str,
    mut table: Map<String, Value>,
) -> Result<Rotary> {
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
    let width = (model.head_width as f64 * fraction) as usize;
    let scaling = Table { name, keys: table, width, model }.scaling(config)?;
    if base == 1.0 && matches!(scaling, Some(RotaryScaling::Yarn { .. })) {
        return Err(config.broken("YaRN has no meaning for a rotary base of 1".to_owned()));
    }
    Ok(Rotary { width, base, scaling })
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
