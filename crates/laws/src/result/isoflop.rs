//! An IsoFLOP sweep: the best size and tokens of each budget, how they grow, and the surface of the loss.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, TracePoint};

/// Version of the layout; a change of meaning of any member raises it.
pub const ISOFLOP_FORMAT: u32 = 1;

/// All groups of a table of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopFit {
    /// Layout version, [`ISOFLOP_FORMAT`].
    pub format: u32,
    /// Program and version that made this.
    pub tool: String,
    /// The file that was read, as it was named.
    pub file: String,
    /// What the budgets count: `fwd`, `train`, or that it was not said.
    pub flops: String,
    /// What the sizes count: `non-embedding`, `non-embedding-and-head`, `total`, or that it was not said.
    pub params: String,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// How often runs were drawn, or their scatter turned, again.
    pub resamples: u32,
    /// Seed of that.
    pub seed: u64,
    /// Where Huber's loss of the surface turns linear, in logarithms of the loss.
    pub huber_delta: f64,
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
    pub left_out: Vec<RunLeftOut>,
    /// FLOPs of a run by its N D: the median over runs, smallest and largest.
    pub flops_per_parameter_and_token: Option<(f64, f64, f64)>,
    /// By budget, smallest first.
    pub budgets: Vec<IsoflopBudget>,
    /// How optima grow with the budget: by the cubic, then by the parabola.
    pub paths: Vec<OptimumPath>,
    /// The surface by variable projection, then by Huber's loss.
    pub surfaces: Vec<IsoflopSurface>,
    /// At the largest budget with an optimum, then at the budgets asked for: what each method says.
    pub ahead: Vec<OptimumAhead>,
    /// Doubts.
    pub flags: Vec<Flag>,
    /// One sentence with the numbers.
    pub verdict: String,
}

/// A run that takes no part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLeftOut {
    /// Its name, or its place in the table.
    pub run: String,
    /// Why.
    pub reason: String,
}

/// One budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopBudget {
    /// FLOPs.
    pub budget: f64,
    /// Its runs, smallest first.
    pub runs: Vec<IsoflopRun>,
    /// The minimum of each curve along each axis.
    pub minima: Vec<IsoflopMinimum>,
}

impl IsoflopBudget {
    /// The minimum of a curve along an axis.
    pub fn minimum(&self, curve: Curve, along: Along) -> Option<&IsoflopMinimum> {
        self.minima.iter().find(|minimum| (minimum.curve, minimum.along) == (curve, along))
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopRun {
    /// Its name, or its place in the table.
    pub run: String,
    /// N.
    pub params: f64,
    /// D.
    pub tokens: f64,
    /// Loss.
    pub loss: f64,
}

/// Which polynomial in the logarithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Curve {
    /// Degree 3: the default, as loss curves are not symmetric about their minimum.
    Cubic,
    /// Degree 2, as published; biased when the curve is asymmetric or sampled off its centre.
    Parabola,
}

impl Curve {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Cubic, Self::Parabola];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Parabola => "parabola",
        }
    }

    /// Its degree.
    pub fn degree(self) -> usize {
        match self {
            Self::Cubic => 3,
            Self::Parabola => 2,
        }
    }
}

/// Of which quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// N.
    Params,
    /// D.
    Tokens,
}

impl Along {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Params, Self::Tokens];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Params => "params",
            Self::Tokens => "tokens",
        }
    }
}

/// The minimum of one curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopMinimum {
    /// Which polynomial.
    pub curve: Curve,
    /// In the logarithm of what.
    pub along: Along,
    /// Where it is, or why there is none.
    pub outcome: MinimumOutcome,
    /// The curve over the runs of the budget, as it is drawn: loss by N or D; empty without a curve, and in files of earlier versions.
    #[serde(default)]
    pub trace: Vec<TracePoint>,
}

impl IsoflopMinimum {
    /// `(place, loss)`, when there is one.
    pub fn found(&self) -> Option<(f64, f64)> {
        match self.outcome {
            MinimumOutcome::Found { at, loss, .. } => Some((at, loss)),
            MinimumOutcome::Refused { .. } => None,
        }
    }
}

