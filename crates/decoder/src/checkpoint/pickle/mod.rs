//! The directory of one `torch.save` file, read without executing anything.
//!
//! Such a file is a *pickle*, a program for a small stack machine that may call any Python
//! function, beside the raw numbers. A state dict needs only a handful of its instructions and
//! names:
//!
//! * `error`: what is refused, by name;
//! * `value`: the values and the Python names that a state dict needs;
//! * `machine`: the instructions, over an arena of values;
//! * `state_dict`: its result as name -> (storage, offset, shape, strides), bounds checked;
//! * `container`: the zip archive of today and the plain stream of before 2020, and where each
//!   storage lies.
//!
//! Invariants: a name or instruction outside the list stops the reading; a storage type that is not
//! known is refused, never skipped; memory grows with the bytes really read, never with a number
//! that a file states.

mod container;
mod machine;
mod state_dict;
mod value;

pub use crate::error::PickleError;

use std::fs::File;
use std::path::Path;

use super::tensor::Entry;
use crate::error::{Error, Result};

/// All tensors of the file; `bytes` is its length.
pub(super) fn directory(path: &Path, file: &File, bytes: u64) -> Result<Vec<(String, Entry)>> {
    container::directory(file, bytes)
        .map_err(|source| Error::Pickle { path: path.to_path_buf(), source })
}
