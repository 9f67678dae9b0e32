//! Parquet: a row a document. `relscale-records` does the reading.

use std::path::Path;

use super::fields::{Fields, Row};
use super::{Documents, until_error};
use crate::error::Result;

/// Streams the documents of a Parquet file; all fields must be columns of text.
///
/// # Errors
/// At once: the file cannot be opened or is not Parquet, a column is missing or not text. As an item, with the row: a
/// null in a field that is needed, damaged data.
pub fn read(path: &Path, fields: Fields) -> Result<Documents> {
    let names: Vec<String> = fields.names().into_iter().map(str::to_owned).collect();
    let columns: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows = relscale_records::parquet::read_text_columns(path, &columns)?;
    let path = path.to_owned();
    Ok(until_error(rows.zip(1..).map(move |(cells, number)| {
        let cells = cells?;
        let there = || {
            let present =
                names.iter().zip(&cells).filter(|(_, cell)| cell.is_some()).map(|(name, _)| name.as_str());
            format!("{} (others are null)", present.collect::<Vec<_>>().join(", "))
        };
        let field = |name: &str, _strict: bool| -> Result<Option<String>> {
            Ok(names.iter().position(|known| known == name).and_then(|i| cells.get(i)?.clone()))
        };
        fields.document(&Row { path: &path, number, field, there })
    })))
}
