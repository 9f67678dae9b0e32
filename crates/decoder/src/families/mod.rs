//! From a Hugging Face folder to a [`Spec`] and its [`Weights`]: all that is peculiar to a family stands here.
//!
//! A family is two functions: `config.json` -> spec, and tensor names -> weights.
//!
//! * `config`: the keys of a `config.json` as a closed list. A key that is neither used, nor knowingly ignored, nor
//!   at the one value that we compute is an error: a new variant is refused, never computed wrongly.
//! * `tensors`: tensors by name and shape, with a record of what was used.
//! * `gpt2`, `opt`, `gpt_neox`; `llama_like`, of which `llama`, `qwen2` and Mistral are settings;
//!   `rotary`: the keys of rotary positions in their three spellings.
//!
//! Adding a family: a file here, a line in `FAMILIES`, a case in `tools/goldens/checkpoints.py`, a published
//! configuration in `tests/configs`.

use std::path::{Path, PathBuf};

use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};
use crate::kernels::{Choice, Dtype, Format, Packed};
use crate::spec::Spec;
use crate::weights::{Keep, Matrix, Weights};

mod config;
mod gpt2;
mod gpt_neox;
mod llama;
mod llama_like;
mod opt;
mod qwen2;
mod rotary;
mod tensors;

use config::Config;
use tensors::Tensors;

/// What is peculiar to one `model_type`.
struct Family {
    /// `model_type` in `config.json`.
    name: &'static str,
    /// Reads the keys. Whatever it leaves unread is refused unless ignored.
    spec: fn(&mut Config) -> Result<Spec>,
    /// Keys that do not change what the model computes, beyond those that all configurations share.
    ignored: &'static [&'static str],
    /// Beginning- and end-of-text id where the configuration does not say them.
    ends: [Option<u32>; 2],
    /// Finds the tensors, to be kept as they are.
    dense: fn(&mut Tensors<Matrix>, &Spec) -> Result<Weights>,
    /// Finds the tensors, each matrix laid out for its products as it is read.
    packed: fn(&mut Tensors<Packed>, &Spec) -> Result<Weights<Packed>>,
}

/// The families. Kin that is exactly another family's arithmetic stands in that family's file.
const FAMILIES: [Family; 6] =
    [gpt2::FAMILY, gpt_neox::FAMILY, llama::FAMILY, llama::MISTRAL, opt::FAMILY, qwen2::FAMILY];

/// Choices when loading a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Use the token embedding as the head whatever `config.json` and the file say. For folders whose configuration
    /// says untied but whose file has no head.
    pub force_tied: bool,
    /// In which numbers weights are kept and products taken; only where matrices are packed ([`load_packed`]).
    pub dtype: Dtype,
    /// By which kernels.
    pub kernels: Choice,
}

/// A folder, read.
#[derive(Debug)]
pub struct Loaded<M = Matrix> {
    /// The architecture.
    pub spec: Spec,
    /// The numbers.
    pub weights: Weights<M>,
    /// What they were read from.
    pub info: CheckpointInfo,
}

/// What only reading all of the weights tells.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReadWeights {
    /// SHA-256 over the files that were read, one after another by name.
    pub sha256: String,
    /// Number types of the tensors that were used.
    pub stored: Vec<String>,
    /// Tensors that the architecture has no use for.
    pub unused: Vec<String>,
}

/// What a model was read from: for provenance, and for what the user should be told.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct CheckpointInfo {
    /// `model_type`.
    pub family: String,
    /// Weights files that were read, sorted.
    pub files: Vec<String>,
    /// Weights files that the folder has as well and that were not read.
    pub set_aside: Vec<String>,
    /// Bytes of the files that were read.
    pub bytes: u64,
    /// SHA-256 over the files that were read, one after another by name.
    pub weights_sha256: String,
    /// SHA-256 of `config.json`.
    pub config_sha256: String,
    /// Number types of the tensors that were used, e.g. `["f16"]`.
    pub stored: Vec<String>,
    /// Tensors of the files that the architecture has no use for, sorted; known buffers (masks, rotary frequencies)
    /// are not listed.
    pub unused: Vec<String>,
    /// `bos_token_id` of `config.json`.
    pub bos_token: Option<u32>,
    /// `eos_token_id` of `config.json`: none, one or several.
    pub eos_tokens: Vec<u32>,
}

/// Reads a Hugging Face model folder: configuration, then weights, widened to f32.
///
/// # Errors
/// [`Error::NotAModel`] without `config.json` or weights; [`Error::UnknownArchitecture`]; [`Error::UnsupportedOption`]
/// for a key that would change the numbers; [`Error::MissingTensor`], [`Error::Shape`], and those of
/// [`Checkpoint::open`].
pub fn load(folder: &Path, options: LoadOptions) -> Result<Loaded> {
    load_as(folder, options, None, |family| family.dense)
}

/// As [`load`], every matrix laid out for its products as it is read, in the numbers and for the kernels that
/// `options` ask for.
///
/// # Errors
/// As [`load`].
pub fn load_packed(folder: &Path, options: LoadOptions) -> Result<Loaded<Packed>> {
    load_as(folder, options, None, |family| family.packed)
}

/// As [`load_packed`], of files that are known to be those of which `read` was learned: they are not hashed.
///
/// # Errors
/// As [`load`].
pub fn load_known(folder: &Path, options: LoadOptions, read: &ReadWeights) -> Result<Loaded<Packed>> {
    load_as(folder, options, Some(read), |family| family.packed)
}

