//! The columns of a tally that count by byte, word and span.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::DataType;

use super::lists::{List, list_array};
use crate::words::{SPAN_K, SPAN_WORDS, TextTally, WordTally};

/// Counts of one number each; those of words are null without a vocabulary.
const COUNTS: [&str; 3] = ["nonfinite_bytes", "words", "words_left_out"];
/// Hits, an entry a k of the run; those of words are empty without a vocabulary.
const HITS: [&str; 2] = ["byte_hits", "word_hits"];
/// Spans, an entry an N, and their hits, k by k; empty without a vocabulary.
const SPANS: [&str; 2] = ["span_windows", "span_hits"];

/// Names and types.
pub(super) fn columns(list: impl Fn(DataType) -> DataType) -> Vec<(&'static str, DataType)> {
    let counts = COUNTS.map(|name| (name, DataType::UInt64)).into_iter();
    let hits = HITS.map(|name| (name, list(DataType::UInt64)));
    counts.chain(hits).chain(SPANS.map(|name| (name, list(DataType::UInt32)))).collect()
}

/// The counts of one document, as they are written.
pub(super) struct TextLists {
    counts: [Option<u64>; COUNTS.len()],
    hits: [Vec<u64>; HITS.len()],
    spans: [Vec<u32>; SPANS.len()],
}

impl TextLists {
    pub(super) fn new(text: Option<&TextTally>) -> Self {
        let words = text.and_then(|text| text.words.as_ref());
        Self {
            counts: [
                text.map(|text| text.nonfinite_bytes),
                words.map(|words| words.words),
                words.map(|words| words.left_out),
            ],
            hits: [
                text.map(|text| text.byte_hits.clone()).unwrap_or_default(),
                words.map(|words| words.hits.clone()).unwrap_or_default(),
            ],
            spans: [
                words.map(|words| words.spans.to_vec()).unwrap_or_default(),
                words.map(|words| words.span_hits.concat()).unwrap_or_default(),
            ],
        }
    }

    pub(super) fn numbers(&self) -> TextNumbers<'_> {
        TextNumbers {
            counts: self.counts,
            hits: self.hits.each_ref().map(Vec::as_slice),
            spans: self.spans.each_ref().map(Vec::as_slice),
        }
    }
}

/// The columns of several documents.
pub(super) fn arrays(documents: &[TextLists]) -> Vec<(&'static str, ArrayRef)> {
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    for (at, name) in COUNTS.into_iter().enumerate() {
        let values = documents.iter().map(|text| text.counts[at]);
        columns.push((name, Arc::new(UInt64Array::from_iter(values))));
    }
    for (at, name) in HITS.into_iter().enumerate() {
        let values = documents.iter().map(|text| text.hits[at].as_slice());
        columns.push((name, list_array::<UInt64Type>(values)));
    }
    for (at, name) in SPANS.into_iter().enumerate() {
        let values = documents.iter().map(|text| text.spans[at].as_slice());
        columns.push((name, list_array::<UInt32Type>(values)));
    }
    columns
}

/// The counts of one document, as they stand in the columns.
pub(super) struct TextNumbers<'a> {
    counts: [Option<u64>; COUNTS.len()],
    hits: [&'a [u64]; HITS.len()],
    spans: [&'a [u32]; SPANS.len()],
}

impl TextNumbers<'_> {
    /// What they add to the bytes that are hashed.
    pub(super) fn hash(&self, bytes: &mut Vec<u8>) {
        let counts = self.counts.iter().map(|count| count.unwrap_or(u64::MAX));
        let counts = counts.chain(self.hits.iter().copied().flatten().copied());
        counts.for_each(|count| bytes.extend(count.to_le_bytes()));
        let spans = self.spans.iter().copied().flatten();
        spans.for_each(|count| bytes.extend(count.to_le_bytes()));
    }

    /// The counts that these are; `None` when they do not fit the grid of `k` values.
    pub(super) fn tally(&self, k: usize) -> Option<TextTally> {
        let ([Some(nonfinite_bytes), words, left_out], [byte_hits, word_hits]) =
            (self.counts, self.hits)
        else {
            return None;
        };
        let words = match words.zip(left_out) {
            None if word_hits.is_empty() && self.spans.concat().is_empty() => None,
            Some((words, left_out)) if word_hits.len() == k => {
                let [spans, span_hits] = self.spans;
                Some(WordTally {
                    words,
                    left_out,
                    hits: word_hits.to_vec(),
                    spans: spans.try_into().ok()?,
                    span_hits: span_hits.as_chunks::<{ SPAN_WORDS.len() }>().0.try_into().ok()?,
                })
                .filter(|_| span_hits.len() == SPAN_K.len() * SPAN_WORDS.len())
            }
            _ => return None,
        };
        (byte_hits.len() == k).then(|| TextTally {
            nonfinite_bytes,
            byte_hits: byte_hits.to_vec(),
            words,
        })
    }
}

/// The columns of a batch.
pub(super) struct TextColumns<'a> {
    counts: Vec<&'a UInt64Array>,
    hits: Vec<List<'a, UInt64Type>>,
    spans: Vec<List<'a, UInt32Type>>,
}

impl<'a> TextColumns<'a> {
    pub(super) fn from_batch(batch: &'a RecordBatch) -> Option<Self> {
        let column = |name: &str| batch.column_by_name(name).map(AsRef::as_ref);
        let count = |name: &str| column(name)?.as_primitive_opt::<UInt64Type>();
        let hits = HITS.into_iter().map(|name| List::from_column(column(name)?));
        let spans = SPANS.into_iter().map(|name| List::from_column(column(name)?));
        Some(Self {
            counts: COUNTS.into_iter().map(count).collect::<Option<_>>()?,
            hits: hits.collect::<Option<_>>()?,
            spans: spans.collect::<Option<_>>()?,
        })
    }

    pub(super) fn row(&self, row: usize) -> Option<TextNumbers<'_>> {
        let mut numbers = TextNumbers {
            counts: [None; COUNTS.len()],
            hits: [&[]; HITS.len()],
            spans: [&[]; SPANS.len()],
        };
        for (count, column) in numbers.counts.iter_mut().zip(&self.counts) {
            *count = column.is_valid(row).then(|| column.value(row));
        }
        for (hits, column) in numbers.hits.iter_mut().zip(&self.hits) {
            *hits = column.row(row)?;
        }
        for (spans, column) in numbers.spans.iter_mut().zip(&self.spans) {
            *spans = column.row(row)?;
        }
        Some(numbers)
    }
}
