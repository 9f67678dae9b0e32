//! `half-window`: the `perplexity` tool of `llama.cpp`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::protocol::{Protocol, Window, check_length, positions};
use crate::error::{CorpusError, Result};

/// Disjoint chunks of `L` tokens of which only the second half is scored; what is left at the end
/// is dropped.
///
/// Source: `perplexity()` in `tools/perplexity/perplexity.cpp` of ggml-org/llama.cpp (commit
/// 050fc7f; the default mode, without `--ppl-stride`). With `first = L / 2` it takes the logits at
/// indices `first..L - 1` of a chunk, which predict the tokens at `first + 1..L`, so
/// `L - first - 1` are scored. A text of fewer than `2 L` tokens is refused.
///
/// With a prefix (a model that adds beginning-of-text) the text gets it at its beginning, and the
/// first token of every chunk is overwritten with it: the model sees `L` tokens, of which `L - 1`
/// are the text's, and one token of the text in `L` is never fed.
///
/// The program reads its text with special tokens off: where a text spells one (`<|endoftext|>`),
/// its ids are those of the letters and ours that of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HalfWindow {
    length: usize,
    prefix: Option<u32>,
}

impl HalfWindow {
    /// Length `L >= 3` (`n_ctx`).
    ///
    /// # Errors
    /// A shorter one, of which nothing would be scored.
    pub fn new(length: usize, prefix: Option<u32>) -> Result<Self> {
        check_length("half-window", length, 3)?;
        Ok(Self { length, prefix })
    }
}

impl Protocol for HalfWindow {
    fn name(&self) -> &'static str {
        "half-window"
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        [("length".to_owned(), json!(self.length))].into()
    }

    fn prefix(&self) -> Option<u32> {
        self.prefix
    }

    fn longest_inputs(&self) -> usize {
        self.length
    }

    fn cut(&self, ids: &[u32], _: &BTreeSet<u32>) -> Result<Vec<Window>> {
        // Counted in the tool's sequence, which begins with the prefix.
        let before = usize::from(self.prefix.is_some());
        let total = ids.len() + before;
        if total < 2 * self.length {
            return Err(CorpusError::TooShort {
                protocol: "half-window",
                needed: 2 * self.length - before,
                tokens: ids.len(),
            });
        }
        let first = self.length / 2;
        let chunks = (0..total / self.length).map(|chunk| chunk * self.length);
        Ok(chunks
            .map(|begin| {
                let end = begin + self.length;
                Window {
                    prefix: self.prefix,
                    // With a prefix the chunk's first token is replaced, and positions shift by the
                    // one at the beginning.
                    start: begin,
                    end: end - before,
                    scored: positions(begin + first + 1 - before, end - before),
                }
            })
            .collect())
    }
}