/// How a family finds the tensors that are kept as `M`.
type Find<M> = fn(&mut Tensors<M>, &Spec) -> Result<Weights<M>>;

fn load_as<M: Keep + Send>(
    folder: &Path,
    options: LoadOptions,
    known: Option<&ReadWeights>,
    find: impl Fn(&Family) -> Find<M>,
) -> Result<Loaded<M>> {
    let (mut config, family) = open_config(folder)?;
    let mut spec = read_spec(&mut config, family)?;
    if options.force_tied {
        spec.tied = true;
    }
    let checkpoint = Checkpoint::open(folder)?;
    let mut tensors = Tensors::new(&checkpoint, options, Format::new(options.dtype, options.kernels));
    let find = find(family);
    // Both read every byte once. A hash is one thread's work; the others lay matrices out meanwhile.
    let hash = || known.map_or_else(|| checkpoint.sha256(), |read| Ok(read.sha256.clone()));
    let (weights, weights_sha256) = rayon::join(|| find(&mut tensors, &spec), hash);
    let weights = weights.map_err(|error| with_what_was_taken(error, &config))?;
    let (used, unused) = tensors.finish(&spec)?;
    let stored = checkpoint.stored_types(used.iter().map(String::as_str));
    let read = ReadWeights {
        sha256: weights_sha256?,
        stored: stored.into_iter().map(str::to_string).collect(),
        unused,
    };
    Ok(Loaded { info: info(family, &config, &checkpoint, read), spec, weights })
}

/// Weights that do not fit sizes that the configuration does not even say.
fn with_what_was_taken(error: Error, config: &Config) -> Error {
    if config.taken().is_empty() || !matches!(error, Error::Shape { .. } | Error::MissingTensor { .. }) {
        return error;
    }
    let taken: Vec<String> = config.taken().iter().map(|(key, size)| format!("{key} = {size}")).collect();
    config.broken(format!(
        "{error} (config.json lacks sizes, for which transformers' defaults were taken: {})",
        taken.join(", ")
    ))
}

/// What [`load`] would tell of a folder whose weights files are known to be those that were read before: the configuration and the
/// directories of the weights are read, their numbers are not.
///
/// # Errors
/// As [`load`], but for what only the numbers show.
pub fn recognise(folder: &Path, options: LoadOptions, read: ReadWeights) -> Result<(Spec, CheckpointInfo)> {
    let (mut config, family) = open_config(folder)?;
    let mut spec = read_spec(&mut config, family)?;
    if options.force_tied {
        spec.tied = true;
    }
    let checkpoint = Checkpoint::open(folder)?;
    Ok((spec, info(family, &config, &checkpoint, read)))
}

fn info(family: &Family, config: &Config, checkpoint: &Checkpoint, read: ReadWeights) -> CheckpointInfo {
    CheckpointInfo {
        family: family.name.to_string(),
        files: checkpoint.files(),
        set_aside: checkpoint.set_aside().to_vec(),
        bytes: checkpoint.bytes(),
        weights_sha256: read.sha256,
        config_sha256: config.sha256().to_string(),
        stored: read.stored,
        unused: read.unused,
        bos_token: config.token_ids("bos_token_id", family.ends[0]).first().copied(),
        eos_tokens: config.token_ids("eos_token_id", family.ends[1]),
    }
}

/// The spec that the `config.json` of `folder` describes; weights are not looked at.
///
/// # Errors
/// As [`load`], for the configuration.
pub fn spec(folder: &Path) -> Result<Spec> {
    let (mut config, family) = open_config(folder)?;
    read_spec(&mut config, family)
}

/// The spec that one configuration file describes.
///
/// # Errors
/// As [`load`], for the configuration.
pub fn spec_of_config(file: &Path) -> Result<Spec> {
    let (mut config, family) = parse_config(file.to_path_buf())?;
    read_spec(&mut config, family)
}

/// Names of the known architectures, as in `model_type`.
pub fn known() -> Vec<&'static str> {
    FAMILIES.iter().map(|family| family.name).collect()
}

fn open_config(folder: &Path) -> Result<(Config, &'static Family)> {
    let path = folder.join("config.json");
    if !path.is_file() {
        return Err(Error::NotAModel { path: folder.to_path_buf(), missing: "config.json".to_string() });
    }
    parse_config(path)
}

fn parse_config(path: PathBuf) -> Result<(Config, &'static Family)> {
    let mut config = Config::read(path)?;
    let name = config.text("model_type")?;
    let family = FAMILIES.iter().find(|family| family.name == name);
    let family = family.ok_or_else(|| Error::UnknownArchitecture {
        path: config.path().to_path_buf(),
        found: name,
        known: known().join(", "),
    })?;
    config.belongs_to(family.name);
    Ok((config, family))
}

fn read_spec(config: &mut Config, family: &'static Family) -> Result<Spec> {
    let spec = (family.spec)(config)?;
    config.refuse_unread(family.ignored)?;
    // Together with the bound on every count, this keeps all products of sizes within 64 bits.
    if spec.layers > 1 << 12 || spec.attention_width() > 1 << 24 {
        let what = format!("{} blocks with {} channels in their heads", spec.layers, spec.attention_width());
        return Err(config.broken(format!("{what} are more than any model has")));
    }
    spec.check().map_err(|error| match error {
        Error::Spec(reason) => config.broken(reason),
        other => other,
    })?;
    Ok(spec)
}
