//! One golden case, as `tools/goldens/checkpoints.py` wrote it.

use relscale_decoder::head::Vocabulary;
use relscale_decoder::{Model, Sequence as Asked};
use serde::Deserialize;
use std::path::Path;

/// Error of an f32 logit, relative to the largest logit of its row (or 1).
pub const TOLERANCE: f64 = 2e-5;

/// The same of a bf16 logit: factors keep 8 bits, and errors of all blocks add up.
pub const BF16_TOLERANCE: f64 = 3e-2;

/// Scores that the reference implementation gives in float64.
#[derive(Debug, Deserialize)]
pub struct Golden {
    /// Rows below this number have a token, where the case has spare rows.
    pub known: Option<u32>,
    pub sequences: Vec<Sequence>,
    /// `[length][V]` of each sequence.
    #[serde(skip)]
    pub logits: Vec<Vec<Vec<f64>>>,
}

#[derive(Debug, Deserialize)]
pub struct Sequence {
    pub ids: Vec<u32>,
    #[serde(flatten)]
    pub scores: Scores,
    /// The same over known rows only.
    pub known_only: Option<Scores>,
}

/// Of every token but the first.
#[derive(Debug, Deserialize)]
pub struct Scores {
    pub rank: Vec<u32>,
    pub ties: Vec<u32>,
    pub nll: Vec<f64>,
    pub entropy: Vec<f64>,
    /// Distance from the target's logit to the nearest other one.
    pub gap: Vec<f64>,
}

impl Golden {
    pub fn read(name: &str) -> Self {
        Self::read_from(&super::case(name))
    }

    pub fn read_from(folder: &Path) -> Self {
        let text = std::fs::read(folder.join("golden.json")).unwrap();
        let mut golden: Self = serde_json::from_slice(&text).unwrap();
        let bytes = std::fs::read(folder.join("golden.safetensors")).unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        golden.logits = (0..golden.sequences.len())
            .map(|n| {
                let tensor = tensors.tensor(&format!("logits.{n}")).unwrap();
                assert_eq!(tensor.dtype(), safetensors::Dtype::F64);
                let numbers: Vec<f64> = tensor
                    .data()
                    .chunks_exact(8)
                    .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
                    .collect();
                numbers.chunks_exact(tensor.shape()[1]).map(<[f64]>::to_vec).collect()
            })
            .collect();
        golden
    }
}

/// All cases, sorted.
pub fn names() -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(super::case(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The largest logit of a row, or 1.
pub fn size(row: &[f64]) -> f64 {
    row.iter().fold(1.0, |top, z| z.abs().max(top))
}

/// Compares scores of one sequence; returns (positions, positions whose rank another logit could
/// have moved).
pub fn compare(
    name: &str,
    model: &Model,
    ids: &[u32],
    vocabulary: &Vocabulary,
    expected: &Scores,
    logits: &[Vec<f64>],
    tolerance: f64,
) -> (usize, usize) {
    let scored: Vec<u32> = (1..ids.len() as u32).collect();
    let found = model.score(&[Asked { tokens: ids, scored: &scored }], vocabulary).unwrap();
    assert_eq!(found[0].len(), ids.len() - 1, "{name}");
    let mut near_ties = 0;
    for (i, found) in found[0].iter().enumerate() {
        let found = found.unwrap_or_else(|| panic!("{name}, token {}: not finite", i + 1));
        let counted: Vec<f64> = (0..)
            .zip(&logits[i])
            .filter(|(v, _)| vocabulary.contains(*v))
            .map(|(_, z)| *z)
            .collect();
        let near = tolerance * size(&counted);
        assert!((f64::from(found.nll) - expected.nll[i]).abs() < 2.0 * near, "{name}: {found:?}");
        assert!(
            (f64::from(found.entropy) - expected.entropy[i]).abs() < 4.0 * near,
            "{name}: {found:?}"
        );
        let z = logits[i][ids[i + 1] as usize];
        if expected.gap[i] > 2.0 * near {
            assert_eq!(
                (found.rank, found.ties),
                (expected.rank[i], expected.ties[i]),
                "{name}: token {}",
                i + 1
            );
        } else {
            let surely = 1 + counted.iter().filter(|&&other| other > z + 2.0 * near).count() as u32;
            let maybe = counted.iter().filter(|&&other| other >= z - 2.0 * near).count() as u32;
            assert!(
                (surely..=maybe).contains(&found.rank),
                "{name}: rank {} for {}",
                found.rank,
                expected.rank[i]
            );
            near_ties += 1;
        }
        let top = counted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(
            logits[i][found.argmax as usize] > top - 2.0 * near,
            "{name}: argmax {}",
            found.argmax
        );
    }
    (ids.len() - 1, near_ties)
}
