//! Laws of a user's own table: the same fit as a study's, over whatever x the table has, without an error of the text sample.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, Rivals};
use crate::user_table::Kind;

/// Version of the layout of a table's result; a change of meaning of any member raises it.
pub const TABLE_FORMAT: u32 = 2;

/// All laws of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableFit {
    /// Layout version, [`TABLE_FORMAT`].
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
    pub laws: Vec<TableLaw>,
}

/// A law of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableLaw {
    /// Name of the column.
    pub column: String,
    /// What its values are.
    pub kind: Kind,
    /// What the law is about, e.g. `-ln rbp1`.
    pub symbol: String,
    /// Unit of that.
    pub unit: String,
    /// The points of the fit, smallest x first.
    pub points: Vec<TablePoint>,
    /// Rows without a point, smallest x first.
    pub left_out: Vec<TableLeftOut>,
    /// The fit, or why there is none.
    pub outcome: TableOutcome,
    /// Other forms on the same points; absent without a fit. S in their formulas is x. What they predict of the largest
    /// points is told by its error alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rivals: Option<Rivals>,
    /// Doubts about this law.
    pub flags: Vec<Flag>,
    /// One sentence with the numbers.
    pub verdict: String,
}

impl TableLaw {
    /// The fitted power law, when there is one.
    pub fn fit(&self) -> Option<&TablePowerLaw> {
        match &self.outcome {
            TableOutcome::Fitted(fit) => Some(fit),
            TableOutcome::Refused { .. } => None,
        }
    }
}

/// One row in one law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TablePoint {
    /// The model, where the table names it; else the row's place.
    pub label: String,
    /// Where the row stands, e.g. `line 3`.
    pub place: String,
    /// As given.
    pub x: f64,
    /// The column's value, as given.
    pub given: f64,
    /// What the law is about, in the law's unit.
    pub value: f64,
    /// Questions or documents that the value is a mean over, where the results say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// What the fitted law gives here; absent without a fit.
    pub fitted: Option<f64>,
    /// `ln(value / fitted)`.
    pub log_residual: Option<f64>,
    /// The point's own weight in its fitted value, from `1/n` to 1.
    pub leverage: Option<f64>,
}

/// A row that has no point in a law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableLeftOut {
    /// As in [`TablePoint`].
    pub label: String,
    /// As in [`TablePoint`].
    pub place: String,
    /// As given; absent where it is not known.
    pub x: Option<f64>,
    /// The column's value, as given; absent where there is none, or none that is a number.
    pub given: Option<f64>,
    /// Why, in words.
    pub reason: String,
}

/// How a fit ended. In JSON the member `status` is `fitted` or `refused`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum TableOutcome {
    /// A power law was fitted.
    Fitted(Box<TablePowerLaw>),
    /// There is no fit.
    Refused {
        /// Why, in words.
        reason: String,
    },
}

/// `value = prefactor * x^-exponent`, by least squares of `ln value` on `ln x`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TablePowerLaw {
    /// Positive when the value falls with x. Interval by Student t from the scatter of the points.
    pub exponent: Estimate,
    /// The law's value at `x = 1`; absent when it exceeds the range of numbers.
    pub prefactor: Option<Estimate>,
    /// The geometric mean of x, where the line is known best.
    pub centre: f64,
    /// The law's value at `centre`.
    pub at_centre: Estimate,
    /// `1 - SS_residual / SS_total` of the log-log fit; absent when all values are equal.
    pub r_squared: Option<f64>,
    /// Standard deviation of the residuals of `ln value` (n - 2 in the denominator); absent for two points.
    pub residual_standard_deviation: Option<f64>,
    /// Points in the fit.
    pub points: u32,
    /// Smallest and largest x in the fit.
    pub range: (f64, f64),
    /// Each point predicted from all others.
    pub leave_one_out: Vec<TableHeldOut>,
    /// Fits to the m points of smallest x predict the others, for each m from 3 (extrapolation audit).
    pub audit: Vec<TableAuditStep>,
}

impl TablePowerLaw {
    /// The law's value at `x`, computed from the centre of the data, where no digits are lost.
    pub fn at(&self, x: f64) -> f64 {
        self.at_centre.value * (x / self.centre).powf(-self.exponent.value)
    }
}

/// A point predicted by a fit that has not seen it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableHeldOut {
    /// As in [`TablePoint`].
    pub label: String,
    /// As given.
    pub x: f64,
    /// The point's value, in the law's unit.
    pub observed: f64,
    /// The prediction, with the interval of a new point (Student t).
    pub predicted: Estimate,
    /// `predicted / observed - 1`.
    pub relative_error: f64,
    /// Whether the interval holds the value; absent when there is no interval.
    pub covered: Option<bool>,
}

/// One step of the extrapolation audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableAuditStep {
    /// How many points were fitted, those of smallest x.
    pub fitted_points: u32,
    /// Exponent from these alone.
    pub exponent: f64,
    /// The other points, as this fit predicts them.
    pub predictions: Vec<TableHeldOut>,
}
