//! Forecasts of accuracies from losses, ranks and entropies, each judged on what it has not seen.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag};

/// What `relscale forecast` finds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this.
    pub tool: String,
    /// Where the features come from: a file, or a study's corpus.
    pub features_from: String,
    /// The file of the accuracies.
    pub accuracies_from: String,
    /// What models grow in.
    pub x: String,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// What is forecast from.
    pub features: Vec<ForecastFeature>,
    /// The models, smallest x first.
    pub models: Vec<ForecastModel>,
    /// What is forecast.
    pub tasks: Vec<ForecastTask>,
    /// The largest one, two, ... x held out and forecast from the smaller ones.
    pub by_size: Vec<LeaveOut>,
    /// Each task left out and forecast by a shape learnt on the others; absent where tasks or
    /// models are too few.
    pub by_task: Option<LeaveOut>,
    /// The errors with features from the first part of the documents; of a study alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub few_tokens: Vec<FewTokens>,
    /// Which feature of small models ranks training corpora as the largest models' accuracies do;
    /// absent without such groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<CorpusRanking>,
    /// Doubts.
    pub flags: Vec<Flag>,
    /// Sentences with the numbers.
    pub verdict: String,
}

/// Something that is measured of a model without any question asked: smaller is better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForecastFeature {
    /// Its symbol, e.g. `-ln RBP_10`.
    pub name: String,
    /// What it is.
    pub kind: FeatureKind,
}

/// What a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureKind {
    /// A cross entropy, its base or unit aside.
    Loss,
    /// `-ln` of a share of ranks, or of right answers.
    Rank,
    /// The entropy of the predictions: in the profile alone.
    Entropy,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForecastModel {
    /// Its name.
    pub model: String,
    /// Where it lies.
    pub x: f64,
    /// The training corpus, where groups were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// An entry a feature.
    pub values: Vec<f64>,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForecastTask {
    /// Its name.
    pub task: String,
    /// Accuracy by chance.
    pub chance: f64,
    /// An entry a model; `null` where it has none.
    pub accuracy: Vec<Option<f64>>,
}

/// A way to forecast an accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forecaster {
    /// The accuracy of the largest model that was seen.
    Last,
    /// A sigmoid of -ln x.
    Size,
    /// Two stages: x to the loss by a power law with a floor, the loss to the accuracy.
    Stages,
    /// The same by way of a rank.
    RankStages,
    /// A sigmoid of the loss that was measured.
    Loss,
    /// A sigmoid of `-ln RBP_k` as it was measured, k chosen among what is seen.
    Rank,
    /// Ridge regression of the logit of the accuracy on the logarithms of all features.
    Profile,
}

impl Forecaster {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::Last,
        Self::Size,
        Self::Stages,
        Self::RankStages,
        Self::Loss,
        Self::Rank,
        Self::Profile,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Last => "last value",
            Self::Size => "size",
            Self::Stages => "size to loss",
            Self::RankStages => "size to rank",
            Self::Loss => "loss",
            Self::Rank => "rank",
            Self::Profile => "all features",
        }
    }

    /// What it is compared with: the same way by cross entropy alone.
    pub fn rival(self) -> Option<Self> {
        match self {
            Self::Loss => None,
            Self::RankStages => Some(Self::Stages),
            _ => Some(Self::Loss),
        }
    }
}

/// One way to leave out, and how far each forecaster is off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeaveOut {
    /// What was left out, in words.
    pub which: String,
    /// Models that are forecast.
    pub models: Vec<String>,
    /// Tasks that are forecast.
    pub tasks: Vec<String>,
    /// Those that forecast every one of the points.
    pub forecasters: Vec<ForecasterErrors>,
    /// Each task and model.
    pub points: Vec<ForecastPoint>,
}

impl LeaveOut {
    /// The errors of a forecaster.
    pub fn of(&self, forecaster: Forecaster) -> Option<&ForecasterErrors> {
        self.forecasters.iter().find(|errors| errors.forecaster == forecaster)
    }
}

/// How far a forecaster is off, in accuracy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForecasterErrors {
    /// The way.
    pub forecaster: Forecaster,
    /// The feature that was chosen; the most frequent where folds chose several.
    pub feature: Option<String>,
    /// Mean of |forecast - measured| over tasks and models.
    pub mean_absolute: f64,
    /// Mean of forecast - measured: above 0 when it promises too much.
    pub mean: f64,
    /// Its mean absolute error less that of the same way by cross entropy.
    pub against: Option<AgainstLoss>,
}

/// A difference of mean absolute errors on the same points, below 0 where the forecaster is better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgainstLoss {
    /// By which forecaster.
    pub rival: Forecaster,
    /// The difference, its interval over tasks like these, for these very models.
    pub difference: Estimate,
    /// Share of the ways to exchange both features at some of the models that give a difference at
    /// least this far from zero; absent where the way is no curve of one measured feature.
    pub p: Option<f64>,
    /// The same adjusted for the number of comparisons of this result (Benjamini and Hochberg).
    pub q: Option<f64>,
    /// Whether a difference is shown: `q` is at most 1 less the level, and zero is outside the
    /// interval.
    pub shown: bool,
}

/// One accuracy that no forecaster has seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForecastPoint {
    /// The task.
    pub task: String,
    /// The model.
    pub model: String,
    /// Where it lies.
    pub x: f64,
    /// As measured.
    pub accuracy: f64,
    /// The forecasts there are.
    pub forecasts: Vec<ForecastValue>,
}

/// A forecast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ForecastValue {
    /// By whom.
    pub forecaster: Forecaster,
    /// The accuracy.
    pub accuracy: f64,
}

/// Errors with features from the first documents alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FewTokens {
    /// The part of the documents, from 0 to 1.
    pub part: f64,
    /// Their number.
    pub documents: u64,
    /// Scored tokens of them, of the model that scored fewest.
    pub tokens: u64,
    /// What was left out, as in [`LeaveOut::which`].
    pub which: String,
    /// Mean absolute errors, with all documents in the same order.
    pub errors: Vec<FewTokensError>,
}

/// The mean absolute error of a forecaster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FewTokensError {
    /// The way.
    pub forecaster: Forecaster,
    /// With these documents.
    pub mean_absolute: f64,
    /// With all of them.
    pub with_all: f64,
}

/// How features of small models rank training corpora.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorpusRanking {
    /// The training corpora that have a model at every size looked at.
    pub corpora: Vec<String>,
    /// x of the models whose mean accuracy is the truth.
    pub largest: f64,
    /// Each smaller size.
    pub sizes: Vec<RankingAtSize>,
}

/// One size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankingAtSize {
    /// x of the small models.
    pub x: f64,
    /// Pairs of corpora that the accuracies at the largest size tell apart.
    pub pairs: u32,
    /// Share of pairs ordered right, each feature, in their order; ties count half.
    pub features: Vec<Estimate>,
    /// The same by the mean accuracy of the small models themselves.
    pub accuracy: Option<Estimate>,
    /// By ranks, with k chosen on the pairs of the other corpora, less by the loss.
    pub ranks_less_loss: Option<Estimate>,
}
