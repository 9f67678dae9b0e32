//! A corpus under one tokenizer: token ids and source bytes, made once for all models that share the tokenizer.
//!
//! Only ids and byte counts are kept (8 bytes a token); the text itself streams through, a block of documents at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use relscale_corpus::{Document, Encoded, Fingerprint};
use relscale_records::provenance::CorpusProvenance;

use crate::error::{Error, Result};

/// Documents tokenised at a time, in parallel.
const BLOCK: usize = 256;

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
    /// Name, hash of the text, counts.
    pub provenance: CorpusProvenance,
    /// The documents, in the loader's order.
    pub documents: Vec<TokenisedDocument>,
    /// How many ids are special tokens that the text spells out (`<|endoftext|>` in a web page).
    pub specials: u64,
}

impl TokenisedCorpus {
    /// Streams documents through an encoder (usually `Tokenizer::encode_all`) and hashes them ([`Fingerprint`]) on the way.
    ///
    /// # Errors
    /// The loader's or the encoder's; [`Error::EmptyCorpus`]; [`Error::TooLarge`].
    pub fn read<E>(
        name: &str,
        description: &str,
        documents: impl IntoIterator<Item = Result<Document, E>>,
        encode: impl Fn(&[Document]) -> Result<Vec<Encoded>>,
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
            specials: 0,
        };
        let mut fingerprint = Fingerprint::default();
        let mut block = Vec::with_capacity(BLOCK);
        for document in documents {
            block.push(document?);
            if block.len() == BLOCK {
                corpus.take(&mut fingerprint, std::mem::take(&mut block), &encode)?;
            }
        }
        corpus.take(&mut fingerprint, block, &encode)?;
        if corpus.documents.is_empty() {
            return Err(Error::EmptyCorpus { corpus: name.to_owned() });
        }
        if u32::try_from(corpus.documents.len()).is_err() {
            return Err(Error::TooLarge { corpus: name.to_owned(), what: "documents" });
        }
        let summary = fingerprint.finish();
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
    ) -> Result<()> {
        let encoded = encode(&block)?;
        for (document, encoded) in block.into_iter().zip(encoded) {
            fingerprint.add(&document);
            if u32::try_from(encoded.ids.len()).is_err() {
                let corpus = self.provenance.name.clone();
                return Err(Error::TooLarge { corpus, what: "tokens of one document" });
            }
            let text_bytes = document.text.len() as u64;
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

    /// Questions: how many values the tag `item` has.
    pub fn items(&self) -> u64 {
        self.documents.iter().filter_map(|document| document.tags.get("item")).collect::<BTreeSet<_>>().len()
            as u64
    }

    /// Tokens of all documents.
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
        TokenisedCorpus::read("c", "", documents.into_iter().map(Ok::<_, Error>), encode)
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
    fn an_empty_corpus_is_refused() {
        assert!(matches!(read(Vec::new()), Err(Error::EmptyCorpus { .. })));
    }
}
