//! One model's run in the tables of what was measured.

use relscale_laws::{Estimate, ModelSummary};
use serde::Serialize;

use crate::page::source::{Html, Place};

/// One model's run.
#[derive(Debug, Serialize)]
pub(crate) struct Model {
    name: String,
    parameters: Html,
    tokens: Html,
    bytes: Html,
    cross_entropy: Html,
    bits_per_byte: Html,
    entropy: Html,
    tied: Html,
    nonfinite: Html,
    /// Tokenizer, with added tokens, rows of the head, those that compete for a rank.
    vocabulary: [Html; 4],
}

impl Model {
    /// The model that stands at `place`.
    pub(super) fn of(model: &ModelSummary, place: &Place) -> Self {
        let count = |member: &str, value| place.at(member).count(value);
        let with_error = |member: &str, estimate: &Option<Estimate>| {
            estimate
                .as_ref()
                .map_or_else(|| Html::text("–"), |estimate| place.at(member).with_error(estimate))
        };
        let sizes = model.vocabulary;
        Self {
            name: model.name.clone(),
            parameters: count("parameters", model.parameters),
            tokens: count("tokens", model.tokens),
            bytes: count("bytes", model.bytes),
            cross_entropy: with_error("cross_entropy", &model.cross_entropy),
            bits_per_byte: with_error("bits_per_byte", &model.bits_per_byte),
            entropy: with_error("entropy", &model.entropy),
            tied: count("tied", model.tied),
            nonfinite: count("nonfinite", model.nonfinite),
            vocabulary: [
                ("tokenizer", sizes.tokenizer),
                ("with_added", sizes.with_added),
                ("rows", sizes.rows),
                ("scored", sizes.scored),
            ]
            .map(|(member, size)| place.at("vocabulary").at(member).count(u64::from(size))),
        }
    }
}
