//! What a corpus is under one tokenizer, text read or not: what of it enters keys, records and
//! messages.

use relscale_records::provenance::CorpusProvenance;
use serde::{Deserialize, Serialize};

/// What a corpus was found to be under one tokenizer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFacts {
    /// Hash over the documents.
    pub sha256: String,
    /// Documents.
    pub documents: u64,
    /// Bytes of text.
    pub bytes: u64,
    /// Questions whose options (some of) the documents are.
    pub items: u64,
    /// Tokens of the documents that were tokenised.
    pub tokens: u64,
    /// Whether these were all.
    pub whole: bool,
    /// Tokens that are specials which the text spells out.
    pub specials: u64,
    /// What is to be known of its files: left out, passed over.
    pub notices: Vec<String>,
}

impl TextFacts {
    /// Whether a limit of positions leaves some of several documents out, so that it matters which
    /// are taken; `None` where too little was tokenised to know. By tokens, of which a protocol
    /// scores at most each but the first: known before any model, and the same for all.
    pub fn draws(&self, limit: u64) -> Option<bool> {
        draws(self.whole, self.tokens, self.documents, limit)
    }

    /// The text in a run's provenance, under the names that people gave it, and where it was
    /// fetched from.
    pub fn provenance(
        &self,
        name: &str,
        description: &str,
        source: Option<&str>,
    ) -> CorpusProvenance {
        CorpusProvenance {
            name: name.to_owned(),
            description: described(description, &self.notices),
            text_sha256: self.sha256.clone(),
            documents: self.documents,
            bytes: self.bytes,
            source: source.map(str::to_owned),
        }
    }
}

/// As [`TextFacts::draws`].
pub(super) fn draws(whole: bool, tokens: u64, documents: u64, limit: u64) -> Option<bool> {
    match (whole, tokens > limit) {
        (_, true) => Some(documents > 1),
        (true, false) => Some(false),
        (false, false) => None,
    }
}

/// A corpus's loader and options, and what was said of its files: what was left out stands in the
/// record of every run.
pub(crate) fn described(description: &str, notices: &[String]) -> String {
    [&[description.to_owned()], notices].concat().join("; ")
}
