//! Metrics as JSONL or CSV: a line a step, its members or columns the names.

use std::fs;
use std::path::Path;

use super::json;
use super::logged::Logged;
use crate::error::{Error, Result};

/// Names of the column or member that counts steps.
pub(super) const STEP: [&str; 7] =
    ["step", "Step", "_step", "global_step", "iter", "iteration", "trainer/global_step"];

/// Reads JSONL.
///
/// # Errors
/// [`Error::Metrics`] with the line: one that is no JSON object (the last may be torn), or none at all.
pub(super) fn jsonl(path: &Path) -> Result<Logged> {
    let text = text_of(path)?;
    let mut logged = Logged::new(run_name(path));
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
    let mut rows = 0;
    for (number, (at, line)) in lines.iter().enumerate() {
        let value = match json::parse(line) {
            Ok(value) if value.is_object() => value,
            _ if number + 1 == lines.len() && number > 0 && !text.ends_with('\n') => {
                logged.notes.push("the last line is torn and was left out".to_owned());
                break;
            }
            other => {
                let reason = other.map_or_else(|error| error.to_string(), |_| "no object".to_owned());
                return Err(Error::Metrics {
                    path: path.to_owned(),
                    place: format!("line {}", at + 1),
                    reason,
                });
            }
        };
        let step = STEP.iter().find_map(|name| value.get(name).and_then(json::number));
        logged.add_object(&value, "", ".", step);
        rows += 1;
    }
    if rows == 0 {
        let reason = "no line".to_owned();
        return Err(Error::Metrics { path: path.to_owned(), place: "line 1".to_owned(), reason });
    }
    Ok(logged)
}

/// A table as it was read.
pub(super) struct Table {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// Reads CSV with a header.
///
/// # Errors
/// [`Error::Metrics`] with the line.
pub(super) fn table(path: &Path) -> Result<Table> {
    let text = text_of(path)?;
    let refuse = |error: csv::Error| Error::Metrics {
        path: path.to_owned(),
        place: format!("line {}", error.position().map_or(1, csv::Position::line)),
        reason: error.to_string(),
    };
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let columns = reader.headers().map_err(refuse)?.iter().map(str::to_owned).collect();
    let rows = reader
        .records()
        .map(|record| Ok(record.map_err(refuse)?.iter().map(str::to_owned).collect()))
        .collect::<Result<_>>()?;
    Ok(Table { columns, rows })
}

/// A cell as a number; `None` where it is empty or a text.
pub(super) fn cell(text: &str) -> Option<f64> {
    match text {
        "" => None,
        "NaN" | "nan" => Some(f64::NAN),
        "Infinity" | "inf" => Some(f64::INFINITY),
        "-Infinity" | "-inf" => Some(f64::NEG_INFINITY),
        // Rust would read these too, but they are names more often than numbers.
        _ if text.chars().any(char::is_alphabetic) && !text.contains(['e', 'E']) => None,
        text => text.parse().ok(),
    }
}

/// The rows of a table as steps of one run; cells that are empty are no numbers.
pub(super) fn history(path: &Path, table: &Table, step: usize) -> Logged {
    let mut logged = Logged::new(run_name(path));
    for row in &table.rows {
        let at = row.get(step).and_then(|text| cell(text));
        for (column, text) in table.columns.iter().zip(row) {
            if let Some(number) = cell(text) {
                logged.add(column, at, number);
            }
        }
    }
    logged
}

/// The text of a file.
///
/// # Errors
/// [`Error::Read`].
pub(super) fn text_of(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

/// What a file of metrics calls its run: its own name, or that of its folder where the file's is a common one.
pub(super) fn run_name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let common = ["metrics", "log", "logs", "history", "train", "training", "progress"];
    if common.contains(&stem.to_lowercase().as_str()) { folder_name(path) } else { stem }
}

/// The name of the folder that a file lies in.
pub(super) fn folder_name(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = full.parent().and_then(Path::file_name);
    folder.map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}
