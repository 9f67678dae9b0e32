//! What a sweep is trained and evaluated on: one vocabulary, one stream, one choice of held-out
//! sequences for all runs.

use crate::error::{Error, Result};
use crate::tokenizer;
use crate::train::family::{Text, hash};
use serde::{Deserialize, Serialize};
use tokenizers::Tokenizer;

/// The text of a sweep, encoded.
#[derive(Debug)]
pub struct SweepText {
    /// The vocabulary.
    pub tokenizer: Tokenizer,
    /// Ids of the training text, a separator before each document.
    pub stream: Vec<u32>,
    /// Ids of the held-out text, likewise.
    pub held_out: Vec<u32>,
    /// What stands in the runs' records.
    pub identity: TextIdentity,
}

/// Which text it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextIdentity {
    /// Names of the corpora, as the user gave them.
    pub corpora: String,
    /// Tokens of the training text.
    pub tokens: u64,
    /// SHA-256 over its ids (little-endian u32).
    pub sha256: String,
    /// Tokens of the held-out text, before any are chosen.
    pub held_out_tokens: u64,
    /// SHA-256 over its ids.
    pub held_out_sha256: String,
}

impl SweepText {
    /// Trains a vocabulary of `vocabulary` entries on a part of `documents` and encodes both texts.
    ///
    /// # Errors
    /// [`Error::Tokenizer`]; [`Error::FewEntries`] when the text has too few words for such a
    /// vocabulary.
    pub fn new(
        vocabulary: usize,
        corpora: &str,
        documents: &[&str],
        held_out: &[&str],
    ) -> Result<Self> {
        let Text { tokenizer, stream, sha256 } = Text::new(vocabulary, documents)?;
        let entries = tokenizer.get_vocab_size(true);
        if entries != vocabulary {
            return Err(Error::FewEntries { entries, wanted: vocabulary });
        }
        let held_out = tokenizer::stream(&tokenizer, held_out)?;
        let identity = TextIdentity {
            corpora: corpora.to_owned(),
            tokens: stream.len() as u64,
            sha256,
            held_out_tokens: held_out.len() as u64,
            held_out_sha256: hash(&held_out),
        };
        Ok(Self { tokenizer, stream, held_out, identity })
    }
}
