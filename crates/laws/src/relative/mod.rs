//! The relative law: does the gap between two distributions close, widen or stay as models grow?
//!
//! `E(F) = alpha F^-beta` for each distribution, `G(F) = E_treatment / E_baseline = gamma
//! F^delta_beta` for each gap (arXiv 2510.24626). `ln G` is fitted directly, so that what both
//! distributions share in a model cancels; F is parameters, tokens, compute or any column, E bits
//! per byte, cross entropy, `-ln RBP_k` (of tokens, bytes, words or spans of words) or any error.
//!
//! | file | what |
//! |---|---|
//! | [`Measurements`] | what is compared: families of models, in each a series of errors for each distribution |
//! | [`RelativeOptions`] | baseline, margin, level, what is asked for |
//! | `source` | which numbers of a study are compared |
//! | `study` | measurements from the tallies of a study; a distribution is a corpus, or a tag's value |
//! | `choices` | measurements from a study's questions with options: accuracies and losses of a choice |
//! | `table` | measurements from a user's table |
//! | [`Means`] | rows of a table averaged into distributions: subjects into domains |
//! | `fit` | measurements to laws: the entrance [`fit_relative`] |
//! | `gap` | one treatment against the baseline |
//! | `extrapolation` | where a gap reaches a value, and what it is at an x |
//! | `covariate` | slopes against a number that each distribution has |
//! | `optimum` | one point a budget: the errors at the baseline's fitted optimum |
//! | `ranks` | the relative law of ranks: the slopes of the gaps of `-ln RBP_k` at every k |
//! | `verdicts` | sentences with their numbers |
//!
//! Invariants: a model takes part in a gap when it has both errors, else it is listed. Whether a
//! slope is claimed is decided by tests that are adjusted for their number; "parallel" is such a
//! claim too, and needs its own test.

mod choices;
mod covariate;
mod extrapolation;
mod fit;
mod gap;
mod means;
mod optimum;
mod ranks;
mod series;
mod source;
mod study;
mod table;
mod verdicts;

pub use crate::options::RelativeOptions;
pub use covariate::Covariates;
pub use fit::fit_relative;
pub use means::{Means, Weighting};
pub use ranks::counted_ranks;
pub use series::{Counted, Measurements, ModelFamily, Series, SeriesPoint, Units};
pub use source::{ErrorMeasure, HitUnit, StudySource};
pub use study::read_study;
pub use table::{RelativeTable, read_table};
