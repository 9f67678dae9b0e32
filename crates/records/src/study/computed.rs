//! What computed a run, where the engine says: told to readers, and nothing that decides its
//! numbers by more than rounding.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Kernels and the processor that they ran on. A run that was gone on with elsewhere, or merged of
/// slices, has several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ComputedOn {
    /// The kernels, in a word: `avx512`, `gemm`.
    pub kernels: String,
    /// The processor's name.
    pub processor: String,
}

impl fmt::Display for ComputedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.kernels, self.processor)
    }
}

/// Adds one to a list that is sorted and has none twice; whether it was not there.
pub(super) fn add(list: &mut Vec<ComputedOn>, one: &ComputedOn) -> bool {
    match list.binary_search(one) {
        Ok(_) => false,
        Err(place) => {
            list.insert(place, one.clone());
            true
        }
    }
}
