//! What a table, or a file of results, says of one model: the one thing that every law reads.

use std::path::{Path, PathBuf};

use super::manifest::ModelNumbers;
use crate::error::TableError;
use crate::kind::{Kind, Value};
use crate::result::Flag;

/// What was read.
pub(crate) struct Observations {
    /// In the order of the rows, and in each row in that of the columns of values.
    pub(crate) observations: Vec<Observation>,
    /// What the columns of values are.
    pub(crate) kinds: Vec<Kind>,
    /// What a manifest has told of the models, where there was one.
    pub(crate) models: Option<ModelNumbers>,
}

impl Observations {
    /// The refusal of a table of which no row can be used.
    pub(crate) fn none_left(&self, path: &Path) -> TableError {
        let count = self.observations.last().map_or(0, |last| last.row + 1);
        let first = self.observations.iter().find(|observation| observation.value().is_none());
        let reason = first.and_then(Observation::left_out).unwrap_or_default();
        let first = first.map(Observation::name_and_place).unwrap_or_default();
        TableError::NoneLeft { path: path.to_owned(), count, first, reason }
    }
}

/// One value of one row.
#[derive(Debug, Clone)]
pub(crate) struct Observation {
    /// Values of one row have this number in common, and no others.
    pub(crate) row: usize,
    /// Where it stands, as a person finds it: `line 17`.
    pub(crate) place: String,
    /// The model or run, where the table names it.
    pub(crate) label: Option<String>,
    /// The values of the columns to group by, with commas between them; `all` without such columns.
    pub(crate) group: String,
    /// The distribution; the column where each is one.
    pub(crate) series: String,
    /// The column of the value.
    pub(crate) column: String,
    /// What the value is.
    pub(crate) kind: Kind,
    /// Above zero, finite, as many as were asked for; none where a row that is left out lacks one.
    pub(crate) x: Vec<f64>,
    /// The value, or why there is none.
    pub(crate) given: Given,
    /// Whether the row has the value that marks it.
    pub(crate) marked: bool,
    /// Where the model lies along its budget, where that was asked for and is known.
    pub(crate) along: Option<f64>,
    /// What the value is a mean over, where that is known.
    pub(crate) samples: Option<u64>,
    /// What is doubtful about where x comes from.
    pub(crate) flags: Vec<Flag>,
}

/// What stands where a value should.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Given {
    /// A number that a law can use.
    Value {
        /// As it stands in the table.
        given: f64,
        /// What a law is about; above zero.
        value: f64,
    },
    /// A number that is possible, but has no logarithm as a law needs it.
    Boundary {
        /// As it stands in the table.
        given: f64,
        /// Why.
        reason: &'static str,
    },
    /// No number, or one that a run logs which diverged.
    Lacking {
        /// In words.
        reason: String,
        /// What stands there, where it is a number and something else is missing.
        number: Option<f64>,
    },
    /// The run did not end as planned, so that what stands there is no result.
    Ended {
        /// In words.
        reason: String,
        /// What stands there, where it is a number.
        number: Option<f64>,
    },
}

impl Given {
    /// What a number of this kind is; the other way round, what would be one.
    pub(crate) fn new(kind: Kind, given: f64) -> Result<Self, &'static str> {
        match kind.value(given) {
            Value::Of(value) => Ok(Self::Value { given, value }),
            Value::Boundary(reason) => Ok(Self::Boundary { given, reason }),
            Value::Impossible(expected) => Err(expected),
        }
    }

    /// Whether it is a number, be it one without a logarithm.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Value { .. } | Self::Boundary { .. })
    }
}

impl Observation {
    /// What a law is about, where there is such a number.
    pub(crate) fn value(&self) -> Option<f64> {
        match self.given {
            Given::Value { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The number of the table, where it is possible for its kind.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.given {
            Given::Value { given, .. } | Given::Boundary { given, .. } => Some(given),
            _ => None,
        }
    }

    /// Why no law can use it, in words; none where it has a value.
    pub(crate) fn left_out(&self) -> Option<String> {
        match &self.given {
            Given::Value { .. } => None,
            Given::Boundary { given, reason } => {
                Some(format!("{} is {given}: {reason}", self.column))
            }
            Given::Lacking { reason, .. } | Given::Ended { reason, .. } => Some(reason.clone()),
        }
    }

    /// The model, or where its row stands.
    pub(crate) fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.place)
    }

    /// The model with where its row stands.
    pub(crate) fn name_and_place(&self) -> String {
        match &self.label {
            Some(label) => format!("{label} ({})", self.place),
            None => self.place.clone(),
        }
    }

    /// The refusal of its value, with what would be accepted.
    pub(crate) fn refuse(&self, path: &Path, found: String, expected: &'static str) -> TableError {
        let (path, place) = (PathBuf::from(path), self.place.clone());
        TableError::Value { path, place, column: self.column.clone(), found, expected }
    }
}

/// How rows that are left out for one reason are told in a flag: each with its model and line.
pub(crate) fn listed<'a>(left_out: impl Iterator<Item = &'a Observation>) -> Option<String> {
    let mut rows: Vec<(usize, String)> = Vec::new();
    let mut told = Vec::new();
    for observation in left_out {
        let Some(reason) = observation.left_out() else { continue };
        // What is wrong with a row is wrong with each of its values.
        let row = (observation.row, reason.clone());
        if rows.contains(&row) {
            continue;
        }
        rows.push(row);
        told.push(match &observation.label {
            Some(label) => format!("{label} ({}: {reason})", observation.place),
            None => format!("{}: {reason}", observation.place),
        });
    }
    (!told.is_empty()).then(|| told.join("; "))
}
