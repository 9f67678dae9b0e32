//! One pass over the rows: bytes, words and spans of each document.

use super::spelling::{Shape, Spelling};
use super::{SPAN_K, SPAN_WORDS, TextTally, WordTally};
use crate::provenance::TieRule;
use crate::token::ScoredToken;
use crate::units::is_space;

/// Tokens of each document, by ordinal: where a document ends. One that is not here may have been
/// cut, so that the word at its end is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentEnds(Vec<u32>);

impl DocumentEnds {
    /// Notes that the document has so many tokens; ordinals ascend.
    pub fn push(&mut self, ordinal: u32, tokens: u64) {
        // Ordinals are dense; a table that skips some has no tokens there.
        if ordinal as usize >= self.0.len() && ordinal - self.0.len() as u32 <= 1 << 20 {
            self.0.resize(ordinal as usize, 0);
            self.0.push(u32::try_from(tokens).unwrap_or(0));
        }
    }

    /// Whether the position is the document's last.
    fn is_last(&self, document: u32, position: u32) -> bool {
        self.0.get(document as usize).is_some_and(|tokens| Some(*tokens) == position.checked_add(1))
    }
}

/// What some tokens have together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Touch {
    /// The largest rank among them.
    rank: u32,
    /// Whether each of them has one.
    known: bool,
}

impl Touch {
    const NONE: Self = Self { rank: 0, known: true };
    const UNKNOWN: Self = Self { rank: 0, known: false };

    fn join(&mut self, other: Self) {
        self.rank = self.rank.max(other.rank);
        self.known &= other.known;
    }
}

/// What stands before the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// White space, or the document's beginning.
    Space,
    /// Nobody knows: a word that begins here may have begun earlier.
    Unknown,
}

/// Reads tokens as words.
#[derive(Debug, Clone)]
struct Words {
    spelling: Spelling,
    /// The word that is being read.
    open: Option<Touch>,
    before: Before,
    /// Tokens that hold white space behind the last word.
    between: Touch,
    /// Known words in a row up to the last one.
    chain: u32,
    /// Of those, the last ones that are hits with all between them, an entry a k of [`SPAN_K`].
    runs: [u32; SPAN_K.len()],
    /// The first bytes of a character, and the tokens that hold them.
    pending: [u8; 4],
    pending_length: usize,
    pending_touch: Touch,
    /// The last token was a special one.
    after_special: bool,
}

impl Words {
    fn new(spelling: Spelling) -> Self {
        Self {
            spelling,
            open: None,
            before: Before::Space,
            between: Touch::NONE,
            chain: 0,
            runs: [0; SPAN_K.len()],
            pending: [0; 4],
            pending_length: 0,
            pending_touch: Touch::NONE,
            after_special: false,
        }
    }

    /// At the beginning of a document.
    fn begin(&mut self) {
        (self.open, self.before, self.between) = (None, Before::Space, Touch::NONE);
        (self.chain, self.runs) = (0, [0; SPAN_K.len()]);
        (self.pending_length, self.after_special) = (0, false);
    }

    fn token(&mut self, row: &ScoredToken, touch: Touch, at: &mut At<'_>) {
        let special = matches!(self.spelling.shape(row.token), Shape::Text(text) if text.special);
        let after_special = std::mem::replace(&mut self.after_special, special);
        match self.spelling.shape(row.token) {
            Shape::Text(text) if text.special && text.bytes != row.bytes => self.unknown(at),
            Shape::Text(text) => {
                self.flush();
                let stands_for_nothing =
                    text.marked && after_special && row.bytes.checked_add(1) == Some(text.bytes);
                if text.leads && !stands_for_nothing {
                    self.space(touch, at);
                }
                if text.pieces > 0 {
                    self.word(touch);
                }
                for _ in 1..text.pieces {
                    self.space(touch, at);
                    self.word(touch);
                }
                if text.trails {
                    self.space(touch, at);
                }
            }
            Shape::Piece { letters, joins } => {
                if !joins && row.bytes > letters {
                    self.space(Touch::NONE, at);
                }
                self.word(touch);
            }
            Shape::Bytes { start, end } => {
                for index in start..end {
                    let byte = self.spelling.arena(index, index + 1).first().copied();
                    byte.into_iter().for_each(|byte| self.byte(byte, touch, at));
                }
            }
            Shape::Unknown => self.unknown(at),
        }
    }

