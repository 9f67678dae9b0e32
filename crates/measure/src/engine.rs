//! The trait behind which every way of running a model stands: windows of token ids in, scores out.

use relscale_records::Score;
use relscale_records::provenance::{
    ModelProvenance, ScoreColumn, ScoringProvenance, TieRule, VocabularyRule,
};
use relscale_records::study::ComputedOn;

use crate::error::Result;

/// One sequence to run, and the positions in it to score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineWindow<'a> {
    /// Token ids, the prefix included. Attention is causal: later tokens never change earlier
    /// scores.
    pub tokens: &'a [u32],
    /// Ascending indices `i >= 1` into `tokens`: token `i` is scored given tokens `0..i`.
    pub scored: &'a [u32],
}

/// Which engine gives the numbers, and which numbers it gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineIdentity {
    /// `local-f32`, `mock`, ...
    pub name: String,
    /// Rises when the numbers may change by more than rounding; a new number is a new run.
    pub revision: u32,
    /// Type in which the model is computed.
    pub compute_dtype: String,
    /// Its own version and those of what it runs on; recorded, and not part of the key.
    pub version: Option<String>,
    /// The columns that it does not tell; they are `None` in every score.
    pub lacks: Vec<ScoreColumn>,
    /// How equal logits count in its ranks. Where it tells ties, `>=`.
    pub rank_rule: TieRule,
    /// Whether it can only rank over all rows of the head.
    pub rows_only: bool,
    /// What a reader of any of its numbers must know; recorded, and not part of the key.
    pub cautions: Vec<String>,
    /// By which kernels, and where, if it knows; recorded, and not part of the key.
    pub computed_on: Option<ComputedOn>,
}

impl EngineIdentity {
    /// An engine that gives everything: ties, entropy, argmax, ranks by `>=` over any vocabulary.
    pub fn new(name: impl Into<String>, revision: u32, compute_dtype: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            revision,
            compute_dtype: compute_dtype.into(),
            version: None,
            lacks: Vec::new(),
            rank_rule: TieRule::AtLeast,
            rows_only: false,
            cautions: Vec::new(),
            computed_on: None,
        }
    }
}

/// The rows of the output head that take part in rank and softmax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vocabulary {
    /// All of so many rows.
    Rows(u32),
    /// Row `v` takes part where `[v]` is true; one entry a row of the head.
    Tokens(Vec<bool>),
}

impl Vocabulary {
    /// |V|: how many rows take part.
    pub fn scored(&self) -> u32 {
        match self {
            Self::Rows(rows) => *rows,
            // A head has at most u32::MAX rows, since ids are u32.
            Self::Tokens(takes_part) => takes_part.iter().filter(|&&part| part).count() as u32,
        }
    }

    /// Whether a row takes part.
    pub fn contains(&self, row: u32) -> bool {
        match self {
            Self::Rows(rows) => row < *rows,
            Self::Tokens(takes_part) => takes_part.get(row as usize).copied().unwrap_or(false),
        }
    }

    /// The rule that this follows.
    pub fn rule(&self) -> VocabularyRule {
        match self {
            Self::Rows(_) => VocabularyRule::Rows,
            Self::Tokens(_) => VocabularyRule::Tokens,
        }
    }
}

/// A way of running one model.
///
/// A new engine has to pass the cases of `testdata/ranks`, and to give the same scores for a window
/// whatever other windows are in the batch.
pub trait Engine {
    /// Which engine this is.
    fn identity(&self) -> EngineIdentity;

    /// The model that it runs.
    fn model(&self) -> &ModelProvenance;

    /// Rows of the model's output head, padding included.
    fn rows(&self) -> u32;

    /// Longest window in tokens, where the model or the engine has one.
    fn context(&self) -> Option<usize>;

    /// Tokens that it likes to have in one call; the program's own number where it does not care.
    fn batch_tokens(&self) -> Option<usize> {
        None
    }

    /// What it has to tell since it was last asked: sentences for a person.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it still is what scored a run that was begun earlier, where the run's key does not
    /// tell: a server may have other weights under the same name.
    ///
    /// # Errors
    /// [`crate::Error::Engine`], saying what differs.
    fn check_earlier(&self, _earlier: &ScoringProvenance) -> Result<()> {
        Ok(())
    }

    /// Scores windows: for each, one entry a scored position, in order. `None` where a logit was
    /// not finite.
    ///
    /// # Errors
    /// [`crate::Error::Engine`] or [`crate::Error::Model`]; the caller drops the unfinished part.
    fn score(
        &self,
        windows: &[EngineWindow<'_>],
        vocabulary: &Vocabulary,
    ) -> Result<Vec<Vec<Option<Score>>>>;
}
