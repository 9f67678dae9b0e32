//! The models of a study as checkpoints.

use std::collections::BTreeMap;

use super::read::{Checkpoint, Read};
use super::{check_level, describe};
use crate::error::LawsError;
use crate::relative::Measurements;
use crate::result::{Flag, FlagCode, SizeTokensFit};
use crate::tables::manifest::ModelAxis;

/// Fits both directions to each distribution of measured models: `found` has their parameters as x,
/// `tokens` what they have seen. `file` is the study's name for the result.
///
/// # Errors
/// [`LawsError::NoDistribution`]: no such baseline. [`LawsError::Option`]: a level that is no
/// probability; models of several families, which share no slopes. [`LawsError::Point`]: a model
/// without a number of tokens. Too few checkpoints are no error: the direction has no slices.
pub fn split_measured(
    found: &Measurements,
    tokens: &ModelAxis,
    baseline: &str,
    level: f64,
    file: &str,
) -> Result<SizeTokensFit, LawsError> {
    check_level(level)?;
    let [family] = found.families.as_slice() else {
        let names: Vec<&str> = found.families.iter().map(|family| family.name.as_str()).collect();
        return Err(LawsError::Option {
            option: "family",
            value: format!("not given, and there are {}", names.join(", ")),
            expected: "one of them, as models of different families share no slopes",
        });
    };
    let mut checkpoints: BTreeMap<&str, Checkpoint> = BTreeMap::new();
    let mut left_out = Vec::new();
    for series in &family.series {
        for point in &series.points {
            let seen = tokens.of(&point.model).ok_or_else(|| LawsError::Point {
                model: point.model.clone(),
                distribution: series.distribution.clone(),
                reason: "it has no number of tokens".to_owned(),
            })?;
            let checkpoint = checkpoints.entry(&point.model).or_insert_with(|| Checkpoint {
                params: point.x,
                tokens: seen,
                errors: BTreeMap::new(),
            });
            checkpoint.errors.insert(series.distribution.clone(), point.error);
        }
        let reasons = series.left_out.iter().map(|out| format!("{}: {}", out.label, out.reason));
        left_out
            .extend(reasons.map(|reason| ["all".to_owned(), series.distribution.clone(), reason]));
    }
    let mut checkpoints: Vec<(&str, Checkpoint)> = checkpoints.into_iter().collect();
    checkpoints.sort_by(|(a_name, a), (b_name, b)| {
        a.params
            .total_cmp(&b.params)
            .then(a.tokens.total_cmp(&b.tokens))
            .then_with(|| a_name.cmp(b_name))
    });
    let mut flags: Vec<Flag> = Vec::new();
    // Whole sizes are left out for the intervals, so checkpoints of one run are told of there.
    for flag in
        family.flags.iter().chain(tokens.flags()).filter(|flag| flag.code != FlagCode::SharedRun)
    {
        if !flags.contains(flag) {
            flags.push(flag.clone());
        }
    }
    let read = Read {
        groups: [("all".to_owned(), checkpoints.into_iter().map(|(_, of)| of).collect())].into(),
        left_out,
        error: found.error.clone(),
        params: found.x.clone(),
        tokens: tokens.in_words().to_owned(),
        models: Some(tokens.file().to_owned()),
        flags,
    };
    describe(&read, baseline, level, file.to_owned())
}
