//! The whole of `laws.json`, as one value.

use serde::{Deserialize, Serialize};

use super::{AcrossTokenizers, GroupFit};
use crate::options::FitOptions;

/// All fits of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyFit {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this file.
    pub tool: String,
    /// The options of the fit, seed included: the same records and options give the same bytes.
    pub options: FitOptions,
    /// One entry a family and corpus, ordered by family, then corpus.
    pub groups: Vec<GroupFit>,
    /// One entry a corpus that two families or more were measured on, by name; empty in files of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub across_tokenizers: Vec<AcrossTokenizers>,
}

impl StudyFit {
    /// The group of `family` on `corpus`.
    pub fn group(&self, family: &str, corpus: &str) -> Option<&GroupFit> {
        self.groups.iter().find(|group| group.family == family && group.corpus == corpus)
    }
}
