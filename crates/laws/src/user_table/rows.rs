//! A file as rows of cells, whatever its format.

use std::path::{Path, PathBuf};

use relscale_records::parquet::{Cell, column_names, read_cells};

use super::error::TableError;
use super::{csv_rows, jsonl_rows, toml_rows};

/// The range of numbers that anything was ever measured in, with room. Beyond it, products such as `6 N D` leave that of a double, and a
/// result would hold a number that is none.
const SMALLEST: f64 = 1e-60;
const LARGEST: f64 = 1e60;

/// The rows of a table.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) path: PathBuf,
    /// The columns that were read, in the order of the cells.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
    /// Whether the columns are all that the file has.
    pub(crate) whole: bool,
}

/// One row of a table.
#[derive(Debug)]
pub(crate) struct Row {
    /// Where it stands, as a person finds it: `line 17`, `row 3`.
    pub(crate) place: String,
    pub(crate) cells: Vec<Cell>,
}

impl Rows {
    /// Reads a table. `wanted` says of a column's name whether it may be needed; a format that stores columns apart reads no others.
    ///
    /// # Errors
    /// An unknown ending, a file that cannot be read, a line that does not follow the format.
    pub(crate) fn read(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Self, TableError> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        match ending.as_str() {
            "csv" | "tsv" | "tab" | "txt" => csv_rows::read(path, matches!(ending.as_str(), "tsv" | "tab")),
            "jsonl" | "ndjson" => jsonl_rows::read(path),
            "parquet" | "pq" => parquet(path, wanted),
            "toml" => toml_rows::read(path),
            _ => Err(TableError::Extension { path: path.to_owned() }),
        }
    }

    /// Whether there is a column of this name.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|name| name == column)
    }

    /// The place of a column's cells in each row.
    ///
    /// # Errors
    /// [`TableError::Column`]: there is no such column, or two.
    pub(crate) fn column(&self, column: &str) -> Result<usize, TableError> {
        let mut found = (0..self.columns.len()).filter(|&at| self.columns[at] == column);
        match (found.next(), found.next()) {
            (Some(at), None) => Ok(at),
            _ => Err(TableError::Column {
                path: self.path.clone(),
                column: column.to_owned(),
                there: self.columns.clone(),
            }),
        }
    }

    /// A cell as a number that a fit can use: finite, and 0 or within [`SMALLEST`] and [`LARGEST`].
    ///
    /// # Errors
    /// [`TableError::Missing`], [`TableError::Value`], each with the place.
    pub(crate) fn number(&self, row: &Row, at: usize) -> Result<f64, TableError> {
        let number = match &row.cells[at] {
            Cell::Number(number) => Some(*number),
            Cell::Text(text) => text.trim().parse().ok(),
            Cell::Missing | Cell::Truth(_) => None,
        };
        match number.filter(|number: &f64| number.is_finite()) {
            Some(number) if number != 0.0 && !(SMALLEST..=LARGEST).contains(&number.abs()) => {
                Err(self.refuse(row, at, "0, or a number between 1e-60 and 1e60"))
            }
            Some(number) => Ok(number),
            None if empty(&row.cells[at]) => Err(self.missing(row, at)),
            None => Err(self.refuse(row, at, "a number")),
        }
    }

    /// A cell as the name of something.
    ///
    /// # Errors
    /// [`TableError::Missing`] with the place.
    pub(crate) fn name(&self, row: &Row, at: usize) -> Result<String, TableError> {
        if empty(&row.cells[at]) { Err(self.missing(row, at)) } else { Ok(text(&row.cells[at])) }
    }

    /// Whether a cell holds nothing.
    pub(crate) fn is_empty(&self, row: &Row, at: usize) -> bool {
        empty(&row.cells[at])
    }

    /// The refusal of a cell, with what would be accepted.
    pub(crate) fn refuse(&self, row: &Row, at: usize, expected: &'static str) -> TableError {
        TableError::Value {
            path: self.path.clone(),
            place: row.place.clone(),
            column: self.columns[at].clone(),
            found: text(&row.cells[at]),
            expected,
        }
    }

    fn missing(&self, row: &Row, at: usize) -> TableError {
        TableError::Missing {
            path: self.path.clone(),
            place: row.place.clone(),
            column: self.columns[at].clone(),
        }
    }
}

fn empty(cell: &Cell) -> bool {
    match cell {
        Cell::Missing => true,
        Cell::Text(text) => text.trim().is_empty(),
        Cell::Number(_) | Cell::Truth(_) => false,
    }
}

/// A cell as a person would write it.
pub(crate) fn text(cell: &Cell) -> String {
    match cell {
        Cell::Missing => String::new(),
        Cell::Number(number) => number.to_string(),
        Cell::Text(text) => text.trim().to_owned(),
        Cell::Truth(truth) => truth.to_string(),
    }
}

fn parquet(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Rows, TableError> {
    let all = column_names(path)?;
    let columns: Vec<String> = all.iter().filter(|name| wanted(name)).cloned().collect();
    let whole = columns.len() == all.len();
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let rows = read_cells(path, &names)?
        .enumerate()
        .map(|(row, cells)| Ok(Row { place: format!("row {}", row + 1), cells: cells? }))
        .collect::<Result<_, TableError>>()?;
    Ok(Rows { path: path.to_owned(), columns, rows, whole })
}
