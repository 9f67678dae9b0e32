//! JSONL, plain or compressed: a JSON object a line, a document a line.
//!
//! A field is named by its key; `a.b` is the key `b` of the object under `a` unless the object has a key `a.b` itself.
//! Empty lines are passed over.

use std::path::Path;

use serde_json::{Map, Value};

use super::fields::{Fields, Row};
use super::lines::{Lines, json_reason};
use super::{Documents, until_error};
use crate::document::Document;
use crate::error::{CorpusError, Result};

/// Streams the documents of a JSONL file.
///
/// # Errors
/// At once: the file cannot be opened. As an item, with the row: a line that is not a JSON object or not UTF-8, a
/// missing field, a text field that is not a string, compressed data that end early.
pub fn read(path: &Path, fields: Fields) -> Result<Documents> {
    let mut lines = Lines::open(path)?;
    Ok(until_error(std::iter::from_fn(move || next(&mut lines, &fields).transpose())))
}

fn next(lines: &mut Lines, fields: &Fields) -> Result<Option<Document>> {
    let path = lines.path().to_owned();
    loop {
        let Some((row, line)) = lines.next()? else { return Ok(None) };
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |reason: String| CorpusError::Json { path: path.clone(), row, reason };
        let object: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| wrong(json_reason(&error)))?;
        let there = || object.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let field = |name: &str, strict: bool| match lookup(&object, name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(value @ (Value::Number(_) | Value::Bool(_))) if !strict => Ok(Some(value.to_string())),
            Some(other) => Err(CorpusError::FieldNotText {
                path: path.clone(),
                row,
                field: name.to_owned(),
                found: kind(other).to_owned(),
            }),
        };
        return fields.document(&Row { path: &path, number: row, field, there }).map(Some);
    }
}

fn lookup<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).or_else(|| {
        let (outer, inner) = name.split_once('.')?;
        lookup(object.get(outer)?.as_object()?, inner)
    })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
