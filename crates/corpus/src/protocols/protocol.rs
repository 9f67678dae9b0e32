//! What a window is, and what every protocol has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::text::TokenText;
use crate::error::{CorpusError, Result};

/// Tokens that are fed together, and the positions among them that are scored.
///
/// Fed are `prefix ++ ids[start..end]`; position `p` (an index into the text's ids) is predicted
/// from all fed tokens before it. The last fed token is only ever a target, so a model needs room
/// for [`Window::inputs`] tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// A token put in before the text's own, e.g. beginning-of-text.
    pub prefix: Option<u32>,
    /// First token of the text in this window.
    pub start: usize,
    /// Token after the last.
    pub end: usize,
    /// Scored positions, ascending, all in `start..end`; `start` itself only with a prefix.
    pub scored: Vec<u32>,
}

impl Window {
    /// The fed tokens.
    pub fn tokens(&self, ids: &[u32]) -> Vec<u32> {
        let own = ids.get(self.start..self.end).unwrap_or_default();
        self.prefix.into_iter().chain(own.iter().copied()).collect()
    }

    /// Number of fed tokens.
    pub fn fed(&self) -> usize {
        usize::from(self.prefix.is_some()) + self.end - self.start
    }

    /// Number of fed tokens from which something is predicted: all but the last.
    pub fn inputs(&self) -> usize {
        self.fed().saturating_sub(1)
    }

    /// Index of a position among the fed tokens, which is also the number of tokens of its context.
    pub fn index_of(&self, position: u32) -> usize {
        usize::from(self.prefix.is_some()) + (position as usize).saturating_sub(self.start)
    }
}

/// A way to cut a text into windows.
pub trait Protocol: fmt::Debug + Send + Sync {
    /// Its name: `document`, `paper`, `rolling`, `strided`, `half-window`.
    fn name(&self) -> &'static str;

    /// All its parameters as they are used, for the record; the prefix is not among them.
    fn parameters(&self) -> BTreeMap<String, Value>;

    /// The token it puts before texts or windows.
    fn prefix(&self) -> Option<u32>;

    /// Whether it treats special tokens apart.
    fn knows_specials(&self) -> bool {
        false
    }

    /// The most inputs that a window of it has: what the model's maximum must allow.
    fn longest_inputs(&self) -> usize;

    /// The windows of a text of which every token may be scored and which does not begin with the
    /// prefix itself; callers want [`Protocol::windows`].
    ///
    /// # Errors
    /// The text is too short for this protocol.
    fn cut(&self, ids: &[u32], specials: &BTreeSet<u32>) -> Result<Vec<Window>>;

    /// The windows of a text, in order; windows in which nothing is scored are left out.
    ///
    /// A text that begins with the prefix token already gets no second one: its own first token is
    /// taken for the prefix ([`TokenText::begins_with`] tells, so that the run can say so).
    ///
    /// # Errors
    /// The text is too short for this protocol.
    fn windows(&self, text: &TokenText<'_>) -> Result<Vec<Window>> {
        let skip = usize::from(self.prefix().is_some_and(|prefix| text.begins_with(prefix)));
        let mut windows = self.cut(&text.ids()[skip..], text.specials())?;
        for window in &mut windows {
            window.start += skip;
            window.end += skip;
            window.scored.iter_mut().for_each(|p| *p += skip as u32);
            if text.is_restricted() {
                window.scored.retain(|&p| text.may_score(p));
                // What follows the last scored token cannot change any score.
                window.end = window.scored.last().map_or(window.start, |&p| p as usize + 1);
            }
        }
        windows.retain(|window| !window.scored.is_empty());
        if text.is_restricted() {
            windows = self.gather(windows, skip);
        }
        Ok(windows)
    }

    /// Another way to see the scored positions of a text of which only spans are scored, with no
    /// token before `from` fed; the windows as they are, unless a protocol has one.
    fn gather(&self, windows: Vec<Window>, _from: usize) -> Vec<Window> {
        windows
    }
}

/// The error of a checked constructor.
pub(super) fn bad(protocol: &'static str, reason: String) -> CorpusError {
    CorpusError::BadProtocol { protocol, reason }
}

/// Refuses a length below `least`.
pub(super) fn check_length(protocol: &'static str, length: usize, least: usize) -> Result<()> {
    if length < least {
        return Err(bad(
            protocol,
            format!("a length of {length} tokens scores nothing; it must be at least {least}"),
        ));
    }
    Ok(())
}

/// Positions `from..to` as the records number them.
pub(super) fn positions(from: usize, to: usize) -> Vec<u32> {
    (from..to).map(|p| p as u32).collect()
}
