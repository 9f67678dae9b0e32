//! Questions with options: accuracies and losses of every model, by group and distribution.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, LeftOut};
use crate::choice_measure::ChoiceMeasure;

/// All families on all corpora that have items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoicesFit {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this.
    pub tool: String,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// How often items were drawn again.
    pub resamples: u32,
    /// Seed of the drawing.
    pub seed: u64,
    /// By family, then corpus.
    pub groups: Vec<ChoicesGroup>,
}

/// One family on one corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoicesGroup {
    /// The family.
    pub family: String,
    /// The corpus.
    pub corpus: String,
    /// Items that every model is judged on.
    pub items: u64,
    /// Fewest and most options of an item.
    pub options: (u32, u32),
    /// Items that some model cannot be judged on.
    pub left_out: Vec<LeftOut>,
    /// Smallest model first.
    pub models: Vec<ChoicesModel>,
    /// Doubts about all of them.
    pub flags: Vec<Flag>,
    /// One sentence with the numbers.
    pub verdict: String,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoicesModel {
    /// Its name.
    pub model: String,
    /// `S`: non-embedding parameters.
    pub non_embedding: u64,
    /// Items whose largest sum of log-probabilities is shared by several options; these share the
    /// credit.
    pub ties: u64,
    /// Every distribution, each followed by its groups; at last all items of a format, where it has
    /// several distributions.
    pub means: Vec<ChoiceMean>,
}

/// Means of one model over a set of items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoiceMean {
    /// How the items were asked; empty when nothing says.
    pub format: String,
    /// The distribution; absent for all items of the format.
    pub distribution: Option<String>,
    /// The group; absent for all of the distribution.
    pub group: Option<String>,
    /// Items.
    pub items: u64,
    /// Accuracy of one who picks blindly.
    pub chance: f64,
    /// An entry a measure, in the order of [`ChoiceMeasure::ALL`].
    pub values: Vec<ChoiceValue>,
}

impl ChoiceMean {
    /// The value of a measure.
    pub fn value(&self, measure: ChoiceMeasure) -> Option<&ChoiceValue> {
        self.values.iter().find(|value| value.measure == measure)
    }
}

/// One measure of a set of items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoiceValue {
    /// What was measured.
    pub measure: ChoiceMeasure,
    /// Its mean, with the spread over items drawn again.
    pub mean: Estimate,
    /// What the mean is with the gold shuffled over the items of each group.
    pub shuffled: ShuffledGold,
}

/// A mean over all ways to shuffle the gold over the items of each group, scores kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShuffledGold {
    /// Mean over the ways; what is beyond it is knowledge of the question.
    pub mean: f64,
    /// Standard deviation over the ways.
    pub standard_deviation: f64,
}

/// One option of one item under one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoiceOption {
    /// The model.
    pub model: String,
    /// The corpus.
    pub corpus: String,
    /// How it was asked.
    pub format: String,
    /// The distribution.
    pub distribution: String,
    /// The group.
    pub group: String,
    /// The item.
    pub item: String,
    /// The option.
    pub option: String,
    /// Whether it is right.
    pub gold: bool,
    /// Sum of its tokens' negative log-likelihoods, nats.
    pub nll: f64,
    /// Its UTF-8 bytes without the joining space.
    pub bytes: f64,
    /// Its scored tokens.
    pub tokens: f64,
    /// Credit as the option with the least nll: 1, a share where options tie, or 0.
    pub chosen: f64,
    /// The same by nll per byte.
    pub chosen_bytes: f64,
    /// The same by nll per token.
    pub chosen_tokens: f64,
}
