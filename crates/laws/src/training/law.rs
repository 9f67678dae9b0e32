//! One quantity over size and tokens.

use relscale_stats::surface::SurfaceFit;

use super::checkpoints::{Checkpoint, levels};
use super::shapes::{misses, plane_of, surface};
use super::{early, seeds, verdicts};
use crate::relative::Series;
use crate::result::{
    Flag, FlagCode, Outcome, Quantity, TrainingLaw, TrainingPoint, TrainingSurface,
    UnseenCheckpoints,
};
use crate::size_tokens::split;

/// All that checkpoints say of a quantity.
pub(super) fn describe(
    quantity: &Quantity,
    unit: &str,
    series: &Series,
    checkpoints: Vec<Checkpoint<'_>>,
    level: f64,
) -> TrainingLaw {
    let range = |of: fn(&Checkpoint<'_>) -> f64| {
        let values = || checkpoints.iter().map(of);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    };
    let ranges = (range(|one| one.size), range(|one| one.tokens));
    let points: Vec<split::Point> = checkpoints.iter().map(Checkpoint::point).collect();
    let fitted = surface(&checkpoints, None);
    let surface = match &fitted {
        Ok(fit) => told(fit, &checkpoints, level),
        Err(refusal) => Outcome::refuse(refusal),
    };
    let drawn = fitted.ok().filter(|_| surface.fit().is_some());
    let mut law = TrainingLaw {
        quantity: quantity.clone(),
        unit: unit.to_owned(),
        points: checkpoints
            .iter()
            .map(|one| TrainingPoint {
                model: one.measured.model.clone(),
                run: one.run.clone(),
                parameters: one.size,
                tokens: one.tokens,
                value: one.error(),
                fitted: drawn.as_ref().map(|fit| fit.surface.at(one.size, one.tokens)),
            })
            .collect(),
        left_out: series.left_out.clone(),
        split: split::both(&points, ranges, level),
        surface,
        held_out: held_out(&checkpoints),
        early: early::cuts(&checkpoints),
        seeds: seeds::noise(series, &checkpoints, level),
        flags: few(&checkpoints),
        verdict: String::new(),
    };
    law.verdict = verdicts::law(&law);
    law
}

/// A flag where some checkpoint has too few misses, or hits, for a slope.
fn few(checkpoints: &[Checkpoint<'_>]) -> Vec<Flag> {
    let least = crate::options::FitOptions::default().minimum_count;
    let counted = || checkpoints.iter().filter_map(|one| Some((one, one.measured.counted?)));
    let of = |code, what: &str, count: fn(crate::relative::Counted) -> u64| {
        let names: Vec<&str> = counted()
            .filter(|(_, counted)| count(*counted) < least)
            .map(|(one, _)| one.measured.model.as_str())
            .collect();
        let first = names.first()?;
        let message = format!(
            "{} of {} checkpoints have fewer than {least} {what}, e.g. {first}: their values are hardly known",
            names.len(),
            checkpoints.len()
        );
        Some(Flag::new(code, message))
    };
    [
        of(FlagCode::FewMisses, "misses", |counted| counted.tokens - counted.hits),
        of(FlagCode::FewHits, "hits", |counted| counted.hits),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Exponents beyond this are the ends of what is searched, and not seen in the points.
const SEEN: std::ops::Range<f64> = 0.006..3.9;

fn told(fit: &SurfaceFit, checkpoints: &[Checkpoint<'_>], level: f64) -> Outcome<TrainingSurface> {
    let whole = fit.surface;
    let numbers = [whole.coefficient_a(), whole.coefficient_b(), whole.e];
    if let Some(at) = [whole.alpha, whole.beta].into_iter().find(|at| !SEEN.contains(at)) {
        return Outcome::Refused {
            reason: format!("an exponent runs off to {at:.3}: the points show no such surface"),
        };
    }
    if numbers.iter().any(|number| !number.is_finite()) {
        return Outcome::Refused {
            reason: "a coefficient of the surface exceeds the range of numbers".to_owned(),
        };
    }
    let left_out = split::without_each(
        checkpoints,
        |one| one.size,
        |others| {
            let fit = surface(others, Some(whole)).ok()?;
            Some([fit.surface.alpha, fit.surface.beta])
        },
    );
    let exponent = |value: f64, at: usize| {
        let values: Vec<Option<f64>> =
            left_out.iter().map(|found| Some(found.as_ref()?[at])).collect();
        split::estimate(value, &values, level)
    };
    let logs =
        checkpoints.iter().map(|one| (one.error() / whole.at(one.size, one.tokens)).ln().powi(2));
    let log_residual = (logs.sum::<f64>() / checkpoints.len() as f64).sqrt();
    Outcome::fitted(TrainingSurface {
        floor: whole.e,
        floor_at_zero: fit.floor_at_zero,
        size_coefficient: whole.coefficient_a(),
        tokens_coefficient: whole.coefficient_b(),
        size_exponent: exponent(whole.alpha, 0),
        tokens_exponent: exponent(whole.beta, 1),
        log_residual: if log_residual.is_finite() { log_residual } else { 0.0 },
    })
}

/// The largest size, and the last number of tokens, predicted from all others.
fn held_out(checkpoints: &[Checkpoint<'_>]) -> Vec<UnseenCheckpoints> {
    let largest = checkpoints.last().map_or(0.0, |one| one.size);
    let last = levels(checkpoints).last().copied().unwrap_or_default();
    [("largest size", true), ("last tokens", false)]
        .into_iter()
        .filter_map(|(what, by_size)| {
            let is = |one: &Checkpoint<'_>| match by_size {
                true => one.size == largest,
                false => one.tokens >= last,
            };
            let (unseen, seen): (Vec<_>, Vec<_>) = checkpoints.iter().cloned().partition(is);
            if unseen.is_empty() || seen.is_empty() {
                return None;
            }
            Some(UnseenCheckpoints {
                what: what.to_owned(),
                points: unseen.len() as u32,
                plane: plane_of(&seen).and_then(|at| misses(&unseen, at)),
                surface: surface(&seen, None)
                    .ok()
                    .and_then(|fit| misses(&unseen, |one| fit.surface.at(one.size, one.tokens))),
            })
        })
        .collect()
}
