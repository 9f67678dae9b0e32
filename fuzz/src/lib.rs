//! Every reader of foreign bytes, given bytes that nobody meant for it.
//!
//! A target is a plain function from bytes to nothing in [`targets`]. It may panic only where the
//! reader under test is wrong: where it panics itself, where what it read does not come back from
//! its own writer, where a refusal does not name its file. It is called by
//!
//! * a program of a few lines in `fuzz_targets/`, which libFuzzer drives by coverage, for hours;
//! * the tests here, with all seeds and some thousand simple damages of them ([`mutate`]), on any
//!   toolchain, with every commit.
//!
//! | file | what |
//! |---|---|
//! | [`targets`] | the targets and their list |
//! | [`seeds`] | inputs to begin with, from the repository's own files |
//! | [`input`] | bytes as a choice, as several files |
//! | [`place`] | a folder in memory, for readers that take paths |
//! | [`mutate`] | simple damage |
//!
//! This is a workspace of its own: its lock file pins the engine, which the product's does not
//! know, and otherwise what that pins.

#![forbid(unsafe_code)]

pub mod input;
pub mod mutate;
pub mod place;
pub mod seeds;
pub mod targets;

#[cfg(test)]
mod tests;
