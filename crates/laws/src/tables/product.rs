//! An x that is a column, or a product of columns and numbers.

use super::rows::{Row, Rows};
use crate::error::TableError;

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

    /// The same of a table, where a column whose name is all of the text is that column.
    pub(crate) fn in_table(text: &str, rows: &Rows) -> Self {
        match rows.has(text) {
            true => Self { factors: vec![Factor::Column(text.to_owned())] },
            false => Self::parse(text),
        }
    }

    /// The columns that take part.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.factors.iter().filter_map(|factor| match factor {
            Factor::Number(_) => None,
            Factor::Column(name) => Some(name.as_str()),
        })
    }

    /// Whether a column takes part.
    pub(crate) fn needs(&self, column: &str) -> bool {
        self.columns().any(|name| name == column)
    }

    /// Refuses what the rows lack, unless a manifest may have it.
    ///
    /// # Errors
    /// [`TableError::Column`].
    pub(crate) fn check(&self, rows: &Rows, manifest: bool) -> Result<(), TableError> {
        self.columns()
            .filter(|column| !manifest || rows.has(column))
            .try_for_each(|column| rows.column(column).map(drop))
    }

    /// Its value where each column has one.
    ///
    /// # Errors
    /// What `column` refuses.
    pub(crate) fn value<E>(
        &self,
        mut column: impl FnMut(&str) -> Result<f64, E>,
    ) -> Result<f64, E> {
        self.factors.iter().try_fold(1.0, |product, factor| match factor {
            Factor::Number(number) => Ok(product * number),
            Factor::Column(name) => Ok(product * column(name)?),
        })
    }

    /// Its value in a row; `beside` has the columns that the rows lack.
    ///
    /// # Errors
    /// A column that is not there; a cell that is empty or no number above zero; what `beside`
    /// refuses; a product beyond the range of numbers.
    pub(crate) fn value_in(
        &self,
        rows: &Rows,
        row: &Row,
        beside: impl Fn(&str) -> Result<f64, TableError>,
    ) -> Result<f64, TableError> {
        let mut last = None;
        let product = self.value(|name| {
            if !rows.has(name) {
                return beside(name);
            }
            let at = rows.column(name)?;
            last = Some(at);
            match rows.number(row, at)? {
                number if number > 0.0 => Ok(number),
                _ => Err(rows.refuse(row, at, "a number above 0")),
            }
        })?;
        match last {
            _ if product > 0.0 && product.is_finite() => Ok(product),
            Some(at) => Err(rows.refuse(row, at, "factors of an x in the range of numbers")),
            None => Err(TableError::Factors { path: rows.path.clone(), product }),
        }
    }
}
