//! `document`: our default.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::protocol::{Protocol, Window, bad, check_length, positions};
use crate::error::Result;

/// Windows of `L` fed tokens that move by `s`: every token but the first (with a prefix: every
/// token) is scored exactly once, with at least `L - s` tokens of context where the text has them.
///
/// The first window holds the first `L` tokens and scores all it can; each further one ends `s`
/// tokens later (the last at the end of the text), reaches back as far as it may, and scores what
/// is new. A prefix is fed in every window and counts towards `L`. So the first window is never
/// shorter than it need be, and neither is the last.
///
/// Where only spans are scored and all of them fit into one window with that much context, they get
/// one window that ends with them: an option of a question is then scored in one piece, with its
/// context cut from the left. As in lm-evaluation-harness, such a window has `L` inputs: its last
/// token, which is only a target, comes on top, so `L + 1` tokens are fed.
///
/// ```
/// use relscale_corpus::protocols::{DocumentWindows, Protocol, TokenText};
/// let protocol = DocumentWindows::new(4, 2, None)?;
/// let windows = protocol.windows(&TokenText::new(&[10, 11, 12, 13, 14, 15, 16]))?;
/// let seen: Vec<_> = windows.iter().map(|w| (w.start, w.end, w.scored.clone())).collect();
/// assert_eq!(seen, [(0, 4, vec![1, 2, 3]), (2, 6, vec![4, 5]), (3, 7, vec![6])]);
/// # Ok::<(), relscale_corpus::CorpusError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentWindows {
    length: usize,
    stride: usize,
    prefix: Option<u32>,
}

impl DocumentWindows {
    /// Length `L >= 2`, stride `1 <= s < L`.
    ///
    /// # Errors
    /// Anything else.
    pub fn new(length: usize, stride: usize, prefix: Option<u32>) -> Result<Self> {
        check_length("document", length, 2)?;
        if stride == 0 || stride >= length {
            return Err(bad(
                "document",
                format!(
                    "a stride of {stride} with length {length} is not between 1 and {}",
                    length - 1
                ),
            ));
        }
        Ok(Self { length, stride, prefix })
    }
}

impl Protocol for DocumentWindows {
    fn name(&self) -> &'static str {
        "document"
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        [("length".to_owned(), json!(self.length)), ("stride".to_owned(), json!(self.stride))]
            .into()
    }

    fn prefix(&self) -> Option<u32> {
        self.prefix
    }

    fn longest_inputs(&self) -> usize {
        // In windows of a text one token fewer, but a user who says 1024 means a model of 1024
        // positions.
        self.length
    }

    fn cut(&self, ids: &[u32], _: &BTreeSet<u32>) -> Result<Vec<Window>> {
        let room = self.length - usize::from(self.prefix.is_some());
        let mut windows = Vec::new();
        let mut done = usize::from(self.prefix.is_none());
        let mut end = room.min(ids.len());
        while done < ids.len() {
            windows.push(Window {
                prefix: self.prefix,
                start: end.saturating_sub(room),
                end,
                scored: positions(done, end),
            });
            done = end;
            end = (end + self.stride).min(ids.len());
        }
        Ok(windows)
    }

    fn gather(&self, windows: Vec<Window>, from: usize) -> Vec<Window> {
        let positions = || windows.iter().flat_map(|window| &window.scored);
        let (Some(&first), Some(&last)) = (positions().next(), positions().next_back()) else {
            return windows;
        };
        let (first, end) = (first as usize, last as usize + 1);
        let start =
            end.saturating_sub(self.length + 1 - usize::from(self.prefix.is_some())).max(from);
        // What every scored token sees at least, where the text has it.
        let context = (first - from.min(first)).min(self.length - self.stride);
        if first < start + context {
            return windows;
        }
        vec![Window { prefix: self.prefix, start, end, scored: positions().copied().collect() }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::protocols::text::TokenText;
    use crate::tokenizer::Encoded;

    fn windows(
        tokens: usize,
        span: std::ops::Range<usize>,
        prefix: Option<u32>,
    ) -> Vec<(usize, usize, Vec<u32>)> {
        let encoded = Encoded { ids: vec![5; tokens], bytes: vec![1; tokens], specials: 0 };
        let document = Document::new("d", "x".repeat(tokens)).with_span(span);
        let none = BTreeSet::new();
        let text = TokenText::of_document(&document, &encoded, &none);
        let windows = DocumentWindows::new(8, 4, prefix).unwrap().windows(&text).unwrap();
        windows.into_iter().map(|window| (window.start, window.end, window.scored)).collect()
    }

    #[test]
    fn a_span_that_fits_is_scored_in_one_window_that_ends_with_it() {
        // Plain windows would end at 8 and 10, and cut the span in two. Eight inputs, and the last
        // token as a target.
        assert_eq!(windows(10, 7..10, None), [(1, 10, vec![7, 8, 9])]);
        assert_eq!(windows(10, 7..10, Some(1)), [(2, 10, vec![7, 8, 9])]);
        // A text of just one token more than a window.
        assert_eq!(windows(9, 7..9, None), [(0, 9, vec![7, 8])]);
        // One that lies inside one window anyway.
        assert_eq!(windows(10, 8..10, None), [(1, 10, vec![8, 9])]);
        assert_eq!(windows(6, 4..6, None), [(0, 6, vec![4, 5])]);
    }

    #[test]
    fn a_span_too_long_for_that_keeps_its_windows() {
        let seen = windows(12, 6..12, None);
        assert_eq!(seen, [(0, 8, vec![6, 7]), (4, 12, vec![8, 9, 10, 11])]);
        // From the first token on there is no context to ask for.
        assert_eq!(windows(8, 0..8, None), [(0, 8, vec![1, 2, 3, 4, 5, 6, 7])]);
    }
}
