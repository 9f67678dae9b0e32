//! Quantities that compare across tokenizers: bits per byte, and hits by byte, word and span.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, Law, LeftOut, Quantity, TracePoint};

/// The laws of one family on one corpus in units of the text rather than of the tokenizer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextUnits {
    /// What was counted of each model, smallest first.
    pub models: Vec<TextCounts>,
    /// The law of bits per byte.
    pub bits_per_byte: Law,
    /// The laws of `-ln RBP_k` of bytes, k ascending.
    pub bytes: Vec<Law>,
    /// The laws of `-ln RBP_k` of words, k ascending.
    pub words: Vec<Law>,
    /// The laws of `-ln RBP_k` of spans of N words, k ascending, then N.
    pub spans: Vec<Law>,
    /// What was not counted, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// A sentence or two with the numbers.
    pub verdict: String,
}

impl TextUnits {
    /// The law of words at `k`.
    pub fn word_law(&self, k: u32) -> Option<&Law> {
        let is = |law: &&Law| law.quantity == Quantity::Words { k };
        self.words.iter().find(is)
    }

    /// The law of bytes at `k`.
    pub fn byte_law(&self, k: u32) -> Option<&Law> {
        let is = |law: &&Law| law.quantity == Quantity::Bytes { k };
        self.bytes.iter().find(is)
    }

    /// All its laws.
    pub fn laws(&self) -> impl Iterator<Item = &Law> {
        let hits = self.bytes.iter().chain(&self.words).chain(&self.spans);
        [&self.bits_per_byte].into_iter().chain(hits)
    }

    /// The same, to be changed.
    pub(crate) fn laws_mut(&mut self) -> impl Iterator<Item = &mut Law> {
        let hits = self.bytes.iter_mut().chain(&mut self.words).chain(&mut self.spans);
        [&mut self.bits_per_byte].into_iter().chain(hits)
    }
}

/// What was counted of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextCounts {
    /// The model.
    pub model: String,
    /// Its S.
    pub parameters: u64,
    /// Bytes of the text behind its scored tokens.
    pub bytes: u64,
    /// Words of which every token was scored; absent where words were not counted.
    pub words: Option<u64>,
    /// Words that were touched and not known whole; absent likewise.
    pub words_left_out: Option<u64>,
}

/// The families that were measured on one corpus, side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcrossTokenizers {
    /// The corpus.
    pub corpus: String,
    /// One entry a family, by name.
    pub families: Vec<FamilyOnText>,
    /// Each quantity that two families or more have a law of.
    pub quantities: Vec<AcrossFamilies>,
    /// A size that all families' models span, at which `at_size` is; absent where there is none.
    pub size: Option<f64>,
    /// Doubts about the comparison.
    pub flags: Vec<Flag>,
    /// A sentence or two with the numbers.
    pub verdict: String,
}

/// One family on a corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FamilyOnText {
    /// The family.
    pub family: String,
    /// sha256 of its tokenizer.
    pub tokenizer: String,
    /// Its models on the corpus.
    pub models: u32,
    /// Smallest and largest S.
    pub range: (u64, u64),
    /// Tokens that the largest model scored.
    pub tokens: u64,
    /// Bytes behind them.
    pub bytes: u64,
    /// Words that it scored whole; absent where words were not counted.
    pub words: Option<u64>,
    /// Words that were touched and not known whole; absent likewise.
    pub words_left_out: Option<u64>,
}

/// One quantity over several families.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcrossFamilies {
    /// What `at_size` is: `RBP_1 of words`, `bits per byte`.
    pub name: String,
    /// What the laws are about.
    pub quantity: Quantity,
    /// The families that have a law of it, by name.
    pub families: Vec<FamilyValue>,
}

/// What one family has of a quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FamilyValue {
    /// The family.
    pub family: String,
    /// The exponent of its law.
    pub exponent: Estimate,
    /// Whether a slope is claimed.
    pub claimed: bool,
    /// By its law, at the common size: the share that is hit, or bits per byte; with the interval
    /// of the line. Absent without a common size.
    pub at_size: Option<TracePoint>,
}
