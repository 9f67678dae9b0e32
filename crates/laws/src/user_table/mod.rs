//! Laws of a user's own numbers: a table of points, or the result files of lm-evaluation-harness.
//!
//! Nothing of a measurement is known here but the value of each point, so there is no error from the text sample: what a law
//! says of its uncertainty comes from the scatter of the points alone. The fit is that of the study's laws, least squares of `ln value` on
//! `ln x`, with the same predictions of points it has not seen.
//!
//! | file | what |
//! |---|---|
//! | `rows` | a file as rows of cells, whatever its format: `csv_rows`, `jsonl_rows`, `toml_rows`, and Parquet by way of the records |
//! | `endings` | rows of runs that crashed or are not done, by the columns in which trackers say so |
//! | `scale` | sizes that are so small that they are in millions, or logarithms |
//! | `product` | an x that is a column, or a product of columns and numbers |
//! | [`Kind`] | what a column of values is, hence which number the law is about |
//! | `choose` | which columns and rows of a table make points; a bad number is refused with its file and line |
//! | `once` | no model is there twice, and none has two sizes |
//! | `harness` | the same from result files of lm-evaluation-harness |
//! | `sizes` | a second table that gives each model its size |
//! | `fit` | points to laws |
//! | [`TableError`] | what is refused |
//!
//! Invariants: a row is used, or listed as left out with the reason, or it stops the fit: none is skipped. The order of rows
//! does not change the result.

mod choose;
mod csv_rows;
mod endings;
mod error;
mod fit;
mod harness;
mod jsonl_rows;
mod kind;
mod once;
mod product;
mod rows;
mod scale;
mod sizes;
mod toml_rows;

pub use choose::{TableOptions, fit_table};
pub(crate) use choose::{is as meets, kinds as kinds_of};
pub(crate) use endings::Endings;
pub use error::TableError;
pub use harness::{HarnessOptions, fit_harness};
pub use kind::Kind;
pub(crate) use kind::Value;
pub(crate) use once::Once;
pub(crate) use product::Product;
pub(crate) use rows::{Row, Rows};
pub(crate) use scale::small;

use crate::error::LawsError;

/// The level, or its refusal.
fn check_level(level: f64) -> Result<f64, LawsError> {
    if level > 0.0 && level < 1.0 {
        return Ok(level);
    }
    Err(LawsError::Option { option: "level", value: level.to_string(), expected: "above 0 and below 1" })
}
