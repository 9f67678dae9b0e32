//! What a reader must know of a fitted distribution before quoting its parameters.

use std::fmt;

/// A fact about a fitted distribution that changes how its parameters may be read. The masses stand
/// all the same.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Caution {
    /// The likelihood rises towards a limit of the distribution, and the parameter is the end of
    /// the range searched.
    AtLimit {
        /// The parameter.
        parameter: &'static str,
        /// What the distribution becomes.
        limit: &'static str,
    },
    /// The parameters stand in for one another: along a ridge of the likelihood they change
    /// together and the masses hardly do, so neither is identified apart.
    Ridge {
        /// Correlation of the two parameters' errors.
        correlation: f64,
    },
    /// The likelihood is flat in some direction, so there are no standard errors.
    Flat,
    /// The two ways of climbing did not come to the same height; the higher is given.
    Unconfirmed,
}

impl fmt::Display for Caution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLimit { parameter, limit } => {
                write!(
                    out,
                    "{parameter} is at the end of its range: the data ask for the limit \"{limit}\""
                )
            }
            Self::Ridge { correlation } => write!(
                out,
                "the two parameters are not identified apart (correlation {correlation:.4}): quote the masses, not the parameters"
            ),
            Self::Flat => {
                out.write_str("the likelihood is flat in some direction: no standard errors")
            }
            Self::Unconfirmed => out.write_str(
                "two ways of maximising did not come to the same likelihood; the higher is given",
            ),
        }
    }
}
