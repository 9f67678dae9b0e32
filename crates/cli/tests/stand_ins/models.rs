//! Checkpoints of a family's architecture and of any depth, out of the decoder's golden ones: a
//! block is repeated, the embedding and the head are made anew for the stand-ins' vocabulary.
//!
//! All embeddings lie along one direction and are longer the likelier their token, so that a model
//! predicts by the tokens' frequency, as weights without training would not.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use relscale_records::provenance::sha256_bytes;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::{Value, json};

use super::tokens::Tokens;
use super::write;

/// Which golden checkpoint stands in for which models, by a part of their names; the first counts.
const ARCHITECTURES: [(&str, &str); 9] = [
    ("pythia", "gpt_neox-parallel"),
    ("gpt2", "gpt2"),
    ("opt-", "opt"),
    ("Qwen2.5", "qwen2-tied"),
    ("delphi", "qwen3"),
    ("DataDecide", "hf_olmo-gain-alone"),
    ("mamba2", "mamba2"),
    ("mamba", "mamba"),
    ("rwkv", "rwkv"),
];

/// The longest text that a stand-in takes.
const CONTEXT: usize = 2048;

/// A tensor: its type, shape and bytes.
type Tensor = (Dtype, Vec<usize>, Vec<u8>);

/// Writes a stand-in of `blocks` blocks for a model into a folder.
pub(super) fn put(folder: &Path, repository: &str, blocks: usize, tokens: &Tokens) {
    let named = |(part, _): &&(&str, &str)| repository.contains(part);
    let (_, golden) = ARCHITECTURES.iter().find(named).unwrap_or_else(|| {
        panic!("{repository}: no architecture stands in for it");
    });
    let golden: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../decoder/tests/goldens").join(golden);
    // What JSON has no word for, in one of them, is a limit that nothing reaches.
    let config =
        fs::read_to_string(golden.join("config.json")).unwrap().replace("Infinity", "1e30");
    let mut config: Value = serde_json::from_str(&config).unwrap();
    let number = |key: &str| config.get(key).and_then(Value::as_u64).map(|value| value as usize);
    let rows: Vec<usize> =
        ["vocab_size", "embedding_size"].into_iter().filter_map(number).collect();
    let depth = ["num_hidden_layers", "n_layer", "n_layers"]
        .into_iter()
        .find(|key| config.get(key).is_some())
        .unwrap();
    let there = number(depth).unwrap();

    let bytes = fs::read(golden.join("model.safetensors")).unwrap();
    let block = Regex::new(r"^(.*\.(?:layers|h|blocks)\.)(\d+)(\..*)$").unwrap();
    let mut tensors: Vec<(String, Tensor)> = Vec::new();
    for (name, view) in SafeTensors::deserialize(&bytes).unwrap().tensors() {
        let shape = view.shape().to_vec();
        let copy = (view.dtype(), shape.clone(), view.data().to_vec());
        if let Some(parts) = block.captures(&name) {
            // Block `at` of the stand-in is that one, or the last that there is.
            let from: usize = parts[2].parse().unwrap();
            for at in (0..blocks).filter(|at| (*at).min(there - 1) == from) {
                tensors.push((format!("{}{at}{}", &parts[1], &parts[3]), copy.clone()));
            }
        } else if shape.len() == 2 && rows.contains(&shape[0]) {
            tensors.push((name.clone(), table(&format!("{repository} {name}"), shape[1], tokens)));
        } else if name.contains("wpe") || name.contains("embed_positions") {
            // OPT's has two rows before the first position.
            let zeros = vec![0; (CONTEXT + 2) * shape[1] * size_of::<f32>()];
            let rows = if name.contains("wpe") { CONTEXT } else { CONTEXT + 2 };
            let bytes = zeros[..rows * shape[1] * size_of::<f32>()].to_vec();
            tensors.push((name.clone(), (Dtype::F32, vec![rows, shape[1]], bytes)));
        } else {
            tensors.push((name.clone(), copy));
        }
    }

    let entries = tokens.scores.len();
    let members = config.as_object_mut().unwrap();
    // It lists a word a block, and none is all there is to say here.
    members.remove("layer_types");
    members.insert(depth.to_owned(), json!(blocks));
    for key in ["vocab_size", "embedding_size"] {
        members.entry(key).and_modify(|value| *value = json!(entries));
    }
    let lengths =
        ["n_positions", "max_position_embeddings", "max_sequence_length", "context_length"];
    for key in lengths {
        members.entry(key).and_modify(|value| *value = json!(CONTEXT));
    }
    write(&folder.join("config.json"), config.to_string().as_bytes());
    write(&folder.join("tokenizer.json"), tokens.json.as_bytes());
    let views = tensors.iter().map(|(name, (dtype, shape, bytes))| {
        (name.as_str(), TensorView::new(*dtype, shape.clone(), bytes).unwrap())
    });
    let format = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    write(&folder.join("model.safetensors"), &safetensors::serialize(views, Some(format)).unwrap());
}

/// An embedding or a head: each row along one direction, as long as its token is likely, and a
/// little beside it as `seed` has it.
fn table(seed: &str, width: usize, tokens: &Tokens) -> Tensor {
    let mut state = u64::from_str_radix(&sha256_bytes(seed.as_bytes())[..16], 16).unwrap();
    let mut noise = || {
        // A step of Knuth's MMIX generator, its upper bits.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let mut bytes = Vec::with_capacity(tokens.scores.len() * width * size_of::<f32>());
    for score in &tokens.scores {
        for channel in 0..width {
            // It is no multiple of ones, which a norm would take away.
            let direction = if channel % 2 == 0 { 1.0 } else { -1.0 };
            let value = direction * (0.5 + 2.0 * score) + 0.2 * noise();
            bytes.extend(value.to_le_bytes());
        }
    }
    (Dtype::F32, vec![tokens.scores.len(), width], bytes)
}