/// Where a minimum is, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum MinimumOutcome {
    /// Bracketed by runs on both sides.
    Found {
        /// N or D.
        at: f64,
        /// Loss there.
        loss: f64,
        /// Second derivative of the loss by the logarithm there.
        curvature: f64,
        /// Its standard error from the scatter of the runs; absent without degrees of freedom.
        curvature_standard_error: Option<f64>,
        /// Root mean square of the residuals with the degrees of freedom; absent without any.
        residual_standard_deviation: Option<f64>,
    },
    /// Not quoted.
    Refused {
        /// Why.
        reason: String,
    },
}

/// How optima grow with the budget, by one curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptimumPath {
    /// Which polynomial.
    pub curve: Curve,
    /// `N* = A C^a`.
    pub params: PathOutcome,
    /// `D* = A C^a`.
    pub tokens: PathOutcome,
    /// The least loss (along tokens) as `A C^a`, a below 0.
    pub loss: PathOutcome,
}

/// A power law through minima, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum PathOutcome {
    /// Fitted to the logarithms.
    Fitted(Box<PathLaw>),
    /// Not fitted.
    Refused {
        /// Why.
        reason: String,
    },
}

impl PathOutcome {
    /// The law, when there is one.
    pub fn law(&self) -> Option<&PathLaw> {
        match self {
            Self::Fitted(law) => Some(law),
            Self::Refused { .. } => None,
        }
    }
}

/// `A C^a`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathLaw {
    /// a, with Student t from the scatter of the minima about the line.
    pub exponent: Estimate,
    /// The same with the runs' own scatter about their curves turned again (wild bootstrap).
    pub exponent_by_runs: Estimate,
    /// A.
    pub prefactor: f64,
    /// Of the logarithms.
    pub r_squared: Option<f64>,
    /// Budgets with a minimum.
    pub budgets: u32,
}

impl PathLaw {
    /// The law's value at a budget.
    pub fn at(&self, budget: f64) -> f64 {
        // Factors by logarithms: A alone may leave the range of numbers for steep laws far from C = 1.
        (self.prefactor.ln() + self.exponent.value * budget.ln()).exp()
    }
}

/// The surface by one method, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopSurface {
    /// `variable_projection` or `huber`.
    pub method: SurfaceMethod,
    /// The surface.
    pub outcome: SurfaceOutcome,
}

/// How a surface is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SurfaceMethod {
    /// Least squares of the loss; E, A, B solved for.
    VariableProjection,
    /// Huber's loss of the logarithm from many starts.
    Huber,
}

impl SurfaceMethod {
    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::VariableProjection => "variable projection",
            Self::Huber => "Huber",
        }
    }
}

/// A surface or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum SurfaceOutcome {
    /// `L = E + A N^-alpha + B D^-beta`.
    Fitted(Box<SurfaceLaw>),
    /// Not fitted.
    Refused {
        /// Why.
        reason: String,
    },
}

impl IsoflopSurface {
    /// The surface, when there is one.
    pub fn law(&self) -> Option<&SurfaceLaw> {
        match &self.outcome {
            SurfaceOutcome::Fitted(law) => Some(law),
            SurfaceOutcome::Refused { .. } => None,
        }
    }
}

/// A fitted surface. Intervals are percentiles over runs drawn again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurfaceLaw {
    /// E, the loss that neither size nor tokens take away.
    pub e: Estimate,
    /// A.
    pub a: Estimate,
    /// B.
    pub b: Estimate,
    /// Exponent of size.
    pub alpha: Estimate,
    /// Exponent of tokens.
    pub beta: Estimate,
    /// a of `N* ∝ C^a`: `beta / (alpha + beta)`.
    pub size_exponent: Estimate,
    /// What was minimised: a sum over runs.
    pub objective: f64,
    /// Whether a second method arrived at the same objective.
    pub confirmed: bool,
    /// Root mean square of `L - fitted`, five parameters counted.
    pub residual_standard_deviation: Option<f64>,
    /// Doubts.
    pub flags: Vec<Flag>,
}

/// What every method says of the optimum of one budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptimumAhead {
    /// FLOPs.
    pub budget: f64,
    /// How far from the budgets with an optimum, in powers of ten; 0 inside.
    pub decades_beyond: f64,
    /// A method each.
    pub methods: Vec<MethodOptimum>,
    /// Whether the methods agree, in words.
    pub verdict: String,
}

/// One method's optimum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodOptimum {
    /// Its name.
    pub method: String,
    /// N*.
    pub params: Estimate,
    /// D*.
    pub tokens: Estimate,
    /// The loss there.
    pub loss: Estimate,
}
