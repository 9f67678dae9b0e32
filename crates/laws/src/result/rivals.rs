//! Other shapes that the same points may have, and how they compare.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, HeldOut};

/// Every rival form on the points of one law.
///
/// All are fitted by least squares of `ln value`, so that their AICc compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rivals {
    /// The forms, simplest first; the power law is the first.
    pub forms: Vec<Rival>,
    /// Name of the form with the lowest AICc; absent when fewer than two forms have one.
    pub best_by_aicc: Option<String>,
    /// Name of the form that predicts the largest models best from the smaller ones; absent when fewer than two forms
    /// can be fitted to those.
    pub best_by_held_out: Option<String>,
    /// How many of the largest models [`best_by_held_out`](Self::best_by_held_out) was judged by.
    pub held_out_models: Option<u32>,
    /// A sentence or two with the numbers: which form, by which judge, and whether the two agree.
    pub verdict: String,
}

impl Rivals {
    /// The form of this name.
    pub fn form(&self, name: &str) -> Option<&Rival> {
        self.forms.iter().find(|rival| rival.form == name)
    }
}

/// One form on the points of a law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rival {
    /// Name of the form, e.g. `power law with floor`.
    pub form: String,
    /// Its formula, S the size.
    pub formula: String,
    /// The fit, or why there is none.
    pub outcome: RivalOutcome,
    /// Fits to all but the largest model, and to all but the largest two, and what they predict of those.
    pub held_out: Vec<RivalHeldOut>,
}

impl Rival {
    /// The fit, when there is one.
    pub fn fit(&self) -> Option<&RivalFit> {
        match &self.outcome {
            RivalOutcome::Fitted(fit) => Some(fit),
            RivalOutcome::Refused { .. } => None,
        }
    }

    /// Its error on the `models` largest models, when it could predict them.
    pub fn error(&self, models: u32) -> Option<f64> {
        self.held_out.iter().find(|held| held.models == models)?.error
    }
}

/// How the fit of a form ended. In JSON the member `status` is `fitted` or `refused`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum RivalOutcome {
    /// The form was fitted.
    Fitted(Box<RivalFit>),
    /// There is no fit.
    Refused {
        /// Why, in words.
        reason: String,
    },
}

/// A fitted form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RivalFit {
    /// The parameters of the formula; one that exceeds the range of numbers is left out.
    pub parameters: Vec<RivalParameter>,
    /// The form's value at each point of the law, in their order and unit.
    pub fitted: Vec<f64>,
    /// Sum of squared residuals of `ln value`.
    pub residual_sum_of_squares: f64,
    /// `1 - SS_residual / SS_total` of `ln value`; absent when all values are equal.
    pub r_squared: Option<f64>,
    /// Akaike's criterion with the small-sample correction, the variance of the scatter counted as a parameter;
    /// absent with too few points.
    pub aicc: Option<f64>,
    /// Why there is no AICc.
    pub no_aicc: Option<String>,
    /// AICc less the lowest of the rivals.
    pub aicc_difference: Option<f64>,
    /// Akaike's weight among the forms that have an AICc.
    pub weight: Option<f64>,
    /// Doubts about this fit.
    pub flags: Vec<Flag>,
}

impl RivalFit {
    /// The parameter of this name in the formula.
    pub fn parameter(&self, name: &str) -> Option<&Estimate> {
        self.parameters.iter().find(|parameter| parameter.name == name).map(|parameter| &parameter.estimate)
    }
}

/// A parameter of a formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RivalParameter {
    /// Its name in the formula.
    pub name: String,
    /// Its value, with an interval by profile.
    pub estimate: Estimate,
}

/// A form fitted to the smaller models, and its predictions of the largest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RivalHeldOut {
    /// How many of the largest models were left out.
    pub models: u32,
    /// The predictions, smallest model first; empty when there are none.
    pub predictions: Vec<HeldOut>,
    /// Root mean square of `ln(predicted / observed)`; absent when some model could not be predicted.
    pub error: Option<f64>,
    /// Why some model could not be predicted.
    pub reason: Option<String>,
}
