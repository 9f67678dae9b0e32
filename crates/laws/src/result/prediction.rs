//! What the laws say of sizes that were not measured: a value at a size, or the size for a target.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, Interval, Outcome};

/// Everything that was asked of a study's laws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predictions {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this.
    pub tool: String,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// One entry a family and corpus, as in the study.
    pub groups: Vec<GroupPredictions>,
}

/// What the laws of one family on one corpus say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupPredictions {
    /// The family.
    pub family: String,
    /// The corpus.
    pub corpus: String,
    /// Smallest and largest S that was measured.
    pub measured: (u64, u64),
    /// Values at the sizes that were asked for.
    pub values: Vec<ValuePrediction>,
    /// Sizes for the targets that were asked for.
    pub sizes: Vec<SizePrediction>,
}

/// What can be predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Predicted {
    /// `RBP_k`, the share of tokens of rank at most k.
    Rbp {
        /// The largest rank that counts as a hit.
        k: u32,
    },
    /// Mean negative log-likelihood of a token.
    CrossEntropy,
    /// `p_N`, the chance that N consecutive tokens all have rank at most k.
    Sequence {
        /// N, tokens in a row.
        length: u32,
        /// The largest rank that counts as a hit.
        k: u32,
    },
}

impl Predicted {
    /// As text: `RBP_10`, `CE`, `p_20 at k = 1`.
    pub fn symbol(&self) -> String {
        match self {
            Self::Rbp { k } => format!("RBP_{k}"),
            Self::CrossEntropy => "CE".to_owned(),
            Self::Sequence { length, k } => format!("p_{length} at k = {k}"),
        }
    }

    /// As a target: `RBP_10 = 0.6`, `CE = 2.5`, `p_20 = 0.5 at k = 1`, which is how it may be asked
    /// for.
    pub fn reaching(&self, target: f64) -> String {
        match self {
            Self::Rbp { .. } | Self::CrossEntropy => format!("{} = {target}", self.symbol()),
            Self::Sequence { length, k } => format!("p_{length} = {target} at k = {k}"),
        }
    }

    /// Its unit.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Rbp { .. } | Self::Sequence { .. } => "1",
            Self::CrossEntropy => "nats per token",
        }
    }
}

/// Which law a prediction was read off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The law of the quantity itself.
    Law,
    /// The law of windows of N tokens as they were counted.
    CountedWindows,
    /// The law of single tokens, as `RBP^N`: tokens taken to be independent.
    Independence,
}

/// A value at a size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValuePrediction {
    /// Of what.
    pub quantity: Predicted,
    /// S.
    pub parameters: f64,
    /// Decades of S from the nearest measured model: positive beyond the largest, negative below
    /// the smallest, 0 between.
    pub decades_beyond: f64,
    /// The value, or why there is none.
    pub outcome: Outcome<FoundValue>,
    /// Doubts, the distance beyond the data first.
    pub flags: Vec<Flag>,
    /// One sentence with the numbers.
    pub verdict: String,
}

/// What the next size buys: the greedy law and the cross-entropy law beyond the largest model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextSize {
    /// S that is predicted.
    pub parameters: f64,
    /// The same over the largest measured S.
    pub times_largest: f64,
    /// Name of the largest model.
    pub largest: String,
    /// The rank law at the smallest k and the cross entropy, those that can be read.
    pub values: Vec<NextValue>,
    /// One sentence with the numbers.
    pub verdict: String,
}

/// One quantity at the next size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextValue {
    /// What the largest model has, in the unit of the prediction.
    pub measured: f64,
    /// What the law says of the next one.
    pub prediction: ValuePrediction,
}

/// A predicted value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundValue {
    /// Which law it was read off.
    pub basis: Basis,
    /// The form that the value is of: a power law with a floor, which holds the power law as the
    /// case without one; the power law for fewer than four models.
    #[serde(default = "power_law")]
    pub form: String,
    /// The value; standard error and interval are those of one new model: of every floor that the
    /// points allow, none included, with a model's scatter, which may grow with size, and the noise
    /// of the text.
    pub value: Estimate,
    /// Interval of the law's own value, the mean of many such models, likewise.
    pub law_interval: Interval,
    /// The pure power law beside it; absent in files of earlier versions, whose value it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_law: Option<LineValue>,
    /// Beside counted windows: what `RBP^N` gives.
    pub independent: Option<f64>,
    /// What the rival forms give, those that have a value there.
    pub rivals: Vec<RivalValue>,
}

fn power_law() -> String {
    "power law".to_owned()
}

/// A value off the straight line of the logarithms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LineValue {
    /// The value with the interval of one new model.
    pub value: Estimate,
    /// Interval of the line's own value.
    pub law_interval: Interval,
}

/// What another form of law gives at the same size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RivalValue {
    /// Name of the form.
    pub form: String,
    /// Its value.
    pub value: f64,
    /// Akaike's weight of the form among the rivals on this law's points; absent with too few
    /// points.
    pub weight: Option<f64>,
}

/// The size for a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizePrediction {
    /// Of what.
    pub quantity: Predicted,
    /// The value to be reached.
    pub target: f64,
    /// The size, or why there is none.
    pub outcome: Outcome<FoundSize>,
    /// Doubts, the distance beyond the data first.
    pub flags: Vec<Flag>,
    /// One sentence with the numbers.
    pub verdict: String,
}

/// A predicted size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundSize {
    /// Which law it was read off.
    pub basis: Basis,
    /// S in parameters; the interval (Fieller) says where the law reaches the target. None when the
    /// exponent may be zero: then the target may never be reached.
    pub parameters: Estimate,
    /// Sizes at which one new model may reach the target: the band of predictions, inverted.
    pub for_one_model: Interval,
    /// As in [`ValuePrediction`].
    pub decades_beyond: f64,
    /// Beside counted windows: the size by `RBP^N`.
    pub independent: Option<f64>,
    /// What the rival forms give.
    pub rivals: Vec<RivalSize>,
}

/// The size by another form of law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RivalSize {
    /// Name of the form.
    pub form: String,
    /// S in parameters; absent when the form does not reach the target within six decades of the
    /// measured sizes.
    pub parameters: Option<f64>,
    /// As in [`RivalValue`].
    pub weight: Option<f64>,
}
