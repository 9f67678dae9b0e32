//! Reads a corpus: hashes it, tokenises it, keeps the tokens.

use std::sync::atomic::{AtomicBool, Ordering};

use relscale_corpus::{Document, Encoded, Fingerprint, draw};
use relscale_records::options::ITEM;
use relscale_records::provenance::{CorpusProvenance, DrawProvenance};
use relscale_records::units::words;

use super::document::TokenisedDocument;
use super::drawing::Drawing;
use super::facts::{TextFacts, described, draws};
use super::items::{BadItem, Items};
use super::store::{Documents, Store, StoreWriter};
use crate::draw::by_seed;
use crate::error::{Error, Result};
use crate::scratch::Place;

/// Documents tokenised at a time, in parallel: so many, or as many as make so many bytes.
const BLOCK: usize = 4_096;
const BLOCK_BYTES: usize = 4 << 20;

/// Which documents of a corpus are tokenised and kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All of them.
    All,
    /// As many from the first as have so many tokens.
    First(u64),
    /// As many as have `tokens`, in the order in which `seed` draws them; in the corpus's order
    /// where `limit` leaves nothing to draw from ([`TextFacts::draws`]).
    Drawn {
        /// Tokens to keep.
        tokens: u64,
        /// Positions that will be scored at most: no more than `tokens`.
        limit: u64,
        /// The seed.
        seed: u64,
    },
}

impl Keep {
    /// The same of so many tokens.
    #[must_use]
    pub fn of(self, more: u64) -> Self {
        match self {
            Self::All => Self::All,
            Self::First(_) => Self::First(more),
            Self::Drawn { limit, seed, .. } => Self::Drawn { tokens: more, limit, seed },
        }
    }
}

/// A corpus as token ids.
#[derive(Debug)]
pub struct TokenisedCorpus {
    /// Name, hash of the text, counts, all of them of the whole corpus.
    pub provenance: CorpusProvenance,
    /// Whether all documents were tokenised and kept, or only as many as are needed.
    pub whole: bool,
    /// How documents were drawn, where the kept ones are in a drawn order.
    pub drawn: Option<DrawProvenance>,
    /// Questions in the whole corpus: how many values the tag `item` has.
    pub items: u64,
    /// How many ids are special tokens that the text spells out (`<|endoftext|>` in a web page).
    pub specials: u64,
    /// What is to be known of its files: left out, passed over.
    pub notices: Vec<String>,
    tokens: u64,
    store: Store,
    place: Place,
}