    /// A byte of a text in UTF-8.
    fn byte(&mut self, byte: u8, touch: Touch, at: &mut At<'_>) {
        let continues = byte & 0xC0 == 0x80;
        if self.pending_length > 0 && !continues {
            self.flush();
        }
        if byte < 0x80 {
            match is_space(char::from(byte)) {
                true => self.space(touch, at),
                false => self.word(touch),
            }
        } else if self.pending_length == 0 && continues {
            // The rest of a character whose beginning was not seen.
            self.word(touch);
        } else {
            if self.pending_length == 0 {
                self.pending_touch = Touch::NONE;
            }
            self.pending_touch.join(touch);
            self.pending[self.pending_length] = byte;
            self.pending_length += 1;
            let whole = match self.pending[0] {
                0xF0.. => 4,
                0xE0.. => 3,
                _ => 2,
            };
            if self.pending_length == whole {
                let text = std::str::from_utf8(&self.pending[..whole]).ok();
                let touch = self.pending_touch;
                self.pending_length = 0;
                match text.and_then(|text| text.chars().next()).is_some_and(is_space) {
                    true => self.space(touch, at),
                    false => self.word(touch),
                }
            }
        }
    }

    /// Pieces of a character that never became one are taken for a letter.
    fn flush(&mut self) {
        if std::mem::take(&mut self.pending_length) > 0 {
            self.word(self.pending_touch);
        }
    }

    /// A token holds bytes that are no white space.
    fn word(&mut self, touch: Touch) {
        match &mut self.open {
            Some(open) => open.join(touch),
            None => {
                let known = touch.known && self.before == Before::Space;
                self.open = Some(Touch { known, ..touch });
            }
        }
    }

    /// A token holds white space: the open word ends.
    fn space(&mut self, touch: Touch, at: &mut At<'_>) {
        self.close(at);
        self.before = Before::Space;
        self.between.join(touch);
    }

    /// Nobody knows what stands here.
    fn unknown(&mut self, at: &mut At<'_>) {
        self.flush();
        self.open.iter_mut().for_each(|open| open.join(Touch::UNKNOWN));
        self.close(at);
        self.before = Before::Unknown;
        self.between.join(Touch::UNKNOWN);
    }

    /// The open word ends here.
    fn close(&mut self, At { words, k }: &mut At<'_>) {
        let Some(word) = self.open.take() else { return };
        let between = std::mem::replace(&mut self.between, Touch::NONE);
        if !(word.known && between.known) {
            (self.chain, self.runs) = (0, [0; SPAN_K.len()]);
        }
        if !word.known {
            words.left_out += 1;
            return;
        }
        words.words += 1;
        if let Some(hits) = words.hits.get_mut(first_hit(k, word.rank)) {
            *hits += 1;
        }
        let joined = self.chain > 0;
        self.chain += 1;
        for (spans, n) in words.spans.iter_mut().zip(SPAN_WORDS) {
            *spans += u32::from(self.chain >= n);
        }
        for ((run, hits), k) in self.runs.iter_mut().zip(&mut words.span_hits).zip(SPAN_K) {
            let goes_on = joined && between.rank <= k;
            *run = if word.rank <= k { 1 + if goes_on { *run } else { 0 } } else { 0 };
            for (hits, n) in hits.iter_mut().zip(SPAN_WORDS) {
                *hits += u32::from(*run >= n);
            }
        }
    }

    /// The document's rows end, with its last token or before.
    fn end(&mut self, whole: bool, at: &mut At<'_>) {
        self.flush();
        if !whole {
            self.open.iter_mut().for_each(|open| open.join(Touch::UNKNOWN));
        }
        self.close(at);
    }
}

/// Where words are counted: hits by the first k that they reach, until the document ends.
struct At<'a> {
    words: &'a mut WordTally,
    k: &'a [u32],
}

/// The first k that is at least the rank; one past the last where none is.
fn first_hit(k: &[u32], rank: u32) -> usize {
    k.iter().position(|&k| rank <= k).unwrap_or(k.len())
}

