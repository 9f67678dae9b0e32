//! What a user may choose about a fit.

use serde::{Deserialize, Serialize};

use crate::error::LawsError;

/// Options of [`fit_study`](crate::fit_study). Recorded in the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitOptions {
    /// The k to fit, ascending. Empty = every k that was tallied for all models of a group and is below
    /// |V| (`RBP_|V|` is 1 by definition). A k that was asked for and not tallied is refused.
    pub k: Vec<u32>,
    /// Nominal coverage of every interval, above 0 and below 1.
    pub level: f64,
    /// Document resamples behind each standard error, at least 2.
    pub resamples: u32,
    /// Seed of the resampling.
    pub seed: u64,
    /// Below this many misses (or hits) of any model no slope is claimed.
    pub minimum_count: u64,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { k: Vec::new(), level: 0.95, resamples: 2000, seed: 20_387, minimum_count: 50 }
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
        if self.k.contains(&0) {
            return refuse("k", "0".to_owned(), "ranks count from 1");
        }
        if !self.k.is_sorted_by(|a, b| a < b) {
            return refuse("k", format!("{:?}", self.k), "ascending, each once");
        }
        Ok(())
    }
}
