//! What a column of values is, and which number a law of it is about.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What the values of a column are.
///
/// ```
/// use relscale_laws::tables::Kind;
/// assert_eq!(Kind::from_column("RBP_10"), Some(Kind::Rbp));
/// assert_eq!(Kind::from_column("lambada_ppl"), Some(Kind::Perplexity));
/// assert_eq!(Kind::from_column("value"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A share of tokens with rank at most k: the law is about `-ln` of it.
    Rbp,
    /// A share of right answers. Where an answer is right when each of its tokens is ranked first
    /// (LAMBADA), this is a sequence-level `RBP_1`, and `-ln` of it follows the same law: for
    /// independent tokens `-ln RBP_1^N = N C S^-alpha`.
    Accuracy,
    /// A share of right answers, of which the law is about the share of wrong ones, 1 minus it.
    Wrong,
    /// Mean negative log-likelihood, nats a token.
    Ce,
    /// `exp` of a mean negative log-likelihood: the law is about `ln` of it.
    Perplexity,
    /// Bits per byte.
    Bpb,
    /// Any other loss or error that a power law may describe as it stands.
    Loss,
}

/// A word that names no kind of value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no kind of value; choose one of {}", Kind::names(", "))]
pub struct NoKind {
    text: String,
}

/// What a law makes of one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    /// Above zero, finite.
    Of(f64),
    /// The value is possible, but its law's quantity is 0 or infinite and has no logarithm.
    Boundary(&'static str),
    /// No such value can be; what would be one.
    Impossible(&'static str),
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Rbp, Self::Accuracy, Self::Wrong, Self::Ce, Self::Perplexity, Self::Bpb, Self::Loss];

    /// The word for it, as `--as` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rbp => "rbp",
            Self::Accuracy => "accuracy",
            Self::Wrong => "wrong",
            Self::Ce => "ce",
            Self::Perplexity => "perplexity",
            Self::Bpb => "bpb",
            Self::Loss => "loss",
        }
    }

    /// The words for all kinds.
    pub(crate) fn names(between: &str) -> String {
        Self::ALL.map(Self::name).join(between)
    }

    /// What the name of a column says about its values; `None` when it says nothing.
    ///
    /// Words are what stands between `_`, `-`, `.`, `/` and spaces, digits at their end aside; the
    /// last word that says something decides (`loss_acc` is an accuracy).
    pub fn from_column(name: &str) -> Option<Self> {
        let lower = name.to_lowercase();
        for (phrase, kind) in [("bits_per_byte", Self::Bpb), ("cross_entropy", Self::Ce)] {
            if lower.contains(phrase) {
                return Some(kind);
            }
        }
        let words = lower.split(['_', '-', '.', '/', ' ', '@', ',']);
        words.rev().find_map(|word| {
            match word.trim_end_matches(|letter: char| letter.is_ascii_digit()) {
                "rbp" => Some(Self::Rbp),
                "acc" | "accuracy" | "em" => Some(Self::Accuracy),
                "match" if lower.contains("exact_match") => Some(Self::Accuracy),
                "ce" | "nll" | "xent" => Some(Self::Ce),
                "ppl" | "perplexity" => Some(Self::Perplexity),
                "bpb" => Some(Self::Bpb),
                "loss" | "error" => Some(Self::Loss),
                _ => None,
            }
        })
    }

    /// The quantity of the law as text, e.g. `-ln rbp1`.
    pub fn symbol(self, column: &str) -> String {
        match self {
            Self::Rbp | Self::Accuracy => format!("-ln {column}"),
            Self::Wrong => format!("1 - {column}"),
            Self::Perplexity => format!("ln {column}"),
            Self::Ce | Self::Bpb | Self::Loss => column.to_owned(),
        }
    }

    /// The unit of the quantity of the law.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Rbp | Self::Accuracy | Self::Perplexity => "nats",
            Self::Wrong => "share of wrong answers",
            Self::Ce => "nats per token",
            Self::Bpb => "bits per byte",
            Self::Loss => "as given",
        }
    }

    /// Whether the values are shares of something counted.
    pub(crate) fn is_share(self) -> bool {
        matches!(self, Self::Rbp | Self::Accuracy | Self::Wrong)
    }

    /// The law's number for a value of the column, which must be finite.
    pub(crate) fn value(self, given: f64) -> Value {
        match self {
            _ if self.is_share() && !(0.0..=1.0).contains(&given) => {
                Value::Impossible("a share from 0 to 1 (divide per cent by 100)")
            }
            Self::Rbp | Self::Accuracy if given == 0.0 => Value::Boundary("its -ln is infinite"),
            Self::Rbp | Self::Accuracy if given == 1.0 => {
                Value::Boundary("its -ln is 0 and has no logarithm")
            }
            Self::Rbp | Self::Accuracy => Value::Of(-given.ln()),
            Self::Wrong if given == 1.0 => {
                Value::Boundary("no answer is wrong, and 0 has no logarithm")
            }
            Self::Wrong => Value::Of(1.0 - given),
            Self::Perplexity if given < 1.0 => Value::Impossible("a perplexity of at least 1"),
            Self::Perplexity if given == 1.0 => Value::Boundary("its ln is 0 and has no logarithm"),
            Self::Perplexity => Value::Of(given.ln()),
            Self::Ce | Self::Bpb | Self::Loss if given < 0.0 => {
                Value::Impossible("a value of at least 0")
            }
            Self::Ce | Self::Bpb | Self::Loss if given == 0.0 => {
                Value::Boundary("it has no logarithm")
            }
            Self::Ce | Self::Bpb | Self::Loss => Value::Of(given),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = NoKind;

    fn from_str(text: &str) -> Result<Self, NoKind> {
        let lower = text.trim().to_lowercase();
        let kind = match lower.as_str() {
            "acc" => Some(Self::Accuracy),
            "ppl" => Some(Self::Perplexity),
            "error" => Some(Self::Loss),
            _ => Self::ALL.into_iter().find(|kind| kind.name() == lower),
        };
        kind.ok_or_else(|| NoKind { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_say_what_they_are() {
        let cases = [
            ("rbp1", Some(Kind::Rbp)),
            ("RBP_100", Some(Kind::Rbp)),
            ("acc,none", Some(Kind::Accuracy)),
            ("exact_match,strict-match", Some(Kind::Accuracy)),
            ("acc_norm", Some(Kind::Accuracy)),
            ("word_perplexity,none", Some(Kind::Perplexity)),
            ("bits_per_byte,none", Some(Kind::Bpb)),
            ("Cross_Entropy", Some(Kind::Ce)),
            ("val loss", Some(Kind::Loss)),
            ("S", None),
            ("accent", None),
            ("brier_score", None),
        ];
        for (name, kind) in cases {
            assert_eq!(Kind::from_column(name), kind, "{name}");
        }
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse::<Kind>().unwrap(), kind);
        }
        assert!(
            "rank".parse::<Kind>().unwrap_err().to_string().contains("rbp, accuracy, wrong, ce")
        );
    }

    #[test]
    fn the_number_of_a_law_by_hand() {
        let e = std::f64::consts::E;
        assert_eq!(Kind::Rbp.value(1.0 / e), Value::Of(1.0));
        assert_eq!(Kind::Perplexity.value(e), Value::Of(1.0));
        assert_eq!(Kind::Bpb.value(0.75), Value::Of(0.75));
        assert_eq!(Kind::Wrong.value(0.75), Value::Of(0.25));
        assert_eq!(Kind::Wrong.value(0.0), Value::Of(1.0));
        for (kind, given) in [
            (Kind::Accuracy, 0.0),
            (Kind::Wrong, 1.0),
            (Kind::Rbp, 1.0),
            (Kind::Perplexity, 1.0),
            (Kind::Loss, 0.0),
        ] {
            assert!(matches!(kind.value(given), Value::Boundary(_)), "{kind} {given}");
        }
        for (kind, given) in [
            (Kind::Accuracy, 61.6),
            (Kind::Wrong, 61.6),
            (Kind::Rbp, -0.1),
            (Kind::Perplexity, 0.9),
            (Kind::Ce, -1.0),
        ] {
            assert!(matches!(kind.value(given), Value::Impossible(_)), "{kind} {given}");
        }
    }
}
