//! A table's rows as checkpoints.

use std::collections::BTreeMap;
use std::path::Path;

use super::SizeTokensTable;
use crate::error::LawsError;
use crate::result::{Flag, FlagCode};
use crate::tables::manifest::ModelNumbers;
use crate::tables::{Given, Observation, RowIs, Wanted, each, read, small};

/// One model after so many tokens.
pub(super) struct Checkpoint {
    pub(super) params: f64,
    pub(super) tokens: f64,
    /// By distribution; above zero.
    pub(super) errors: BTreeMap<String, f64>,
}

/// What a table holds.
pub(super) struct Read {
    /// The checkpoints of each group, by name; their order is that of sizes, tokens, runs.
    pub(super) groups: BTreeMap<String, Vec<Checkpoint>>,
    /// Group, distribution and reason.
    pub(super) left_out: Vec<[String; 3]>,
    /// What the error is, in words.
    pub(super) error: String,
    /// What sizes and tokens are, in words.
    pub(super) params: String,
    pub(super) tokens: String,
    /// The manifest, where there was one, and what it tells.
    pub(super) models: Option<String>,
    pub(super) flags: Vec<Flag>,
}

/// What tells a checkpoint from another: run, parameters, tokens.
type Key<'a> = (&'a str, u64, u64);

/// Reads the checkpoints.
///
/// # Errors
/// As [`fit_size_tokens`](super::fit_size_tokens).
pub(super) fn checkpoints(path: &Path, options: &SizeTokensTable) -> Result<Read, LawsError> {
    let select = &options.select;
    let expected = "two columns, or products of columns and numbers: parameters and tokens";
    let [params, tokens] = each(&select.x, "x", expected)?;
    select.one_of_a_distribution()?;
    let table = read(path, select, &Wanted { row: RowIs::Checkpoint, ..Wanted::default() })?;
    let mut found: BTreeMap<String, BTreeMap<Key<'_>, Checkpoint>> = BTreeMap::new();
    let mut left_out = Vec::new();
    let mut unnamed = Vec::new();
    for observation in &table.observations {
        let Observation { group, series, place, given, .. } = observation;
        let run = observation.label.as_deref().unwrap_or_default();
        let told = |reason: String| match run {
            "" => format!("{place}: left out, {reason}"),
            run => format!("{place}: {run} left out, {reason}"),
        };
        if let Some(told) = observation.left_out().map(told) {
            match series.is_empty() {
                true => unnamed.push(Flag::new(FlagCode::PointsLeftOut, told)),
                false => left_out.push([group.clone(), series.clone(), told]),
            }
        }
        let (&[params, tokens], false) =
            (observation.x.as_slice(), matches!(given, Given::Ended { .. }))
        else {
            continue;
        };
        let key = (run, params.to_bits(), tokens.to_bits());
        let none = || Checkpoint { params, tokens, errors: BTreeMap::new() };
        let checkpoint = found.entry(group.clone()).or_default().entry(key).or_insert_with(none);
        checkpoint.errors.extend(observation.value().map(|error| (series.clone(), error)));
    }
    // A distribution's points must come in an order that does not depend on that of the rows.
    let in_order = |checkpoints: BTreeMap<Key<'_>, Checkpoint>| {
        let mut all: Vec<(Key<'_>, Checkpoint)> = checkpoints.into_iter().collect();
        all.sort_by(|(a_key, a), (b_key, b)| {
            a.params
                .total_cmp(&b.params)
                .then(a.tokens.total_cmp(&b.tokens))
                .then_with(|| a_key.cmp(b_key))
        });
        all.into_iter().map(|(_, checkpoint)| checkpoint).collect::<Vec<_>>()
    };
    let groups: BTreeMap<String, Vec<Checkpoint>> =
        found.into_iter().map(|(group, checkpoints)| (group, in_order(checkpoints))).collect();
    let models = table.models.as_ref();
    let flags = models.map(ModelNumbers::flags).unwrap_or_default().iter();
    let mut flags: Vec<Flag> =
        flags.filter(|flag| flag.code != FlagCode::SharedRun).cloned().collect();
    let all = || groups.values().flatten();
    flags.extend(small(params, all().map(|point| point.params)));
    flags.extend(small(tokens, all().map(|point| point.tokens)));
    flags.extend(unnamed);
    Ok(Read {
        left_out,
        error: match (select.y.as_slice(), table.kinds.first()) {
            ([only], Some(kind)) => kind.symbol(only),
            _ => "the column of each distribution".to_owned(),
        },
        params: models.map_or_else(|| params.to_owned(), |models| models.in_words(params)),
        tokens: tokens.to_owned(),
        models: models.map(ModelNumbers::file),
        flags,
        groups,
    })
}
