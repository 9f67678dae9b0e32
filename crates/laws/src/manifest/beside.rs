//! A manifest beside a table: what the table's rows do not say of their models.

use std::path::Path;

use super::{Asked, Manifest, ModelNumbers};
use crate::error::LawsError;
use crate::user_table::{Row, Rows, TableError};

/// Numbers of the models of these rows, by the column `label` that names them, for the columns that the table lacks.
///
/// # Errors
/// Those of [`Manifest::read`] and of its numbers; a table without a column of models.
pub(crate) fn numbers_beside<'a>(
    path: &Path,
    rows: &Rows,
    label: Option<usize>,
    used: impl Iterator<Item = &'a Row>,
    columns: impl Iterator<Item = &'a str>,
) -> Result<ModelNumbers, LawsError> {
    let manifest = Manifest::read(path)?;
    let label = label.map_or_else(|| rows.column("model"), Ok)?;
    let mut names: Vec<String> = used.map(|row| rows.name(row, label)).collect::<Result<_, TableError>>()?;
    names.sort();
    names.dedup();
    let asked: Vec<Asked<'_>> = names.iter().map(|name| Asked { name, counted: None }).collect();
    let columns: Vec<&str> = columns.filter(|column| !rows.has(column)).collect();
    manifest.numbers(&columns, &asked)
}
