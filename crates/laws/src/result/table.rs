//! Laws of a user's own table: the same fit as a study's, over whatever x the table has, without an
//! error of the text sample.

use serde::{Deserialize, Serialize};

use super::Law;

/// All laws of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableFit {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this.
    pub tool: String,
    /// The files that were read, as they were named.
    pub files: Vec<String>,
    /// What x is: a column's name, or where the sizes come from.
    pub x: String,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// One entry a group, by name.
    pub groups: Vec<TableGroup>,
}

/// The laws of one group of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableGroup {
    /// The group's values, several joined by `, `; `all` where nothing was grouped by.
    pub name: String,
    /// One law a column of values, in the order they were asked for.
    pub laws: Vec<Law>,
}
