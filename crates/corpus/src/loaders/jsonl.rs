//! JSONL, plain or compressed: a JSON object a line, a document a line.
//!
//! A field is named by its key; `a.b` is the key `b` of the object under `a` unless the object has a key `a.b` itself.
//! Empty lines are passed over. Ids and tags may be numbers or truth values, which become text as JSON writes them.

use std::path::Path;

use serde_json::{Map, Value};

use super::fields::{self, Fields, Row, Skipped};
use super::file_kind::FileKind;
use super::lines::{Lines, not_an_object};
use super::listing::{Listing, Named};
use super::reading::Reading;
use super::{Documents, until_error};
use crate::document::Document;
use crate::error::{CorpusError, Result};

/// Streams the documents of a JSONL file, or of all below a folder or of a pattern, in order of path.
///
/// # Errors
/// At once: nothing there to read. As an item, with the row: a line that is not a JSON object or not UTF-8, a missing field, a null, a
/// text field that is not a string, compressed data that end early.
pub fn read(path: &Path, fields: Fields, reading: &Reading) -> Result<Documents> {
    let reading = reading.clone();
    Listing::of_kind(path, FileKind::Jsonl, &reading)?.documents(move |file| {
        let (mut lines, file) = (Lines::open(&file.path, &reading)?, file.clone());
        let (fields, mut skipped) = (fields.clone(), Skipped::new(&file, &reading));
        Ok(until_error(std::iter::from_fn(move || {
            next(&mut lines, &file, &fields, &mut skipped).transpose()
        })))
    })
}

fn next(lines: &mut Lines, file: &Named, fields: &Fields, skipped: &mut Skipped) -> Result<Option<Document>> {
    loop {
        let Some((row, line)) = lines.next()? else { return Ok(None) };
        if line.trim().is_empty() {
            continue;
        }
        let object: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| not_an_object(&file.path, row, line, &error))?;
        let there = || object.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let field = |name: &str, strict: bool| match lookup(&object, name) {
            None => Ok(fields::Value::Absent),
            Some(Value::Null) => Ok(fields::Value::Null),
            Some(Value::String(text)) => Ok(fields::Value::Text(text.clone())),
            Some(value @ (Value::Number(_) | Value::Bool(_))) if !strict => {
                Ok(fields::Value::Text(value.to_string()))
            }
            Some(other) => Err(CorpusError::FieldNotText {
                path: file.path.clone(),
                row,
                field: name.to_owned(),
                found: kind(other).to_owned(),
            }),
        };
        let document = fields.document(&Row { file, number: row, field, there })?;
        lines.release();
        match document {
            Some(document) => return Ok(Some(document)),
            None => skipped.one(),
        }
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
