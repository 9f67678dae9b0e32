//! A text as a protocol sees it: ids, the special ones among them, and which positions may be
//! scored at all.

use std::collections::BTreeSet;

use crate::document::Document;
use crate::tokenizer::Encoded;

static NO_SPECIALS: BTreeSet<u32> = BTreeSet::new();

/// A tokenised text with its restrictions.
#[derive(Debug, Clone)]
pub struct TokenText<'a> {
    ids: &'a [u32],
    specials: &'a BTreeSet<u32>,
    /// By position; `None`: every position.
    allowed: Option<Vec<bool>>,
}

impl<'a> TokenText<'a> {
    /// A text of which every position may be scored and no id is special.
    pub fn new(ids: &'a [u32]) -> Self {
        Self { ids, specials: &NO_SPECIALS, allowed: None }
    }

    /// The text of a document; positions are restricted to the tokens that overlap its scored
    /// spans.
    pub fn of_document(
        document: &Document,
        encoded: &'a Encoded,
        specials: &'a BTreeSet<u32>,
    ) -> Self {
        let allowed =
            (!document.spans.is_empty()).then(|| overlapping(&encoded.bytes, &document.spans));
        Self { ids: &encoded.ids, specials, allowed }
    }

    /// Its ids.
    pub fn ids(&self) -> &'a [u32] {
        self.ids
    }

    /// The ids that count as special.
    pub fn specials(&self) -> &'a BTreeSet<u32> {
        self.specials
    }

    /// Whether the text's own first token is `prefix`, which then is not put in a second time.
    pub fn begins_with(&self, prefix: u32) -> bool {
        self.ids.first() == Some(&prefix)
    }

    pub(super) fn is_restricted(&self) -> bool {
        self.allowed.is_some()
    }

    pub(super) fn may_score(&self, position: u32) -> bool {
        self.allowed
            .as_ref()
            .is_none_or(|allowed| allowed.get(position as usize).copied().unwrap_or(false))
    }
}

/// For each token, whether any byte of it lies in a span. A token of no bytes (a later piece of a
/// character whose bytes the first piece took) goes with the token before it.
fn overlapping(bytes: &[u32], spans: &[std::ops::Range<usize>]) -> Vec<bool> {
    let mut at = 0;
    let mut inside = spans.iter().any(|span| span.contains(&0));
    bytes
        .iter()
        .map(|&length| {
            let end = at + length as usize;
            if end > at {
                inside = spans.iter().any(|span| span.start < end && at < span.end);
            }
            at = end;
            inside
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocols::document::DocumentWindows;
    use crate::protocols::protocol::Protocol;

    #[test]
    fn tokens_that_touch_a_span_are_scored() {
        assert_eq!(
            overlapping(&[2, 3, 0, 1], std::slice::from_ref(&(4..5))),
            [false, true, true, false]
        );
        assert_eq!(overlapping(&[0, 2, 2], &[0..1, 2..3]), [true, true, true]);
        assert_eq!(overlapping(&[2, 2], std::slice::from_ref(&(2..2))), [false, false]);
    }

    #[test]
    fn spans_restrict_and_shorten_windows() {
        let ids = [1, 2, 3, 4, 5, 6, 7, 8];
        let encoded = Encoded { ids: ids.to_vec(), bytes: vec![1; 8], specials: 0 };
        let document = Document::new("d", "abcdefgh").with_span(2..4);
        let none = BTreeSet::new();
        let text = TokenText::of_document(&document, &encoded, &none);
        let windows = DocumentWindows::new(6, 3, None).unwrap().windows(&text).unwrap();
        assert_eq!(windows.len(), 1);
        assert_eq!(
            (windows[0].start, windows[0].end, windows[0].scored.as_slice()),
            (0, 4, &[2, 3][..])
        );
    }
}
