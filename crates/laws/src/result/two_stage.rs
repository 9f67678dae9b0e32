//! Two stages: compute to loss, loss to accuracy, and accuracy from compute directly.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, Interval, Outcome, Parameter, TracePoint};

/// Both stages of every group of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagesFit {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this.
    pub tool: String,
    /// The file that was read, as it was named.
    pub file: String,
    /// The manifest of the models, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<String>,
    /// What x is: a column, or a product of columns.
    pub x: String,
    /// The column of losses.
    pub loss: String,
    /// The column of accuracies.
    pub accuracy: String,
    /// Accuracy by chance, where it was given: the sigmoids' lower limit.
    pub chance: Option<f64>,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// One entry a group, by name.
    pub groups: Vec<StagesGroup>,
}

/// One group of rows: a task, a prompt format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagesGroup {
    /// The group's values, several joined by `, `; `all` where nothing was grouped by.
    pub name: String,
    /// The rows, smallest x first.
    pub points: Vec<StagesPoint>,
    /// How much of the loss is decided by x.
    pub predictability: Predictability,
    /// The curves through all points.
    pub curves: StageCurves,
    /// Accuracies at the x that were asked for, by the curves through all points, each route that
    /// has one.
    pub ahead: Vec<StagesPrediction>,
    /// The points that were held out, predicted by curves through the others; absent when none was.
    pub held_out: Option<HeldOutStages>,
    /// Doubts about the group.
    pub flags: Vec<Flag>,
    /// Sentences with the numbers.
    pub verdict: String,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagesPoint {
    /// The model, where the table names it; else the row's place.
    pub label: String,
    /// Where the row stands, e.g. `line 3`.
    pub place: String,
    /// As given.
    pub x: f64,
    /// As given.
    pub loss: f64,
    /// A share from 0 to 1.
    pub accuracy: f64,
    /// Whether it was held out.
    pub held_out: bool,
}

/// How much of the loss is decided by x: shares of its variation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predictability {
    /// R² of a parabola of the loss in ln x; absent below four points.
    pub quadratic: Option<f64>,
    /// The same with each point predicted from all others; below 0 when their mean would predict
    /// better.
    pub quadratic_left_out: Option<f64>,
    /// R² of a power law, of ln loss; absent below three points.
    pub power: Option<f64>,
    /// The same with each point predicted from all others.
    pub power_left_out: Option<f64>,
}

/// Everything that is fitted to a set of points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageCurves {
    /// First stage: `loss = a x^-alpha + c`, by least squares of ln loss.
    pub loss: Outcome<StageCurve>,
    /// Second stage: `accuracy = lower + (upper - lower) / (1 + exp(rate (loss - midpoint)))`, by
    /// least squares of the accuracy.
    pub accuracy: Outcome<StageCurve>,
    /// Directly: `-ln accuracy = a x^-alpha`, by least squares of its logarithm.
    pub direct_power: Outcome<StageCurve>,
    /// Directly: the second stage's sigmoid with `-ln x` for the loss.
    pub direct_sigmoid: Outcome<StageCurve>,
    /// The curves over all x and losses of the group, held-out points and the x asked for included,
    /// as they are drawn.
    #[serde(default)]
    pub traces: StageTraces,
}

/// Curves at many places. Intervals are those of one new model; the first stage's are not traced.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StageTraces {
    /// Loss over x.
    pub loss: Vec<TracePoint>,
    /// Accuracy over loss, by the second stage.
    pub accuracy: Vec<TracePoint>,
    /// Accuracy over x, each route from x that has a curve.
    pub routes: Vec<RouteTrace>,
}

impl StageTraces {
    /// The accuracy over x by a route.
    pub fn route(&self, route: Route) -> Option<&[TracePoint]> {
        let traced = self.routes.iter().find(|traced| traced.route == route)?;
        Some(&traced.accuracy)
    }
}

/// Accuracy over x by one route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RouteTrace {
    /// The way.
    pub route: Route,
    /// The curve.
    pub accuracy: Vec<TracePoint>,
}

