//! Results as they are shown: tables and sentences, each number with the place from which it comes.
//!
//! A result is read once, here, into [`Shown`]: what the program prints and what the page renders,
//! in the same words and with the same digits (`relscale_records::digits`). A kind of result is a
//! file; it reads the result through [`At`], so that the place of a number follows from how it was
//! reached.
//!
//! | file | what |
//! |---|---|
//! | `place` | values with the place where they stand |
//! | `cell` | words and numbers in a row; an estimate with its interval |
//! | `outcome` | what was fitted, or why it was not |
//! | `table` | tables, sentences, and where each of them is shown |
//! | `glance` | a study in short: what a reader of ten seconds takes home |
//! | `laws`, `emergence`, `measured` | the laws of a study, tokens in a row, what was measured |
//! | `across` | families of one corpus side by side, per word and per byte |
//! | `expected` | what was expected of a study, beside what came out |
//! | `advice`, `choices`, `forecast`, `predictions`, `relative`, `size_tokens`, `stages`, `sweep`, `table_fit`, `training` | a kind of result each |

mod across;
mod advice;
mod cell;
mod choices;
mod emergence;
mod expected;
mod forecast;
pub(crate) mod glance;
pub(crate) mod laws;
pub(crate) mod measured;
mod outcome;
pub(crate) mod place;
mod predictions;
mod relative;
mod size_tokens;
mod stages;
mod sweep;
mod table;
mod table_fit;
mod training;

pub use across::across;
pub use advice::advice;
pub use cell::{Cell, Number, Piece, text};
pub use choices::{Questions, choices};
pub use expected::expected;
pub use forecast::forecast;
pub use glance::glance;
pub use laws::laws;
pub use place::{At, Place};
pub use predictions::predictions;
pub use relative::{relative, relative_summary, relative_verdicts};
pub use size_tokens::size_tokens;
pub use stages::stages;
pub use sweep::sweep;
pub use table::{Column, Medium, Part, Role, Row, Said, Shown, Table};
pub use table_fit::table_fit;
pub use training::training;