/// Counts by the first k that they reach, to counts of rank at most k.
fn cumulate(counts: &mut [u64]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

/// Counts bytes, words and spans over a stream of rows.
///
/// ```
/// use relscale_records::classes::TokenCounts;
/// use relscale_records::provenance::TieRule;
/// use relscale_records::vocabulary::{TokenKind, Vocabulary, VocabularyEntry};
/// use relscale_records::words::{DocumentEnds, Spelling, TextCounter};
/// use relscale_records::{Score, ScoredToken};
///
/// let texts = ["to", " be", " o", "r", " not"];
/// let entry = |(id, text): (usize, &&str)| VocabularyEntry {
///     id: id as u32,
///     text: (*text).to_owned(),
///     kind: TokenKind::Normal,
/// };
/// let vocabulary = Vocabulary::new("", texts.iter().enumerate().map(entry).collect())?;
/// let mut counts = TokenCounts::default();
/// counts.extend(0..5);
/// let mut ends = DocumentEnds::default();
/// ends.push(0, 5);
/// let spelling = Spelling::new(&vocabulary, &counts);
/// let mut counter = TextCounter::new(vec![1, 10], TieRule::AtLeast, Some(spelling), ends);
/// for (token, rank) in [(0, 1), (1, 1), (2, 1), (3, 7), (4, 2)] {
///     let score = Some(Score { rank, ties: Some(0), nll: 1.0, entropy: Some(1.0), argmax: Some(0) });
///     let bytes = texts[token as usize].len() as u32;
///     counter.add(&ScoredToken { document: 0, position: token, token, bytes, context: 1, score });
/// }
/// let text = counter.finish().remove(0);
/// assert_eq!(text.byte_hits, [7, 12]); // "to be o" of "to be or not"
/// let words = text.words.unwrap();
/// assert_eq!((words.words, words.hits), (4, vec![2, 4])); // "or" is ranked 7, by its "r"
/// assert_eq!((words.spans[0], words.span_hits[0][0], words.span_hits[1][0]), (3, 1, 3));
/// # Ok::<(), relscale_records::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TextCounter {
    k: Vec<u32>,
    tie_rule: TieRule,
    words: Option<Words>,
    ends: DocumentEnds,
    /// The last document is open: its hits are by the first k that they reach.
    documents: Vec<TextTally>,
    /// The last row's document and position.
    last: Option<(u32, u32)>,
}

impl TextCounter {
    /// A counter that has seen no row. Without a spelling there are no words.
    pub fn new(
        k: Vec<u32>,
        tie_rule: TieRule,
        spelling: Option<Spelling>,
        ends: DocumentEnds,
    ) -> Self {
        let words = spelling.map(Words::new);
        Self { k, tie_rule, words, ends, documents: Vec::new(), last: None }
    }

    /// Adds one position. Rows must come by document, then position, as they stand in a part.
    pub fn add(&mut self, row: &ScoredToken) {
        let next = match self.last {
            Some((document, position)) if document == row.document => position.wrapping_add(1),
            _ => {
                self.end();
                self.documents.push(TextTally::empty(self.k.len(), self.words.is_some()));
                self.words.iter_mut().for_each(Words::begin);
                0
            }
        };
        self.last = Some((row.document, row.position));
        let Some(document) = self.documents.last_mut() else { return };
        let rank = row.score.map(|score| score.rank_by(self.tie_rule));
        match rank {
            None => document.nonfinite_bytes += u64::from(row.bytes),
            Some(rank) => {
                if let Some(hits) = document.byte_hits.get_mut(first_hit(&self.k, rank)) {
                    *hits += u64::from(row.bytes);
                }
            }
        }
        if let (Some(reader), Some(words)) = (&mut self.words, &mut document.words) {
            let mut at = At { words, k: &self.k };
            if row.position != next {
                reader.unknown(&mut at);
            }
            let touch = rank.map_or(Touch::UNKNOWN, |rank| Touch { rank, known: true });
            reader.token(row, touch, &mut at);
        }
    }

    /// Ends the open document.
    fn end(&mut self) {
        let Some((ordinal, position)) = self.last.take() else { return };
        let Some(document) = self.documents.last_mut() else { return };
        cumulate(&mut document.byte_hits);
        if let (Some(reader), Some(words)) = (&mut self.words, &mut document.words) {
            reader.end(self.ends.is_last(ordinal, position), &mut At { words, k: &self.k });
            cumulate(&mut words.hits);
        }
    }

    /// Takes the first documents, which must have ended.
    pub(crate) fn take(&mut self, documents: usize) -> Vec<TextTally> {
        self.documents.drain(..documents).collect()
    }

    /// The counts of all rows so far, a document each, but for those that were taken before.
    pub fn finish(mut self) -> Vec<TextTally> {
        self.end();
        self.documents
    }
}
