//! Rows with named fields (JSONL, Parquet, Arrow) as documents.

use super::keys::Keys;
use super::listing::Named;
use super::reading::Reading;
use crate::document::{Document, check_length};
use crate::error::{CorpusError, Result};

/// Which fields of a row make a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields {
    /// Fields whose texts are joined, in this order.
    pub(super) text: Vec<String>,
    /// What stands between them.
    pub(super) join: String,
    /// The field that names the document; without one it is `FILE:ROW`.
    pub(super) id: Option<String>,
    /// Fields carried along as tags.
    pub(super) tags: Vec<String>,
    /// Fields of `text` whose tokens are scored; empty: all. The others are context.
    pub(super) scored: Vec<String>,
    /// Whether rows with null in a field that is needed are passed over, with a word, rather than
    /// refused.
    pub(super) skip_null: bool,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            text: vec!["text".into()],
            join: String::new(),
            id: None,
            tags: Vec::new(),
            scored: Vec::new(),
            skip_null: false,
        }
    }
}

/// What a row has under a name.
pub(super) enum Value {
    /// Text, or what was made text of.
    Text(String),
    /// Null.
    Null,
    /// No such field.
    Absent,
}

/// One row of a file: where it is, and how to get at a field.
pub(super) struct Row<'a, F, T> {
    pub(super) file: &'a Named,
    pub(super) number: u64,
    /// A field by name; whether it must be text: others may be numbers or truth values.
    pub(super) field: F,
    /// Names the fields there are, for messages: a row in a million needs it.
    pub(super) there: T,
}

impl Fields {
    /// Takes out the keys that name fields.
    ///
    /// # Errors
    /// What is wrong with a value.
    pub(super) fn read(keys: &mut Keys) -> std::result::Result<Self, String> {
        let mut fields = Self::default();
        let text = keys.all("field");
        if !text.is_empty() {
            fields.text = text;
        }
        fields.join = keys.one("join")?.unwrap_or_default();
        fields.id = keys.one("id")?;
        fields.tags = keys.all("tag");
        fields.scored = keys.all("score");
        fields.skip_null = match keys.one("null")?.as_deref() {
            None => false,
            Some("skip") => true,
            Some(other) => return Err(format!("null={other} is not skip")),
        };
        match fields.scored.iter().find(|name| !fields.text.contains(name)) {
            Some(name) => Err(format!("score={name} names no field= of the text")),
            None => Ok(fields),
        }
    }

    /// Whether a tag says that the rows are options of questions.
    pub(super) fn are_questions(&self) -> bool {
        self.tags.iter().any(|tag| tag == "item")
    }

    /// The names of the fields of text, each once, and those of the other fields that are needed.
    pub(super) fn names(&self) -> (Vec<&str>, Vec<&str>) {
        let mut text: Vec<&str> = Vec::new();
        let mut others: Vec<&str> = Vec::new();
        for name in &self.text {
            if !text.contains(&name.as_str()) {
                text.push(name);
            }
        }
        for name in self.id.iter().chain(&self.tags) {
            if !text.contains(&name.as_str()) && !others.contains(&name.as_str()) {
                others.push(name);
            }
        }
        (text, others)
    }

    /// The document of a row; `None` for one to be passed over.
    pub(super) fn document<F, T>(&self, row: &Row<'_, F, T>) -> Result<Option<Document>>
    where
        F: Fn(&str, bool) -> Result<Value>,
        T: Fn() -> String,
    {
        match self.needed(row) {
            Err(CorpusError::NullField { .. }) if self.skip_null => Ok(None),
            document => document.map(Some),
        }
    }

    fn needed<F, T>(&self, row: &Row<'_, F, T>) -> Result<Document>
    where
        F: Fn(&str, bool) -> Result<Value>,
        T: Fn() -> String,
    {
        let path = || row.file.path.clone();
        let get = |name: &str, strict| match (row.field)(name, strict)? {
            Value::Text(text) => Ok(text),
            Value::Null => Err(CorpusError::NullField {
                path: path(),
                row: row.number,
                field: name.to_owned(),
            }),
            Value::Absent => Err(CorpusError::MissingField {
                path: path(),
                row: row.number,
                field: name.to_owned(),
                there: (row.there)(),
            }),
        };
        let mut document = Document::default();
        for (i, name) in self.text.iter().enumerate() {
            if i > 0 {
                document.text.push_str(&self.join);
            }
            let start = document.text.len();
            let text = get(name, true)?;
            check_length(&row.file.path, row.number, start.saturating_add(text.len()))?;
            if start == 0 {
                document.text = text
            } else {
                document.text.push_str(&text)
            }
            if self.scored.contains(name) {
                document.spans.push(start..document.text.len());
            }
        }
        document.id = match &self.id {
            Some(name) => get(name, false)?,
            None => format!("{}:{}", row.file.name, row.number),
        };
        for name in &self.tags {
            document.tags.insert(name.clone(), get(name, false)?);
        }
        Ok(document)
    }
}

/// Counts rows that are passed over, and tells of them at the end.
pub(super) struct Skipped {
    file: String,
    rows: u64,
    reading: Reading,
}

impl Skipped {
    pub(super) fn new(file: &Named, reading: &Reading) -> Self {
        Self { file: file.name.clone(), rows: 0, reading: reading.clone() }
    }

    pub(super) fn one(&mut self) {
        self.rows += 1;
    }
}

impl Drop for Skipped {
    fn drop(&mut self) {
        if self.rows > 0 {
            let Self { file, rows, .. } = self;
            self.reading.add_notice(format!(
                "{file}: {rows} rows have null in a field that is asked for; they are passed over"
            ));
        }
    }
}