impl TokenisedCorpus {
    /// Streams documents through an encoder (usually `Tokenizer::encode_all`) and hashes them
    /// ([`Fingerprint`]) on the way. Documents that are not to be kept are hashed only; a
    /// question's options stay together.
    ///
    /// # Errors
    /// The loader's or the encoder's; [`Error::EmptyCorpus`]; [`Error::BadItem`];
    /// [`Error::TooLarge`]; [`Error::Keep`] when there is no room in `place`; [`Error::Cancelled`]
    /// as soon as `cancel` is set.
    pub fn read<E>(
        name: &str,
        description: &str,
        documents: impl IntoIterator<Item = Result<Document, E>>,
        encode: impl Fn(&[Document]) -> Result<Vec<Encoded>>,
        keep: Keep,
        place: &Place,
        cancel: &AtomicBool,
    ) -> Result<Self>
    where
        Error: From<E>,
    {
        let mut reading = Reading {
            name,
            keep,
            drawing: match keep {
                Keep::Drawn { tokens, .. } => Some(Drawing::new(tokens, place)),
                Keep::All | Keep::First(_) => None,
            },
            fingerprint: Fingerprint::default(),
            items: Items::default(),
            store: StoreWriter::new(place.clone()),
            whole: true,
            tokens: 0,
            specials: 0,
            last_item: None,
        };
        let (mut block, mut bytes) = (Block::default(), 0);
        for (number, document) in (0u64..).zip(documents) {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            let document = document?;
            reading.items.see(&document).map_err(|bad| bad_item(name, bad))?;
            reading.fingerprint.add(&document);
            let Some(drawn) = reading.wants(number, &document) else { continue };
            bytes += document.text.len();
            block.documents.push(document);
            block.drawn.push(drawn);
            if block.documents.len() == BLOCK || bytes >= BLOCK_BYTES {
                bytes = 0;
                reading.take(std::mem::take(&mut block), &encode)?;
            }
        }
        reading.take(block, &encode)?;
        reading.finish(description, place)
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
            notices: self.notices.clone(),
        }
    }

    /// Takes what was said of its files into its facts and, for the record, into its description.
    pub(crate) fn noted(&mut self, notices: Vec<String>) {
        self.provenance.description = described(&self.provenance.description, &notices);
        self.notices = notices;
    }

    /// Tokens of the kept documents.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// How many documents are kept.
    pub fn kept(&self) -> u32 {
        self.store.documents()
    }

    /// Whether they are kept in a file, not in memory.
    pub fn on_disk(&self) -> bool {
        self.store.on_disk()
    }

    /// The kept documents, in the loader's order or as they were drawn.
    pub fn documents(&self) -> Documents<'_> {
        self.store.from(0)
    }

    /// The kept documents from a number on.
    pub fn documents_from(&self, ordinal: u32) -> Documents<'_> {
        self.store.from(ordinal)
    }

    /// Where bytes go that grow with the corpus.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// A whole corpus of these documents, whatever they are.
    #[cfg(test)]
    pub(crate) fn from_documents(
        name: &str,
        documents: &[TokenisedDocument],
        place: &Place,
    ) -> Self {
        let mut store = StoreWriter::new(place.clone());
        documents.iter().for_each(|document| store.push(document).unwrap());
        Self {
            provenance: CorpusProvenance {
                name: name.to_owned(),
                description: String::new(),
                text_sha256: String::new(),
                documents: documents.len() as u64,
                bytes: 0,
                source: None,
            },
            whole: true,
            drawn: None,
            items: 0,
            specials: 0,
            notices: Vec::new(),
            tokens: documents.iter().map(|document| document.encoded.ids.len() as u64).sum(),
            store: store.finish().unwrap(),
            place: place.clone(),
        }
    }
}

/// Documents that are tokenised together, and for each its place in a drawn order and its number.
#[derive(Default)]
struct Block {
    documents: Vec<Document>,
    drawn: Vec<(u64, u64)>,
}

/// A corpus that is being read.
struct Reading<'a> {
    name: &'a str,
    keep: Keep,
    /// Documents, as long as it is not known which of them are drawn.
    drawing: Option<Drawing>,
    fingerprint: Fingerprint,
    items: Items,
    store: StoreWriter,
    whole: bool,
    tokens: u64,
    specials: u64,
    /// The question of the last kept document.
    last_item: Option<String>,
}

