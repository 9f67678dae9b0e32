//! From a folder, or a GGUF file, to a model: its configuration, the family that reads it, its
//! tensors.

use std::path::{Path, PathBuf};

use super::config::Config;
use super::family::Family;
use super::gguf;
use super::list::FAMILIES;
use super::names::{self, Named, Names};
use super::tensors::Tensors;
use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};
use crate::kernels::{Choice, Dtype, Format, Packed};
use crate::matrix::Matrix;
use crate::parts::build;
use crate::spec::Spec;
use crate::weights::{Keep, Weights};

/// Choices when loading a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Use the token embedding as the head whatever `config.json` and the file say. For folders
    /// whose configuration says untied but whose file has no head.
    pub force_tied: bool,
    /// In which numbers weights are kept and products taken; only where matrices are packed
    /// ([`load_packed`]).
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
    /// Tensors of the files that the architecture has no use for, sorted; known buffers (masks,
    /// rotary frequencies) are not listed.
    pub unused: Vec<String>,
    /// `bos_token_id` of `config.json`.
    pub bos_token: Option<u32>,
    /// `eos_token_id` of `config.json`: none, one or several.
    pub eos_tokens: Vec<u32>,
}

/// Reads a Hugging Face model folder, or a GGUF file: configuration, then weights, widened to f32.
///
/// # Errors
/// [`Error::NotAModel`] without `config.json` or weights; [`Error::UnknownArchitecture`];
/// [`Error::UnsupportedOption`] for a key that would change the numbers; [`Error::MissingTensor`],
/// [`Error::Shape`], and those of [`Checkpoint::open`].
pub fn load(folder: &Path, options: LoadOptions) -> Result<Loaded> {
    load_as(folder, options, None)
}

/// As [`load`], every matrix laid out for its products as it is read, in the numbers and for the
/// kernels that `options` ask for.
///
/// # Errors
/// As [`load`].
pub fn load_packed(folder: &Path, options: LoadOptions) -> Result<Loaded<Packed>> {
    load_as(folder, options, None)
}

/// As [`load_packed`], of files that are known to be those of which `read` was learned: they are
/// not hashed.
///
/// # Errors
/// As [`load`].
pub fn load_known(
    folder: &Path,
    options: LoadOptions,
    read: &ReadWeights,
) -> Result<Loaded<Packed>> {
    load_as(folder, options, Some(read))
}

fn load_as<M: Keep + Send>(
    folder: &Path,
    options: LoadOptions,
    known: Option<&ReadWeights>,
) -> Result<Loaded<M>> {
    match open(folder)? {
        Opened::Folder(mut config, family) => {
            let spec = read_spec(&mut config, family, options)?;
            let checkpoint = Checkpoint::open(folder)?;
            load_of(&config, family, family.names, spec, &checkpoint, options, known)
        }
        Opened::Gguf(mut file) => {
            let spec = read_gguf(&mut file, options)?;
            let gguf::Opened { config, family, names, checkpoint, .. } = &*file;
            load_of(config, family, names, spec, checkpoint, options, known)
        }
    }
}

/// The tensors of `checkpoint`, named so, as the model that `spec` describes.
fn load_of<M: Keep + Send>(
    config: &Config,
    family: &Family,
    names: &'static Names,
    spec: Spec,
    checkpoint: &Checkpoint,
    options: LoadOptions,
    known: Option<&ReadWeights>,
) -> Result<Loaded<M>> {
    let format = Format::new(options.dtype, options.kernels);
    // Both read every byte once. A hash is one thread's work; the others lay matrices out
    // meanwhile.
    let hash = || known.map_or_else(|| checkpoint.sha256(), |read| Ok(read.sha256.clone()));
    let weights = || {
        let names = names.of(&spec);
        let mut tensors = Tensors::new(checkpoint, &spec, names, format, options.force_tied)?;
        Ok((build(&spec, &mut tensors)?, tensors.finish()))
    };
    let (weights, weights_sha256) = rayon::join(weights, hash);
    let (weights, found) = weights.map_err(|error| with_what_was_taken(error, config))?;
    let (used, unused) = found?;
    let stored = checkpoint.stored_types(used.iter().map(String::as_str));
    let read = ReadWeights { sha256: weights_sha256?, stored, unused };
    let info = info(family, config, checkpoint, read);
    Ok(Loaded { info, spec, weights })
}

/// Weights that do not fit sizes that the configuration does not even say.
fn with_what_was_taken(error: Error, config: &Config) -> Error {
    if config.taken().is_empty()
        || !matches!(error, Error::Shape { .. } | Error::MissingTensor { .. })
    {
        return error;
    }
    let taken: Vec<String> =
        config.taken().iter().map(|(key, size)| format!("{key} = {size}")).collect();
    config.broken(format!(
        "{error} (config.json lacks sizes, for which transformers' defaults were taken: {})",
        taken.join(", ")
    ))
}

