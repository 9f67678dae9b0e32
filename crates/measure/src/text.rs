//! A corpus under one tokenizer: token ids and source bytes, made once for all models that share the tokenizer.
//!
//! Only ids and byte counts are kept (8 bytes a token); the text itself streams through, a block of documents at a time.

use std::collections::BTreeMap;
use std::ops::Range;

use relscale_corpus::Document;
use relscale_corpus::tokenizer::Encoded;
use relscale_records::provenance::CorpusProvenance;
use sha2::{Digest, Sha256};

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
    /// Its token ids, nothing added.
    pub ids: Vec<u32>,
    /// Source bytes of each token; they add up to `text_bytes`.
    pub bytes: Vec<u32>,
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
    /// Streams documents through an encoder (usually `Tokenizer::encode_all`) and hashes them on the way.
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
        let mut hash = Sha256::new();
        let mut block = Vec::with_capacity(BLOCK);
        for document in documents {
            block.push(document?);
            if block.len() == BLOCK {
                corpus.take(&mut hash, std::mem::take(&mut block), &encode)?;
            }
        }
        corpus.take(&mut hash, block, &encode)?;
        if corpus.documents.is_empty() {
            return Err(Error::EmptyCorpus { corpus: name.to_owned() });
        }
        if u32::try_from(corpus.documents.len()).is_err() {
            return Err(Error::TooLarge { corpus: name.to_owned(), what: "documents" });
        }
        corpus.provenance.documents = corpus.documents.len() as u64;
        corpus.provenance.text_sha256 =
            hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(corpus)
    }

    fn take(
        &mut self,
        hash: &mut Sha256,
        block: Vec<Document>,
        encode: &impl Fn(&[Document]) -> Result<Vec<Encoded>>,
    ) -> Result<()> {
        let encoded = encode(&block)?;
        for (document, encoded) in block.into_iter().zip(encoded) {
            hash_document(hash, &document);
            if u32::try_from(encoded.ids.len()).is_err() {
                let corpus = self.provenance.name.clone();
                return Err(Error::TooLarge { corpus, what: "tokens of one document" });
            }
            let text_bytes = document.text.len() as u64;
            self.provenance.bytes += text_bytes;
            self.specials += encoded.specials as u64;
            self.documents.push(TokenisedDocument {
                id: document.id,
                tags: document.tags,
                ids: encoded.ids,
                bytes: encoded.bytes,
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

    /// Tokens of all documents.
    pub fn tokens(&self) -> u64 {
        self.documents.iter().map(|document| document.ids.len() as u64).sum()
    }

    /// The largest token id, with its place (document, position).
    pub fn largest_id(&self) -> Option<(u32, usize, usize)> {
        let ids = self.documents.iter().enumerate().flat_map(|(d, document)| {
            document.ids.iter().enumerate().map(move |(position, &id)| (id, d, position))
        });
        ids.max_by_key(|&(id, ..)| id)
    }
}

/// Every member of a document, each with its length before it, so that no two corpora hash alike by running together.
fn hash_document(hash: &mut Sha256, document: &Document) {
    let mut member = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    let Document { id, text, tags, ids, spans } = document;
    member(id.as_bytes());
    member(text.as_bytes());
    member(&(tags.len() as u64).to_le_bytes());
    for (key, value) in tags {
        member(key.as_bytes());
        member(value.as_bytes());
    }
    match ids {
        None => member(b"text"),
        Some(ids) => member(&ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>()),
    }
    member(&(spans.len() as u64).to_le_bytes());
    for span in spans {
        member(&(span.start as u64).to_le_bytes());
        member(&(span.end as u64).to_le_bytes());
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
        assert_eq!(corpus.largest_id().map(|(id, ..)| id), Some(u32::from(b'x')));
    }

    #[test]
    fn an_empty_corpus_is_refused() {
        assert!(matches!(read(Vec::new()), Err(Error::EmptyCorpus { .. })));
    }
}
