//! What a `torch.save` file is refused for.

/// Why a `torch.save` file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PickleError {
    /// The file could not be read.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// Neither of the two containers.
    #[error(
        "not a file of torch.save (neither a zip archive nor the older stream). Fetch it again, or convert it to safetensors"
    )]
    NotTorch,
    /// A zip archive that is cut or malformed.
    #[error("the archive is cut or malformed ({0}). Fetch it again")]
    Archive(String),
    /// The pickle ends before its STOP, or says something senseless.
    #[error("the pickle is malformed at byte {offset}: {reason}. Fetch the file again")]
    Malformed {
        /// Byte in the pickle.
        offset: u64,
        /// What is wrong.
        reason: &'static str,
    },
    /// An instruction that a dictionary of tensors does not need.
    #[error(
        "instruction {name} at byte {offset} of the pickle is not needed for a dictionary of tensors and is not executed. Convert the file to safetensors if you trust it"
    )]
    Instruction {
        /// Its name, or its code.
        name: String,
        /// Byte in the pickle.
        offset: u64,
    },
    /// A Python name other than those of tensors.
    #[error(
        "the pickle asks for {name}, which is not needed for a dictionary of tensors and is not executed. Convert the file to safetensors if you trust it"
    )]
    Global {
        /// `module.name`.
        name: String,
    },
    /// More values than any state dict has.
    #[error("the pickle is larger than any state dict ({0})")]
    TooLarge(&'static str),
    /// The top is not a dictionary from names to tensors.
    #[error("{what} is not what a state dict holds; only names with tensors are read")]
    NotAStateDict {
        /// The offending part.
        what: String,
    },
    /// A tensor that leaves its storage, or a storage that leaves the file.
    #[error("tensor {tensor}: {reason}. The file is cut or was made by hand")]
    Bounds {
        /// The tensor.
        tensor: String,
        /// What does not fit what.
        reason: String,
    },
}

/// What reading one gives.
pub(crate) type PickleResult<T> = Result<T, PickleError>;
