//! What to measure next: how much each further measurement would narrow an interval, and what it
//! costs.

use serde::{Deserialize, Serialize};

use super::{Outcome, Predicted};

/// Everything that was asked of a study's laws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this.
    pub tool: String,
    /// Nominal coverage of the intervals.
    pub level: f64,
    /// Studies drawn behind each width.
    pub draws: u32,
    /// Seed of the drawing.
    pub seed: u64,
    /// Which interval is to narrow.
    pub of: Narrowed,
    /// Tokens on which a new model would be trained; absent where models are there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_tokens: Option<f64>,
    /// One entry a law that was asked about.
    pub laws: Vec<LawAdvice>,
    /// What narrows most for its cost, in a sentence.
    pub verdict: String,
}

/// Which interval is to narrow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Narrowed {
    /// The exponent's.
    #[default]
    Exponent,
    /// That of one model of ten times the largest size.
    Prediction,
}

/// What would be known better of one law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LawAdvice {
    /// The family.
    pub family: String,
    /// The corpus.
    pub corpus: String,
    /// What the law says.
    pub quantity: Predicted,
    /// What could be done, the best for its cost first, or why nothing can be said.
    pub outcome: Outcome<FoundAdvice>,
    /// One sentence with the numbers.
    pub verdict: String,
}

/// The widths as they are, and those that further measurements would give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundAdvice {
    /// The exponent.
    pub exponent: f64,
    /// Half of its interval.
    pub half: f64,
    /// The text's share of its variance; the rest is the models' scatter.
    pub text_share: f64,
    /// S of the prediction that is looked at: ten times the largest model.
    pub ahead: f64,
    /// The prediction's interval as a ratio of its ends, in the law's own quantity (`-ln RBP_k`,
    /// CE); absent where the points do not bound it.
    pub ahead_ratio: Option<f64>,
    /// Mean scored tokens a model.
    pub tokens: f64,
    /// Each thing that could be done.
    pub candidates: Vec<Candidate>,
}

impl Candidate {
    /// The interval in question then, as a part of today's.
    pub fn part(&self, of: Narrowed) -> Option<f64> {
        match of {
            Narrowed::Exponent => Some(self.exponent_part),
            Narrowed::Prediction => self.ahead_part,
        }
    }
}

/// Something that could be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// What.
    pub what: Further,
    /// FLOPs of it: 2 S for each token scored, and 6 N for each token of a training that it needs,
    /// N taken for S.
    pub flops: f64,
    /// The exponent's interval then, as a part of today's.
    pub exponent_part: f64,
    /// The prediction's interval (of its logarithm) then, as a part of today's; absent where either
    /// has no ends.
    pub ahead_part: Option<f64>,
    /// The same as a multiple of what measuring the law's models took.
    pub cost: f64,
    /// By which part of it today's interval narrows (the exponent's or the prediction's, as
    /// [`Advice::of`] says), over the cost; 0 where it does not.
    pub worth: f64,
}

/// What more could be measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "measure", rename_all = "snake_case")]
pub enum Further {
    /// One more model on the same text.
    Model {
        /// Its S.
        parameters: f64,
    },
    /// More text of the same kind, by all models.
    Text {
        /// As many times as much, what is there included.
        times: f64,
    },
}
