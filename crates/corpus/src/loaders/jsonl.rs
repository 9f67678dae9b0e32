//! JSONL, plain or compressed: a JSON object a line, a document a line.
//!
//! A field is named by its key; `a.b` is the key `b` of the object under `a` unless the object has
//! a key `a.b` itself. Empty lines are passed over. Ids and tags may be numbers or truth values,
//! which become text as JSON writes them.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::fields::{self, Fields, Row, Skipped};
use super::lines::{Lines, not_an_object};
use super::listing::{Files, Named};
use super::loader::{Kind, Loader};
use super::reading::Reading;
use super::stream::{Documents, until_error};
use crate::document::Document;
use crate::error::{CorpusError, Result};

/// The kind.
pub(super) static JSONL: Kind = Kind {
    help: "  jsonl    (.jsonl, .ndjson, .jl, .json with an object a line)  field=NAME (repeatable)  join=TEXT  id=NAME  tag=NAME (repeatable)
                        score=NAME (repeatable)  null=skip",
    extensions: &["jsonl", "ndjson", "jl", "jsonlines", "ldjson"],
    ..Kind::named("jsonl", |place, keys| {
        Ok(Box::new(Jsonl { files: Files::new(place, &JSONL), fields: Fields::read(keys)? }))
    })
};

/// Files of rows, and which of their fields are the text.
#[derive(Debug)]
struct Jsonl {
    files: Files,
    fields: Fields,
}

impl Loader for Jsonl {
    fn files(&self) -> Result<Vec<PathBuf>> {
        self.files.everything()
    }

    fn check(&self) -> Result<()> {
        self.files.listing(&Reading::default()).map(drop)
    }

    /// Errors of a row come as an item: a line that is not a JSON object or not UTF-8, a missing
    /// field, a null, a text field that is not a string, compressed data that end early.
    fn open(&self, reading: &Reading) -> Result<Documents> {
        let (fields, reading) = (self.fields.clone(), reading.clone());
        self.files.listing(&reading)?.documents(move |file| {
            let (mut lines, file) = (Lines::open(&file.path, &reading)?, file.clone());
            let (fields, mut skipped) = (fields.clone(), Skipped::new(&file, &reading));
            Ok(until_error(std::iter::from_fn(move || {
                next(&mut lines, &file, &fields, &mut skipped).transpose()
            })))
        })
    }

    fn questions(&self) -> bool {
        self.fields.are_questions()
    }
}

fn next(
    lines: &mut Lines,
    file: &Named,
    fields: &Fields,
    skipped: &mut Skipped,
) -> Result<Option<Document>> {
    loop {
        let Some((row, line)) = lines.next()? else { return Ok(None) };
        if line.trim().is_empty() {
            continue;
        }
        let object: Map<String, Value> = serde_json::from_str(line)
            .map_err(|error| not_an_object(&file.path, row, line, &error))?;
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
