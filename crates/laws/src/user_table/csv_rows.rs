//! Rows of a CSV file: a header line, then one point a line; commas, semicolons or tabs between the values.

use std::fs;
use std::path::Path;

use csv::{ErrorKind, ReaderBuilder, Trim};
use relscale_records::parquet::Cell;

use super::error::TableError;
use super::rows::{Row, Rows};

/// Reads the file; `tabs` where its name says so, else by what the header line has most of.
///
/// # Errors
/// A file that cannot be read; a line with another number of values than the header, or that is not UTF-8, with its number.
pub(super) fn read(path: &Path, tabs: bool) -> Result<Rows, TableError> {
    let bytes = fs::read(path).map_err(|source| TableError::Read { path: path.to_owned(), source })?;
    // What Excel puts before UTF-8 is no part of the first name.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let delimiter = if tabs { b'\t' } else { delimiter(bytes) };
    let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(Trim::All).from_reader(bytes);
    let refuse = |error: &csv::Error| refusal(path, error);
    let columns = reader.headers().map_err(|error| refuse(&error))?.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| refuse(&error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells = record.iter().map(|text| Cell::Text(text.to_owned())).collect();
        rows.push(Row { place: format!("line {line}"), cells });
    }
    Ok(Rows { path: path.to_owned(), columns, rows, whole: true })
}

fn delimiter(bytes: &[u8]) -> u8 {
    let header = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| header.iter().filter(|&&byte| byte == delimiter).count();
    // The comma last: of equals, the last one is the largest.
    [b'\t', b';', b','].into_iter().max_by_key(|&delimiter| count(delimiter)).unwrap_or(b',')
}

fn refusal(path: &Path, error: &csv::Error) -> TableError {
    let line = error.position().map_or(1, csv::Position::line);
    let reason = match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} values, but the header has {expected_len}")
        }
        ErrorKind::Utf8 { .. } => "not UTF-8".to_owned(),
        _ => error.to_string(),
    };
    TableError::Line { path: path.to_owned(), line, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_what_stands_between_values() {
        assert_eq!(delimiter(b"S;a,b;c\n1,2"), b';');
        assert_eq!(delimiter(b"S\ta\n"), b'\t');
        assert_eq!(delimiter(b"S,rbp1\n"), b',');
        assert_eq!(delimiter(b""), b',');
    }
}
