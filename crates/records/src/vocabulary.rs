//! The entries of a tokenizer's vocabulary, kept beside the measurements so that the laws can tell
//! tokens apart.
//!
//! Token ids alone do not say what a token is, and the tokenizer may be gone when a study is read.
//! So the vocabulary is written into the study once for each tokenizer, by its hash. Rows of an
//! output head that no entry maps to (padding) are a matter of the model and not listed: an id
//! without an entry is such a row.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What an entry stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// Text: one or more whole characters.
    Normal,
    /// A token that the tokenizer marks as special, such as end-of-text.
    Special,
    /// Bytes that are no whole characters: `<0xE4>`, or half of one in a byte-level alphabet.
    Byte,
}

impl fmt::Display for TokenKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Normal => "normal",
            Self::Special => "special",
            Self::Byte => "byte",
        })
    }
}

impl FromStr for TokenKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Normal, Self::Special, Self::Byte]
            .into_iter()
            .find(|kind| kind.to_string() == text)
            .ok_or_else(|| format!("`{text}` is no kind of token"))
    }
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VocabularyEntry {
    /// Id of the token.
    pub id: u32,
    /// Its text; for [`TokenKind::Byte`] its bytes as `<0xE4><0xB8>`.
    pub text: String,
    /// What it stands for.
    pub kind: TokenKind,
}

/// All entries of a tokenizer, ascending by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    tokenizer_sha256: String,
    entries: Vec<VocabularyEntry>,
}

impl Vocabulary {
    /// The vocabulary of the tokenizer with this hash.
    ///
    /// # Errors
    /// [`Error::Vocabulary`] when ids do not ascend.
    pub fn new(tokenizer_sha256: impl Into<String>, entries: Vec<VocabularyEntry>) -> Result<Self> {
        match entries.windows(2).find(|pair| pair[0].id >= pair[1].id) {
            Some(pair) => Err(Error::Vocabulary {
                reason: format!("id {} comes after id {}", pair[1].id, pair[0].id),
            }),
            None => Ok(Self { tokenizer_sha256: tokenizer_sha256.into(), entries }),
        }
    }

    /// sha256 of the tokenizer that it belongs to, as in
    /// [`crate::provenance::TokenizerProvenance`].
    pub fn tokenizer_sha256(&self) -> &str {
        &self.tokenizer_sha256
    }

    /// The entries, ascending by id.
    pub fn entries(&self) -> &[VocabularyEntry] {
        &self.entries
    }

    /// The entry of an id; `None` where no token maps to it.
    pub fn get(&self, id: u32) -> Option<&VocabularyEntry> {
        let at = self.entries.binary_search_by_key(&id, |entry| entry.id).ok()?;
        self.entries.get(at)
    }
}
