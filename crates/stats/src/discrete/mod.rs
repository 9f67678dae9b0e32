//! Distributions on the whole numbers 1, 2, ..., upper, fitted by maximum likelihood from a
//! histogram.
//!
//! | file | what |
//! |---|---|
//! | `lognormal`, `point_mass`, `zeta`, `zipf_mandelbrot`, `yule_simon`, `weibull`, `log_logistic`, `geometric`, `negative_binomial` | a distribution each: formula, parameters, where fits start |
//! | `kind` | their list |
//! | `family` | what each must tell |
//! | `histogram` | counts by value; some hundred nodes that stand for 10^5 values in sums |
//! | `distribution` | masses, cumulative and tail at given parameters |
//! | `fit` | maximum likelihood with standard errors, AIC and KS distance |
//! | `vuong` | which of two fits is closer to the data |
//! | `profile` | the likelihood of one parameter, the other at its best |
//! | `caution` | limits, ridges and flat directions that a reader of parameters must know of |
//! | `maximise` | two ways up a likelihood that check each other |
//! | `sum`, `special` | sums over all values, and logarithms of special functions |
//!
//! Invariants: every distribution is cut off at `upper` and its masses add up to 1; masses, tails
//! and likelihoods are computed as logarithms and never as one minus something close to one; what
//! is quoted of a fit is summed over every value that occurs. Parameters without an error, or whose
//! errors belong together, come with a [`Caution`].

mod caution;
mod distribution;
mod family;
mod fit;
mod geometric;
mod histogram;
mod kind;
mod log_logistic;
mod lognormal;
mod maximise;
mod negative_binomial;
mod point_mass;
mod profile;
mod special;
mod sum;
mod vuong;
mod weibull;
mod yule_simon;
mod zeta;
mod zipf_mandelbrot;

#[cfg(test)]
mod tests;

pub use caution::Caution;
pub use distribution::Distribution;
pub use fit::{Fit, Parameter, fit};
pub use histogram::Histogram;
pub use kind::Kind;
pub use profile::{ProfileInterval, profile, profile_interval};
pub use vuong::{Vuong, vuong};
