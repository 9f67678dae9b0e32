//! How early checkpoints tell the end of their runs.

use std::collections::BTreeMap;

use relscale_stats::optimise::least_squares;

use super::checkpoints::{Checkpoint, at, levels};
use super::shapes::{misses, surface};
use crate::result::EarlyCut;

/// Checkpoints of a run's own that its line goes through. Earlier ones lie on another stretch of
/// the curve: the learning rate still rises there.
const OWN: usize = 3;

/// A cut at every number of tokens before the last that some run has checkpoints up to.
pub(super) fn cuts(checkpoints: &[Checkpoint<'_>]) -> Vec<EarlyCut> {
    let levels = levels(checkpoints);
    let Some((end, before)) = levels.split_last() else { return Vec::new() };
    before.iter().filter_map(|cut| one(checkpoints, *cut, *end)).collect()
}

fn one(checkpoints: &[Checkpoint<'_>], cut: f64, end: f64) -> Option<EarlyCut> {
    let mut runs: BTreeMap<&str, Vec<&Checkpoint<'_>>> = BTreeMap::new();
    for one in checkpoints {
        runs.entry(&one.run).or_default().push(one);
    }
    // Runs with a checkpoint at the cut and one at the end.
    let told: Vec<(Vec<&Checkpoint<'_>>, &Checkpoint<'_>)> = runs
        .into_values()
        .filter_map(|run| {
            let last = run.iter().find(|one| at(one, end)).copied()?;
            run.iter().find(|one| at(one, cut))?;
            let seen = run.into_iter().filter(|one| one.tokens <= cut || at(one, cut)).collect();
            Some((seen, last))
        })
        .collect();
    if told.is_empty() {
        return None;
    }
    let ends = || told.iter().map(|(_, last)| *last);
    let own = |last: &Checkpoint<'_>| {
        let of = told.iter().find(|(_, other)| other.run == last.run)?;
        line(&of.0, last.tokens)
    };
    let lines = ends().all(|last| own(last).is_some());
    let seen: Vec<Checkpoint<'_>> =
        checkpoints.iter().filter(|one| one.tokens <= cut || at(one, cut)).cloned().collect();
    let by_surface = surface(&seen, None).ok();
    let unchanged = |last: &Checkpoint<'_>| {
        let of = told.iter().find(|(_, other)| other.run == last.run);
        of.and_then(|(seen, _)| seen.last()).map_or(f64::NAN, |one| one.error())
    };
    Some(EarlyCut {
        tokens: cut,
        part: cut / end,
        runs: told.len() as u32,
        own_line: if lines { misses(ends(), |last| own(last).unwrap_or(f64::NAN)) } else { None },
        surface: by_surface
            .and_then(|fit| misses(ends(), |last| fit.surface.at(last.size, last.tokens))),
        unchanged: misses(ends(), unchanged)?,
        size_exponent: exponent(checkpoints, cut),
        size_exponent_at_end: exponent(checkpoints, end),
    })
}

/// The line through the last of a run's checkpoints, in logarithms, at `tokens`.
fn line(seen: &[&Checkpoint<'_>], tokens: f64) -> Option<f64> {
    let last = &seen[seen.len().saturating_sub(OWN)..];
    if last.len() < OWN {
        return None;
    }
    let x: Vec<f64> = last.iter().map(|one| one.tokens.ln()).collect();
    let y: Vec<f64> = last.iter().map(|one| one.error().ln()).collect();
    Some(least_squares::line(&x, &y).ok()?.at(tokens.ln()).exp())
}

/// The exponent along size of the checkpoints at a level: of at least three sizes.
fn exponent(checkpoints: &[Checkpoint<'_>], level: f64) -> Option<f64> {
    let here: Vec<&Checkpoint<'_>> = checkpoints.iter().filter(|one| at(one, level)).collect();
    let mut sizes: Vec<f64> = here.iter().map(|one| one.size).collect();
    sizes.dedup();
    if sizes.len() < 3 {
        return None;
    }
    let x: Vec<f64> = here.iter().map(|one| one.size.ln()).collect();
    let y: Vec<f64> = here.iter().map(|one| one.error().ln()).collect();
    Some(0.0 - least_squares::line(&x, &y).ok()?.slope)
}
