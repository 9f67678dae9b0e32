//! How a fit ended, whatever was fitted; parameters by name.

use serde::{Deserialize, Serialize};

use super::Estimate;

/// What was found, or why there is nothing. In JSON the member `status` is `fitted`, beside the
/// members of what was found, or `refused` with its `reason`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome<L> {
    /// What was found.
    Fitted(Box<L>),
    /// There is nothing.
    Refused {
        /// Why, in words.
        reason: String,
    },
}

impl<L> Outcome<L> {
    /// What was found, to be kept.
    pub fn fitted(found: L) -> Self {
        Self::Fitted(Box::new(found))
    }

    /// Nothing, for this reason.
    pub fn refuse(reason: impl ToString) -> Self {
        Self::Refused { reason: reason.to_string() }
    }

    /// What was found, when there is something.
    pub fn fit(&self) -> Option<&L> {
        match self {
            Self::Fitted(found) => Some(found),
            Self::Refused { .. } => None,
        }
    }

    /// The same, to be changed.
    pub fn fit_mut(&mut self) -> Option<&mut L> {
        match self {
            Self::Fitted(found) => Some(found),
            Self::Refused { .. } => None,
        }
    }

    /// Why there is nothing, in words.
    pub fn refused(&self) -> Option<&str> {
        match self {
            Self::Fitted(_) => None,
            Self::Refused { reason } => Some(reason),
        }
    }
}

impl<L, E: ToString> From<Result<L, E>> for Outcome<L> {
    fn from(found: Result<L, E>) -> Self {
        match found {
            Ok(found) => Self::fitted(found),
            Err(refusal) => Self::refuse(refusal),
        }
    }
}

/// A parameter of a formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name in the formula.
    pub name: String,
    /// Its value.
    pub estimate: Estimate,
    /// Of a distribution of ranks: its standard error were tokens independent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_standard_error: Option<f64>,
}

impl Parameter {
    /// Of this name.
    pub fn new(name: &str, estimate: Estimate) -> Self {
        Self { name: name.to_owned(), estimate, token_standard_error: None }
    }
}
