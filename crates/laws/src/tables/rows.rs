//! A table as rows of cells, whatever the format of its file.

use std::path::{Path, PathBuf};

use relscale_records::parquet::Cell;
use relscale_records::written::number::{self, Comma, Reading};

use crate::error::TableError;

/// The range of numbers that anything was ever measured in, with room. Beyond it, products such as
/// `6 N D` leave that of a double, and a result would hold a number that is none.
const SMALLEST: f64 = 1e-60;
const LARGEST: f64 = 1e60;

/// What is asked for where `1,400` or `1.400` stands and nothing in the file tells what it is.
const AMBIGUOUS: &str = "a number that can be read in one way only: without marks between thousands, with a point before the fraction";

/// The rows of a table.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) path: PathBuf,
    /// The columns that were read, in the order of the cells.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
    /// Whether the columns are all that the file has.
    pub(crate) whole: bool,
    /// What commas in its numbers are.
    pub(crate) comma: Comma,
}

/// One row of a table.
#[derive(Debug)]
pub(crate) struct Row {
    /// Where it stands, as a person finds it: `line 17`, `row 3`.
    pub(crate) place: String,
    pub(crate) cells: Vec<Cell>,
}

impl Rows {
    /// Rows of a file whose commas only its cells tell.
    pub(in crate::tables) fn new(
        path: &Path,
        columns: Vec<String>,
        rows: Vec<Row>,
        whole: bool,
    ) -> Self {
        let texts = rows.iter().flat_map(|row| &row.cells).filter_map(|cell| match cell {
            Cell::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let comma = Comma::from_cells(texts);
        Self { path: path.to_owned(), columns, rows, whole, comma }
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

    /// A cell as a number, which may be NaN or infinite: what is there, without a word about
    /// whether a fit can use it.
    pub(crate) fn reading(&self, row: &Row, at: usize) -> Reading {
        match &row.cells[at] {
            Cell::Number(number) => Reading::Number(*number),
            Cell::Text(text) => number::read(text, self.comma),
            Cell::Missing => Reading::Nothing,
            Cell::Truth(_) => Reading::Text,
        }
    }

    /// A cell as a number that a fit can use: finite, and 0 or within [`SMALLEST`] and [`LARGEST`].
    ///
    /// # Errors
    /// [`TableError::Missing`], [`TableError::Value`], each with the place.
    pub(crate) fn number(&self, row: &Row, at: usize) -> Result<f64, TableError> {
        match self.reading(row, at) {
            Reading::Number(number)
                if number == 0.0 || (SMALLEST..=LARGEST).contains(&number.abs()) =>
            {
                Ok(number)
            }
            Reading::Number(number) if number.is_finite() => {
                Err(self.refuse(row, at, "0, or a number between 1e-60 and 1e60"))
            }
            Reading::Nothing => Err(self.missing(row, at)),
            Reading::Ambiguous => Err(self.refuse(row, at, AMBIGUOUS)),
            Reading::Number(_) | Reading::Text => Err(self.refuse(row, at, "a number")),
        }
    }

    /// Whether a cell that should hold a number holds nothing, or a word for it.
    pub(crate) fn lacks_number(&self, row: &Row, at: usize) -> bool {
        self.reading(row, at) == Reading::Nothing
    }

    /// A cell as the name of something.
    ///
    /// # Errors
    /// [`TableError::Missing`] with the place.
    pub(crate) fn name(&self, row: &Row, at: usize) -> Result<String, TableError> {
        if empty(&row.cells[at]) { Err(self.missing(row, at)) } else { Ok(text(&row.cells[at])) }
    }

    /// A cell as a person would write it; empty where nothing is in it.
    pub(crate) fn text(&self, row: &Row, at: usize) -> String {
        text(&row.cells[at])
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
