//! Rows of a CSV file: a header line, then one point a line; what stands between the values is
//! found.

use std::fs;
use std::path::Path;

use relscale_records::parquet::Cell;
use relscale_records::written::{Fault, delimited, text};

use crate::error::TableError;
use crate::tables::rows::{Row, Rows};

/// Reads the file; `tabs` where its name says so, else by what the header line has most of.
///
/// # Errors
/// A file that cannot be read; a line with another number of values than the header, or that is no
/// text, with its number.
pub(super) fn read(path: &Path, tabs: bool) -> Result<Rows, TableError> {
    let refuse = |Fault { line, reason }| TableError::Line { path: path.to_owned(), line, reason };
    let bytes =
        fs::read(path).map_err(|source| TableError::Read { path: path.to_owned(), source })?;
    let table = delimited::read(&text::decode(bytes).map_err(refuse)?, tabs).map_err(refuse)?;
    if let Some(line) = table.torn {
        let wanted = table.columns.len();
        return Err(refuse(Fault {
            line,
            reason: format!("the file ends inside this line, which needs {wanted} values"),
        }));
    }
    let row = |(line, cells): (u64, Vec<String>)| Row {
        place: format!("line {line}"),
        cells: cells.into_iter().map(Cell::Text).collect(),
    };
    let rows = table.rows.into_iter().map(row).collect();
    Ok(Rows {
        path: path.to_owned(),
        columns: table.columns,
        rows,
        whole: true,
        comma: table.comma,
    })
}
