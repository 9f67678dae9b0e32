//! An x that is a column, or a product of columns and numbers.

use super::error::TableError;
use super::rows::{Row, Rows};
use crate::manifest::ModelNumbers;

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
    pub(crate) fn value<E>(&self, mut column: impl FnMut(&str) -> Result<f64, E>) -> Result<f64, E> {
        self.factors.iter().try_fold(1.0, |product, factor| match factor {
            Factor::Number(number) => Ok(product * number),
            Factor::Column(name) => Ok(product * column(name)?),
        })
    }

    /// Its value in a row. A column that the rows lack is looked up by the row's model, where there is a manifest.
    ///
    /// # Errors
    /// A column that is not there; a cell that is empty or no number above zero; a model that the manifest lacks; a product beyond
    /// the range of numbers.
    pub(crate) fn of(
        &self,
        rows: &Rows,
        row: &Row,
        models: Option<(&ModelNumbers, &str)>,
    ) -> Result<f64, TableError> {
        let mut last = None;
        let product = self.value(|name| {
            if let Some((numbers, model)) = models.filter(|_| !rows.has(name)) {
                return numbers.of(model, name);
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