impl Reading<'_> {
    /// Whether a document has to be tokenised; if so, with its place in a drawn order and its
    /// number.
    fn wants(&mut self, number: u64, document: &Document) -> Option<(u64, u64)> {
        match (self.keep, &mut self.drawing) {
            (Keep::Drawn { seed, .. }, Some(drawing)) => {
                let place = draw::place(seed, number, document);
                drawing.wants(place).then_some((place, number))
            }
            _ => self.whole.then_some((0, number)),
        }
    }

    fn take(
        &mut self,
        block: Block,
        encode: &impl Fn(&[Document]) -> Result<Vec<Encoded>>,
    ) -> Result<()> {
        let encoded = encode(&block.documents)?;
        for ((document, encoded), (place, number)) in
            block.documents.into_iter().zip(encoded).zip(block.drawn)
        {
            let document = TokenisedDocument {
                text_bytes: document.text.len() as u64,
                words: document.ids.is_none().then(|| words(&document.text)),
                id: document.id,
                tags: document.tags,
                encoded,
                spans: document.spans,
            };
            if u32::try_from(document.encoded.ids.len()).is_err() {
                return Err(self.too_large("tokens of one document"));
            }
            if let Some(drawing) = &mut self.drawing {
                drawing.add(place, number, &document)?;
                continue;
            }
            let item = document.tags.get(ITEM);
            let goes_on = item.is_some() && self.last_item.as_ref() == item;
            let enough = matches!(self.keep, Keep::First(keep) if self.tokens >= keep);
            if !self.whole || (enough && !goes_on) {
                self.whole = false;
                continue;
            }
            self.last_item = item.cloned();
            self.push(&document)?;
        }
        Ok(())
    }

    fn push(&mut self, document: &TokenisedDocument) -> Result<()> {
        if self.store.documents() == u32::MAX {
            return Err(self.too_large("documents"));
        }
        self.tokens += document.encoded.ids.len() as u64;
        self.specials += document.encoded.specials as u64;
        self.store.push(document)
    }

    fn too_large(&self, what: &'static str) -> Error {
        Error::TooLarge { corpus: self.name.to_owned(), what }
    }

    /// Puts drawn documents in their order, which is the corpus's own where the limit leaves none
    /// out.
    fn settle(&mut self, documents: u64) -> Result<Option<DrawProvenance>> {
        let (Keep::Drawn { limit, seed, .. }, Some(drawing)) = (self.keep, self.drawing.take())
        else {
            return Ok(None);
        };
        self.whole = drawing.whole();
        let drawn = draws(self.whole, drawing.tokens(), documents, limit).unwrap_or(true);
        drawing.each(drawn, |document| self.push(&document))?;
        Ok(drawn.then(|| by_seed(seed)))
    }

    fn finish(mut self, description: &str, place: &Place) -> Result<TokenisedCorpus> {
        let name = self.name.to_owned();
        let summary = std::mem::take(&mut self.fingerprint).finish();
        let drawn = self.settle(summary.documents)?;
        if self.store.documents() == 0 {
            return Err(Error::EmptyCorpus { corpus: name });
        }
        self.items.check().map_err(|bad| bad_item(&name, bad))?;
        Ok(TokenisedCorpus {
            provenance: CorpusProvenance {
                name,
                description: description.to_owned(),
                text_sha256: summary.sha256,
                documents: summary.documents,
                bytes: summary.bytes,
                source: None,
            },
            whole: self.whole,
            drawn,
            items: self.items.count(),
            specials: self.specials,
            notices: Vec::new(),
            tokens: self.tokens,
            store: self.store.finish()?,
            place: place.clone(),
        })
    }
}

