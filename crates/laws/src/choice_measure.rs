//! What is measured of an item.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A measure of an item under a model.
///
/// With `ll_i` the summed log-probability of option i in nats, `b_i` its UTF-8 bytes (at least 1)
/// without the joining space, `t_i` its scored tokens, and g the gold option (of several the one
/// with the largest `ll`; probabilities are summed over them).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceMeasure {
    /// `-ll_g`, nats.
    GoldNll,
    /// `-ll_g / (b_g ln 2)`: bits per byte of the gold option.
    GoldBpb,
    /// `logsumexp_i ll_i - ll_g`, nats: minus the log of the gold's probability among the options.
    ChoiceNll,
    /// The same with `-bpb_i` in place of `ll_i`: `choice_logprob_norm` of the paper's code with
    /// the sign turned.
    ChoiceNllBytes,
    /// Whether the option with the largest `ll_i` is gold. Options that tie share the credit.
    Accuracy,
    /// The same by `ll_i / b_i`.
    AccuracyBytes,
    /// The same by `ll_i / t_i`.
    AccuracyTokens,
}

impl ChoiceMeasure {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::GoldNll,
        Self::GoldBpb,
        Self::ChoiceNll,
        Self::ChoiceNllBytes,
        Self::Accuracy,
        Self::AccuracyBytes,
        Self::AccuracyTokens,
    ];

    /// Its name in columns and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::GoldNll => "gold_nll",
            Self::GoldBpb => "gold_bpb",
            Self::ChoiceNll => "choice_nll",
            Self::ChoiceNllBytes => "choice_nll_bytes",
            Self::Accuracy => "accuracy",
            Self::AccuracyBytes => "accuracy_bytes",
            Self::AccuracyTokens => "accuracy_tokens",
        }
    }

    /// Its unit in words.
    pub fn unit(self) -> &'static str {
        match self {
            Self::GoldNll | Self::ChoiceNll => "nats",
            Self::GoldBpb => "bits per byte",
            Self::ChoiceNllBytes => "nats of a softmax over bits per byte",
            Self::Accuracy | Self::AccuracyBytes | Self::AccuracyTokens => "1",
        }
    }

    /// Whether it is a share of items, averaged over items; all others are losses, averaged over
    /// groups.
    pub fn is_accuracy(self) -> bool {
        matches!(self, Self::Accuracy | Self::AccuracyBytes | Self::AccuracyTokens)
    }

    /// By its name; `-` and `_` are one.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }
}

impl fmt::Display for ChoiceMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GoldNll => "nll of the gold option",
            Self::GoldBpb => "bits per byte of the gold option",
            Self::ChoiceNll => "-ln of the gold's probability among the options",
            Self::ChoiceNllBytes => {
                "-ln of the gold's probability among the options, by bits per byte"
            }
            Self::Accuracy => "accuracy by the sum of log-probabilities",
            Self::AccuracyBytes => "accuracy by log-probability per byte",
            Self::AccuracyTokens => "accuracy by log-probability per token",
        })
    }
}
