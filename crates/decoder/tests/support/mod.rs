//! Shared by the tests: golden cases, a naive forward pass in f64, and folders to spoil.

#![allow(dead_code, unreachable_pub)] // Each test file uses a part.

pub mod gguf;
pub mod golden;
pub mod naive;

use std::path::{Path, PathBuf};

use relscale_decoder::Error;
use relscale_decoder::families::{self, LoadOptions};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// Folder of one golden case.
pub fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(name)
}

/// A copy of a golden case, to be spoiled.
pub fn copy(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(case(name)).unwrap() {
        let from = entry.unwrap().path();
        std::fs::copy(&from, folder.path().join(from.file_name().unwrap())).unwrap();
    }
    folder
}

/// A copy of a golden case with some keys of its `config.json` replaced; `null` takes a key out.
pub fn with_config(name: &str, keys: Value) -> TempDir {
    let folder = copy(name);
    let mut config = config(folder.path());
    for (key, value) in keys.as_object().unwrap() {
        if value.is_null() {
            config.remove(key);
        } else {
            config.insert(key.clone(), value.clone());
        }
    }
    let path = folder.path().join("config.json");
    std::fs::write(&path, serde_json::to_vec(&config).unwrap()).unwrap();
    folder
}

/// Why a folder is not loaded.
pub fn refusal(folder: &Path) -> Error {
    match families::load(folder, LoadOptions::default()) {
        Ok(_) => panic!("{} was accepted", folder.display()),
        Err(e) => e,
    }
}

/// The message must hold all of these.
pub fn says(error: &Error, words: &[&str]) {
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in {message:?}");
    }
}

/// The configuration of a folder; what Python wrote as `Infinity` is a text.
pub fn config(folder: &Path) -> Map<String, Value> {
    let text = std::fs::read_to_string(folder.join("config.json")).unwrap();
    serde_json::from_str(&text.replace("Infinity", "\"Infinity\"")).unwrap()
}

/// A tensor as it stands in a safetensors file.
pub struct Stored {
    pub dtype: safetensors::Dtype,
    pub shape: Vec<usize>,
    pub data: Vec<u8>,
}

/// Rewrites `model.safetensors` of a folder after `change` had its way with the tensors.
pub fn edit_tensors(
    folder: &Path,
    change: impl FnOnce(&mut std::collections::BTreeMap<String, Stored>),
) {
    let path = folder.join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let mut tensors = safetensors::SafeTensors::deserialize(&bytes)
        .unwrap()
        .iter()
        .map(|(name, t)| {
            let stored =
                Stored { dtype: t.dtype(), shape: t.shape().to_vec(), data: t.data().to_vec() };
            (name.to_string(), stored)
        })
        .collect();
    change(&mut tensors);
    let views = tensors.iter().map(|(name, t)| {
        (name, safetensors::tensor::TensorView::new(t.dtype, t.shape.clone(), &t.data).unwrap())
    });
    std::fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
}