fn bad_item(corpus: &str, BadItem { item, reason }: BadItem) -> Error {
    Error::BadItem { corpus: corpus.to_owned(), item, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

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
        TokenisedCorpus::read(
            "c",
            "",
            documents,
            encode,
            Keep::All,
            &memory(),
            &AtomicBool::new(false),
        )
    }

    fn memory() -> Place {
        Place::new(Path::new("nowhere"))
    }

    fn kept(corpus: &TokenisedCorpus) -> Vec<TokenisedDocument> {
        corpus.documents().collect::<Result<_>>().unwrap()
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
        assert_eq!(read(base()).unwrap().provenance, read(base()).unwrap().provenance);
    }

    #[test]
    fn more_documents_than_a_block_keep_their_order() {
        let documents = (0..1_000).map(|i| Document::new(format!("{i}"), format!("text {i}")));
        let corpus = read(documents.collect()).unwrap();
        assert!(kept(&corpus).iter().enumerate().all(|(i, d)| d.id == i.to_string()));
        assert_eq!(corpus.provenance.documents, 1_000);
        assert_eq!(corpus.tokens(), corpus.provenance.bytes);
    }

    #[test]
    fn a_beginning_is_kept_and_the_whole_is_hashed() {
        let documents = || -> Vec<Document> {
            let text = |i: usize| "x".repeat(10 + i % 7);
            // Questions of three options each.
            (0..10_000)
                .map(|i| {
                    Document::new(format!("{i}"), text(i)).with_tag("item", (i / 3).to_string())
                })
                .collect()
        };
        let whole = read(documents()).unwrap();
        assert!(whole.whole);
        for keep in [1, 500, 60_000, 70_000] {
            let all = documents().into_iter().map(Ok::<_, Error>);
            let cancel = AtomicBool::new(false);
            let part =
                TokenisedCorpus::read("c", "", all, encode, Keep::First(keep), &memory(), &cancel)
                    .unwrap();
            assert_eq!(part.provenance, whole.provenance);
            assert!(!part.whole && part.tokens() >= keep && part.tokens() < keep + 3 * 16);
            assert_eq!(kept(&part)[..], kept(&whole)[..part.kept() as usize]);
            assert_eq!(part.kept() % 3, 0, "no question is cut");
            assert_eq!((part.items, whole.items), (3_334, 3_334));
        }
        let cancel = AtomicBool::new(false);
        let all = documents().into_iter().map(Ok::<_, Error>);
        let all =
            TokenisedCorpus::read("c", "", all, encode, Keep::First(1 << 40), &memory(), &cancel)
                .unwrap();
        assert_eq!(all.facts(), whole.facts());
        assert_eq!(kept(&all), kept(&whole));
    }

    #[test]
    fn reading_stops_on_request() {
        let cancel = AtomicBool::new(false);
        let endless = (0u64..).map(|i| {
            cancel.store(i > 20_000, Ordering::Relaxed);
            Ok::<_, Error>(Document::new(format!("{i}"), "text"))
        });
        let error = TokenisedCorpus::read("c", "", endless, encode, Keep::All, &memory(), &cancel)
            .unwrap_err();
        assert!(matches!(error, Error::Cancelled));
    }

    #[test]
    fn an_empty_corpus_is_refused() {
        assert!(matches!(read(Vec::new()), Err(Error::EmptyCorpus { .. })));
    }
    /// Documents of every awkward kind, in memory and in a file: from the first, from any other,
    /// and again.
    #[test]
    fn a_file_gives_back_what_memory_does() {
        let folder = tempfile::tempdir().unwrap();
        let documents = || -> Vec<Document> {
            let mut documents: Vec<Document> = (0..3_000)
                .map(|i| Document::new(format!("дoc \"{i}\""), "x".repeat(i * 7_919 % 1_500)))
                .collect();
            documents[5] =
                documents[5].clone().with_tag("a", "b\n").with_tag("item", "q").with_span(3..9);
            // Longer than what is read ahead, and than what lies between two marks.
            documents[700].text = "y".repeat(700_000);
            documents[701].text.clear();
            documents
        };
        let read = |place: &Place| {
            let documents = documents().into_iter().map(Ok::<_, Error>);
            TokenisedCorpus::read(
                "c",
                "",
                documents,
                encode,
                Keep::All,
                place,
                &AtomicBool::new(false),
            )
            .unwrap()
        };
        let (memory, file) = (
            read(&Place { folder: folder.path().into(), memory: 1 << 30 }),
            read(&Place { folder: folder.path().into(), memory: 10_000 }),
        );
        assert!(!memory.on_disk() && file.on_disk());
        assert_eq!(memory.facts(), file.facts());
        let all = kept(&memory);
        assert_eq!(all.len(), 3_000);
        assert!(all == kept(&file));
        assert_eq!(all[5].spans.first(), Some(&(3..9)));
        for from in [0, 1, 699, 700, 701, 702, 1_500, 2_999, 3_000, u32::MAX] {
            let rest: Vec<TokenisedDocument> =
                file.documents_from(from).collect::<Result<_>>().unwrap();
            assert!(rest == all[all.len().min(from as usize)..], "{from}");
        }
    }

    /// A disk that is really full, as the kernel plays it.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let _full = relscale_records::atomic::faults::full(&folder.path().join("text"));
        let documents = (0..).map(|i| Ok::<_, Error>(Document::new(format!("{i}"), "text")));
        let place = Place { folder: folder.path().into(), memory: 100_000 };
        let read = TokenisedCorpus::read(
            "c",
            "",
            documents,
            encode,
            Keep::All,
            &place,
            &AtomicBool::new(false),
        );
        let error = read.unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::Keep { .. }), "{message}");
        assert!(message.contains("free some space") && message.contains("--tokens"), "{message}");
    }
}
