//! What can go wrong between a folder and a logit. Each variant says what, where, and what to do
//! next.

mod pickle;

use std::path::PathBuf;

pub use pickle::PickleError;
pub(crate) use pickle::PickleResult;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the decoder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The folder is not a Hugging Face model folder.
    #[error("{} is not a model folder: {missing} is missing. Give a folder with config.json and its weights", path.display())]
    NotAModel {
        /// The folder.
        path: PathBuf,
        /// The file that was looked for.
        missing: String,
    },
    /// `config.json` is broken or lacks a key.
    #[error("{}: {reason}", path.display())]
    Config {
        /// The configuration file.
        path: PathBuf,
        /// What is wrong, and with which key.
        reason: String,
    },
    /// The architecture is not one that a spec can express.
    #[error("{}: architecture {found:?} is not known. Known: {known}", path.display())]
    UnknownArchitecture {
        /// The configuration file.
        path: PathBuf,
        /// `model_type` as found.
        found: String,
        /// The known ones, comma-separated.
        known: String,
    },
    /// A configuration key has a value that would change the computation in a way not implemented.
    #[error(
        "{}: {family} with {key} = {value} is another computation, which relscale does not do. Without the key it would be another model with other ranks: leave config.json as it is and measure a model without it",
        path.display()
    )]
    UnsupportedOption {
        /// The configuration file.
        path: PathBuf,
        /// The family whose mapping met it.
        family: &'static str,
        /// The key.
        key: String,
        /// Its value.
        value: String,
    },
    /// A configuration key of which we do not know whether it changes the computation.
    #[error(
        "{}: the key {key} = {value} is not among those of {family} that relscale knows, and it may change what the model computes. If transformers' own {family} does not read it, take it out of a copy of the folder",
        path.display()
    )]
    UnknownOption {
        /// The configuration file.
        path: PathBuf,
        /// The family whose mapping met it.
        family: &'static str,
        /// The key.
        key: String,
        /// Its value.
        value: String,
    },
    /// A weights file is broken.
    #[error("{}: {reason}", path.display())]
    Checkpoint {
        /// The weights or index file.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A shard that the index names is not there.
    #[error("{}: the index names shard {shard}, which is not in the folder. Fetch it again", path.display())]
    MissingShard {
        /// The index file.
        path: PathBuf,
        /// The shard's file name.
        shard: String,
    },
    /// The index maps a tensor to a shard that lacks it.
    #[error("{}: the index says that tensor {tensor} is in {shard}, but it is not. The files do not belong together; fetch them again", path.display())]
    TensorNotInShard {
        /// The index file.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
        /// The shard's file name.
        shard: String,
    },
    /// A `pytorch_model.bin` was not read.
    #[error("{}: {source}", path.display())]
    Pickle {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: PickleError,
    },
    /// A tensor that the architecture needs was neither found nor derivable.
    #[error("{}: tensor {tensor} is missing ({hint})", path.display())]
    MissingTensor {
        /// The folder.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
        /// What was tried, and what to do.
        hint: String,
    },
    /// A tensor has another shape than the configuration says.
    #[error(
        "{}: tensor {tensor} has shape {found:?}, but the configuration asks for {expected:?}. The configuration and the weights do not belong together",
        path.display()
    )]
    Shape {
        /// The folder.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
        /// Shape in the file.
        found: Vec<usize>,
        /// Shape by the configuration.
        expected: Vec<usize>,
    },
    /// A spec contradicts itself.
    #[error("the model description is inconsistent: {0}")]
    Spec(String),
    /// A sequence cannot be scored by this model.
    #[error("sequence {index}: {reason}")]
    Sequence {
        /// Which sequence of the batch.
        index: usize,
        /// What is wrong with it, and what to do.
        reason: String,
    },
}