/// What [`load`] would tell of a folder whose weights files are known to be those that were read
/// before: the configuration and the directories of the weights are read, their numbers are not.
///
/// # Errors
/// As [`load`], but for what only the numbers show.
pub fn recognise(
    folder: &Path,
    options: LoadOptions,
    read: ReadWeights,
) -> Result<(Spec, CheckpointInfo)> {
    Ok(match open(folder)? {
        Opened::Folder(mut config, family) => {
            let spec = read_spec(&mut config, family, options)?;
            (spec, info(family, &config, &Checkpoint::open(folder)?, read))
        }
        Opened::Gguf(mut file) => {
            let spec = read_gguf(&mut file, options)?;
            (spec, info(file.family, &file.config, &file.checkpoint, read))
        }
    })
}

fn info(
    family: &Family,
    config: &Config,
    checkpoint: &Checkpoint,
    read: ReadWeights,
) -> CheckpointInfo {
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

/// The spec that the `config.json` of `folder`, or a GGUF file, describes; weights are not looked
/// at.
///
/// # Errors
/// As [`load`], for the configuration.
pub fn spec(folder: &Path) -> Result<Spec> {
    let options = LoadOptions::default();
    match open(folder)? {
        Opened::Folder(mut config, family) => read_spec(&mut config, family, options),
        Opened::Gguf(mut file) => read_gguf(&mut file, options),
    }
}

/// The spec that one configuration file describes.
///
/// # Errors
/// As [`load`], for the configuration.
pub fn spec_of_config(file: &Path) -> Result<Spec> {
    let (mut config, family) = parse_config(file.to_path_buf())?;
    read_spec(&mut config, family, LoadOptions::default())
}

/// Names of the known architectures, as in `model_type`.
pub fn known() -> Vec<&'static str> {
    FAMILIES.iter().map(|family| family.name).collect()
}

/// What a path is, by its configuration.
enum Opened {
    Folder(Config, &'static Family),
    Gguf(Box<gguf::Opened>),
}

fn open(path: &Path) -> Result<Opened> {
    if let Some(file) = gguf::open(path)? {
        return Ok(Opened::Gguf(Box::new(file)));
    }
    open_config(path).map(|(config, family)| Opened::Folder(config, family))
}

fn open_config(folder: &Path) -> Result<(Config, &'static Family)> {
    let path = folder.join("config.json");
    if !path.is_file() {
        return Err(Error::NotAModel {
            path: folder.to_path_buf(),
            missing: "config.json".to_string(),
        });
    }
    parse_config(path)
}

fn parse_config(path: PathBuf) -> Result<(Config, &'static Family)> {
    let mut config = Config::read(path)?;
    let name = config.text("model_type")?;
    let family = family_by_name(&name).ok_or_else(|| Error::UnknownArchitecture {
        path: config.path().to_path_buf(),
        found: name,
        known: known().join(", "),
    })?;
    config.belongs_to(family.name);
    Ok((config, family))
}

fn family_by_name(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().copied().find(|family| family.name == name)
}

fn read_gguf(file: &mut gguf::Opened, options: LoadOptions) -> Result<Spec> {
    let mut spec = read_spec(&mut file.config, file.family, options)?;
    file.complete(&mut spec)?;
    Ok(spec)
}

fn read_spec(config: &mut Config, family: &Family, options: LoadOptions) -> Result<Spec> {
    let mut spec = (family.spec)(config)?;
    spec.family = family.name.to_owned();
    config.refuse_unread(family.ignored)?;
    // Together with the bounds on every count, this keeps all products of sizes within 64 bits.
    if spec.attention_width() > 1 << 24 {
        let channels = spec.attention_width();
        return Err(config.broken(format!(
            "{channels} channels in the heads of a block are more than any model has"
        )));
    }
    spec.check().map_err(|error| match error {
        Error::Spec(reason) => config.broken(reason),
        other => other,
    })?;
    spec.tied |= options.force_tied;
    Ok(spec)
}

/// The tensors of a model, by the names that the files of `family` have for them, with their
/// shapes. For writing a folder.
///
/// # Errors
/// [`Error::Spec`] for a family that there is not, or whose files store tensors otherwise than they
/// lie in memory.
pub fn named_tensors<'a>(
    family: &str,
    spec: &Spec,
    weights: &'a Weights,
) -> Result<Vec<Named<'a>>> {
    let family = family_by_name(family)
        .ok_or_else(|| Error::Spec(format!("there is no family {family:?}")))?;
    names::named(family.names.of(spec), spec, weights)
}
