//! An x that is not the models' size: a column of a table of models, or a product of columns.

use std::path::{Path, PathBuf};

use crate::error::LawsError;
use crate::user_table::{Row, Rows, TableError};

/// A product of columns and numbers, as `6*params*tokens`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Product {
    factors: Vec<Factor>,
}

#[derive(Debug, Clone, PartialEq)]
enum Factor {
    Number(f64),
    Column(String),
}

impl Product {
    /// Factors between `*`; what reads as a number is one.
    pub(crate) fn parse(text: &str) -> Self {
        let factor = |text: &str| match text.parse() {
            Ok(number) => Factor::Number(number),
            Err(_) => Factor::Column(text.to_owned()),
        };
        Self { factors: text.split('*').map(str::trim).map(factor).collect() }
    }

    /// Whether a column takes part.
    pub(crate) fn needs(&self, column: &str) -> bool {
        self.factors.iter().any(|factor| matches!(factor, Factor::Column(name) if name == column))
    }

    /// Its value in a row.
    ///
    /// # Errors
    /// A column that is not there; a cell that is empty or no number above zero; a product beyond the range of numbers.
    pub(crate) fn of(&self, rows: &Rows, row: &Row) -> Result<f64, TableError> {
        let mut product = 1.0;
        let mut last = 0;
        for factor in &self.factors {
            product *= match factor {
                Factor::Number(number) => *number,
                Factor::Column(name) => {
                    last = rows.column(name)?;
                    rows.number(row, last)?
                }
            };
            if !(product > 0.0 && product.is_finite()) {
                return Err(rows.refuse(row, last, "a number above 0"));
            }
        }
        Ok(product)
    }
}

/// The x of each model by name, from a table of models.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelNumbers {
    path: PathBuf,
    x: String,
    values: Vec<(String, f64)>,
}

impl ModelNumbers {
    /// Reads a table (.csv, .tsv, .jsonl, .parquet) with a column `model` (or `name`) and what `x` names: a column, or a product of
    /// columns and numbers as `6*params*tokens`.
    ///
    /// # Errors
    /// [`LawsError::Table`]: a file that cannot be read, a column that is not there, an x that is no number above zero, a model that
    /// is there twice.
    pub fn read(path: &Path, x: &str) -> Result<Self, LawsError> {
        let product = Product::parse(x);
        let rows = Rows::read(path, |name| product.needs(name) || ["model", "name"].contains(&name))?;
        let label = rows.column(if rows.has("model") { "model" } else { "name" })?;
        let mut values: Vec<(String, f64)> = Vec::new();
        for row in &rows.rows {
            let model = rows.name(row, label)?;
            if values.iter().any(|(there, _)| *there == model) {
                return Err(rows.refuse(row, label, "a model that no earlier row has").into());
            }
            values.push((model, product.of(&rows, row)?));
        }
        Ok(Self { path: path.to_owned(), x: x.to_owned(), values })
    }

    /// What x is.
    pub(super) fn x(&self) -> &str {
        &self.x
    }

    /// The file, as it was named.
    pub(super) fn file(&self) -> String {
        self.path.display().to_string()
    }

    /// The x of a model.
    ///
    /// # Errors
    /// [`TableError::NoNumber`]: no row has it.
    pub(super) fn of(&self, model: &str) -> Result<f64, TableError> {
        let found = self.values.iter().find(|(name, _)| name == model);
        found.map(|(_, x)| *x).ok_or_else(|| TableError::NoNumber {
            path: self.path.clone(),
            model: model.to_owned(),
            what: self.x.clone(),
        })
    }
}
