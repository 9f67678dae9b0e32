//! Which weights files a folder has, and what its index says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Kinds of weights files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `*.safetensors`.
    Safetensors,
    /// `pytorch_model*.bin`, written by `torch.save`.
    Pickle,
    /// `*.gguf`.
    Gguf,
}

/// Places that may hold the weights, in the order in which they are preferred.
const PLACES: [(&str, Format, bool); 4] = [
    ("model.safetensors", Format::Safetensors, false),
    ("model.safetensors.index.json", Format::Safetensors, true),
    ("pytorch_model.bin", Format::Pickle, false),
    ("pytorch_model.bin.index.json", Format::Pickle, true),
];

/// Whether a folder has weights in one of these places.
pub(super) fn any(folder: &Path) -> bool {
    PLACES.iter().any(|(name, _, _)| folder.join(name).is_file())
}

/// The files to read.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) format: Format,
    /// File names in the folder, sorted.
    pub(super) files: Vec<String>,
    /// The index file, and its map from tensor to shard.
    pub(super) index: Option<(PathBuf, BTreeMap<String, String>)>,
    /// Other weights that the folder has.
    pub(super) set_aside: Vec<String>,
}

impl Plan {
    /// The shard that the index gives for a tensor.
    pub(super) fn shard_of(&self, tensor: &str) -> Option<&str> {
        self.index.as_ref()?.1.get(tensor).map(String::as_str)
    }
}

/// Looks for weights, safetensors first, and checks that every shard that an index names is there.
pub(super) fn find(folder: &Path) -> Result<Plan> {
    let mut there = PLACES.iter().filter(|(name, _, _)| folder.join(name).is_file());
    let Some((name, format, sharded)) = there.next() else {
        return Err(Error::NotAModel {
            path: folder.to_path_buf(),
            missing: "model.safetensors (or its index, or pytorch_model.bin)".to_string(),
        });
    };
    let set_aside = there.map(|(name, _, _)| (*name).to_string()).collect();
    if !sharded {
        return Ok(Plan {
            format: *format,
            files: vec![(*name).to_string()],
            index: None,
            set_aside,
        });
    }
    let path = folder.join(name);
    let map = read_index(&path)?;
    let files: BTreeSet<String> = map.values().cloned().collect();
    for shard in &files {
        if !folder.join(shard).is_file() {
            return Err(Error::MissingShard { path, shard: shard.clone() });
        }
    }
    Ok(Plan {
        format: *format,
        files: files.into_iter().collect(),
        index: Some((path, map)),
        set_aside,
    })
}

/// `weight_map` of an index file.
fn read_index(path: &Path) -> Result<BTreeMap<String, String>> {
    #[derive(serde::Deserialize)]
    struct Index {
        weight_map: BTreeMap<String, String>,
    }
    let broken = |reason: String| Error::Checkpoint { path: path.to_path_buf(), reason };
    let bytes =
        std::fs::read(path).map_err(|source| Error::Read { path: path.to_path_buf(), source })?;
    let index: Index = serde_json::from_slice(&bytes)
        .map_err(|e| broken(format!("not an index of shards ({e}). Fetch the file again")))?;
    if index.weight_map.is_empty() {
        return Err(broken("weight_map is empty, so there is nothing to read".to_string()));
    }
    // A shard lies beside its index; a path that leads elsewhere is a mistake or an attempt.
    if let Some(odd) = index.weight_map.values().find(|shard| {
        Path::new(shard).file_name().is_none_or(|name| name != std::ffi::OsStr::new(shard))
    }) {
        return Err(broken(format!("shard {odd:?} is not a plain file name")));
    }
    Ok(index.weight_map)
}
