//! Rows of a TOML file: one `[[model]]` a row, its members the columns; what stands before them
//! holds for all that do not say otherwise.

use std::fs;
use std::ops::Range;
use std::path::Path;

use relscale_records::parquet::Cell;
use relscale_records::written::{Fault, text};
use serde::Deserialize;
use toml::{Spanned, Table, Value};

use crate::error::TableError;
use crate::tables::rows::{Row, Rows};

/// The models with where they stand. Other members are read by [`Table`]: a span is lost behind
/// serde's `flatten`.
#[derive(Deserialize)]
struct Models {
    #[serde(default)]
    model: Vec<Spanned<Table>>,
}

/// Reads the file. The columns are the members of all models, in the order they first come, then
/// those that stand before them.
///
/// # Errors
/// A file that cannot be read, is no TOML or has no `[[model]]`, each with its line.
pub(super) fn read(path: &Path) -> Result<Rows, TableError> {
    let bytes =
        fs::read(path).map_err(|source| TableError::Read { path: path.to_owned(), source })?;
    let none = |Fault { line, reason }| TableError::Line { path: path.to_owned(), line, reason };
    let text = text::decode(bytes).map_err(none)?;
    let refuse = |error: toml::de::Error| TableError::Line {
        path: path.to_owned(),
        line: error.span().map_or(1, |Range { start, .. }| line(&text, start)),
        reason: format!("no TOML of models: {}", error.message()),
    };
    let Models { model: models } = toml::from_str(&text).map_err(refuse)?;
    let mut all: Table = toml::from_str(&text).map_err(refuse)?;
    all.remove("model");
    if models.is_empty() {
        let reason = "no [[model]] in the file, so no row".to_owned();
        return Err(TableError::Line { path: path.to_owned(), line: 1, reason });
    }
    let mut columns: Vec<String> = Vec::new();
    for name in models.iter().flat_map(|model| model.get_ref().keys()).chain(all.keys()) {
        if !columns.contains(name) {
            columns.push(name.clone());
        }
    }
    let row = |model: &Spanned<Table>| Row {
        place: format!("line {}", line(&text, model.span().start)),
        cells: columns
            .iter()
            .map(|name| cell(model.get_ref().get(name).or_else(|| all.get(name))))
            .collect(),
    };
    let rows = models.iter().map(row).collect();
    Ok(Rows::new(path, columns, rows, true))
}

/// The line, from 1, of a byte of the text.
fn line(text: &str, byte: usize) -> u64 {
    1 + text.bytes().take(byte).filter(|&byte| byte == b'\n').count() as u64
}

fn cell(value: Option<&Value>) -> Cell {
    match value {
        None => Cell::Missing,
        Some(Value::Boolean(truth)) => Cell::Truth(*truth),
        Some(Value::String(text)) => Cell::Text(text.clone()),
        Some(Value::Integer(number)) => Cell::Number(*number as f64),
        Some(Value::Float(number)) => Cell::Number(*number),
        // Shown as it stands when it is asked for, which is when it is refused.
        Some(nested @ (Value::Datetime(_) | Value::Array(_) | Value::Table(_))) => {
            Cell::Text(nested.to_string())
        }
    }
}
