//! Rows with named fields (JSONL, Parquet) as documents.

use std::path::Path;

use crate::document::Document;
use crate::error::{CorpusError, Result};

/// Which fields of a row make a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    /// Fields whose texts are joined, in this order.
    pub text: Vec<String>,
    /// What stands between them.
    pub join: String,
    /// The field that names the document; without one it is `FILE:ROW`.
    pub id: Option<String>,
    /// Fields carried along as tags.
    pub tags: Vec<String>,
    /// Fields of `text` whose tokens are scored; empty: all. The others are context.
    pub scored: Vec<String>,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            text: vec!["text".into()],
            join: String::new(),
            id: None,
            tags: Vec::new(),
            scored: Vec::new(),
        }
    }
}

/// One row of a file: where it is, and how to get at a field.
pub(super) struct Row<'a, F, T> {
    pub(super) path: &'a Path,
    pub(super) number: u64,
    /// `Ok(None)`: the row has no such field, or null in it.
    pub(super) field: F,
    /// Names the fields there are, for messages: a row in a million needs it.
    pub(super) there: T,
}

impl Fields {
    /// The names of all fields that are needed, each once.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.text.iter().chain(&self.id).chain(&self.tags) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// The document of a row.
    ///
    /// `field(name, strict)`: text of a field; `strict` fields must be text, others may be numbers or booleans.
    pub(super) fn document<F, T>(&self, row: &Row<'_, F, T>) -> Result<Document>
    where
        F: Fn(&str, bool) -> Result<Option<String>>,
        T: Fn() -> String,
    {
        let get = |name: &str, strict| {
            (row.field)(name, strict)?.ok_or_else(|| CorpusError::MissingField {
                path: row.path.to_owned(),
                row: row.number,
                field: name.to_owned(),
                there: (row.there)(),
            })
        };
        let mut document = Document::default();
        for (i, name) in self.text.iter().enumerate() {
            if i > 0 {
                document.text.push_str(&self.join);
            }
            let start = document.text.len();
            document.text.push_str(&get(name, true)?);
            if self.scored.contains(name) {
                document.spans.push(start..document.text.len());
            }
        }
        document.id = match &self.id {
            Some(name) => get(name, false)?,
            None => format!("{}:{}", super::file_name(row.path), row.number),
        };
        for name in &self.tags {
            document.tags.insert(name.clone(), get(name, false)?);
        }
        Ok(document)
    }
}
