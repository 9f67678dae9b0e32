//! Numerics on slices of `f64` for scaling laws.
//!
//! | room | what |
//! |---|---|
//! | [`optimise`] | one linear fit and its views: lines, planes, polynomials; one search for the rest |
//! | [`forms`] | shapes of law: power law, with a floor, exponential, log-linear, broken |
//! | [`interval`] | Student's t and where a line reaches a level, profiles of curves, percentiles |
//! | [`bootstrap`] | whole units drawn again, jointly over all series; residuals of a curve |
//! | [`normal`] | tails of the normal distribution, far out |
//! | [`draw`] | random draws from a table of probabilities |
//! | [`discrete`] | distributions on 1, 2, ..., upper, by maximum likelihood |
//! | [`surface`](mod@surface) | the loss over size and tokens |
//! | [`judge`] | tests of a line, each with a level: a bend, outliers, two lines lumped |
//! | [`goodness`] | the size of residuals against known errors |
//! | [`correlation`] | Pearson's and Spearman's, with intervals |
//! | [`multiple`] | a slope other than zero, a slope as good as zero, and many such claims at once |
//! | [`select`] | which of several forms the points speak for |
//! | [`outcome`] | what a caller must know about a fit before quoting it |
//!
//! Invariants: this crate knows no token, file or clock. Randomness enters as a seed, and the same
//! seed draws the same resamples on any machine and number of threads (logarithms are the
//! system's). A fit either has finite numbers or is refused with a [`StatsError`]; what cannot be
//! known (an interval from two points) is refused with its reason, never filled with NaN or zero.

#![forbid(unsafe_code)]

pub mod bootstrap;
mod check;
pub mod correlation;
pub mod discrete;
pub mod draw;
mod error;
pub mod forms;
pub mod goodness;
pub mod interval;
pub mod judge;
pub mod multiple;
pub mod normal;
pub mod optimise;
pub mod outcome;
pub mod select;
pub mod surface;

pub use error::StatsError;
