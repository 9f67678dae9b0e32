//! One golden case, as `tools/goldens/checkpoints.py` wrote it.

use serde::Deserialize;

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
        let folder = super::case(name);
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
