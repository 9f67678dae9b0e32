//! Rows of a JSONL file: one object a line, its members the columns.

use std::fs;
use std::path::Path;

use relscale_records::parquet::Cell;
use relscale_records::written::{Fault, json, text};
use serde_json::{Map, Value};

use crate::error::TableError;
use crate::tables::rows::{Row, Rows};

/// Reads the file. The columns are the members of all objects, in the order they first come; a
/// member that a line lacks is a missing cell there. Blank lines are no rows.
///
/// # Errors
/// A file that cannot be read or is not UTF-8; a line that is no JSON object, with its number.
pub(super) fn read(path: &Path) -> Result<Rows, TableError> {
    let refuse = |Fault { line, reason }| TableError::Line { path: path.to_owned(), line, reason };
    let bytes =
        fs::read(path).map_err(|source| TableError::Read { path: path.to_owned(), source })?;
    let text = text::decode(bytes).map_err(refuse)?;
    let mut objects: Vec<(usize, Map<String, Value>)> = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let none = |why: String| {
            refuse(Fault { line: at as u64 + 1, reason: format!("no JSON object: {why}") })
        };
        match json::parse(line).map_err(|error| none(error.to_string()))? {
            Value::Object(object) => objects.push((at + 1, object)),
            other => return Err(none(format!("it is `{other}`"))),
        }
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
    Ok(Rows::new(path, columns, rows, true))
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
