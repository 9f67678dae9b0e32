//! The whole of `laws.json`, to disk and back.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::GroupFit;
use crate::error::LawsError;
use crate::options::FitOptions;

/// Version of the layout of `laws.json`; a change of meaning of any member raises it.
pub const FORMAT: u32 = 2;

/// All fits of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyFit {
    /// Layout version, [`FORMAT`].
    pub format: u32,
    /// Program and version that made this file.
    pub tool: String,
    /// The options of the fit, seed included: the same records and options give the same bytes.
    pub options: FitOptions,
    /// One entry a family and corpus, ordered by family, then corpus.
    pub groups: Vec<GroupFit>,
}

impl StudyFit {
    /// The group of `family` on `corpus`.
    pub fn group(&self, family: &str, corpus: &str) -> Option<&GroupFit> {
        self.groups.iter().find(|group| group.family == family && group.corpus == corpus)
    }

    /// Reads a file that [`save`](super::Saved::save) wrote.
    ///
    /// # Errors
    /// [`LawsError::Read`] when it cannot be read, [`LawsError::Format`] when it has another layout
    /// version, [`LawsError::Parse`] when it is no such file.
    pub fn load(path: &Path) -> Result<Self, LawsError> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let text =
            fs::read_to_string(path).map_err(|source| LawsError::Read { path: path.to_owned(), source })?;
        let parse = |source| LawsError::Parse { path: path.to_owned(), source };
        // The version first: a file of another layout should be told so, not that a member is missing.
        let Version { format } = serde_json::from_str(&text).map_err(parse)?;
        if format != FORMAT {
            return Err(LawsError::Format { path: path.to_owned(), found: format, expected: FORMAT });
        }
        serde_json::from_str(&text).map_err(parse)
    }
}
