//! Small tables that users bring: a name and what it belongs to.

use std::collections::BTreeMap;
use std::path::Path;

use super::open::{Expected, whole};
use super::reading::Reading;
use crate::error::{CorpusError, Result};

/// A CSV or (by its extension, `.tsv`) TSV file with a header and two columns, as a map from the
/// first to the second.
///
/// # Errors
/// With the row: other than two fields, an empty one, a name given twice.
pub(super) fn two_columns(path: &Path) -> Result<BTreeMap<String, String>> {
    let tabs = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
    let bytes = whole(path, Expected::Text, &Reading::default())?;
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .delimiter(if tabs { b'\t' } else { b',' })
        .from_reader(bytes.as_slice());
    let wrong =
        |row: u64, reason: String| CorpusError::BadRow { path: path.to_owned(), row, reason };
    let mut table = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            wrong(error.position().map_or(0, csv::Position::line), error.to_string())
        })?;
        let row = record.position().map_or(0, csv::Position::line);
        let fields: Vec<&str> = record.iter().map(str::trim).collect();
        match fields.as_slice() {
            [name, value] if !name.is_empty() && !value.is_empty() => {
                if table.insert((*name).to_owned(), (*value).to_owned()).is_some() {
                    return Err(wrong(row, format!("`{name}` is given twice")));
                }
            }
            _ => {
                return Err(wrong(
                    row,
                    "a row is a name and what it belongs to, two fields".to_owned(),
                ));
            }
        }
    }
    Ok(table)
}
