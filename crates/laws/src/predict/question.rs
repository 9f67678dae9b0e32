//! What may be asked, and how it is written.

use std::str::FromStr;

use crate::error::LawsError;
use crate::result::Predicted;

/// What is asked of the laws of a study.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Question {
    /// Only this family; all where absent.
    pub family: Option<String>,
    /// Only this corpus; all where absent.
    pub corpus: Option<String>,
    /// Sizes to predict values at; ten and a hundred times the largest model where neither sizes
    /// nor targets are given.
    pub at: Vec<Size>,
    /// Targets to predict sizes for.
    pub targets: Vec<Target>,
    /// The k of values, and of targets that name none. Empty: 1, 10 and 100 as far as they were
    /// fitted, and 1 for targets.
    pub k: Vec<u32>,
    /// N of the chances of N tokens right in a row, as values; none where empty.
    pub lengths: Vec<u32>,
    /// Nominal coverage of intervals; that of the fit where absent.
    pub level: Option<f64>,
}

/// A size: a number of parameters, or a multiple of the largest model of the group.
///
/// ```
/// use relscale_laws::predict::Size;
/// assert_eq!("7B".parse::<Size>().unwrap(), Size::Parameters(7e9));
/// assert_eq!("10x".parse::<Size>().unwrap(), Size::TimesLargest(10.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Size {
    /// S.
    Parameters(f64),
    /// So many times the largest measured S.
    TimesLargest(f64),
}

impl Size {
    /// In parameters.
    pub(crate) fn parameters(self, largest: u64) -> f64 {
        match self {
            Self::Parameters(parameters) => parameters,
            Self::TimesLargest(times) => times * largest as f64,
        }
    }
}

impl FromStr for Size {
    type Err = LawsError;

    /// A number, with `k`, `M`, `B`, `T` for powers of a thousand, or `x` for multiples of the
    /// largest model.
    fn from_str(text: &str) -> Result<Self, LawsError> {
        let trimmed = text.trim();
        let (number, unit) =
            trimmed.split_at(trimmed.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len());
        let factor = match unit {
            "" | "x" | "X" => Some(1.0),
            "k" | "K" => Some(1e3),
            "M" | "m" => Some(1e6),
            "B" | "b" | "G" => Some(1e9),
            "T" | "t" => Some(1e12),
            _ => None,
        };
        let value =
            number.trim().parse::<f64>().ok().zip(factor).map(|(number, factor)| number * factor);
        match value.filter(|value| value.is_finite() && *value > 0.0) {
            Some(times) if unit.eq_ignore_ascii_case("x") => Ok(Self::TimesLargest(times)),
            Some(parameters) => Ok(Self::Parameters(parameters)),
            None => Err(LawsError::Option {
                option: "at",
                value: text.to_owned(),
                expected: "a size above 0, as 7e9, 7B, 125M, or 10x for ten times the largest model",
            }),
        }
    }
}

/// A value to be reached.
///
/// ```
/// use relscale_laws::predict::{Goal, Target};
/// let target: Target = "p_20 = 0.5 at k = 10".parse().unwrap();
/// assert_eq!(target, Target { goal: Goal::Sequence { length: 20, k: Some(10) }, value: 0.5 });
/// assert!("RBP_1 = 60".parse::<Target>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Of what.
    pub goal: Goal,
    /// Above zero and, for a chance, below one.
    pub value: f64,
}

/// What a target is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// `RBP_k`.
    Rbp {
        /// The largest rank that counts as a hit.
        k: u32,
    },
    /// `CE`, nats a token.
    CrossEntropy,
    /// `p_N`.
    Sequence {
        /// N.
        length: u32,
        /// The k, where the target names one.
        k: Option<u32>,
    },
}

impl Goal {
    /// With its k; the k of the question for a goal that names none.
    pub(super) fn at(self, k: &[u32]) -> Vec<Predicted> {
        match self {
            Self::Rbp { k } => vec![Predicted::Rbp { k }],
            Self::CrossEntropy => vec![Predicted::CrossEntropy],
            Self::Sequence { length, k: Some(k) } => vec![Predicted::Sequence { length, k }],
            Self::Sequence { length, k: None } if k.is_empty() => {
                vec![Predicted::Sequence { length, k: 1 }]
            }
            Self::Sequence { length, k: None } => {
                k.iter().map(|&k| Predicted::Sequence { length, k }).collect()
            }
        }
    }
}

impl FromStr for Target {
    type Err = LawsError;

    /// `RBP_1 = 0.6`, `CE = 2.5`, `p_20 = 0.5`, `p_20 = 0.5 at k = 10`; in any case, with or
    /// without the underscore.
    fn from_str(text: &str) -> Result<Self, LawsError> {
        parse(text).ok_or_else(|| LawsError::Option {
            option: "target",
            value: text.to_owned(),
            expected: "`RBP_1 = 0.6`, `CE = 2.5` or `p_20 = 0.5 at k = 10`, chances above 0 and below 1",
        })
    }
}

fn parse(text: &str) -> Option<Target> {
    let plain: String =
        text.to_lowercase().chars().filter(|c| !c.is_whitespace() && *c != '_').collect();
    let (left, right) = plain.split_once('=')?;
    let (value, k) = match right.split_once("atk=") {
        Some((value, k)) => (value, Some(count(k)?)),
        None => (right, None),
    };
    let value: f64 = value.parse().ok()?;
    let goal = match (left.strip_prefix("rbp"), left.strip_prefix('p')) {
        (Some(digits), _) if k.is_none() => Goal::Rbp { k: count(digits)? },
        (None, Some(digits)) => Goal::Sequence { length: count(digits)?, k },
        _ if left == "ce" && k.is_none() => Goal::CrossEntropy,
        _ => return None,
    };
    let chance = goal != Goal::CrossEntropy;
    (value.is_finite() && value > 0.0 && !(chance && value >= 1.0))
        .then_some(Target { goal, value })
}

fn count(digits: &str) -> Option<u32> {
    digits.parse().ok().filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_as_people_write_them() {
        let target = |goal, value| Some(Target { goal, value });
        for (text, expected) in [
            ("RBP_1 = 0.6", target(Goal::Rbp { k: 1 }, 0.6)),
            ("rbp10=.9", target(Goal::Rbp { k: 10 }, 0.9)),
            ("ce = 2.5", target(Goal::CrossEntropy, 2.5)),
            ("p_20=0.5", target(Goal::Sequence { length: 20, k: None }, 0.5)),
            ("P_20 = 0.5 at K = 10", target(Goal::Sequence { length: 20, k: Some(10) }, 0.5)),
            ("RBP_1 = 1", None),
            ("RBP_1 = 0", None),
            ("RBP_0 = 0.5", None),
            ("RBP = 0.5", None),
            ("RBP_1", None),
            ("RBP_1 = 0.5 at k = 2", None),
            ("CE = 0", None),
            ("CE = nan", None),
            ("p_20 = 0.5 at k = 0", None),
            ("q = 0.5", None),
        ] {
            assert_eq!(text.parse::<Target>().ok(), expected, "{text}");
        }
    }

    #[test]
    fn sizes_as_people_write_them() {
        for (text, expected) in [
            ("1e12", Some(Size::Parameters(1e12))),
            ("125M", Some(Size::Parameters(1.25e8))),
            (" 2.5 T ", Some(Size::Parameters(2.5e12))),
            ("3x", Some(Size::TimesLargest(3.0))),
            ("0", None),
            ("-1", None),
            ("7Q", None),
            ("inf", None),
            ("", None),
        ] {
            assert_eq!(text.parse::<Size>().ok(), expected, "{text}");
        }
    }
}
