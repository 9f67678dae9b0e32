//! Quantities that compare across tokenizers: hits by byte, by word and by span of words, per
//! document, in sums that merge exactly.
//!
//! Ranks are of tokens, and tokens of two vocabularies are not the same pieces of text. Bytes and
//! words are: they are cut from the text alone.
//!
//! * A **byte** is a hit at k where the token that holds it has rank at most k.
//! * A **word** is a maximal run of characters of the document's text that are no white space
//!   (Unicode's, and U+001C to U+001F), whatever the tokenizer: punctuation and code belong to the
//!   word that they touch. A token belongs to every word of which it holds a byte (` of the` to
//!   two), and one of white space alone to none. A word is a hit at k where all its tokens have
//!   rank at most k.
//! * A **span** is N words in a row with all that stands between them: a hit at k where every token
//!   that holds a byte from the first word's first to the last word's last has rank at most k.
//!   Spans slide word by word.
//!
//! A word is left out, and counted, where not all of it is known: a token without a score, a
//! position that was not scored, the end of a document that was cut, a token that does not spell
//! its text ([`spelling`]).
//!
//! | file | what |
//! |---|---|
//! | [`spelling`] | where words begin and end in a token, by the vocabulary |
//! | [`counter`] | one pass over the rows |
//!
//! Exactness: all counts are integers of one document, and a document is never split.

pub mod counter;
pub mod spelling;

use serde::{Deserialize, Serialize};

pub use counter::{DocumentEnds, TextCounter};
pub use spelling::Spelling;

/// The k at which spans are counted, below |V| or not.
pub const SPAN_K: [u32; 3] = [1, 10, 100];

/// N, the lengths of spans in words.
pub const SPAN_WORDS: [u32; 5] = [2, 4, 8, 16, 32];

/// What one document counts by byte, word and span.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextTally {
    /// Source bytes of positions with a non-finite logit; those with a finite one are
    /// [`DocumentTally::bytes`](crate::DocumentTally::bytes).
    pub nonfinite_bytes: u64,
    /// Source bytes of tokens with rank at most k, an entry a k of the run.
    pub byte_hits: Vec<u64>,
    /// Words and spans; `None` without a vocabulary that says where words begin.
    pub words: Option<WordTally>,
}

/// Words and spans of one document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordTally {
    /// Words of which every token has a finite score.
    pub words: u64,
    /// Words that a row touches, but that are not known whole; one with a gap inside counts on
    /// either side of it.
    pub left_out: u64,
    /// Words whose tokens all have rank at most k, an entry a k of the run.
    pub hits: Vec<u64>,
    /// Spans, an entry an N of [`SPAN_WORDS`].
    pub spans: [u32; SPAN_WORDS.len()],
    /// Spans that are hits: for each k of [`SPAN_K`] an entry an N.
    pub span_hits: [[u32; SPAN_WORDS.len()]; SPAN_K.len()],
}

impl TextTally {
    /// Of a document without a position, on a grid of `grid` values of k.
    pub fn empty(grid: usize, words: bool) -> Self {
        let words = words.then(|| WordTally { hits: vec![0; grid], ..WordTally::default() });
        Self { nonfinite_bytes: 0, byte_hits: vec![0; grid], words }
    }

    /// Adds the counts of another document on the same grid.
    pub fn absorb(&mut self, other: &Self) {
        self.nonfinite_bytes += other.nonfinite_bytes;
        add(&mut self.byte_hits, &other.byte_hits);
        self.words = self.words.take().zip(other.words.as_ref()).map(|(mut words, other)| {
            words.absorb(other);
            words
        });
    }
}

impl WordTally {
    fn absorb(&mut self, other: &Self) {
        self.words += other.words;
        self.left_out += other.left_out;
        add(&mut self.hits, &other.hits);
        for (sum, spans) in self.spans.iter_mut().zip(other.spans) {
            *sum += spans;
        }
        let hits = self.span_hits.iter_mut().flatten().zip(other.span_hits.iter().flatten());
        hits.for_each(|(sum, hits)| *sum += hits);
    }
}

fn add(sums: &mut [u64], others: &[u64]) {
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
}
