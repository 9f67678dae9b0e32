//! The law over training: errors of checkpoints along size and along tokens, how early they tell
//! the end, and what seeds scatter.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, LeftOut, Outcome, Quantity, Split};

/// Every family of a study of checkpoints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingFit {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this.
    pub tool: String,
    /// The manifest of the models.
    pub models: String,
    /// What sizes are.
    pub params: String,
    /// What tokens are.
    pub tokens: String,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// What of the models was computed, converted or not said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// One entry a family and distribution.
    pub groups: Vec<TrainingGroup>,
}

/// One family on one distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingGroup {
    /// The family.
    pub family: String,
    /// The distribution: a corpus, or the value of a tag.
    pub distribution: String,
    /// Number of different sizes.
    pub sizes: u32,
    /// Numbers of tokens that at least three sizes have, ascending.
    pub levels: Vec<f64>,
    /// One law a quantity: the cross entropy, then the ranks, k ascending.
    pub laws: Vec<TrainingLaw>,
    /// A few sentences with the numbers.
    pub verdict: String,
}

impl TrainingGroup {
    /// The law of the ranks at `k`.
    pub fn rank_law(&self, k: u32) -> Option<&TrainingLaw> {
        self.laws.iter().find(|law| law.quantity == Quantity::Rank { k })
    }
}

/// One quantity over size and tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingLaw {
    /// What it is about.
    pub quantity: Quantity,
    /// Unit of the values.
    pub unit: String,
    /// The checkpoints, by size, tokens, name.
    pub points: Vec<TrainingPoint>,
    /// Checkpoints that have no value here.
    pub left_out: Vec<LeftOut>,
    /// Slopes of its logarithm along size at fixed tokens, along tokens at fixed size, and of a
    /// plane over both: `c S^a D^b`.
    pub split: Split,
    /// `E + A S^-alpha + B D^-beta` through all checkpoints.
    pub surface: Outcome<TrainingSurface>,
    /// How far plane and surface miss checkpoints that they have not seen.
    pub held_out: Vec<UnseenCheckpoints>,
    /// What checkpoints of a part of the training say of its end, the earliest first.
    pub early: Vec<EarlyCut>,
    /// Scatter of runs that differ in their seed alone; absent where no size has two runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<SeedNoise>,
    /// Doubts about it.
    pub flags: Vec<Flag>,
    /// One sentence with the numbers.
    pub verdict: String,
}

/// One checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingPoint {
    /// The model.
    pub model: String,
    /// The training run of which it is a checkpoint.
    pub run: String,
    /// S.
    pub parameters: f64,
    /// Tokens seen.
    pub tokens: f64,
    /// The error.
    pub value: f64,
    /// By the surface; absent without one.
    pub fitted: Option<f64>,
}

/// A surface over size and tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingSurface {
    /// What no size and no tokens take away, in the quantity's unit.
    pub floor: f64,
    /// The points show no floor.
    pub floor_at_zero: bool,
    /// A.
    pub size_coefficient: f64,
    /// B.
    pub tokens_coefficient: f64,
    /// alpha, by leaving out whole sizes.
    pub size_exponent: Estimate,
    /// beta, likewise.
    pub tokens_exponent: Estimate,
    /// Root mean square of the residuals' logarithms.
    pub log_residual: f64,
}

/// Checkpoints that were held out: the largest size, or the last number of tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnseenCheckpoints {
    /// What they are: `largest size`, `last tokens`.
    pub what: String,
    /// How many.
    pub points: u32,
    /// Mean of |ln(predicted / found)| by the plane; absent where it could not be fitted.
    pub plane: Option<f64>,
    /// By the surface.
    pub surface: Option<f64>,
}

/// What checkpoints up to a number of tokens say of the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlyCut {
    /// Tokens of the last checkpoint that is used.
    pub tokens: f64,
    /// The same as a part of the end's.
    pub part: f64,
    /// Runs whose end is predicted.
    pub runs: u32,
    /// Mean of |ln(predicted / found)| over the runs by the line through ln error and ln tokens of
    /// each run's own last three checkpoints.
    pub own_line: Option<f64>,
    /// By the surface through all checkpoints up to there.
    pub surface: Option<f64>,
    /// By the error as it is at the cut.
    pub unchanged: f64,
    /// The exponent along size at the cut; absent for fewer than three sizes.
    pub size_exponent: Option<f64>,
    /// The same at the end.
    pub size_exponent_at_end: Option<f64>,
}

/// Scatter of seeds beside the noise of the text, in logarithms of the error, after as many tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeedNoise {
    /// Tokens after which the runs are compared: the last that sizes with several runs share.
    pub tokens: f64,
    /// Sizes with at least two runs.
    pub sizes: u32,
    /// Runs of these.
    pub runs: u32,
    /// Standard deviation of a run about those of its size, the noise of their common text taken
    /// off.
    pub deviation: f64,
    /// Lower and upper end of its interval, by chi-squared; absent without degrees of freedom.
    pub ends: Option<[f64; 2]>,
    /// Runs less sizes.
    pub degrees_of_freedom: u32,
    /// Mean standard error of one run's error by the text; absent where it is not known.
    pub text: Option<f64>,
    /// Mean standard error of the difference of two runs by the text, over the root of 2: how much
    /// of the deviation the text could make by itself.
    pub text_of_difference: Option<f64>,
}
