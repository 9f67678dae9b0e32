//! Which positions are scored, in which windows, in which part.
//!
//! **Limit.** With `tokens = N`, documents are taken in order (of the corpus, or as they were
//! drawn, see [`crate::draw`]) until N positions are to be scored;
//! in the document where the limit falls, later positions are not scored, while the windows
//! themselves stay as they are. A document's first token, scored only where a prefix precedes it,
//! does not count. So models that share a tokenizer score the same positions of the same documents
//! under one protocol, with or without prefix, and a position has the same score with and without a
//! limit. (A protocol whose *scored* positions depend on the window length, such as `half-window`,
//! needs one length for all models to keep this.)
//!
//! **Items.** Documents with a tag `item` are the options of a question, which only mean something
//! together and as a whole: the item that a limit falls into is scored to its end, and a protocol
//! that does not reach the whole scored text of an option is refused. Options of which the model
//! does not see the whole prompt are counted ([`CutPrompts`]).
//!
//! **Parts.** Whole documents are added to a part until it has enough positions; a document that
//! alone has enough is a part of its own. The partition depends on the corpus alone, and so do the
//! slices that several processes measure.
//!
//! **Memory.** How many positions each document has goes through [`crate::scratch`], and windows
//! are made one document at a time, here to count them and again when they are scored.

use std::collections::BTreeSet;
use std::io::{BufReader, Read};

use relscale_corpus::protocols::{Protocol, TokenText, Window};
use relscale_corpus::{CorpusError, Document};
use relscale_records::parquet::PartRange;
use relscale_records::study::{self, Slice, SliceOf};

use crate::error::{Error, Result};
use crate::scratch::{Bytes, Writer};
use crate::text::{TokenisedCorpus, TokenisedDocument};

/// Positions after which a part is closed: about a megabyte of Parquet and, for a model that does a
/// thousand tokens a second, a minute of work that a kill may lose.
pub const PART_TOKENS: u64 = 65_536;

/// A source of windows: a protocol with everything it needs to know.
pub trait Windows {
    /// Windows of one document, in the order of their scored positions.
    ///
    /// # Errors
    /// The protocol's.
    fn windows(&self, document: &TokenisedDocument) -> Result<Vec<Window>>;
}

/// Any function will do.
impl<F: Fn(&TokenisedDocument) -> Result<Vec<Window>>> Windows for F {
    fn windows(&self, document: &TokenisedDocument) -> Result<Vec<Window>> {
        self(document)
    }
}

/// A protocol of the corpus crate, with the ids that it takes for special.
#[derive(Debug)]
pub struct ProtocolWindows<'a> {
    /// The protocol.
    pub protocol: &'a dyn Protocol,
    /// Special ids of the tokenizer.
    pub specials: &'a BTreeSet<u32>,
}

impl Windows for ProtocolWindows<'_> {
    fn windows(&self, document: &TokenisedDocument) -> Result<Vec<Window>> {
        // The text is gone; all that a protocol reads of the document are its spans.
        let spans = Document { spans: document.spans.clone(), ..Document::default() };
        let text = TokenText::of_document(&spans, &document.encoded, self.specials);
        Ok(self.protocol.windows(&text)?)
    }
}

/// Which documents a run covers and how many positions of each it scores.
#[derive(Debug)]
pub struct Layout {
    /// Covered documents, from the first.
    documents: u32,
    /// Scored positions of all of them.
    total: u64,
    /// Covered documents without a scored position.
    unscored: u64,
    /// Scored positions of each, in order: 32 bits, little-endian.
    scored: Bytes,
    /// Positions of the last covered document from this one on are not scored.
    until: Option<u32>,
    /// Whether the limit, if there was one, was reached.
    reached: bool,
    cut: CutPrompts,
}

/// Options whose prompt does not fit into the window with them, so that its beginning is not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct CutPrompts {
    /// Covered options.
    pub options: u64,
    /// Those of them whose prompt is cut.
    pub cut: u64,
    /// Tokens of the longest covered option with its prompt.
    pub longest: u64,
}

