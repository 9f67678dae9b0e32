//! What a caller must know about a fit before quoting it.
//!
//! A fit that cannot be had is an error; these are the facts about fits that can.

use std::fmt;

/// A fact about a finished fit that changes how its numbers may be read.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Caution {
    /// As many points as parameters: the fit is exact by construction and nothing is known of
    /// scatter.
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
    /// A parameter stands at the limit of its range, so the data do not tell it from that limit.
    AtBound {
        /// What that limit means.
        meaning: &'static str,
    },
    /// Some combination of the parameters is all but undetermined.
    IllConditioned {
        /// Ratio of the largest to the smallest singular value of the scaled derivatives.
        condition: f64,
    },
    /// Two optimisers that started apart did not arrive at the same sum of squares; the lower is
    /// given.
    Unconfirmed,
    /// The residuals bend along x beyond chance: the form is not the shape of the data.
    LackOfFit {
        /// Chance of such a bend were the form right.
        p_value: f64,
    },
}

impl fmt::Display for Caution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoScatter => {
                out.write_str("as many points as parameters: exact by construction, no interval")
            }
            Self::Constant => out.write_str("all values are equal: slope zero, R² undefined"),
            Self::Exact => {
                out.write_str("the residuals are rounding only: intervals have no width")
            }
            Self::Decisive { point } => {
                write!(out, "point {point} alone decides the slope: the others define no line")
            }
            Self::AtBound { meaning } => write!(out, "a parameter is at its limit: {meaning}"),
            Self::IllConditioned { condition } => {
                write!(
                    out,
                    "ill conditioned (condition number {condition:.0}): parameters stand in for one another"
                )
            }
            Self::Unconfirmed => out.write_str(
                "two optimisers did not arrive at the same optimum; the lower one is given",
            ),
            Self::LackOfFit { p_value } => {
                write!(
                    out,
                    "the residuals bend along x (p = {p_value:.1e}): not the shape of the data"
                )
            }
        }
    }
}
