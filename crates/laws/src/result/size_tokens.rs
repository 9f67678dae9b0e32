//! Size against tokens: how errors and gaps change along one at fixed other.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, Outcome};

/// Every distribution of a table, along size and along tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeTokensFit {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this.
    pub tool: String,
    /// The file that was read, as it was named.
    pub file: String,
    /// The manifest of the models, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<String>,
    /// What sizes are.
    pub params: String,
    /// What tokens are.
    pub tokens: String,
    /// What the errors are.
    pub error: String,
    /// The distribution that all others are compared with.
    pub baseline: String,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// Smallest and largest size.
    pub params_range: (f64, f64),
    /// Smallest and largest number of tokens.
    pub tokens_range: (f64, f64),
    /// Number of different sizes.
    pub sizes: u32,
    /// What of the models was computed, converted or not said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// The baseline first, then the others by name.
    pub distributions: Vec<SizeTokens>,
}

impl SizeTokensFit {
    /// A distribution by name.
    pub fn distribution(&self, name: &str) -> Option<&SizeTokens> {
        self.distributions.iter().find(|distribution| distribution.name == name)
    }
}

/// One distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeTokens {
    /// Its name.
    pub name: String,
    /// Checkpoints with an error.
    pub points: u32,
    /// Slopes of ln error.
    pub absolute: Split,
    /// Slopes of ln G, the gap to the baseline; absent for the baseline.
    pub gap: Option<Split>,
    /// Doubts about it.
    pub flags: Vec<Flag>,
    /// One sentence with the numbers.
    pub verdict: String,
}

/// A quantity along size at fixed tokens, and along tokens at fixed size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// Along size: a slice is the checkpoints of one number of tokens.
    pub along_size: Direction,
    /// Along tokens: a slice is the checkpoints of one size.
    pub along_tokens: Direction,
    /// Both at once, over all checkpoints: `ln quantity = c + a ln size + b ln tokens`; needs no
    /// checkpoints of equal tokens.
    pub plane: Outcome<Plane>,
}

/// Slopes in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// The slices with at least three values of what varies, by what is fixed.
    pub slices: Vec<Slice>,
    /// The mean slope over the slices, with an interval by the jackknife over sizes; absent without
    /// slices.
    pub slope: Option<Estimate>,
    /// By how much the quantity is multiplied over the whole range of what varies:
    /// `exp(slope ln(largest / smallest))`.
    pub factor: Option<f64>,
}

/// A line through the checkpoints of one slice, in logarithms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// What is fixed: tokens (their geometric mean), or size.
    pub fixed: f64,
    /// Checkpoints.
    pub points: u32,
    /// Slope of the logarithm.
    pub slope: f64,
    /// Of the line; absent when all values are equal.
    pub r_squared: Option<f64>,
}

/// A plane through the logarithms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// Slope along ln size, with an interval by the jackknife over sizes.
    pub size: Estimate,
    /// Slope along ln tokens, likewise.
    pub tokens: Estimate,
    /// Of the plane; absent when all values are equal.
    pub r_squared: Option<f64>,
}
