//! The bootstrap over whole units.
//!
//! Tokens of one document are alike, so the document is the sampling unit: draw as many documents
//! as there are, with replacement, add up their sums, compute the statistic, again and again; its
//! spread is the standard error (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993,
//! chapters 6 and 13). Nothing is measured again: per-unit sums are enough.
//!
//! Every series measured on the same units (all models, all k) is a column of one [`UnitTable`], so
//! that one draw serves all of them and their differences keep the correlation that real
//! differences have.
//!
//! Units of several strata are drawn within them: [`multiplicities_within`]. Points that must not
//! be lost are weighed at random instead: [`exponentials`].
//!
//! The residuals of a curve are drawn again by [`wild`].
//!
//! Where units are few or uneven, [`left_out_covariance`] takes each away once instead of drawing.
//!
//! The parametric bootstrap starts from the covariance that this gives: [`Noise`] draws errors of
//! that covariance, [`perfect_lines`] shows what a perfect line would look like under them.

mod covariance;
mod influence;
mod noise;
mod perfect;
mod resample;
mod sample;
mod weights;
pub mod wild;

pub use covariance::covariance;
pub use influence::{LeftOut, left_out_covariance};
pub use noise::Noise;
pub use perfect::{PerfectFit, perfect_lines};
pub use resample::{Totals, UnitTable, multiplicities, multiplicities_within, signs, totals};
pub use sample::Sample;
pub use weights::{exponentials, normals};
