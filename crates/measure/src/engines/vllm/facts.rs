//! What a folder says of the model that a server runs: sizes, parameters, hashes. Weights need not
//! be in it.

use relscale_decoder::checkpoint::Checkpoint;
use relscale_decoder::count::ParameterCount;
use relscale_decoder::families;
use relscale_records::provenance::{ModelProvenance, ParameterCounts, sha256_bytes};
use serde_json::Value;

use super::server::Served;
use crate::error::{Error, Result};
use crate::hub::ModelRequest;

/// What is read of a folder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Folder {
    /// `model_type`.
    pub(super) architecture: String,
    /// SHA-256 of `config.json`.
    pub(super) config_sha256: String,
    /// `vocab_size`.
    pub(super) rows: u32,
    /// Positions that the model has.
    pub(super) positions: Option<usize>,
    /// `bos_token_id`.
    pub(super) bos: Option<u32>,
    /// Its parameters.
    pub(super) parameters: ParameterCounts,
}

/// Weights files of a folder.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Weights {
    /// SHA-256 over the files, one after another by name.
    pub(super) sha256: String,
    /// Number types of the tensors, joined by `+`.
    pub(super) stored: String,
    /// Their names.
    pub(super) files: Vec<String>,
}

/// Ends of names of tensors that embed tokens, that embed positions, that give logits, in the ways
/// that transformers' classes name them.
const TOKENS: [&str; 8] = [
    "embed_tokens.weight",
    "wte.weight",
    "embed_in.weight",
    "word_embeddings.weight",
    "tok_embeddings.weight",
    "backbone.embeddings.weight",
    "rwkv.embeddings.weight",
    "model.embeddings.weight",
];
const POSITIONS: [&str; 3] = ["wpe.weight", "embed_positions.weight", "position_embeddings.weight"];
const HEADS: [&str; 4] = ["lm_head.weight", "embed_out.weight", "lm_head.bias", "embed_out.bias"];

/// Reads a folder but for its weights; `given` is the user's own count of non-embedding parameters.
///
/// # Errors
/// [`Error::EngineFolder`] where `config.json` lacks a vocabulary, or nothing tells how many
/// parameters there are.
pub(super) fn sizes(request: &ModelRequest, given: Option<u64>) -> Result<Folder> {
    let folder = &request.folder;
    let path = folder.join("config.json");
    let broken = |reason: String, hint: &'static str| Error::EngineFolder {
        folder: folder.clone(),
        reason,
        hint,
    };
    let bytes = std::fs::read(&path)
        .map_err(|error| broken(format!("config.json: {error}"), "give the model's folder"))?;
    let config: Value = serde_json::from_slice(&bytes).map_err(|error| {
        broken(format!("config.json: {error}"), "download it again, or give the model's folder")
    })?;
    // Models of text and more keep what is meant here one level down.
    let text = config.get("text_config").filter(|_| config.get("vocab_size").is_none());
    let at = |name: &str| text.and_then(|text| text.get(name)).or_else(|| config.get(name));
    let size = |names: &[&str]| names.iter().find_map(|name| at(name)?.as_u64());
    let spec = families::spec(folder);
    let rows = size(&["vocab_size"])
        .or_else(|| spec.as_ref().ok().map(|spec| spec.vocabulary as u64))
        .and_then(|rows| u32::try_from(rows).ok())
        .filter(|&rows| rows > 0)
        .ok_or_else(|| {
            broken(
                "config.json has no `vocab_size`".into(),
                "a rank means nothing without the number of rows: add the member",
            )
        })?;
    let checkpoint = Checkpoint::open(folder).ok();
    let parameters = match (&spec, &checkpoint, given) {
        (_, _, Some(non_embedding)) => ParameterCounts {
            non_embedding,
            token_embedding: 0,
            position_embedding: 0,
            head: 0,
            total: non_embedding,
        },
        (Ok(spec), _, _) => counts_from_spec(&ParameterCount::from_spec(spec)),
        (Err(_), Some(files), _) => counts_from_headers(files).ok_or_else(|| {
            broken(
                "its weights are quantised, or name no token embedding, so that parameters cannot be counted".into(),
                "give the number of non-embedding parameters with --parameters N",
            )
        })?,
        (Err(unknown), None, _) => {
            return Err(broken(
                format!("without weights, parameters are counted from config.json, which is not possible here ({unknown})"),
                "put the weights beside it (their headers are read, no numbers), or give the number of non-embedding parameters with --parameters N",
            ));
        }
    };
    let first = |value: &Value| match value {
        Value::Array(ids) => ids.first().and_then(Value::as_u64),
        id => id.as_u64(),
    };
    Ok(Folder {
        architecture: config["model_type"].as_str().unwrap_or("unknown").to_owned(),
        config_sha256: sha256_bytes(&bytes),
        rows,
        positions: match &spec {
            Ok(spec) => spec.longest(),
            Err(_) => {
                let positions =
                    size(&["max_position_embeddings", "n_positions", "max_sequence_length"]);
                positions.and_then(|positions| usize::try_from(positions).ok())
            }
        },
        bos: at("bos_token_id").and_then(first).and_then(|id| u32::try_from(id).ok()),
        parameters,
    })
}