impl CutPrompts {
    fn add(&mut self, document: &TokenisedDocument, windows: &[Window]) {
        let first = windows.iter().map(|window| {
            // A text's own first token that stands for the prefix is fed as such.
            let fed_as_prefix =
                window.prefix.is_some() && document.encoded.ids.first() == window.prefix.as_ref();
            window.start.saturating_sub(usize::from(fed_as_prefix))
        });
        self.options += 1;
        self.cut += u64::from(first.max().is_some_and(|first| first > 0));
        self.longest = self.longest.max(document.encoded.ids.len() as u64);
    }
}

impl Layout {
    /// Lays out a corpus. Where only a beginning of it was tokenised, that may not reach the limit
    /// ([`Layout::reached_limit`]), and the layout is then good for nothing but to know so.
    ///
    /// # Errors
    /// [`Error::NothingToScore`], or the protocol's own error when all documents are too short for
    /// it (some may be); [`Error::ZeroLimit`]; the protocol's; those of [`crate::scratch`].
    pub fn new(
        corpus: &TokenisedCorpus,
        windows: &dyn Windows,
        limit: Option<u64>,
    ) -> Result<Self> {
        if limit == Some(0) {
            return Err(Error::ZeroLimit);
        }
        let mut scored = Writer::new(corpus.place().clone());
        let (mut documents, mut total, mut unscored) = (0, 0, 0);
        let (mut until, mut reached, mut prompts) = (None, limit.is_none(), CutPrompts::default());
        let (mut counted, mut too_short) = (0, None);
        let mut unfinished: Option<String> = None;
        for document in corpus.documents() {
            let document = document?;
            let item = document.tags.get("item");
            if unfinished.is_some() && unfinished.as_ref() != item {
                break;
            }
            let (cut, short) = cut(&document, windows)?;
            too_short = too_short.or(short);
            if item.is_some() {
                prompts.add(&document, &cut);
            }
            let mut positions: Vec<u32> =
                cut.into_iter().flat_map(|window| window.scored).collect();
            if item.is_some() {
                check_reached(corpus, &document, &positions)?;
            }
            // A first token does not count towards the limit, so that a prefix moves nothing else.
            let countable = positions.iter().filter(|&&position| position > 0);
            let left = limit.map(|limit| limit.saturating_sub(counted));
            counted += countable.clone().count() as u64;
            if let (Some(left), Some(limit)) = (left, limit)
                && counted >= limit
            {
                reached = true;
                if item.is_some() {
                    unfinished = item.cloned();
                } else {
                    let last = countable.copied().nth((left - 1) as usize);
                    until = last.map(|last| last + 1);
                    positions.retain(|&position| until.is_none_or(|until| position < until));
                }
            }
            documents += 1;
            total += positions.len() as u64;
            unscored += u64::from(positions.is_empty());
            // A document has at most u32::MAX tokens.
            scored.write(&(positions.len() as u32).to_le_bytes())?;
            if limit.is_some() && reached && unfinished.is_none() {
                break;
            }
        }
        if total == 0 && corpus.whole {
            return Err(too_short.unwrap_or_else(|| Error::NothingToScore {
                corpus: corpus.name().to_owned(),
                documents: corpus.kept() as usize,
            }));
        }
        Ok(Self {
            documents,
            total,
            unscored,
            scored: scored.finish()?,
            until,
            reached,
            cut: prompts,
        })
    }

