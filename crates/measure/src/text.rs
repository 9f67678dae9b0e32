//! A corpus under one tokenizer: token ids and source bytes, made once for all models that share the tokenizer.
//!
//! Only ids and byte counts are kept (8 bytes a token); the text itself streams through, a block of documents at a time. Where so many
//! positions are asked for that a beginning of the corpus has them, only that is tokenised and kept, and the rest is read for its hash alone:
//! then neither time nor memory of tokenising grows with the corpus.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use relscale_corpus::{Document, Encoded, Fingerprint};
use relscale_records::provenance::CorpusProvenance;

use crate::error::{Error, Result};
use crate::known::TextFacts;

/// Documents tokenised at a time, in parallel: so many, or as many as make so many bytes.
const BLOCK: usize = 4_096;
const BLOCK_BYTES: usize = 4 << 20;

/// One document as token ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenisedDocument {
    /// The loader's name for it.
    pub id: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// Its token ids, nothing added, and the source bytes of each; these add up to `text_bytes`.
    pub encoded: Encoded,
    /// Bytes of its text; 0 where it came as ids.
    pub text_bytes: u64,
    /// Byte ranges that are scored; empty means all.
    pub spans: Vec<Range<usize>>,
}

/// A corpus as token ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenisedCorpus {
    /// Name, hash of the text, counts, all of them of the whole corpus.
    pub provenance: CorpusProvenance,
    /// The documents, in the loader's order: all, or those of a beginning.
    pub documents: Vec<TokenisedDocument>,
    /// Whether `documents` are all.
    pub whole: bool,
    /// Questions in the whole corpus: how many values the tag `item` has.
    pub items: u64,
    /// How many ids are special tokens that the text spells out (`<|endoftext|>` in a web page).
    pub specials: u64,
}

impl TokenisedCorpus {
    /// Streams documents through an encoder (usually `Tokenizer::encode_all`) and hashes them ([`Fingerprint`]) on the way. With `keep`,
    /// documents after the first that have so many tokens are hashed only; a question's options stay together.
    ///
    /// # Errors
    /// The loader's or the encoder's; [`Error::EmptyCorpus`]; [`Error::TooLarge`]; [`Error::Cancelled`] as soon as `cancel` is set.
    pub fn read<E>(
        name: &str,
        description: &str,
        documents: impl IntoIterator<Item = Result<Document, E>>,
        encode: impl Fn(&[Document]) -> Result<Vec<Encoded>>,
        keep: Option<u64>,
        cancel: &AtomicBool,
    ) -> Result<Self>
    where
        Error: From<E>,
    {
        let mut corpus = Self {
            provenance: CorpusProvenance {
                name: name.to_owned(),
                description: description.to_owned(),
                text_sha256: String::new(),
                documents: 0,
                bytes: 0,
            },
            documents: Vec::new(),
            whole: true,
            items: 0,
            specials: 0,
        };
        let mut items = BTreeSet::new();
        let mut fingerprint = Fingerprint::default();
        let (mut block, mut bytes) = (Vec::new(), 0);
        for document in documents {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            let document = document?;
            if let Some(item) = document.tags.get("item")
                && !items.contains(item)
            {
                items.insert(item.clone());
            }
            if !corpus.whole {
                fingerprint.add(&document);
                continue;
            }
            bytes += document.text.len();
            block.push(document);
            if block.len() == BLOCK || bytes >= BLOCK_BYTES {
                bytes = 0;
                corpus.take(&mut fingerprint, std::mem::take(&mut block), &encode, keep)?;
            }
        }
        corpus.take(&mut fingerprint, block, &encode, keep)?;
        if corpus.documents.is_empty() {
            return Err(Error::EmptyCorpus { corpus: name.to_owned() });
        }
        if u32::try_from(corpus.documents.len()).is_err() {
            return Err(Error::TooLarge { corpus: name.to_owned(), what: "documents" });
        }
        let summary = fingerprint.finish();
        corpus.items = items.len() as u64;
        corpus.provenance.text_sha256 = summary.sha256;
        corpus.provenance.documents = summary.documents;
        corpus.provenance.bytes = summary.bytes;
        Ok(corpus)
    }

    fn take(
        &mut self,
        fingerprint: &mut Fingerprint,
        block: Vec<Document>,
        encode: &impl Fn(&[Document]) -> Result<Vec<Encoded>>,
        keep: Option<u64>,
    ) -> Result<()> {
        let encoded = encode(&block)?;
        let mut kept = self.tokens();
        let item = |tags: &BTreeMap<String, String>| tags.get("item").cloned();
        for (document, encoded) in block.into_iter().zip(encoded) {
            fingerprint.add(&document);
            let last = self.documents.last().and_then(|last| item(&last.tags));
            let goes_on = last.is_some() && last == item(&document.tags);
            if !self.whole || (!goes_on && keep.is_some_and(|keep| kept >= keep)) {
                self.whole = false;
                continue;
            }
            if u32::try_from(encoded.ids.len()).is_err() {
                let corpus = self.provenance.name.clone();
                return Err(Error::TooLarge { corpus, what: "tokens of one document" });
            }
            let text_bytes = document.text.len() as u64;
            kept += encoded.ids.len() as u64;
            self.specials += encoded.specials as u64;
            self.documents.push(TokenisedDocument {
                id: document.id,
                tags: document.tags,
                encoded,
                text_bytes,
                spans: document.spans,
            });
        }
        Ok(())
    }

