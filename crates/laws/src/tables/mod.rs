//! Tables of numbers that others measured, manifests of models, results of lm-evaluation-harness:
//! whatever is read, a law is given `Observation`s.
//!
//! A user chooses columns and rows with one [`Select`], whichever law is fitted; what is wrong with
//! a file is a [`TableError`] with the file and the line, and what to do.
//!
//! | file | what |
//! |---|---|
//! | [`Select`] | which columns and rows take part |
//! | `observe` | rows to observations; what is refused, and what is left out by name |
//! | `observation` | the one thing that every law reads |
//! | `formats` | a file as rows of cells: CSV and its kin, JSONL, TOML, Parquet |
//! | `rows` | cells as numbers and names, each refused with its place |
//! | `product` | an x that is a column, or a product of columns and numbers |
//! | `endings` | rows of runs that crashed or are not done, by the columns in which trackers say so |
//! | `once` | no model is there twice, and none has two sizes |
//! | `conventions` | sizes or compute of two conventions in one column |
//! | `scale` | sizes that are so small that they are in millions, or logarithms |
//! | [`manifest`] | models with N, D, FLOPs and their conventions |
//! | `sizes` | a table that gives each model its size |
//! | `beside` | either of them beside a table |
//! | `harness` | observations from result files of lm-evaluation-harness |
//!
//! Invariants: a row is used, or listed as left out with the reason, or it stops the fit: none is
//! skipped. What lacks a number, or comes from a run that did not finish, is left out by name; what
//! is no number, or none that can be, is refused with its line. The order of rows does not change
//! what is found.

mod beside;
mod conventions;
mod endings;
mod formats;
pub(crate) mod harness;
pub mod manifest;
mod observation;
mod observe;
mod once;
mod product;
mod rows;
mod scale;
mod select;
mod sizes;

pub use crate::error::TableError;
pub use crate::kind::{Kind, NoKind};
pub(crate) use conventions::{flops as flops_convention, params as params_convention};
pub(crate) use formats::read as rows_of;
pub(crate) use observation::{Given, Observation, Observations, listed};
pub(crate) use observe::{RowIs, Wanted, observe, read, x_text};
pub(crate) use scale::small;
pub use select::Select;
pub(crate) use select::each;
