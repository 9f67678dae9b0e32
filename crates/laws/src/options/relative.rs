//! What a user may choose about relative laws.

use serde::{Deserialize, Serialize};

use super::FitOptions;
use crate::error::LawsError;

/// Options of [`fit_relative`](crate::relative::fit_relative). Recorded in the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelativeOptions {
    /// The distribution that all others are compared with.
    pub baseline: String,
    /// Nominal coverage of every interval, above 0 and below 1.
    pub level: f64,
    /// Slopes below this, of either sign, count as none: what "parallel" means. Above 0. The
    /// default 0.002 changes a gap by half a per cent over a tenfold x.
    pub margin: f64,
    /// Largest share of false claims among all claims of a kind (closes or widens; parallel) in a
    /// family, above 0 and below 1.
    pub false_discovery: f64,
    /// Below this many misses (or hits) of any model on either side no slope of `-ln RBP_k` is
    /// claimed, as for the rank law itself ([`FitOptions::minimum_count`]).
    #[serde(default = "minimum_count")]
    pub minimum_count: u64,
    /// Values of G whose x is wanted, each above 0.
    pub reaches: Vec<f64>,
    /// The x at which G is wanted, each above 0; empty = ten times the largest measured.
    pub at: Vec<f64>,
}

/// That of the rank law.
fn minimum_count() -> u64 {
    FitOptions::default().minimum_count
}

impl RelativeOptions {
    /// The default options for a baseline.
    pub fn new(baseline: impl Into<String>) -> Self {
        Self {
            baseline: baseline.into(),
            level: 0.95,
            margin: 0.002,
            false_discovery: 0.05,
            minimum_count: minimum_count(),
            reaches: vec![1.0],
            at: Vec::new(),
        }
    }

    /// Refuses options that no fit can use.
    ///
    /// # Errors
    /// [`LawsError::Option`] naming the option, its value and what is expected.
    pub fn validate(&self) -> Result<(), LawsError> {
        let refuse = |option, value: f64, expected| {
            Err(LawsError::Option { option, value: value.to_string(), expected })
        };
        let above_zero = |value: &f64| *value > 0.0 && value.is_finite();
        for (option, share) in
            [("level", self.level), ("false discovery rate", self.false_discovery)]
        {
            if !(share > 0.0 && share < 1.0) {
                return refuse(option, share, "above 0 and below 1");
            }
        }
        if !above_zero(&self.margin) {
            return refuse("margin", self.margin, "a slope above 0");
        }
        for (option, values) in [("gap to reach", &self.reaches), ("x to predict at", &self.at)] {
            if let Some(&value) = values.iter().find(|value| !above_zero(value)) {
                return refuse(option, value, "above 0");
            }
        }
        Ok(())
    }
}
