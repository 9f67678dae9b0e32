//! Parquet and Arrow: a row a document. `relscale-records` does the reading.

use std::path::Path;

use super::fields::{Fields, Row, Skipped, Value};
use super::file_kind::FileKind;
use super::listing::{Listing, Named};
use super::reading::Reading;
use super::{Documents, until_error};
use crate::error::Result;

/// Streams the documents of a Parquet or Arrow file, or of all below a folder or of a pattern, in order of path; texts must be columns of
/// text, ids and tags may be numbers and truth values as well.
///
/// # Errors
/// At once: nothing there to read. At once for one file, else as an item: it is not what it should be, a column is missing or not text.
/// As an item, with the row: a null in a field that is needed, damaged data.
pub fn read(path: &Path, kind: FileKind, fields: Fields, reading: &Reading) -> Result<Documents> {
    let reading = reading.clone();
    Listing::of_kind(path, kind, &reading)?.documents(move |file| one_file(file, fields.clone(), &reading))
}

fn one_file(file: &Named, fields: Fields, reading: &Reading) -> Result<Documents> {
    let (text, labels) = fields.names();
    let rows = relscale_records::parquet::read_text_columns(&file.path, &text, &labels)?;
    let names: Vec<String> = text.into_iter().chain(labels).map(str::to_owned).collect();
    let (file, mut skipped) = (file.clone(), Skipped::new(file, reading));
    let documents = rows.zip(1..).filter_map(move |(cells, number)| {
        let cells = match cells {
            Ok(cells) => cells,
            Err(error) => return Some(Err(error.into())),
        };
        let field = |name: &str, _strict: bool| -> Result<Value> {
            let at = names.iter().position(|known| known == name);
            Ok(match at.and_then(|at| cells.get(at)) {
                Some(Some(text)) => Value::Text(text.clone()),
                Some(None) => Value::Null,
                None => Value::Absent,
            })
        };
        let there = || names.join(", ");
        let document = fields.document(&Row { file: &file, number, field, there }).transpose();
        if document.is_none() {
            skipped.one();
        }
        document
    });
    Ok(until_error(documents))
}
