//! GGUF, the format of llama.cpp: metadata, tokenizer and tensors in one file, or in a numbered
//! few.
//!
//! Files on disk: `NAME.gguf`, or `NAME-00001-of-0000N.gguf` and its fellows. A file begins with
//! counts, then has its metadata (keys with typed values), a directory of tensors, and their
//! numbers at aligned places, mostly in blocks of whole numbers with a scale.
//!
//! * `files`: which files a path means;
//! * `header`: all but the numbers, believing no count;
//! * [`metadata`](mod@metadata): the keys and their values;
//! * `types`: the types of numbers that the format knows, read or not.
//!
//! Source: `docs/gguf.md` and `src/gguf.cpp` of ggml; the crates that there are for the format
//! allocate by the lengths that a file claims, or bring a framework of tensors along.

mod files;
mod header;
pub mod metadata;
mod types;

use std::fs::File;
use std::path::Path;

use super::tensor::Entry;
use crate::error::{Error, Result};
pub use files::find;
pub use metadata::{Metadata, Value};

/// Metadata of the file that a path means, or of the first of several; its tensors are not looked
/// at.
///
/// # Errors
/// [`Error::NotAModel`] where the path means no GGUF; [`Error::Checkpoint`] for a malformed file.
pub fn metadata(path: &Path) -> Result<Metadata> {
    let first = find(path)?.and_then(|files| files.into_iter().next());
    let Some(first) = first else {
        let missing = "a GGUF file".to_owned();
        return Err(Error::NotAModel { path: path.to_path_buf(), missing });
    };
    let read = |source| Error::Read { path: first.clone(), source };
    let file = File::open(&first).map_err(read)?;
    let bytes = file.metadata().map_err(read)?.len();
    Ok(header::read(&first, &file, bytes)?.metadata)
}

/// All tensors of a file, every one of a type that is read; `bytes` is its length, `files` how many
/// there are of its model.
pub(super) fn directory(
    path: &Path,
    file: &File,
    bytes: u64,
    files: usize,
) -> Result<Vec<(String, Entry)>> {
    let broken = |reason: String| Error::Checkpoint { path: path.to_path_buf(), reason };
    let header = header::read(path, file, bytes)?;
    let parts = header.metadata.integer("split.count")?.unwrap_or(1).max(1);
    if usize::try_from(parts) != Ok(files) {
        return Err(broken(format!(
            "the file says that it is one of {parts}, and there are {files} by its name: give the first of them under the \
            names that they were written with (NAME-00001-of-0000N.gguf)"
        )));
    }
    if let Some((name, entry)) = header.tensors.iter().find(|(_, entry)| !entry.stored.readable()) {
        return Err(broken(format!(
            "tensor {name} is stored as {}, which is not read; these types are: {}. Convert the original model to one of \
            them (llama-quantize, or convert_hf_to_gguf.py --outtype q8_0)",
            entry.stored.name(),
            types::readable().join(", ")
        )));
    }
    Ok(header.tensors)
}