    /// Name of the corpus.
    pub fn name(&self) -> &str {
        &self.provenance.name
    }

    /// What is to be known of it to recognise it again.
    pub fn facts(&self) -> TextFacts {
        TextFacts {
            sha256: self.provenance.text_sha256.clone(),
            documents: self.provenance.documents,
            bytes: self.provenance.bytes,
            items: self.items,
            tokens: self.tokens(),
            whole: self.whole,
            specials: self.specials,
        }
    }

    /// Tokens of the kept documents.
    pub fn tokens(&self) -> u64 {
        self.documents.iter().map(|document| document.encoded.ids.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token a byte.
    fn encode(block: &[Document]) -> Result<Vec<Encoded>> {
        Ok(block
            .iter()
            .map(|document| Encoded {
                ids: document.text.bytes().map(u32::from).collect(),
                bytes: vec![1; document.text.len()],
                specials: 0,
            })
            .collect())
    }

    fn read(documents: Vec<Document>) -> Result<TokenisedCorpus> {
        let documents = documents.into_iter().map(Ok::<_, Error>);
        TokenisedCorpus::read("c", "", documents, encode, None, &AtomicBool::new(false))
    }

    #[test]
    fn every_member_of_every_document_is_in_the_hash() {
        let base = || vec![Document::new("a", "one two"), Document::new("b", "three")];
        let mut changed: Vec<Vec<Document>> = (0..8).map(|_| base()).collect();
        changed[1][0].id.push('x');
        changed[2][0].text.push('x');
        changed[3][1].tags.insert("k".into(), "v".into());
        changed[4][1].spans.push(0..2);
        changed[5].swap(0, 1);
        changed[6].pop();
        // The boundary between two documents.
        changed[7] = vec![Document::new("a", "one twob"), Document::new("", "three")];
        let mut hashes: Vec<String> =
            changed.into_iter().map(|c| read(c).unwrap().provenance.text_sha256).collect();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), 8);
        assert_eq!(read(base()).unwrap(), read(base()).unwrap());
    }

    #[test]
    fn more_documents_than_a_block_keep_their_order() {
        let documents = (0..1_000).map(|i| Document::new(format!("{i}"), format!("text {i}")));
        let corpus = read(documents.collect()).unwrap();
        assert!(corpus.documents.iter().enumerate().all(|(i, d)| d.id == i.to_string()));
        assert_eq!(corpus.provenance.documents, 1_000);
        assert_eq!(corpus.tokens(), corpus.provenance.bytes);
    }

    #[test]
    fn a_beginning_is_kept_and_the_whole_is_hashed() {
        let documents = || -> Vec<Document> {
            let text = |i: usize| "x".repeat(10 + i % 7);
            // Questions of three options each.
            (0..10_000)
                .map(|i| Document::new(format!("{i}"), text(i)).with_tag("item", (i / 3).to_string()))
                .collect()
        };
        let whole = read(documents()).unwrap();
        assert!(whole.whole);
        for keep in [1, 500, 60_000, 70_000] {
            let all = documents().into_iter().map(Ok::<_, Error>);
            let cancel = AtomicBool::new(false);
            let part = TokenisedCorpus::read("c", "", all, encode, Some(keep), &cancel).unwrap();
            assert_eq!(part.provenance, whole.provenance);
            assert!(!part.whole && part.tokens() >= keep && part.tokens() < keep + 3 * 16);
            assert_eq!(part.documents[..], whole.documents[..part.documents.len()]);
            assert_eq!(part.documents.len() % 3, 0, "no question is cut");
        }
        let cancel = AtomicBool::new(false);
        let all = documents().into_iter().map(Ok::<_, Error>);
        assert_eq!(TokenisedCorpus::read("c", "", all, encode, Some(1 << 40), &cancel).unwrap(), whole);
    }

    #[test]
    fn reading_stops_on_request() {
        let cancel = AtomicBool::new(false);
        let endless = (0u64..).map(|i| {
            cancel.store(i > 20_000, Ordering::Relaxed);
            Ok::<_, Error>(Document::new(format!("{i}"), "text"))
        });
        let error = TokenisedCorpus::read("c", "", endless, encode, None, &cancel).unwrap_err();
        assert!(matches!(error, Error::Cancelled));
    }

    #[test]
    fn an_empty_corpus_is_refused() {
        assert!(matches!(read(Vec::new()), Err(Error::EmptyCorpus { .. })));
    }
}
