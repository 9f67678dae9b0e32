//! A table that gives each model its size, and perhaps its family.

use std::collections::BTreeMap;
use std::path::Path;

use super::formats;
use super::rows::Rows;
use crate::error::TableError;

/// Names that the column of models may have.
const MODEL: [&str; 2] = ["model", "name"];

/// Names that the column of sizes may have, the surest first.
const SIZE: [&str; 4] = ["S", "non_embedding", "non_embedding_parameters", "parameters"];

/// Models with their sizes.
pub(super) struct Sizes {
    table: Rows,
    /// Name -> row. A name with an owner (`EleutherAI/pythia-70m`) is there without it as well.
    by_name: BTreeMap<String, usize>,
    size: usize,
}

impl Sizes {
    /// Reads the table: a column `model` (or `name`), a column `S` (or `non_embedding`,
    /// `non_embedding_parameters`, `parameters`), and whatever else it has to group by.
    ///
    /// # Errors
    /// A table that cannot be read or lacks one of the two columns; a size that is no number above
    /// zero; two different sizes for one model.
    pub(super) fn read(path: &Path) -> Result<Self, TableError> {
        let table = formats::read(path, |_| true)?;
        let first = |names: &[&str]| {
            table.column(names.iter().find(|name| table.has(name)).unwrap_or(&names[0]))
        };
        let (model, size) = (first(&MODEL)?, first(&SIZE)?);
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        for (at, row) in table.rows.iter().enumerate() {
            let name = table.name(row, model)?;
            let number = table.number(row, size)?;
            if number <= 0.0 {
                return Err(table.refuse(row, size, "a size above 0"));
            }
            for key in [name.as_str(), without_owner(&name)] {
                let known = by_name.insert(key.to_owned(), at);
                if known.is_some_and(|known| {
                    table.number(&table.rows[known], size).ok() != Some(number)
                }) {
                    return Err(TableError::TwoSizes {
                        path: path.to_owned(),
                        model: key.to_owned(),
                    });
                }
            }
        }
        Ok(Self { table, by_name, size })
    }

    /// The size of a model, by its name with or without its owner.
    pub(super) fn of(&self, model: &str) -> Option<f64> {
        self.table.number(&self.table.rows[self.row(model)?], self.size).ok()
    }

    /// Whether the table has this column.
    pub(super) fn has(&self, column: &str) -> bool {
        self.table.has(column)
    }

    /// Another column's value for a model that is in the table.
    ///
    /// # Errors
    /// No such column, no value.
    pub(super) fn name(&self, model: &str, column: &str) -> Result<String, TableError> {
        let at = self.table.column(column)?;
        match self.row(model) {
            Some(row) => self.table.name(&self.table.rows[row], at),
            None => Err(self.unknown(&self.table.path, model)),
        }
    }

    /// The refusal of a model that the table does not have; `path` is the file that names the
    /// model.
    pub(super) fn unknown(&self, path: &Path, model: &str) -> TableError {
        TableError::NoSize {
            path: path.to_owned(),
            model: model.to_owned(),
            reason: format!("no row of {} has it", self.table.path.display()),
        }
    }

    fn row(&self, model: &str) -> Option<usize> {
        self.by_name.get(model).or_else(|| self.by_name.get(without_owner(model))).copied()
    }
}

fn without_owner(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}
