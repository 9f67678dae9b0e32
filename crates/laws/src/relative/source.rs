//! Which numbers of a study are compared.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use relscale_records::RunTally;
use relscale_records::parquet::DocumentRow;

use crate::choice_measure::ChoiceMeasure;
use crate::error::LawsError;
use crate::table::Unit;
use crate::tables::manifest::ModelAxis;

/// What is a hit or none in an error `-ln RBP_k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitUnit {
    /// A token: compares inside one tokenizer.
    Token,
    /// A byte, by the token that holds it.
    Byte,
    /// A word, by all its tokens.
    Word,
    /// So many words in a row, by all tokens in them and between them.
    Span {
        /// How many.
        words: u32,
    },
}

impl From<HitUnit> for Unit {
    fn from(unit: HitUnit) -> Self {
        match unit {
            HitUnit::Token => Self::Token,
            HitUnit::Byte => Self::Byte,
            HitUnit::Word => Self::Word,
            HitUnit::Span { words } => Self::Span { words },
        }
    }
}

/// Which error of a run is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorMeasure {
    /// Total bits over total bytes: compares across tokenizers.
    BitsPerByte,
    /// Mean negative log-likelihood of a token.
    CrossEntropy,
    /// `-ln RBP_k`: the relative law of ranks, of tokens or of what compares across tokenizers.
    Rbp {
        /// What is a hit or none.
        unit: HitUnit,
        /// The rank up to which a token counts as right.
        k: u32,
    },
    /// A loss of questions with options, averaged over the groups of a distribution; of an
    /// accuracy, minus its logarithm.
    Choice(ChoiceMeasure),
}

impl fmt::Display for ErrorMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BitsPerByte => f.write_str("bits per byte"),
            Self::CrossEntropy => f.write_str("cross entropy"),
            Self::Rbp { unit, k } => f.write_str(&Unit::from(*unit).quantity(*k).symbol()),
            Self::Choice(measure) if measure.is_accuracy() => write!(f, "-ln {measure}"),
            Self::Choice(measure) => measure.fmt(f),
        }
    }
}

impl FromStr for ErrorMeasure {
    type Err = LawsError;

    fn from_str(text: &str) -> Result<Self, LawsError> {
        let lower = text.trim().to_lowercase();
        match (lower.as_str(), hits(&lower)) {
            ("bpb", _) => Ok(Self::BitsPerByte),
            ("ce", _) => Ok(Self::CrossEntropy),
            (_, Some((unit, k))) => Ok(Self::Rbp { unit, k }),
            (name, _) => ChoiceMeasure::named(name).map(Self::Choice).ok_or_else(|| LawsError::Option {
                option: "error",
                value: text.to_owned(),
                expected: "bpb, ce, rbp and a rank (rbp10), byte10, word10, span8:10 (8 words), or of questions gold-nll, gold-bpb, choice-nll, choice-nll-bytes, accuracy, \
                           accuracy-bytes, accuracy-tokens",
            }),
        }
    }
}

/// `rbp10`, `rbp_10`, `byte10`, `word10`, `span8:10`.
fn hits(text: &str) -> Option<(HitUnit, u32)> {
    let rank = |k: &str| k.trim_start_matches('_').parse().ok().filter(|k| *k > 0);
    let units =
        [("rbp", HitUnit::Token), ("byte", HitUnit::Byte), ("word", HitUnit::Word)].into_iter();
    let mut one = units.filter_map(|(name, unit)| Some((unit, rank(text.strip_prefix(name)?)?)));
    one.next().or_else(|| {
        let (words, k) = text.strip_prefix("span")?.split_once(':')?;
        Some((HitUnit::Span { words: rank(words)? }, rank(k)?))
    })
}

/// What of a study is compared.
#[derive(Debug, Clone, Copy)]
pub struct StudySource<'a> {
    /// The tallies of its runs.
    pub runs: &'a [RunTally],
    /// The documents of each text, by [`RunTally::documents_key`]: their tags. A tag `span_bytes`,
    /// where a document has it, is its number of bytes.
    pub documents: &'a BTreeMap<String, Vec<DocumentRow>>,
    /// The error.
    pub error: ErrorMeasure,
    /// The x of each model; without it, S.
    pub x: Option<&'a ModelAxis>,
    /// Only this family.
    pub family: Option<&'a str>,
    /// The tag whose values are the distributions; without it, each corpus is one.
    pub by: Option<&'a str>,
    /// Tag and value: only documents that have it take part.
    pub only: &'a [(String, String)],
    /// Document resamples behind each standard error.
    pub resamples: u32,
    /// Seed of the resampling.
    pub seed: u64,
}

impl StudySource<'_> {
    /// The tags asked for, in words.
    pub(super) fn tags(&self) -> String {
        let only = self.only.iter().map(|(tag, value)| format!("{tag} = {value}"));
        self.by.map(str::to_owned).into_iter().chain(only).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_by_name() {
        let parse = |text: &str| text.parse::<ErrorMeasure>();
        assert_eq!(parse("bpb").unwrap(), ErrorMeasure::BitsPerByte);
        assert_eq!(parse(" CE").unwrap(), ErrorMeasure::CrossEntropy);
        assert_eq!(parse("rbp10").unwrap(), ErrorMeasure::Rbp { unit: HitUnit::Token, k: 10 });
        assert_eq!(parse("RBP_1").unwrap().to_string(), "-ln RBP_1");
        for (text, symbol) in [
            ("word1", "-ln RBP_1 of words"),
            ("BYTE_10", "-ln RBP_10 of bytes"),
            ("span8:10", "-ln RBP_10 of 8 words"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), symbol);
        }
        for wrong in ["rbp", "rbp0", "rbp-1", "loss", "", "word", "span8", "span0:1", "span8:0"] {
            assert!(parse(wrong).unwrap_err().to_string().contains("rbp10"), "{wrong}");
        }
    }
}
