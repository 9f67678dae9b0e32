//! Tables and logs that others wrote: how their files are encoded, what stands between their
//! values, and what their cells mean.
//!
//! | file | what |
//! |---|---|
//! | [`text`] | bytes to text: UTF-8, UTF-16, marks at the beginning; what is no text is said |
//! | [`delimited`] | rows of CSV and its kin |
//! | [`json`] | JSON with the bare `NaN` and `Infinity` of Python |
//! | [`number`] | numbers as people write them: `70M`, `1,400,000`, `3,65`, `-nan` |
//! | [`status`] | how a run ended, in the words of trackers |
//!
//! Invariant: all readers of tables, logs and results read by these, so that a number means the
//! same in each of them. Nothing is guessed: what can be read in two ways is refused.

pub mod delimited;
pub mod json;
pub mod number;
pub mod status;
pub mod text;

/// What of a text cannot be used, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub reason: String,
}