    /// Documents covered, from the first.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// Positions scored in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Positions scored in each covered document; [`Error::ReadBack`] where they cannot be had.
    pub fn scored(&self) -> impl Iterator<Item = Result<u64>> + '_ {
        let mut reader = BufReader::new(self.scored.reader(0));
        (0..self.documents).map(move |_| {
            let mut scored = [0; 4];
            reader.read_exact(&mut scored).map_err(|source| self.scored.unreadable(source))?;
            Ok(u64::from(u32::from_le_bytes(scored)))
        })
    }

    /// Covered documents without a scored position.
    pub fn unscored_documents(&self) -> u64 {
        self.unscored
    }

    /// Options whose prompt is longer than what the model sees.
    pub fn cut_prompts(&self) -> CutPrompts {
        self.cut
    }

    /// Whether there was no limit, or the corpus reached it.
    pub fn reached_limit(&self) -> bool {
        self.reached
    }

    /// The windows of one covered document, without positions beyond the limit and windows that
    /// have none left.
    ///
    /// # Errors
    /// The protocol's.
    pub fn windows(
        &self,
        document: &TokenisedDocument,
        ordinal: u32,
        windows: &dyn Windows,
    ) -> Result<Vec<Window>> {
        if ordinal >= self.documents {
            return Ok(Vec::new());
        }
        let (mut kept, _) = cut(document, windows)?;
        if let Some(until) = self.until
            && ordinal + 1 == self.documents
        {
            for window in &mut kept {
                window.scored.retain(|&position| position < until);
            }
        }
        kept.retain(|window| !window.scored.is_empty());
        Ok(kept)
    }

    /// The partition into parts: whole documents until a part has `part_tokens` positions; of the
    /// whole run, or of a slice of it.
    ///
    /// # Errors
    /// [`Error::ReadBack`].
    pub fn parts(&self, part_tokens: u64, slice: Option<&Slice>) -> Result<Vec<PartRange>> {
        let (first, scored) = self.inside(slice);
        study::parts(first, scored, part_tokens)
    }

    /// The documents of a slice of the run.
    ///
    /// # Errors
    /// [`Error::ReadBack`].
    pub fn slice(&self, which: SliceOf) -> Result<Slice> {
        Slice::new(which, self.scored(), self.total)
    }

    /// Positions scored in a slice of the run, and its documents without one; of the whole run
    /// without a slice.
    ///
    /// # Errors
    /// [`Error::ReadBack`].
    pub fn positions(&self, slice: Option<&Slice>) -> Result<(u64, u64)> {
        let (mut total, mut unscored) = (0, 0);
        for scored in self.inside(slice).1 {
            let scored = scored?;
            total += scored;
            unscored += u64::from(scored == 0);
        }
        Ok((total, unscored))
    }

    /// The first document of a slice, and the positions of each of its documents.
    fn inside(&self, slice: Option<&Slice>) -> (u32, impl Iterator<Item = Result<u64>> + '_) {
        let (first, documents) = match slice {
            Some(slice) => (slice.first_document, slice.documents()),
            None => (0, self.documents),
        };
        (first, self.scored().skip(first as usize).take(documents as usize))
    }
}

/// The windows of a document. One short document among many is counted and said, not an end to the
/// run: it has no windows, and why.
fn cut(
    document: &TokenisedDocument,
    windows: &dyn Windows,
) -> Result<(Vec<Window>, Option<Error>)> {
    match windows.windows(document) {
        Ok(windows) => Ok((windows, None)),
        Err(error @ Error::Corpus(CorpusError::TooShort { .. })) => Ok((Vec::new(), Some(error))),
        Err(error) => Err(error),
    }
}

