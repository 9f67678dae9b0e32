//! A document: the unit of text that is tokenised, windowed, measured and resampled.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use crate::error::{CorpusError, Result};

/// Bytes of the longest document: it is held in memory with its tokens, some ten bytes a byte.
pub const LONGEST: usize = 1 << 30;

/// Refuses a document (or a line, which is held as a whole as well) that has become longer than
/// [`LONGEST`].
pub(crate) fn check_length(path: &Path, row: u64, bytes: usize) -> Result<()> {
    match bytes > LONGEST {
        true => Err(CorpusError::TooLong { path: path.to_owned(), row, limit: LONGEST }),
        false => Ok(()),
    }
}

/// One text with its name, its tags and the parts of it that are scored.
///
/// Documents are the sampling unit of every interval that the laws report, so what counts as one
/// document (a file, an article, a row) is the loader's decision and belongs to the corpus, not to
/// the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// A name that is unique within its corpus, e.g. `regex-1.13.2/src/lib.rs` or `test.jsonl:17`.
    pub id: String,
    /// The whole text, UTF-8. Everything in it may serve as context.
    pub text: String,
    /// Labels to group results by, e.g. `crate = regex`.
    pub tags: BTreeMap<String, String>,
    /// The text as token ids, for a corpus that comes tokenised; `text` is then empty and no byte
    /// counts exist.
    pub ids: Option<Vec<u32>>,
    /// Byte ranges of `text` whose tokens are scored, sorted and disjoint. Empty means the whole
    /// text.
    pub spans: Vec<Range<usize>>,
}

impl Document {
    /// A document without tags that is scored as a whole.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), ..Self::default() }
    }

    /// The same document with one more tag.
    #[must_use]
    pub fn with_tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(key.into(), value.into());
        self
    }

    /// The same document with one more span of scored bytes; keep them sorted and disjoint.
    #[must_use]
    pub fn with_span(mut self, span: Range<usize>) -> Self {
        self.spans.push(span);
        self
    }

    /// Checks that the spans are sorted, disjoint, inside the text and on character boundaries.
    ///
    /// # Errors
    /// [`CorpusError::BadSpan`] with the first span that is not.
    pub fn check_spans(&self) -> Result<()> {
        let mut from = 0;
        for span in &self.spans {
            let fits = from <= span.start
                && span.start <= span.end
                && self.text.get(span.clone()).is_some();
            if !fits {
                return Err(CorpusError::BadSpan {
                    document: self.id.clone(),
                    start: span.start,
                    end: span.end,
                    bytes: self.text.len(),
                });
            }
            from = span.end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_must_fit() {
        let document = Document::new("d", "aé b");
        assert!(document.clone().with_span(0..1).with_span(1..3).check_spans().is_ok());
        assert!(document.clone().with_span(0..2).check_spans().is_err(), "inside é");
        assert!(
            document.clone().with_span(3..4).with_span(0..1).check_spans().is_err(),
            "unsorted"
        );
        assert!(document.with_span(0..9).check_spans().is_err(), "too long");
    }
}
