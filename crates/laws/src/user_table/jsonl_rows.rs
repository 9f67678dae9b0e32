//! Rows of a JSONL file: one object a line, its members the columns.

use std::fs;
use std::path::Path;

use relscale_records::parquet::Cell;
use serde_json::{Map, Value};

use super::error::TableError;
use super::rows::{Row, Rows};

/// Reads the file. The columns are the members of all objects, in the order they first come; a member that a line lacks is a
/// missing cell there. Blank lines are no rows.
///
/// # Errors
/// A file that cannot be read or is not UTF-8; a line that is no JSON object, with its number.
pub(super) fn read(path: &Path) -> Result<Rows, TableError> {
    let text =
        fs::read_to_string(path).map_err(|source| TableError::Read { path: path.to_owned(), source })?;
    let mut objects: Vec<(usize, Map<String, Value>)> = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let object = serde_json::from_str(line).map_err(|error| TableError::Line {
            path: path.to_owned(),
            line: at as u64 + 1,
            reason: format!("no JSON object: {error}"),
        })?;
        objects.push((at + 1, object));
    }
    let mut columns: Vec<String> = Vec::new();
    for name in objects.iter().flat_map(|(_, object)| object.keys()) {
        if !columns.contains(name) {
            columns.push(name.clone());
        }
    }
    let row = |(line, object): (usize, Map<String, Value>)| Row {
        place: format!("line {line}"),
        cells: columns.iter().map(|name| cell(object.get(name))).collect(),
    };
    let rows = objects.into_iter().map(row).collect();
    Ok(Rows { path: path.to_owned(), columns, rows, whole: true })
}

fn cell(value: Option<&Value>) -> Cell {
    match value {
        None | Some(Value::Null) => Cell::Missing,
        Some(Value::Bool(truth)) => Cell::Truth(*truth),
        Some(Value::String(text)) => Cell::Text(text.clone()),
        Some(Value::Number(number)) => {
            number.as_f64().map_or_else(|| Cell::Text(number.to_string()), Cell::Number)
        }
        // Shown as it stands when it is asked for, which is when it is refused.
        Some(nested @ (Value::Array(_) | Value::Object(_))) => Cell::Text(nested.to_string()),
    }
}
