//! A run in the making, as one safetensors file: `weights.N`, `first.N` and `second.N` (f32, flat,
//! tensors in the order of [`Weights::tensors`]), and in its metadata the run's key and, as JSON,
//! all else that going on needs.

use crate::error::{Error, Result};
use crate::train::course::Progress;
use crate::train::trainer::State;
use relscale_decoder::spec::Spec;
use relscale_decoder::weights::Weights;
use relscale_records::atomic;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use std::collections::HashMap;
use std::path::Path;

/// Name of the file in a run's folder.
pub const FILE: &str = "checkpoint.safetensors";

const KEY: &str = "relscale.key";
const TAKEN: &str = "relscale.steps";
const PROGRESS: &str = "relscale.progress";

/// The names of the three sets of tensors.
const SETS: [&str; 3] = ["weights", "first", "second"];

/// Writes the checkpoint; the old one stays until the new one is whole.
///
/// # Errors
/// [`Error::Records`] when it cannot be written.
pub fn write(
    folder: &Path,
    key: &str,
    sets: [&Weights; 3],
    taken: u32,
    progress: &Progress,
) -> Result<()> {
    let path = folder.join(FILE);
    let problem = |reason: String| Error::Checkpoint { path: path.clone(), reason };
    let mut named = Vec::new();
    for (set, weights) in SETS.iter().zip(sets) {
        for (number, tensor) in weights.tensors().into_iter().enumerate() {
            let bytes: Vec<u8> = tensor.iter().flat_map(|value| value.to_le_bytes()).collect();
            named.push((format!("{set}.{number}"), tensor.len(), bytes));
        }
    }
    let views: Vec<(String, TensorView<'_>)> = named
        .iter()
        .map(|(name, length, bytes)| {
            TensorView::new(Dtype::F32, vec![*length], bytes).map(|view| (name.clone(), view))
        })
        .collect::<Result<_, _>>()
        .map_err(|error| problem(error.to_string()))?;
    let metadata = HashMap::from([
        (KEY.to_owned(), key.to_owned()),
        (TAKEN.to_owned(), taken.to_string()),
        (
            PROGRESS.to_owned(),
            serde_json::to_string(progress).map_err(|error| problem(error.to_string()))?,
        ),
    ]);
    let bytes = safetensors::serialize(views, Some(metadata))
        .map_err(|error| problem(error.to_string()))?;
    Ok(atomic::write_whole(&path, &bytes)?)
}

/// Reads the checkpoint of a run's folder; `None` when there is none.
///
/// # Errors
/// [`Error::Checkpoint`] for a file that cannot be read or is no checkpoint of this model;
/// [`Error::Occupied`] for one of a run that was asked for otherwise.
pub fn read(folder: &Path, key: &str, spec: &Spec) -> Result<Option<(State, Progress)>> {
    let path = folder.join(FILE);
    let problem = |reason: String| Error::Checkpoint { path: path.clone(), reason };
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(problem(error.to_string())),
    };
    let (_, head) =
        SafeTensors::read_metadata(&bytes).map_err(|error| problem(error.to_string()))?;
    let metadata = head.metadata().clone().unwrap_or_default();
    let told =
        |name: &str| metadata.get(name).ok_or_else(|| problem(format!("no metadata {name}")));
    if told(KEY)? != key {
        return Err(Error::Occupied {
            path: folder.to_owned(),
            differs: "another plan, text or setting".to_owned(),
        });
    }
    let taken =
        told(TAKEN)?.parse().map_err(|_| problem("its number of steps is none".to_owned()))?;
    let progress =
        serde_json::from_str(told(PROGRESS)?).map_err(|error| problem(error.to_string()))?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| problem(error.to_string()))?;
    let mut sets = [Weights::zeros(spec), Weights::zeros(spec), Weights::zeros(spec)];
    for (set, weights) in SETS.iter().zip(&mut sets) {
        for (number, into) in weights.tensors_mut().into_iter().enumerate() {
            let name = format!("{set}.{number}");
            let tensor = tensors.tensor(&name).map_err(|error| problem(error.to_string()))?;
            if tensor.dtype() != Dtype::F32 || tensor.data().len() != 4 * into.len() {
                return Err(problem(format!("{name} has another type or size than the model's")));
            }
            for (value, bytes) in into.iter_mut().zip(tensor.data().chunks_exact(4)) {
                *value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
        }
    }
    let [weights, first, second] = sets;
    Ok(Some((State { weights, moments: [first, second], taken }, progress)))
}

/// Removes a checkpoint that is not needed any more.
///
/// # Errors
/// [`Error::Write`].
pub fn remove(folder: &Path) -> Result<()> {
    let path = folder.join(FILE);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::Write { path, source: error })
        }
        _ => Ok(()),
    }
}
