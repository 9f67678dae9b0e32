//! The vocabulary of the stand-ins: the tests' own tokenizer, with words behind it that no text
//! has, as many as a law of large k asks for.

use std::collections::BTreeMap;

use relscale_testkit::tokenizer;
use serde_json::{Value, json};

/// A vocabulary, and how likely its tokens are.
pub(super) struct Tokens {
    /// The text of `tokenizer.json`.
    pub(super) json: String,
    /// By id, larger for likelier tokens; between 0 and 1. Most letters stand at the top in their
    /// order in English, and some throughout the vocabulary down to its very end, so that every k
    /// has hits and misses.
    pub(super) scores: Vec<f32>,
}

/// What of English is likely, the likeliest first; behind it, what stands further down.
const LIKELY: &str = "Ġetaoinsrhldc";

impl Tokens {
    /// A vocabulary with more entries than `k`.
    pub(super) fn up_to(k: usize) -> Self {
        let mut tokenizer: Value = serde_json::from_str(&tokenizer::json()).unwrap();
        let vocabulary = tokenizer["model"]["vocab"].as_object_mut().unwrap();
        let first = tokenizer::ENTRIES;
        let entries = first + k + k / 20;
        for id in first..entries {
            vocabulary.insert(format!("word{id}"), json!(id));
        }
        let ids: BTreeMap<String, usize> = vocabulary
            .iter()
            .map(|(token, id)| (token.clone(), usize::try_from(id.as_u64().unwrap()).unwrap()))
            .collect();
        let mut scores = vec![0.0; entries];
        for (token, id) in &ids {
            let at = LIKELY.chars().position(|letter| *token == letter.to_string());
            scores[*id] = match at {
                Some(at) => 1.0 - 0.02 * at as f32,
                // Words that no text has fill the middle evenly.
                None if *id >= first => {
                    0.05 + 0.55 * (*id - first) as f32 / (entries - first).max(1) as f32
                }
                // Bytes and pairs: spread, some of them below all words.
                None => 0.7 * ((*id * 29) % 64) as f32 / 64.0,
            };
        }
        Self { json: tokenizer.to_string(), scores }
    }
}
