//! Other shapes that the same points may have, and how they compare.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, HeldOut, Outcome, Parameter};

/// Every rival form on the points of one law.
///
/// All are fitted by least squares of `ln value`, so that their AICc compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rivals {
    /// The forms, simplest first; the power law is the first.
    pub forms: Vec<Rival>,
    /// The test of the power law, with its level; absent in files of before it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<FormTest>,
    /// Name of the form with the lowest AICc where the test rejects the power law, and the power
    /// law where it does not; absent when fewer than two forms have an AICc. The raw order is in
    /// [`RivalFit::aicc_difference`].
    pub best_by_aicc: Option<String>,
    /// Name of the form that predicts the largest models best from the smaller ones; absent when
    /// fewer than two forms can be fitted to those.
    pub best_by_held_out: Option<String>,
    /// How many of the largest models [`best_by_held_out`](Self::best_by_held_out) was judged by.
    pub held_out_models: Option<u32>,
    /// A few sentences with the numbers: whether the power law is rejected, and which form predicts
    /// held-out models best.
    pub verdict: String,
}

impl Rivals {
    /// The form of this name.
    pub fn form(&self, name: &str) -> Option<&Rival> {
        self.forms.iter().find(|rival| rival.form == name)
    }
}

/// The test whether the points bend away from a power law, beside the test whether they are of two
/// families.
///
/// `relscale_stats::judge` has both: they hold their level under equal scatter, scatter that falls
/// or rises with size by four to one, and heavy-tailed scatter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormTest {
    /// What is found.
    pub finding: FormFinding,
    /// Chance of a bend this large were the power law true; absent where there is no test, and for
    /// points that lie on a power law to rounding.
    pub p_value: Option<f64>,
    /// The largest share of true power laws that the test rejects.
    pub level: f64,
    /// Points of the law.
    pub points: u32,
    /// Points that the test needs.
    pub points_needed: u32,
    /// Coefficient of `(ln S)²` beside the line of `ln value` on `ln S`: above zero, the fall
    /// slows.
    pub curvature: Option<f64>,
    /// Its standard error, by the scatter about the curve.
    pub standard_error: Option<f64>,
    /// Points less three.
    pub degrees_of_freedom: Option<u32>,
    /// The smallest floor that would be seen: by these points, and by twice as many over the same
    /// sizes. Empty where the power law is rejected or not tested.
    pub shown: Vec<FloorShown>,
    /// What would change the finding, in words.
    pub would_change: String,
    /// Chance that two laws explain this much of one; absent with fewer than six points.
    pub lumped_p_value: Option<f64>,
    /// Whether that rejects one law at the level, and neither a bend nor a single point explains
    /// more.
    pub lumped: bool,
}

/// What a test of the form finds.
///
/// In JSON `not_rejected`, `bends`, `undecided`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FormFinding {
    /// The points do not contradict a power law.
    NotRejected,
    /// They bend, beyond the level: no power law.
    Bends,
    /// Too few points for a test.
    Undecided,
}

/// A floor that so many points would show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FloorShown {
    /// Points.
    pub points: u32,
    /// Chance that the test rejects the power law.
    pub chance: f64,
    /// The floor, as a share of the value at the largest size; absent where none would be seen.
    pub share_of_largest: Option<f64>,
}

/// One form on the points of a law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rival {
    /// Name of the form, e.g. `power law with floor`.
    pub form: String,
    /// Its formula, S the size.
    pub formula: String,
    /// The fit, or why there is none.
    pub outcome: Outcome<RivalFit>,
    /// Fits to all but the largest model, and to all but the largest two, and what they predict of
    /// those.
    pub held_out: Vec<RivalHeldOut>,
}

impl Rival {
    /// The fit, when there is one.
    pub fn fit(&self) -> Option<&RivalFit> {
        self.outcome.fit()
    }

    /// Its error on the `models` largest models, when it could predict them.
    pub fn error(&self, models: u32) -> Option<f64> {
        self.held_out.iter().find(|held| held.models == models)?.error
    }
}

/// A fitted form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RivalFit {
    /// The parameters of the formula, with intervals by profile; one that exceeds the range of
    /// numbers is left out.
    pub parameters: Vec<Parameter>,
    /// The form's value at each point of the law, in their order and unit.
    pub fitted: Vec<f64>,
    /// Sum of squared residuals of `ln value`.
    pub residual_sum_of_squares: f64,
    /// `1 - SS_residual / SS_total` of `ln value`; absent when all values are equal.
    pub r_squared: Option<f64>,
    /// Akaike's criterion with the small-sample correction, the variance of the scatter counted as
    /// a parameter; absent with too few points.
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
        self.parameters
            .iter()
            .find(|parameter| parameter.name == name)
            .map(|parameter| &parameter.estimate)
    }
}

/// A form fitted to the smaller models, and its predictions of the largest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RivalHeldOut {
    /// How many of the largest models were left out.
    pub models: u32,
    /// The predictions, smallest model first; empty when there are none.
    pub predictions: Vec<HeldOut>,
    /// Root mean square of `ln(predicted / observed)`; absent when some model could not be
    /// predicted.
    pub error: Option<f64>,
    /// Why some model could not be predicted.
    pub reason: Option<String>,
}