/// A fitted curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageCurve {
    /// The parameters by name.
    pub parameters: Vec<Parameter>,
    /// `1 - SS_residual / SS_total` of what was fitted; absent when all values are equal.
    pub r_squared: Option<f64>,
    /// Standard deviation of the residuals of what was fitted, over points less parameters.
    pub residual_standard_deviation: f64,
    /// Points in the fit.
    pub points: u32,
    /// Whether the points bend where the form is straight; of the direct power law alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form_test: Option<StageFormTest>,
    /// Doubts about it.
    pub flags: Vec<Flag>,
}

impl StageCurve {
    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&Estimate> {
        self.parameters
            .iter()
            .find(|parameter| parameter.name == name)
            .map(|parameter| &parameter.estimate)
    }
}

/// A test of the direct power law: does `ln(-ln accuracy)` bend over ln x?
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StageFormTest {
    /// Probability of points that bend as much where the power law is true: twice the smaller of
    /// the two below.
    pub p: f64,
    /// Below it the form is wrong.
    pub level: f64,
    /// By F against a parabola; the larger of equal scatter in the logarithm and equal scatter in
    /// the accuracy.
    pub parabola_p: f64,
    /// The same against a cubic; absent below five different x.
    pub cubic_p: Option<f64>,
    /// Whether `p` is below `level`.
    pub rejected: bool,
}

/// A way to an accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// The second stage alone, from the loss that was measured.
    SecondStage,
    /// Both stages: from x to a loss, from that to the accuracy.
    Chain,
    /// `-ln accuracy` as a power law of x.
    DirectPower,
    /// The accuracy as a sigmoid of ln x.
    DirectSigmoid,
}

impl Route {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 4] =
        [Self::SecondStage, Self::Chain, Self::DirectPower, Self::DirectSigmoid];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::SecondStage => "second stage",
            Self::Chain => "both stages",
            Self::DirectPower => "direct power law",
            Self::DirectSigmoid => "direct sigmoid",
        }
    }
}

/// Predictions at an x beyond the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagesPrediction {
    /// As asked for.
    pub x: f64,
    /// Decades of x above the largest point; below 0 when it lies below the smallest, 0 when
    /// between.
    pub decades_beyond: f64,
    /// The accuracy of one new model, each route that has one.
    pub accuracy: Vec<RouteValue>,
}

/// An accuracy by one route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RouteValue {
    /// The way.
    pub route: Route,
    /// The accuracy of one new model; the interval by propagation of errors to first order. That of
    /// a direct route reaches from the lower end to the upper end over both direct forms, as
    /// neither is known to be true.
    pub accuracy: Estimate,
    /// Of a direct route: its own interval, which takes its form for true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_form: Option<Interval>,
}

/// Points that the curves have not seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutStages {
    /// Which points they are, in words.
    pub which: String,
    /// The curves through the others.
    pub curves: StageCurves,
    /// The points, smallest x first.
    pub points: Vec<HeldOutPoint>,
    /// Mean of |predicted / measured - 1| of the loss; absent without a first stage.
    pub loss_error: Option<f64>,
    /// One entry for each route that could predict all of the points.
    pub routes: Vec<RouteErrors>,
}

impl HeldOutStages {
    /// The errors of a route.
    pub fn route(&self, route: Route) -> Option<&RouteErrors> {
        self.routes.iter().find(|errors| errors.route == route)
    }
}

/// One held-out point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutPoint {
    /// As in [`StagesPoint`].
    pub label: String,
    /// As in [`StagesPoint`].
    pub x: f64,
    /// As measured.
    pub loss: f64,
    /// As measured.
    pub accuracy: f64,
    /// The loss by the first stage, for one new model.
    pub predicted_loss: Option<Estimate>,
    /// `predicted / measured - 1` of the loss.
    pub loss_error: Option<f64>,
    /// The accuracy by each route that has one.
    pub predicted: Vec<RouteValue>,
}

/// How far a route is off over the held-out points, in accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RouteErrors {
    /// The way.
    pub route: Route,
    /// Mean of |predicted - measured|.
    pub mean_absolute: f64,
    /// Mean of predicted - measured: above 0 when it promises too much.
    pub mean: f64,
    /// Points inside their interval, of those that have one.
    pub covered: u32,
    /// Points that have an interval.
    pub with_interval: u32,
}
