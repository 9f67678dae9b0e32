//! `strided`: the loop of the perplexity guide of `transformers`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::protocol::{Protocol, Window, bad, check_length, positions};
use crate::error::Result;

/// Windows that begin at 0, s, 2s, ... and hold up to `L` tokens; each scores the tokens that no
/// window before it held.
///
/// Source: "Perplexity of fixed-length models" in the documentation of `transformers` (as of 5.x).
/// What sets it apart from `document`: windows begin on a grid, so the last one has less context
/// than it could; with `s = L` the first token of each window is never scored, since labels are
/// shifted inside the window. The guide joins a whole corpus to one text first; load such a corpus
/// with `concat=` for the same. Where `s = L` leaves one token over, the guide's loss has no label
/// and its number is NaN; here that window is left out.
///
/// A prefix is what the tokenizer would have added: one token at the very beginning of the text,
/// not of each window.
///
/// The guide's own average weighs each window by one token fewer than it scores (it subtracts the
/// label that the shift drops also where none is dropped); [`Strided::guide_weight`] gives that
/// weight, to arrive at the guide's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strided {
    length: usize,
    stride: usize,
    prefix: Option<u32>,
}

impl Strided {
    /// Length `L >= 2` (`max_length`), stride `1 <= s <= L`.
    ///
    /// # Errors
    /// Anything else.
    pub fn new(length: usize, stride: usize, prefix: Option<u32>) -> Result<Self> {
        check_length("strided", length, 2)?;
        if stride == 0 || stride > length {
            return Err(bad(
                "strided",
                format!("a stride of {stride} is not between 1 and the length {length}"),
            ));
        }
        Ok(Self { length, stride, prefix })
    }

    /// The weight of a window's mean nll in the guide's average: `trg_len - 1`.
    ///
    /// The guide reports `exp(sum(weight * mean nll of the window) / sum(weight))`.
    pub fn guide_weight(&self, window: &Window) -> usize {
        let first = window.prefix.is_some() || (self.prefix.is_none() && window.start == 0);
        // Without overlap the shift has dropped one label already.
        if first || self.stride == self.length {
            window.scored.len()
        } else {
            window.scored.len().saturating_sub(1)
        }
    }
}

impl Protocol for Strided {
    fn name(&self) -> &'static str {
        "strided"
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        [("length".to_owned(), json!(self.length)), ("stride".to_owned(), json!(self.stride))]
            .into()
    }

    fn prefix(&self) -> Option<u32> {
        self.prefix
    }

    fn longest_inputs(&self) -> usize {
        self.length
    }

    fn cut(&self, ids: &[u32], _: &BTreeSet<u32>) -> Result<Vec<Window>> {
        // Counted in the guide's sequence, which begins with the prefix.
        let before = usize::from(self.prefix.is_some());
        let total = ids.len() + before;
        let mut windows = Vec::new();
        let mut scored_upto = 0;
        for begin in (0..total).step_by(self.stride) {
            let end = (begin + self.length).min(total);
            let first = scored_upto.max(begin + 1);
            windows.push(Window {
                prefix: self.prefix.filter(|_| begin == 0),
                start: begin.saturating_sub(before),
                end: end - before,
                scored: positions(first - before, end.max(first) - before),
            });
            scored_upto = end;
            if end == total {
                break;
            }
        }
        Ok(windows)
    }
}
