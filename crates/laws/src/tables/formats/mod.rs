//! A file as rows of cells: CSV and its kin, JSONL, Parquet, TOML, by the ending of its name.

mod csv;
mod jsonl;
mod toml;

use std::path::Path;

use relscale_records::Status;
use relscale_records::parquet::{cell_columns, read_cells};

use super::rows::{Row, Rows};
use crate::error::TableError;

/// Reads a table. `wanted` says of a column's name whether it may be needed; a format that stores
/// columns apart reads no others but those that say how a run ended.
///
/// # Errors
/// An unknown ending, a file that cannot be read, a line that does not follow the format.
pub(crate) fn read(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Rows, TableError> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "csv" | "tsv" | "tab" | "txt" => csv::read(path, matches!(ending.as_str(), "tsv" | "tab")),
        "jsonl" | "ndjson" => jsonl::read(path),
        "parquet" | "pq" => parquet(path, wanted),
        "toml" => toml::read(path),
        _ => Err(TableError::Extension { path: path.to_owned() }),
    }
}

fn parquet(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Rows, TableError> {
    let all = cell_columns(path)?;
    // Dates and lists are in the way of nobody who did not ask for them by name; who did is told
    // what they are.
    let columns: Vec<String> = all
        .iter()
        .filter(|(name, cells)| {
            (wanted(name) && (*cells || !wanted(""))) || (*cells && Status::is_column(name))
        })
        .map(|(name, _)| name.clone())
        .collect();
    let whole = columns.len() == all.len();
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let rows = read_cells(path, &names)?
        .enumerate()
        .map(|(row, cells)| Ok(Row { place: format!("row {}", row + 1), cells: cells? }))
        .collect::<Result<_, TableError>>()?;
    Ok(Rows::new(path, columns, rows, whole))
}
