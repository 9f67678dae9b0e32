//! What a caller must know about a fit before quoting it.
//!
//! A fit that cannot be had is an error; these are the facts about fits that can.

use std::fmt;

/// A fact about a finished fit that changes how its numbers may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caution {
    /// As many points as parameters: the fit is exact by construction and nothing is known of scatter.
    NoScatter,
    /// All y are equal: the slope is zero and R² undefined.
    Constant,
    /// The residuals are no larger than rounding: intervals have no width.
    Exact,
    /// Without this point the others define no fit, so it cannot be predicted from them.
    Decisive {
        /// Index of the point.
        point: usize,
    },
}

impl fmt::Display for Caution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoScatter => {
                out.write_str("as many points as parameters: exact by construction, no interval")
            }
            Self::Constant => out.write_str("all values are equal: slope zero, R² undefined"),
            Self::Exact => out.write_str("the residuals are rounding only: intervals have no width"),
            Self::Decisive { point } => {
                write!(out, "point {point} alone decides the slope: the others define no line")
            }
        }
    }
}
