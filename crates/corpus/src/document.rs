//! A document: the unit of text that is tokenised, windowed, measured and resampled.

use std::collections::BTreeMap;
use std::ops::Range;

/// One text with its name, its tags and the parts of it that are scored.
///
/// Documents are the sampling unit of every interval that the laws report, so what counts as one document (a file, an
/// article, a row) is the loader's decision and belongs to the corpus, not to the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// A name that is unique within its corpus, e.g. `regex-1.13.2/src/lib.rs` or `test.jsonl:17`.
    pub id: String,
    /// The whole text, UTF-8. Everything in it may serve as context.
    pub text: String,
    /// Labels to group results by, e.g. `crate = regex`.
    pub tags: BTreeMap<String, String>,
    /// Byte ranges of `text` whose tokens are scored, sorted and disjoint. Empty means the whole text.
    pub spans: Vec<Range<usize>>,
}

impl Document {
    /// A document without tags that is scored as a whole.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            text: text.into(),
            ..Self::default()
        }
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
}
