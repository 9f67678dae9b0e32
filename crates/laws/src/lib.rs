//! The rank law and the cross-entropy law: records in, typed and serialisable results out.
//!
//! A law is a plain function. It sees no model and no text: what it needs is in the tallies of
//! `relscale-records`, and what it finds is a [`StudyFit`], saved as `laws.json`.
//!
//! | room | what |
//! |---|---|
//! | [`fit_study`] | the entrance: tallies and [`FitOptions`] in, [`StudyFit`] out |
//! | `table` | tallies to groups: what may share a line, totals, resampled documents |
//! | `rank`, `cross_entropy` | which number a model contributes, and when it contributes none |
//! | [`choices`] | questions with options: which is preferred, how surely, by subject and domain |
//! | `emergence` | several tokens right in a row: measured, against independence, over S |
//! | [`isoflop`] | the best size and tokens of a budget, and the surface of the loss |
//! | [`examples`] | no law: positions of a text that show what a rank is |
//! | `series` | from labelled points to a law: fitted, described, doubted, wherever the points come from |
//! | `intervals` | intervals of the numerics as they are stored |
//! | `line` | a line with both of its uncertainties: models that scatter, a text that all of them read |
//! | `extrapolate` | values at sizes that were not measured, the form of the law left open |
//! | `power_law` | what the laws of a study share: measured points, the noise of their text |
//! | [`forecast`] | accuracies forecast from losses and ranks, each way judged on what it has not seen |
//! | `audit` | predictions of models that a fit has not seen |
//! | `judged` | tests of a power law with a level: a bend, outliers, two families lumped |
//! | [`rank_distribution`] | which distribution ranks follow, what that says of both laws, Appendix B of the paper |
//! | [`relative`] | the gap between two distributions: closes, widens, crosses 1, parallel |
//! | `rivals` | other forms on the same points, by AICc and by the largest models held out |
//! | `breakdown` | whether noise of the text sample, or what else, breaks a rank law at large k |
//! | [`predict`] | a value at a size, or the size for a target, from the laws of a study; `sizes` says how far from the data |
//! | [`size_tokens`] | errors and gaps along size at fixed tokens, and along tokens at fixed size |
//! | `text_units` | laws in bytes, words and spans of words; families with different tokenizers side by side |
//! | [`tables`] | tables, manifests and results of others, read for all laws alike |
//! | [`two_stage`] | compute to loss to accuracy, beside accuracy straight from compute |
//! | [`user_table`] | the same fits on a user's own table, or on results of lm-evaluation-harness |
//! | `verdict` | sentences with their numbers |
//! | [`result`] | what is written to `laws.json`, and the only thing others need to read it |
//!
//! Invariants: every number that leaves here has its unit, its interval or the reason for none, and
//! its flags. Left-out points are listed. Nothing is NaN. A result depends on the tallies and the
//! options alone: neither on their order nor on threads or time.

#![forbid(unsafe_code)]

pub mod advice;
mod audit;
mod breakdown;
mod choice_measure;
pub mod choices;
mod cross_entropy;
mod emergence;
mod error;
mod example;
mod extrapolate;
mod family;
pub mod forecast;
mod intervals;
pub mod isoflop;
mod judged;
mod kind;
mod line;
mod options;
mod power_law;
pub mod predict;
mod rank;
pub mod rank_distribution;
pub mod relative;
pub mod result;
mod rivals;
mod series;
pub mod size_tokens;
mod sizes;
mod study;
mod summary;
mod table;
pub mod tables;
mod text_units;
pub mod training;
pub mod two_stage;
pub mod user_table;
mod verdict;

pub use error::{Difference, LawsError};
pub use example::examples;
pub use options::FitOptions;
pub use result::*;
pub use study::fit_study;
pub use tables::manifest;
