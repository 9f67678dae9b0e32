//! An IsoFLOP sweep: the best size and tokens of each budget, how they grow, and the surface of the
//! loss.
//!
//! | file | what |
//! |---|---|
//! | `mod` | the whole ([`IsoflopFit`]) and a group of runs ([`IsoflopGroup`]) |
//! | `budget` | one budget: its runs, the minimum of each curve |
//! | `growth` | minima over budgets as laws; the surface |
//! | `losses` | the loss of runs that were not trained, and of runs left out |
//! | `prediction` | what every method says of one budget, and whether they agree |

use serde::{Deserialize, Serialize};

use super::{Flag, LeftOut};

mod budget;
mod growth;
mod losses;
mod prediction;

pub use budget::{Along, Curve, IsoflopBudget, IsoflopMinimum, IsoflopRun, IsoflopSize, Minimum};
pub use growth::{FloorLaw, IsoflopSurface, OptimumPath, PathLaw, SurfaceLaw, SurfaceMethod};
pub use losses::{
    ExponentRatio, FormComparison, FormCriteria, HeldOutBy, HeldOutCheck, HeldOutLoss,
    HeldOutLosses, HeldOutRuns, HeldOutSurface, LossPredictions, LossThere, OverTrainingLaw,
    OverTrainingSurface, PointDistance, PointLoss, PointPrediction, SurfaceForm,
};
pub use prediction::{
    Agreement, Judged, LossForm, MethodOptimum, MethodValue, OptimumLoss, OptimumPrediction,
};

/// All groups of a table of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopFit {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this.
    pub tool: String,
    /// The file that was read, as it was named.
    pub file: String,
    /// What the budgets count: `fwd`, `train`, or that it was not said.
    pub flops: String,
    /// The formula by which budgets were computed from the sizes and tokens of runs (`6 N D`,
    /// `2 N D`); absent where the table has them.
    pub budget_from: Option<String>,
    /// How far apart, as a ratio less 1, the FLOPs of runs of one budget may lie.
    pub budget_tolerance: f64,
    /// What the sizes count: `non-embedding`, `non-embedding-and-head`, `total`, or that it was not
    /// said.
    pub params: String,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// How often scatter, or weights, of the runs were drawn again.
    pub resamples: u32,
    /// Seed of that.
    pub seed: u64,
    /// Where Huber's loss of the surface turns linear, in the unit of its residuals.
    pub huber_delta: f64,
    /// What its residuals are of: `log` or `loss`.
    pub huber_residual: String,
    /// The exponent of N* that every method was held to; absent where it is found.
    pub size_exponent: Option<f64>,
    /// By name.
    pub groups: Vec<IsoflopGroup>,
}

/// The runs of one dataset (or whatever groups are).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopGroup {
    /// Its name.
    pub name: String,
    /// Runs that take part.
    pub runs: u32,
    /// Runs that do not, with the reason.
    pub left_out: Vec<LeftOut>,
    /// FLOPs of a run by its N D: the median over runs, smallest and largest.
    pub flops_per_parameter_and_token: Option<(f64, f64, f64)>,
    /// By budget, smallest first.
    pub budgets: Vec<IsoflopBudget>,
    /// How optima grow with the budget: by the cubic, then by the parabola.
    pub paths: Vec<OptimumPath>,
    /// The surface by variable projection, then by Huber's loss.
    pub surfaces: Vec<IsoflopSurface>,
    /// What the methods say of the exponents of N* and of D*, beside one another.
    pub agreement: Vec<Agreement>,
    /// At the largest budget with an optimum, then at the budgets asked for: what each method says.
    pub ahead: Vec<OptimumPrediction>,
    /// The loss at the points asked for; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<LossPredictions>,
    /// Doubts.
    pub flags: Vec<Flag>,
    /// One sentence with the numbers.
    pub verdict: String,
}
