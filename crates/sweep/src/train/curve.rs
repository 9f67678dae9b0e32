//! What is remembered of a training run; stored beside the weights as `training.json`.

use crate::recipes::{Recipe, Size};
use serde::Serialize;

/// One point of a loss curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// Step, from 1.
    pub step: u32,
    /// Mean training loss over the steps since the last point, nats a token.
    pub loss: f64,
    /// Learning rate of this step.
    pub learning_rate: f64,
}

/// How a model came to be.
#[derive(Debug, Clone, Serialize)]
pub struct Training {
    /// Command that makes it again.
    pub command: String,
    /// The whole recipe.
    pub recipe: Recipe,
    /// This size of it.
    pub size: Size,
    /// Exact non-embedding parameters, S.
    pub non_embedding_parameters: u64,
    /// Tokens seen.
    pub tokens: u64,
    /// Distinct tokens of the text.
    pub text_tokens: u64,
    /// Times the text was passed over.
    pub passes: f64,
    /// SHA-256 over the stream of token ids (little-endian u32): two members with the same hash saw
    /// the same text.
    pub text_sha256: String,
    /// Mean loss over the last tenth of the steps, nats a token.
    pub final_loss: f64,
    /// The curve.
    pub curve: Vec<Point>,
}
