//! The naive head: all logits of a row, in f64. The judge of every other head, and the only place
//! where a tokens x vocabulary array exists.

use super::{Scored, Vocabulary};
use crate::weights::Matrix;

/// Scores one row of logits; `None` when one that takes part is not finite.
///
/// # Panics
/// When the target takes no part.
pub fn score_logits(logits: &[f64], target: u32, vocabulary: &Vocabulary) -> Option<Scored> {
    assert!(vocabulary.contains(target), "the target takes no part");
    let entries: Vec<(u32, f64)> = (0..logits.len() as u32)
        .zip(logits.iter().copied())
        .filter(|(v, _)| vocabulary.contains(*v))
        .collect();
    if entries.iter().any(|(_, z)| !z.is_finite()) {
        return None;
    }
    let aimed = logits[target as usize];
    let (argmax, top) = entries
        .iter()
        .copied()
        .fold((0, f64::NEG_INFINITY), |best, entry| if entry.1 > best.1 { entry } else { best });
    let mass: f64 = entries.iter().map(|(_, z)| (z - top).exp()).sum();
    let tilt: f64 =
        entries.iter().map(|(_, z)| (z - top) * (z - top).exp()).filter(|t| !t.is_nan()).sum();
    Some(Scored {
        rank: entries.iter().filter(|(_, z)| *z >= aimed).count() as u32,
        ties: entries.iter().filter(|(v, z)| *z == aimed && *v != target).count() as u32,
        nll: (mass.ln() + top - aimed) as f32,
        entropy: (mass.ln() - tilt / mass) as f32,
        argmax,
    })
}

/// Scores hidden rows `[N, E]` against `head` `[V, E]`, one row of logits at a time, in f64.
pub fn score(
    head: &Matrix,
    hidden: &[f32],
    targets: &[u32],
    vocabulary: &Vocabulary,
) -> Vec<Option<Scored>> {
    let row = |h: &[f32]| -> Vec<f64> {
        (0..head.rows)
            .map(|v| head.row(v).iter().zip(h).map(|(w, h)| f64::from(*w) * f64::from(*h)).sum())
            .collect()
    };
    hidden
        .chunks(head.columns)
        .zip(targets)
        .map(|(h, &target)| score_logits(&row(h), target, vocabulary))
        .collect()
}
