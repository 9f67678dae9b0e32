//! Units and conventions that move published numbers when they are mixed up.
//!
//! Likelihoods are in nats everywhere inside; bits appear only at the edges, through this module.
//! Parameter and FLOP counts never travel without their convention: regressing on the checkpoint's
//! total instead of the non-embedding count changes alpha by a factor of up to 1.35 within the
//! Pythia family, and "1e18 FLOPs" is three times more work when the forward pass alone was
//! counted.

use std::f64::consts::LN_2;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A quantity in nats (natural logarithm).
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nats(pub f64);

/// A quantity in bits (logarithm to base 2).
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bits(pub f64);

impl From<Nats> for Bits {
    fn from(nats: Nats) -> Self {
        Bits(nats.0 / LN_2)
    }
}

impl From<Bits> for Nats {
    fn from(bits: Bits) -> Self {
        Nats(bits.0 * LN_2)
    }
}

/// Bits per byte, `sum_nll / (ln 2 * bytes)`, of a summed negative log-likelihood in nats over the
/// source bytes *of the scored tokens*. `None` when there are no bytes.
///
/// ```
/// use relscale_records::units::{Nats, bits_per_byte};
/// // Two bytes at one bit each: 2 ln 2 nats over 2 bytes.
/// let bpb = bits_per_byte(Nats(2.0 * std::f64::consts::LN_2), 2).unwrap();
/// assert!((bpb - 1.0).abs() < 1e-15);
/// // The identity every report must keep: 2^bpb is the perplexity per byte.
/// assert!((2f64.powf(bpb) - (std::f64::consts::LN_2).exp()).abs() < 1e-15);
/// ```
pub fn bits_per_byte(sum_nll: Nats, bytes: u64) -> Option<f64> {
    (bytes > 0).then(|| Bits::from(sum_nll).0 / bytes as f64)
}

/// Perplexity a word, `exp(sum_nll / words)`: `word_perplexity` of lm-evaluation-harness, whose
/// words are what stands between white space (`relscale_records::units::words`). The nll must be
/// that of every token of the text. `None` when there are no words.
pub fn word_perplexity(sum_nll: Nats, words: u64) -> Option<f64> {
    (words > 0).then(|| (sum_nll.0 / words as f64).exp())
}

/// Words of a text as lm-evaluation-harness counts them (`len(re.split(r"\s+", text))` in Python):
/// one more than there are stretches of white space, so that a text of nothing has one.
///
/// ```
/// use relscale_records::units::words;
/// assert_eq!([words(""), words("one"), words(" one\n\ntwo "), words("a\u{a0}b\u{1c}c")], [1, 1, 4, 3]);
/// ```
pub fn words(text: &str) -> u64 {
    let mut inside = false;
    1 + text
        .chars()
        .filter(|&c| {
            let began = is_space(c) && !inside;
            inside = is_space(c);
            began
        })
        .count() as u64
}

/// Python's white space: Unicode's and four separators of ASCII.
pub(crate) fn is_space(letter: char) -> bool {
    letter.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&letter)
}

/// Which parameters a count includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterConvention {
    /// Everything but token embedding, position embedding and output head; biases and norms count
    /// (`S`).
    NonEmbedding,
    /// The non-embedding count plus the output head.
    NonEmbeddingAndHead,
    /// Every parameter stored in the checkpoint; a tied head counts once.
    Total,
}

impl fmt::Display for ParameterConvention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NonEmbedding => "non-embedding",
            Self::NonEmbeddingAndHead => "non-embedding and head",
            Self::Total => "total",
        })
    }
}

impl ParameterConvention {
    /// All conventions.
    pub const ALL: [Self; 3] = [Self::NonEmbedding, Self::NonEmbeddingAndHead, Self::Total];

    /// The word for it in tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::NonEmbedding => "non-embedding",
            Self::NonEmbeddingAndHead => "non-embedding-and-head",
            Self::Total => "total",
        }
    }

    /// The convention of this name; spaces and underscores count as hyphens. `None` for any other
    /// text.
    pub fn named(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase().replace([' ', '_'], "-");
        Self::ALL.into_iter().find(|convention| convention.name() == text)
    }
}

/// Which work a FLOP count includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlopsConvention {
    /// The forward pass only (`fwd`).
    Forward,
    /// Forward and backward (`train`): three times the forward.
    Train,
}

impl fmt::Display for FlopsConvention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FlopsConvention {
    /// The word for it in tables and on the command line: `fwd`, `train`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Forward => "fwd",
            Self::Train => "train",
        }
    }

    /// The convention of this name (`fwd` or `forward`, `train` or `training`); `None` for any
    /// other text.
    pub fn named(text: &str) -> Option<Self> {
        match text.trim().to_lowercase().as_str() {
            "fwd" | "forward" => Some(Self::Forward),
            "train" | "training" => Some(Self::Train),
            _ => None,
        }
    }

    /// Operations a parameter and token, attention's products of activations left out: 2 for the
    /// forward pass, a multiplication and an addition; 6 with the backward pass, which takes twice
    /// the work of the forward (Kaplan et al., arXiv 2001.08361, 2.1).
    pub fn per_parameter_and_token(self) -> f64 {
        match self {
            Self::Forward => 2.0,
            Self::Train => 6.0,
        }
    }
}

/// A number of floating-point operations, never without its convention.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Flops {
    /// Operations; one multiply-add counts as two.
    pub value: f64,
    /// What they include.
    pub convention: FlopsConvention,
}

impl Flops {
    /// The same work in another convention: backward is taken as twice the forward.
    ///
    /// ```
    /// use relscale_records::units::{Flops, FlopsConvention};
    /// let sweep = Flops { value: 1e18, convention: FlopsConvention::Forward };
    /// assert_eq!(sweep.to(FlopsConvention::Train).value, 3e18);
    /// ```
    pub fn to(self, convention: FlopsConvention) -> Self {
        let factor = match (self.convention, convention) {
            (FlopsConvention::Forward, FlopsConvention::Train) => 3.0,
            (FlopsConvention::Train, FlopsConvention::Forward) => 1.0 / 3.0,
            _ => 1.0,
        };
        Self { value: self.value * factor, convention }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_nats_are_inverse() {
        let nats: Nats = Bits::from(Nats(1.25)).into();
        assert!((nats.0 - 1.25).abs() < 1e-15);
        assert_eq!(Bits::from(Nats(LN_2)).0, 1.0);
    }

    #[test]
    fn no_bytes_is_no_number() {
        assert_eq!(bits_per_byte(Nats(1.0), 0), None);
    }

    #[test]
    fn conventions_by_name() {
        for convention in ParameterConvention::ALL {
            assert_eq!(ParameterConvention::named(convention.name()), Some(convention));
            assert_eq!(ParameterConvention::named(&convention.to_string()), Some(convention));
        }
        assert_eq!(ParameterConvention::named("active"), None);
        assert_eq!(FlopsConvention::named("Forward"), Some(FlopsConvention::Forward));
        assert_eq!(FlopsConvention::named(" train "), Some(FlopsConvention::Train));
        assert_eq!(FlopsConvention::named("6ND"), None);
    }

    #[test]
    fn flops_convert_by_three() {
        let train = Flops { value: 3e18, convention: FlopsConvention::Train };
        assert!((train.to(FlopsConvention::Forward).value / 1e18 - 1.0).abs() < 1e-12);
        assert_eq!(train.to(FlopsConvention::Train), train);
    }
}
