//! The table of runs: its columns, and the files it is written to.

use std::path::Path;

use relscale_records::atomic::{place, write_named};
use relscale_records::parquet::{TableColumn, write_table};
use relscale_records::spreadsheet;
use serde_json::{Map, Value};

use super::run::CollectedRun;
use crate::error::{Error, Result};
pub use crate::train::sweep::table::COLUMNS;

/// A cell.
enum Cell {
    Text(Option<String>),
    Number(Option<f64>),
}

/// The cells of a run, in the order of [`COLUMNS`].
fn cells(run: &CollectedRun) -> [Cell; 15] {
    let text = |text: Option<&str>| Cell::Text(text.map(str::to_owned));
    let note = run.notes.join("; ");
    [
        text(Some(&run.run)),
        text(run.group.as_deref()),
        Cell::Number(run.budget),
        text(run.flops_convention.map(|said| said.name())),
        Cell::Number(run.params),
        text(run.params_convention.map(|said| said.name())),
        Cell::Number(run.tokens),
        Cell::Number(run.batch),
        Cell::Number(run.steps),
        Cell::Number(run.learning_rate),
        Cell::Number(run.width),
        Cell::Number(run.layers),
        Cell::Number(run.loss),
        text(run.status.map(|status| status.name())),
        Cell::Text(Some(note).filter(|note| !note.is_empty())),
    ]
}

/// Writes the table; the ending of the name says as what: `.csv`, `.jsonl`, `.parquet`. An unknown
/// number is an empty cell, a member that is not there, a null.
///
/// # Errors
/// [`Error::TableEnding`]; [`Error::Records`]: it cannot be written.
pub fn write(path: &Path, runs: &[CollectedRun]) -> Result<()> {
    let ending =
        path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    let bytes = match ending.as_str() {
        "csv" => csv(path, runs)?,
        "jsonl" => jsonl(runs),
        "parquet" => return parquet(path, runs),
        _ => return Err(Error::TableEnding { path: path.to_owned() }),
    };
    Ok(write_named(path, &bytes)?)
}

fn csv(path: &Path, runs: &[CollectedRun]) -> Result<Vec<u8>> {
    let problem = |reason: String| Error::Metrics {
        path: path.to_owned(),
        place: "writing".to_owned(),
        reason,
    };
    let mut table = ::csv::Writer::from_writer(Vec::new());
    table.write_record(COLUMNS).map_err(|error| problem(error.to_string()))?;
    for run in runs {
        let row = cells(run).map(|cell| match cell {
            Cell::Text(text) => spreadsheet::cell(&text.unwrap_or_default()).into_owned(),
            Cell::Number(number) => number.map_or_else(String::new, plain),
        });
        table.write_record(row).map_err(|error| problem(error.to_string()))?;
    }
    table.into_inner().map_err(|error| problem(error.to_string()))
}

/// A number as short as it can be read back: `3e18`, `12000000`, `0.004`.
fn plain(number: f64) -> String {
    let (plain, short) = (number.to_string(), format!("{number:e}"));
    if number.abs() >= 1e15 && short.len() < plain.len() { short } else { plain }
}

fn jsonl(runs: &[CollectedRun]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for run in runs {
        let mut line = Map::new();
        for (column, cell) in COLUMNS.into_iter().zip(cells(run)) {
            let value = match cell {
                Cell::Text(text) => text.map(Value::from),
                Cell::Number(number) => number.map(Value::from),
            };
            line.extend(value.map(|value| (column.to_owned(), value)));
        }
        bytes.extend(Value::Object(line).to_string().into_bytes());
        bytes.push(b'\n');
    }
    bytes
}

fn parquet(path: &Path, runs: &[CollectedRun]) -> Result<()> {
    let rows: Vec<[Cell; 15]> = runs.iter().map(cells).collect();
    let columns: Vec<(&str, TableColumn)> = COLUMNS
        .into_iter()
        .enumerate()
        .map(|(at, name)| {
            let text = rows.iter().any(|row| matches!(row[at], Cell::Text(_)));
            let column = if text {
                TableColumn::Text(
                    rows.iter()
                        .map(
                            |row| if let Cell::Text(text) = &row[at] { text.clone() } else { None },
                        )
                        .collect(),
                )
            } else {
                TableColumn::Numbers(
                    rows.iter()
                        .map(|row| if let Cell::Number(number) = row[at] { number } else { None })
                        .collect(),
                )
            };
            (name, column)
        })
        .collect();
    Ok(write_table(&place(path), "runs", &columns)?)
}
