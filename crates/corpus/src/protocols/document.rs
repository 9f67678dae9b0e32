//! `document`: our default.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Protocol, Window, bad, check_length, positions};
use crate::error::Result;

/// Windows of `L` fed tokens that move by `s`: every token but the first (with a prefix: every token) is scored
/// exactly once, with at least `L - s` tokens of context where the text has them.
///
/// The first window holds the first `L` tokens and scores all it can; each further one ends `s` tokens later (the last at
/// the end of the text), reaches back as far as it may, and scores what is new. A prefix is fed in every window and
/// counts towards `L`. So the first window is never shorter than it need be, and neither is the last.
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
                format!("a stride of {stride} with length {length} is not between 1 and {}", length - 1),
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
        [("length".to_owned(), json!(self.length)), ("stride".to_owned(), json!(self.stride))].into()
    }

    fn prefix(&self) -> Option<u32> {
        self.prefix
    }

    fn longest_inputs(&self) -> usize {
        // One token fewer are inputs, but a user who says 1024 means a model of 1024 positions.
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
}
