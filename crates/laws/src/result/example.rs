//! Positions of a text that show what a rank is: the whole of `rank-examples.json`.

use serde::{Deserialize, Serialize};

/// A position a family, to be shown; no law depends on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankExamples {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this file.
    pub tool: String,
    /// At most one a family, ordered by family.
    pub examples: Vec<RankExample>,
}

/// One scored position, as every model of a family saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankExample {
    /// Family name.
    pub family: String,
    /// Corpus name.
    pub corpus: String,
    /// Ordinal of the document in its corpus, from 0.
    pub document: u32,
    /// Index of the token in its document, from 0.
    pub position: u32,
    /// The text right before it: that of the last scored tokens, as far as they stand in a row.
    pub before: String,
    /// Text of the token that came.
    pub token: String,
    /// Entries that compete for a rank, of the smallest model.
    pub vocabulary: u32,
    /// What each model said, smallest first.
    pub models: Vec<ExampleScore>,
}

/// What one model said about the token that came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExampleScore {
    /// The model's name.
    pub model: String,
    /// Non-embedding parameters S.
    pub parameters: u64,
    /// Rank of the token, by the tie rule of the run.
    pub rank: u32,
    /// Its negative log-likelihood, nats.
    pub nll: f64,
    /// Its probability, `exp(-nll)`.
    pub probability: f64,
    /// Text of the entry that the model holds likeliest; absent where the engine does not tell it,
    /// or no entry of the vocabulary has its id.
    pub likeliest: Option<String>,
}
