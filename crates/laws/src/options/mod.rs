//! What a user may choose about a fit.

mod relative;

use serde::{Deserialize, Serialize};

use crate::error::LawsError;
pub use relative::RelativeOptions;

/// Options of [`fit_study`](crate::fit_study). Recorded in the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitOptions {
    /// The k to fit, ascending. Empty = every k that was tallied for all models of a group and is
    /// below the vocabulary (`RBP_|V|` is 1 by definition). A k that was asked for and not tallied
    /// is refused.
    pub k: Vec<u32>,
    /// Nominal coverage of every interval, above 0 and below 1.
    pub level: f64,
    /// Document resamples behind each standard error, at least 2.
    pub resamples: u32,
    /// Seed of the resampling.
    pub seed: u64,
    /// Below this many misses (or hits) of any model no slope is claimed.
    pub minimum_count: u64,
    /// The k at which tokens in a row are looked at, ascending. Empty = every k whose sequences
    /// were counted. One that was asked for and not counted is refused.
    #[serde(default)]
    pub emergence_k: Vec<u32>,
    /// The numbers N of tokens in a row, ascending. Empty = every N that was counted.
    #[serde(default)]
    pub emergence_n: Vec<u32>,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            k: Vec::new(),
            level: 0.95,
            resamples: 2000,
            seed: 20_387,
            minimum_count: 50,
            emergence_k: Vec::new(),
            emergence_n: Vec::new(),
        }
    }
}

impl FitOptions {
    /// Refuses options that no fit can use.
    ///
    /// # Errors
    /// [`LawsError::Option`] naming the option, its value and what is expected.
    pub fn validate(&self) -> Result<(), LawsError> {
        let refuse = |option: &'static str, value: String, expected: &'static str| {
            Err(LawsError::Option { option, value, expected })
        };
        if !(self.level > 0.0 && self.level < 1.0) {
            return refuse("level", self.level.to_string(), "above 0 and below 1");
        }
        if self.resamples < 2 {
            return refuse("resamples", self.resamples.to_string(), "at least 2");
        }
        for (option, values, expected) in [
            ("k", &self.k, "ranks count from 1"),
            ("emergence_k", &self.emergence_k, "ranks count from 1"),
            ("emergence_n", &self.emergence_n, "at least one token in a row"),
        ] {
            if values.contains(&0) {
                return refuse(option, "0".to_owned(), expected);
            }
            if !values.is_sorted_by(|a, b| a < b) {
                return refuse(option, format!("{values:?}"), "ascending, each once");
            }
        }
        Ok(())
    }
}