/// The weights files of a folder, hashed; `None` where it has none.
///
/// # Errors
/// [`Error::Model`] where they cannot be read.
pub(super) fn weights(request: &ModelRequest) -> Result<Option<Weights>> {
    let failed = |source| Error::Model { model: request.name.clone(), source };
    let Ok(files) = Checkpoint::open(&request.folder) else { return Ok(None) };
    Ok(Some(Weights {
        sha256: files.sha256().map_err(failed)?,
        stored: files.stored_types(files.names()).join("+"),
        files: files.files(),
    }))
}

fn counts_from_spec(count: &ParameterCount) -> ParameterCounts {
    ParameterCounts {
        non_embedding: count.non_embedding,
        token_embedding: count.token_embedding,
        position_embedding: count.position_embedding,
        head: count.head,
        total: count.total,
    }
}

/// Parameters by the names and shapes of tensors. `None` where numbers are packed, so that a shape
/// is no count, or no tensor embeds tokens.
fn counts_from_headers(files: &Checkpoint) -> Option<ParameterCounts> {
    let mut counts = ParameterCounts {
        non_embedding: 0,
        token_embedding: 0,
        position_embedding: 0,
        head: 0,
        total: 0,
    };
    // Buffers that older files carry are no parameters.
    let buffer = |name: &str| {
        ["inv_freq", "masked_bias", "attn.bias", "attention.bias", "num_batches_tracked"]
            .iter()
            .any(|end| name.ends_with(end))
            && !name.ends_with("proj.bias")
    };
    let ends = |name: &str, of: &[&str]| of.iter().any(|end| name.ends_with(end));
    for name in files.names().filter(|name| !buffer(name)) {
        if !files.stored_type(name)?.readable() {
            return None;
        }
        let count = files.shape(name)?.iter().map(|&n| n as u64).product::<u64>();
        counts.total += count;
        let place = if ends(name, &TOKENS) {
            &mut counts.token_embedding
        } else if ends(name, &POSITIONS) {
            &mut counts.position_embedding
        } else if ends(name, &HEADS) {
            &mut counts.head
        } else {
            &mut counts.non_embedding
        };
        *place += count;
    }
    (counts.token_embedding > 0).then_some(counts)
}

/// The model, for the records. Without weights in the folder, what stands for their hash is made of
/// what the server says that it runs, and begins with `served:`.
pub(super) fn provenance(
    request: &ModelRequest,
    folder: &Folder,
    weights: Option<&Weights>,
    served: &Served,
) -> ModelProvenance {
    let stand_in = || {
        let root = served.root.as_deref().unwrap_or_default();
        let said = format!("{}\n{root}\n{}", served.id, folder.config_sha256);
        format!("served:{}", sha256_bytes(said.as_bytes()))
    };
    ModelProvenance {
        name: request.name.clone(),
        source: request.source.clone(),
        family: request.family.clone().unwrap_or_else(|| folder.architecture.clone()),
        architecture: folder.architecture.clone(),
        weights_sha256: weights.map_or_else(stand_in, |weights| weights.sha256.clone()),
        config_sha256: folder.config_sha256.clone(),
        stored_dtype: weights.map_or_else(|| "unknown".into(), |weights| weights.stored.clone()),
        files: weights.map(|weights| weights.files.clone()).unwrap_or_default(),
        parameters: folder.parameters,
    }
}
