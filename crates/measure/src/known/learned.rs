//! What an engine learned of a model's files.

use serde::{Deserialize, Serialize};

/// What an engine learned of a model's files and does not want to learn again (hashes, types): its
/// own affair, kept in the study as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Learned(serde_json::Value);

impl Learned {
    /// Keeps what an engine learned; nothing where it has no JSON.
    pub fn new(what: &impl Serialize) -> Option<Self> {
        serde_json::to_value(what).ok().map(Self)
    }

    /// What was kept; `None` where it is not of this type, as when another engine kept it.
    pub fn get<T: for<'de> Deserialize<'de>>(&self) -> Option<T> {
        T::deserialize(&self.0).ok()
    }
}
