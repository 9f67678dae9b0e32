//! How optima grow: minima over budgets as laws, and the surface of the loss.

use serde::{Deserialize, Serialize};

use super::Curve;
use crate::result::{Estimate, Flag, Outcome};

/// How optima grow with the budget, by one curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptimumPath {
    /// Which polynomial.
    pub curve: Curve,
    /// `N* = A C^a`.
    pub params: Outcome<PathLaw>,
    /// `D* = A C^a`.
    pub tokens: Outcome<PathLaw>,
    /// The least loss (along tokens) as `A C^a`, a below 0: without a floor, so too low far beyond
    /// the budgets.
    pub loss: Outcome<PathLaw>,
    /// The least loss as `k C^-b + E`, and whether the minima tell E from 0.
    pub loss_with_floor: Outcome<FloorLaw>,
}

/// `A C^a`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathLaw {
    /// a, with Student t from the scatter of the minima about the line; without interval where it
    /// was held.
    pub exponent: Estimate,
    /// The same by the runs' own scatter about their curves, drawn again, with Student's t of the
    /// budgets' degrees of freedom together.
    pub exponent_by_runs: Estimate,
    /// A: the law at one FLOP, so far from any budget that its interval spans orders of magnitude.
    pub prefactor: Estimate,
    /// The same by the runs' own scatter.
    pub prefactor_by_runs: Estimate,
    /// Of the logarithms.
    pub r_squared: Option<f64>,
    /// Budgets with a minimum.
    pub budgets: u32,
}

impl PathLaw {
    /// The law's value at a budget.
    pub fn at(&self, budget: f64) -> f64 {
        // Factors by logarithms: A alone may leave the range of numbers for steep laws far from C =
        // 1.
        (self.prefactor.value.ln() + self.exponent.value * budget.ln()).exp()
    }
}

/// `k C^-b + E` with E at least 0, by least squares of the logarithm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FloorLaw {
    /// E, the loss that no compute takes away along the optimum.
    pub floor: Estimate,
    /// b.
    pub exponent: Estimate,
    /// k.
    pub prefactor: Estimate,
    /// Whether the minima tell E from 0 at the level of the intervals: only then is it used.
    pub told: bool,
    /// Of the logarithms.
    pub r_squared: Option<f64>,
    /// Budgets with a minimum.
    pub budgets: u32,
}

/// The surface by one method, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IsoflopSurface {
    /// `variable_projection` or `huber`.
    pub method: SurfaceMethod,
    /// The surface.
    pub outcome: Outcome<SurfaceLaw>,
}

/// How a surface is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SurfaceMethod {
    /// Least squares of the loss; E, A, B solved for.
    VariableProjection,
    /// Huber's loss, of the logarithm unless said otherwise, from many starts.
    Huber,
}

impl SurfaceMethod {
    /// Both.
    pub const ALL: [Self; 2] = [Self::VariableProjection, Self::Huber];

    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::VariableProjection => "variable projection",
            Self::Huber => "Huber",
        }
    }
}

impl IsoflopSurface {
    /// The surface, when there is one.
    pub fn law(&self) -> Option<&SurfaceLaw> {
        self.outcome.fit()
    }
}

/// A fitted surface. Intervals are by the spread over scatter (variable projection) or weights
/// (Huber) of the runs drawn again, times Student's t.
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
    /// a of `N* = A C^a`: `beta / (alpha + beta)`.
    pub size_exponent: Estimate,
    /// a of `D* = A C^a`: `alpha / (alpha + beta)`.
    pub tokens_exponent: Estimate,
    /// A of `N* = A C^a`, C by the median of `C / (N D)`; absent without budgets.
    pub size_prefactor: Option<Estimate>,
    /// A of `D* = A C^a`, likewise.
    pub tokens_prefactor: Option<Estimate>,
    /// What was minimised: a sum over runs.
    pub objective: f64,
    /// Whether a second method arrived at the same objective.
    pub confirmed: bool,
    /// Drawn runs to which no surface could be fitted; they are in no interval.
    pub failed_resamples: u32,
    /// Root mean square of `L - fitted`, its parameters counted.
    pub residual_standard_deviation: Option<f64>,
    /// Doubts.
    pub flags: Vec<Flag>,
}
