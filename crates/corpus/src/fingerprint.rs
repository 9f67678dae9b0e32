//! The hash that says whether two corpora are the same text.

use sha2::{Digest, Sha256};

use crate::document::Document;

/// What a corpus amounts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusSummary {
    /// sha256 over the documents in order: id, text or ids, tags, spans. Hexadecimal.
    pub sha256: String,
    /// Number of documents.
    pub documents: u64,
    /// Bytes of text.
    pub bytes: u64,
}

/// Hashes documents as they pass.
///
/// Every part is written with its length before it, so that no two different corpora feed the same
/// bytes.
#[derive(Debug, Clone)]
pub struct Fingerprint {
    hash: Sha256,
    documents: u64,
    bytes: u64,
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self { hash: Sha256::new_with_prefix(b"relscale corpus 1\n"), documents: 0, bytes: 0 }
    }
}

impl Fingerprint {
    /// Takes in the next document.
    pub fn add(&mut self, document: &Document) {
        self.documents += 1;
        self.bytes += document.text.len() as u64;
        self.part(document.id.as_bytes());
        self.part(document.text.as_bytes());
        match &document.ids {
            None => self.number(u64::MAX),
            Some(ids) => {
                self.number(ids.len() as u64);
                ids.iter().for_each(|id| self.hash.update(id.to_le_bytes()));
            }
        }
        self.number(document.tags.len() as u64);
        for (key, value) in &document.tags {
            self.part(key.as_bytes());
            self.part(value.as_bytes());
        }
        self.number(document.spans.len() as u64);
        for span in &document.spans {
            self.number(span.start as u64);
            self.number(span.end as u64);
        }
    }

    /// The summary of all documents taken in.
    pub fn finish(self) -> CorpusSummary {
        let sha256 = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        CorpusSummary { sha256, documents: self.documents, bytes: self.bytes }
    }

    /// The summary of a list of documents.
    pub fn summarise(documents: &[Document]) -> CorpusSummary {
        let mut all = Self::default();
        documents.iter().for_each(|document| all.add(document));
        all.finish()
    }

    fn part(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.hash.update(bytes);
    }

    fn number(&mut self, number: u64) {
        self.hash.update(number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_and_the_order_count() {
        let one = Document::new("a", "text").with_tag("k", "v");
        let two = Document::new("b", "text");
        let base = Fingerprint::summarise(&[one.clone(), two.clone()]);
        assert_eq!((base.documents, base.bytes), (2, 8));
        let changed = [
            vec![two.clone(), one.clone()],
            vec![one.clone()],
            vec![one.clone().with_tag("k", "w"), two.clone()],
            vec![one.clone().with_span(0..1), two.clone()],
            vec![one.clone(), Document { ids: Some(vec![]), ..two.clone() }],
            vec![Document::new("at", "ext").with_tag("k", "v"), two],
        ];
        for other in changed {
            assert_ne!(Fingerprint::summarise(&other).sha256, base.sha256);
        }
    }
}
