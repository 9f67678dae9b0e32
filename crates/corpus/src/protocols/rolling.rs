//! `rolling`: the windows of `loglikelihood_rolling` in `lm-evaluation-harness`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::protocol::{Protocol, Window, check_length, positions};
use crate::error::Result;

/// Disjoint chunks of `L` predicted tokens, each with the one token before it as context; the first
/// is predicted from the prefix, so that every token is scored exactly once.
///
/// Source: `get_rolling_token_windows` and `make_disjoint_window` in `lm_eval/utils.py` (0.4.13),
/// with `context_len` 1 as its model classes call them. There the prefix is beginning-of-text, or
/// end-of-text where a tokenizer has none, and stands before the first chunk only. The last chunk
/// reaches back to fill the model's length, so its tokens have more context than others. A chunk
/// feeds `L + 1` tokens of which `L` are inputs.
///
/// The harness encodes as the tokenizer likes; one that adds beginning-of-text by itself (Llama,
/// Gemma) then gives it twice, behind the prefix, and the second is scored given the first. Here it
/// is there once: the harness's number with `add_bos_token=False`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rolling {
    length: usize,
    prefix: u32,
}

impl Rolling {
    /// Length `L >= 1` (`max_seq_len`) and the prefix token.
    ///
    /// # Errors
    /// Length 0.
    pub fn new(length: usize, prefix: u32) -> Result<Self> {
        check_length("rolling", length, 1)?;
        Ok(Self { length, prefix })
    }
}

impl Protocol for Rolling {
    fn name(&self) -> &'static str {
        "rolling"
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        [("length".to_owned(), json!(self.length)), ("context".to_owned(), json!(1))].into()
    }

    fn prefix(&self) -> Option<u32> {
        Some(self.prefix)
    }

    fn longest_inputs(&self) -> usize {
        self.length
    }

    fn cut(&self, ids: &[u32], _: &BTreeSet<u32>) -> Result<Vec<Window>> {
        let mut windows = Vec::new();
        let mut done = 0;
        while done < ids.len() {
            let end = (done + self.length).min(ids.len());
            windows.push(if done == 0 {
                Window { prefix: Some(self.prefix), start: 0, end, scored: positions(0, end) }
            } else {
                // After the first chunk the text has at least L + 1 tokens up to here.
                Window {
                    prefix: None,
                    start: end - self.length - 1,
                    end,
                    scored: positions(done, end),
                }
            });
            done = end;
        }
        Ok(windows)
    }
}
