//! The loss of runs that were not trained: by every form of the surface and both ways to fit it,
//! and how well each tells runs that were left out.

use serde::{Deserialize, Serialize};

use super::{IsoflopRun, SurfaceMethod};
use crate::result::{Coverage, Estimate, Flag, Interval, Outcome};

/// The loss at points that were asked for, and what speaks for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LossPredictions {
    /// The form with one exponent, by each method.
    pub over_training: Vec<OverTrainingSurface>,
    /// Whether the runs tell both forms apart.
    pub forms: FormComparison,
    /// By point, in the order asked.
    pub points: Vec<PointPrediction>,
    /// Runs left out and predicted: those of most compute, those of most tokens a parameter.
    pub held_out: Vec<HeldOutRuns>,
}

/// A form of the surface of the loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SurfaceForm {
    /// `E + A N^-alpha + B D^-beta` (Hoffmann et al. 2022).
    Chinchilla,
    /// The same with alpha = beta, as `E + (a M^eta + b M^-eta) C^-eta` (Gadre et al. 2024).
    OverTraining,
}

impl SurfaceForm {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Chinchilla, Self::OverTraining];

    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chinchilla => "Chinchilla",
            Self::OverTraining => "over-training",
        }
    }
}

/// The form with one exponent by one method, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverTrainingSurface {
    /// How it is fitted.
    pub method: SurfaceMethod,
    /// What was found.
    pub outcome: Outcome<OverTrainingLaw>,
}

/// `E + (a M^eta + b M^-eta) C^-eta`, M = D / N. Intervals as those of the surface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverTrainingLaw {
    /// E.
    pub e: Estimate,
    /// a, by the C below.
    pub a: Estimate,
    /// b, likewise.
    pub b: Estimate,
    /// eta: half the exponent of size and of tokens.
    pub eta: Estimate,
    /// Tokens a parameter with the least loss: `(b / a)^(1 / (2 eta))`, at any compute.
    pub best_multiplier: Estimate,
    /// k of `C = k N D` that a and b are of: that of the runs, or 6 where nothing tells it.
    pub flops_per_parameter_and_token: f64,
    /// What was minimised: a sum over runs.
    pub objective: f64,
    /// Whether a second method arrived at the same objective.
    pub confirmed: bool,
    /// Drawn runs to which it could not be fitted; they are in no interval.
    pub failed_resamples: u32,
    /// Root mean square of `L - fitted`, its parameters counted.
    pub residual_standard_deviation: Option<f64>,
    /// Doubts.
    pub flags: Vec<Flag>,
}

/// Both forms on the same runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormComparison {
    /// alpha / beta of the surface with two exponents, by each method that found one: 1 where one
    /// exponent is enough.
    pub exponent_ratios: Vec<ExponentRatio>,
    /// AICc by variable projection; absent where a form has no fit or the runs are too few.
    pub aicc: Option<FormCriteria>,
    /// Whether the runs tell two exponents from one: every ratio's interval leaves 1 out, and the
    /// AICc with two is lower. Absent where it cannot be judged: an exponent is held, or a fit or
    /// an interval is missing.
    pub told_apart: Option<bool>,
    /// That in words.
    pub verdict: String,
}

/// alpha / beta by one method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExponentRatio {
    /// How the surface is fitted.
    pub method: SurfaceMethod,
    /// alpha / beta.
    pub ratio: Estimate,
}

/// AICc of both forms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FormCriteria {
    /// Of two exponents.
    pub chinchilla: f64,
    /// Of one.
    pub over_training: f64,
}

/// One point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointPrediction {
    /// N.
    pub params: f64,
    /// D.
    pub tokens: f64,
    /// C by the k of the runs or of the convention; absent where nothing tells one.
    pub flops: Option<f64>,
    /// M = D / N.
    pub multiplier: f64,
    /// How far from the runs it is.
    pub distances: Vec<PointDistance>,
    /// The loss there, a form and method each.
    pub losses: Vec<PointLoss>,
}

/// How far a point is from the runs in one quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointDistance {
    /// `N`, `D`, `C` (`N D` where nothing tells k), `M`.
    pub quantity: String,
    /// At the point.
    pub at: f64,
    /// Smallest of the runs; of C by the same k.
    pub low: f64,
    /// Largest of the runs.
    pub high: f64,
    /// Over the largest where it is above (so above 1), over the smallest where it is below; 1
    /// inside.
    pub ratio: f64,
}

/// The loss at a point by one form and method, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointLoss {
    /// The form.
    pub form: SurfaceForm,
    /// How it is fitted.
    pub method: SurfaceMethod,
    /// The loss.
    pub outcome: Outcome<LossThere>,
}

/// A predicted loss and its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LossThere {
    /// The loss of a run there. Its interval is of one new run: the spread of the surface over
    /// drawn runs and the scatter of runs beside the surface.
    pub loss: Estimate,
    /// The interval of the surface alone, as of the mean of many such runs.
    pub of_surface: Interval,
    /// E.
    pub floor: Estimate,
    /// `A N^-alpha`: what a model without end would take away.
    pub size: Estimate,
    /// `B D^-beta`: what tokens without end would.
    pub data: Estimate,
}

/// By what runs are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldOutBy {
    /// Those of most compute, by N D.
    Compute,
    /// Those of most tokens a parameter.
    Multiplier,
}

impl HeldOutBy {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Compute, Self::Multiplier];

    /// The quantity's symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Compute => "C",
            Self::Multiplier => "M",
        }
    }
}

/// Runs that were left out and predicted by the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutRuns {
    /// Which.
    pub by: HeldOutBy,
    /// How it went, or why there is none.
    pub outcome: Outcome<HeldOutCheck>,
}

/// The check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutCheck {
    /// Runs that were fitted.
    pub fitted: u32,
    /// The farthest run left out over the farthest run fitted, of N D or of M.
    pub reach: f64,
    /// Draws behind each interval here.
    pub resamples: u32,
    /// The runs left out.
    pub runs: Vec<IsoflopRun>,
    /// How each form and method told them.
    pub surfaces: Vec<HeldOutSurface>,
}

/// How one form and method told the runs, or why it could not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutSurface {
    /// The form.
    pub form: SurfaceForm,
    /// How it is fitted.
    pub method: SurfaceMethod,
    /// Its predictions.
    pub outcome: Outcome<HeldOutLosses>,
}

/// Predictions of the runs left out, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutLosses {
    /// A run each.
    pub predictions: Vec<HeldOutLoss>,
    /// Mean of the relative errors: above 0, the form falls too slowly.
    pub mean_error: f64,
    /// Root of the mean square of the relative errors.
    pub root_mean_square_error: f64,
    /// How many intervals hold their run.
    pub coverage: Option<Coverage>,
}

/// One run as a fit predicts it that has not seen it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutLoss {
    /// The loss, with the interval of one new run.
    pub predicted: Estimate,
    /// `predicted / loss - 1`.
    pub relative_error: f64,
    /// Whether the interval holds the loss; absent when there is none.
    pub covered: Option<bool>,
}
