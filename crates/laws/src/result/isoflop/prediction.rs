//! What every method says of one budget, and whether the methods agree.

use serde::{Deserialize, Serialize};

use crate::result::Estimate;

/// What every method says of the optimum of one budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptimumPrediction {
    /// FLOPs.
    pub budget: f64,
    /// How far from the budgets with an optimum, in powers of ten; 0 inside.
    pub decades_beyond: f64,
    /// A method each.
    pub methods: Vec<MethodOptimum>,
    /// The loss to expect there: among the budgets by the default curve, beyond them by the first
    /// method that has a floor (the minima of the curves, then the surfaces), or, without one, by
    /// the pure power law.
    pub loss: Option<OptimumLoss>,
    /// N*, D* and the loss of the methods beside one another.
    pub agreement: Vec<Agreement>,
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
    /// By which form.
    pub loss_form: LossForm,
    /// The loss by the pure power law `A C^a`, beside that with a floor; too low far beyond the
    /// budgets.
    pub loss_without_floor: Option<Estimate>,
}

/// By which form a loss was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossForm {
    /// `k C^-b + E` through the least losses of the budgets.
    PowerWithFloor,
    /// `A C^a` through them, as they tell no floor.
    Power,
    /// `E + A N*^-alpha + B D*^-beta`.
    Surface,
    /// The same with E at 0.
    SurfaceWithoutFloor,
}

impl LossForm {
    /// As a formula.
    pub fn formula(self) -> &'static str {
        match self {
            Self::PowerWithFloor => "k C^-b + E",
            Self::Power => "A C^a, no floor",
            Self::Surface => "surface",
            Self::SurfaceWithoutFloor => "surface, E = 0",
        }
    }

    /// Whether it has a floor.
    pub fn has_floor(self) -> bool {
        matches!(self, Self::PowerWithFloor | Self::Surface)
    }
}

/// The loss to expect, and whose it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptimumLoss {
    /// Name of the method.
    pub method: String,
    /// Its form.
    pub form: LossForm,
    /// The loss.
    pub value: Estimate,
}

/// One quantity by all methods, beside one another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// `N*`, `D*`, `loss`, `a of N*`, `a of D*`.
    pub quantity: String,
    /// The smallest value.
    pub smallest: MethodValue,
    /// The largest.
    pub largest: MethodValue,
    /// Whether the intervals meet.
    pub outcome: Judged,
}

/// A value and whose it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodValue {
    /// Name of the method.
    pub method: String,
    /// Its value.
    pub value: f64,
}

/// Whether intervals of methods meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Judged {
    /// Every pair does.
    Within,
    /// Some do not.
    Apart {
        /// The pairs, by name.
        pairs: Vec<(String, String)>,
    },
    /// Fewer than two have one.
    NotJudged,
}