/// Refuses an option of which a part would not be scored: its likelihood would be that of another
/// text.
fn check_reached(
    corpus: &TokenisedCorpus,
    document: &TokenisedDocument,
    positions: &[u32],
) -> Result<()> {
    let bytes = |position: &u32| {
        document.encoded.bytes.get(*position as usize).copied().unwrap_or_default()
    };
    let scored: u64 = positions.iter().map(|position| u64::from(bytes(position))).sum();
    let wanted: u64 = document.spans.iter().map(|span| span.len() as u64).sum();
    if scored >= wanted {
        return Ok(());
    }
    Err(Error::OptionNotReached {
        corpus: corpus.name().to_owned(),
        document: document.id.clone(),
        scored,
        wanted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use relscale_corpus::Encoded;
    use std::path::Path;

    use crate::scratch::Place;

    fn documents(lengths: &[usize]) -> Vec<TokenisedDocument> {
        let document = |&length: &usize| TokenisedDocument {
            id: String::new(),
            tags: Default::default(),
            encoded: Encoded { ids: vec![7; length], bytes: vec![1; length], specials: 0 },
            text_bytes: length as u64,
            words: None,
            spans: Vec::new(),
        };
        lengths.iter().map(document).collect()
    }

    fn corpus_of(documents: &[TokenisedDocument]) -> TokenisedCorpus {
        TokenisedCorpus::from_documents("c", documents, &Place::new(Path::new("nowhere")))
    }

    fn corpus(lengths: &[usize]) -> TokenisedCorpus {
        corpus_of(&documents(lengths))
    }

    fn scored(layout: &Layout) -> Vec<u64> {
        layout.scored().collect::<Result<_>>().unwrap()
    }

    /// Windows of four tokens side by side; the first token of each is scored with a prefix, or
    /// with none from before.
    fn fours(prefix: Option<u32>) -> impl Windows {
        move |document: &TokenisedDocument| {
            let length = document.encoded.ids.len();
            Ok((0..length)
                .step_by(4)
                .map(|start| {
                    let end = length.min(start + 4);
                    let first = if prefix.is_some() { start } else { start + 1 };
                    Window { prefix, start, end, scored: (first as u32..end as u32).collect() }
                })
                .collect())
        }
    }

    fn positions(
        layout: &Layout,
        corpus: &TokenisedCorpus,
        windows: &dyn Windows,
    ) -> Vec<Vec<u32>> {
        (0..layout.documents())
            .zip(corpus.documents())
            .map(|(i, document)| {
                let kept = layout.windows(&document.unwrap(), i, windows).unwrap();
                kept.into_iter().flat_map(|window| window.scored).collect()
            })
            .collect()
    }

    #[test]
    fn without_a_limit_everything_is_covered() {
        let corpus = corpus(&[1, 5, 9]);
        let layout = Layout::new(&corpus, &fours(None), None).unwrap();
        assert_eq!(scored(&layout), [0, 3, 6]);
        assert_eq!(layout.unscored_documents(), 1);
        assert!(layout.reached_limit());
    }

    #[test]
    fn a_limit_cuts_the_document_in_which_it_falls() {
        let corpus = corpus(&[5, 9, 9]);
        for limit in 1..=9 {
            let windows = fours(None);
            let layout = Layout::new(&corpus, &windows, Some(limit)).unwrap();
            assert_eq!(layout.total(), limit);
            let all: Vec<Vec<u32>> = positions(&layout, &corpus, &windows);
            let whole =
                positions(&Layout::new(&corpus, &windows, None).unwrap(), &corpus, &windows);
            let flat = |v: &[Vec<u32>]| v.concat();
            assert_eq!(flat(&all), flat(&whole)[..limit as usize], "limit {limit}");
            let counts: Vec<u64> = all.iter().map(|p| p.len() as u64).collect();
            assert_eq!(scored(&layout), counts);
        }
    }

    /// Options whose last two tokens are scored, under names of items.
    fn items(names: &[&str]) -> Vec<TokenisedDocument> {
        let mut documents = documents(&vec![4; names.len()]);
        for (document, name) in documents.iter_mut().zip(names) {
            document.tags.insert("item".into(), (*name).to_owned());
            document.spans.push(2..4);
        }
        documents
    }

    fn last_two(document: &TokenisedDocument) -> Result<Vec<Window>> {
        let end = document.encoded.ids.len();
        Ok(vec![Window {
            prefix: None,
            start: 0,
            end,
            scored: vec![end as u32 - 2, end as u32 - 1],
        }])
    }

    #[test]
    fn a_limit_never_cuts_an_item() {
        let corpus = corpus_of(&items(&["q1", "q1", "q1", "q2", "q2", "q3"]));
        for (limit, documents) in [(1, 3), (6, 3), (7, 5), (10, 5), (11, 6)] {
            let layout = Layout::new(&corpus, &last_two, Some(limit)).unwrap();
            assert_eq!(
                (layout.documents(), layout.reached_limit()),
                (documents, true),
                "limit {limit}"
            );
            assert_eq!(scored(&layout), vec![2; documents as usize]);
        }
    }

    #[test]
    fn an_option_that_is_not_scored_whole_is_refused() {
        let mut documents = items(&["q1", "q1"]);
        documents[1].id = "q1/B".into();
        documents[1].spans[0] = 1..4;
        let message = Layout::new(&corpus_of(&documents), &last_two, None).unwrap_err().to_string();
        assert!(message.contains("`q1/B`") && message.contains("2 of its 3 bytes"), "{message}");
        // Without the tag it is text of which a part is scored, as with any protocol.
        documents[1].tags.clear();
        assert_eq!(Layout::new(&corpus_of(&documents), &last_two, None).unwrap().total(), 4);
    }

    #[test]
    fn prompts_of_which_the_beginning_is_not_seen_are_counted() {
        let mut documents = items(&["q1", "q1", "q2"]);
        documents[1].encoded.ids = vec![7; 9];
        documents[1].encoded.bytes = vec![1; 9];
        documents[1].spans[0] = 7..9;
        // Text that is no question has no prompt.
        documents[2].tags.clear();
        let corpus = corpus_of(&documents);
        let last = |prefix: Option<u32>, start: usize| {
            move |document: &TokenisedDocument| {
                let end = document.encoded.ids.len();
                let start = if end > 4 { start } else { 0 };
                Ok(vec![Window {
                    prefix,
                    start,
                    end,
                    scored: vec![end as u32 - 2, end as u32 - 1],
                }])
            }
        };
        let cut =
            |windows: &dyn Windows| Layout::new(&corpus, windows, None).unwrap().cut_prompts();
        let seen = |cut| CutPrompts { options: 2, cut, longest: 9 };
        assert_eq!(cut(&last(None, 5)), seen(1));
        assert_eq!(cut(&last(None, 0)), seen(0));
        // Token 7 begins every text; as the prefix it is fed, though no window has it as the text's
        // own.
        assert_eq!(cut(&last(Some(7), 1)), seen(0));
        assert_eq!(cut(&last(Some(7), 2)), seen(1));
        assert_eq!(cut(&last(Some(3), 1)), seen(1));
    }

    #[test]
    fn a_prefix_does_not_move_the_limit() {
        let corpus = corpus(&[4, 4, 4, 4]);
        let last = |prefix| {
            // One window a document, so that only position 0 differs.
            let windows = fours(prefix);
            let layout = Layout::new(&corpus, &windows, Some(5)).unwrap();
            positions(&layout, &corpus, &windows)
        };
        assert_eq!(last(None), [vec![1, 2, 3], vec![1, 2]]);
        assert_eq!(last(Some(0)), [vec![0, 1, 2, 3], vec![0, 1, 2]]);
    }

    #[test]
    fn a_limit_beyond_the_corpus_is_noticed() {
        let corpus = corpus(&[5, 5]);
        let layout = Layout::new(&corpus, &fours(None), Some(1_000)).unwrap();
        assert_eq!((layout.total(), layout.reached_limit()), (6, false));
        assert!(Layout::new(&corpus, &fours(None), Some(6)).unwrap().reached_limit());
    }

    #[test]
    fn nothing_to_score_is_an_error() {
        let corpus = corpus(&[1, 0, 1]);
        let error = Layout::new(&corpus, &fours(None), None).unwrap_err();
        assert!(matches!(error, Error::NothingToScore { documents: 3, .. }));
        assert!(Layout::new(&corpus, &fours(Some(0)), None).is_ok());
        assert!(matches!(Layout::new(&corpus, &fours(None), Some(0)), Err(Error::ZeroLimit)));
    }

    #[test]
    fn parts_hold_whole_documents_and_cover_each_once() {
        // The last token of a document is never scored here.
        let layout = |scored: &[usize]| {
            let lengths: Vec<usize> = scored.iter().map(|scored| scored + 1).collect();
            let windows = |document: &TokenisedDocument| {
                let end = document.encoded.ids.len() - 1;
                Ok(vec![Window {
                    prefix: Some(0),
                    start: 0,
                    end,
                    scored: (0..end as u32).collect(),
                }])
            };
            Layout::new(&corpus(&lengths), &windows, None).unwrap()
        };
        let ends = |scored: &[usize]| -> Vec<(u32, u32)> {
            let parts = layout(scored).parts(10, None).unwrap();
            assert!(parts.iter().enumerate().all(|(i, part)| part.index == i as u32));
            parts.iter().map(|part| (part.first_document, part.end_document)).collect()
        };
        assert_eq!(ends(&[4, 4, 4, 4]), [(0, 3), (3, 4)]);
        // The huge one is alone, also when a part was begun.
        assert_eq!(ends(&[4, 500, 4]), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(ends(&[0, 500, 0]), [(0, 2), (2, 3)]);
        assert_eq!(ends(&[10, 10]), [(0, 1), (1, 2)]);
        assert_eq!(ends(&[1]), [(0, 1)]);
    }
}
