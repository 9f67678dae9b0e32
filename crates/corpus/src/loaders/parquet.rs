//! Parquet and Arrow: a row a document. `relscale-records` does the reading.

use std::path::PathBuf;

use relscale_records::content::Content;

use super::fields::{Fields, Row, Skipped, Value};
use super::listing::{Files, Named};
use super::loader::{Kind, Loader};
use super::reading::Reading;
use super::stream::{Documents, until_error};
use crate::error::Result;

/// Parquet.
pub(super) static PARQUET: Kind = Kind {
    help: "  parquet  (.parquet)   as jsonl; fields are columns of text, ids and tags may be numbers",
    extensions: &["parquet", "parq", "pq"],
    content: Some(Content::Parquet),
    ..Kind::named("parquet", |place, keys| {
        Ok(Box::new(Table { files: Files::new(place, &PARQUET), fields: Fields::read(keys)? }))
    })
};

/// Arrow IPC, Feather.
pub(super) static ARROW: Kind = Kind {
    help: "  arrow    (.arrow, .feather)  as parquet",
    extensions: &["arrow", "feather", "ipc", "arrows"],
    content: Some(Content::Arrow),
    ..Kind::named("arrow", |place, keys| {
        Ok(Box::new(Table { files: Files::new(place, &ARROW), fields: Fields::read(keys)? }))
    })
};

/// Files of rows, and which columns are the text: these are columns of text, ids and tags may be
/// numbers and truth values as well.
#[derive(Debug)]
struct Table {
    files: Files,
    fields: Fields,
}

impl Loader for Table {
    fn files(&self) -> Result<Vec<PathBuf>> {
        self.files.everything()
    }

    fn check(&self) -> Result<()> {
        self.files.listing(&Reading::default()).map(drop)
    }

    /// At once for one file, else as an item: it is not what it should be, a column is missing or
    /// not text. As an item, with the row: a null in a field that is needed, damaged data.
    fn open(&self, reading: &Reading) -> Result<Documents> {
        let (fields, reading) = (self.fields.clone(), reading.clone());
        self.files
            .listing(&reading)?
            .documents(move |file| one_file(file, fields.clone(), &reading))
    }

    fn questions(&self) -> bool {
        self.fields.are_questions()
    }
}

fn one_file(file: &Named, fields: Fields, reading: &Reading) -> Result<Documents> {
    let (text, labels) = fields.names();
    let rows = relscale_records::parquet::read_text_columns(&file.path, &text, &labels)?;
    let names: Vec<String> = text.into_iter().chain(labels).map(str::to_owned).collect();
    let (file, mut skipped) = (file.clone(), Skipped::new(file, reading));
    let documents = rows.zip(1..).filter_map(move |(cells, number)| {
        let cells = match cells {
            Ok(cells) => cells,
            Err(error) => return Some(Err(error.into())),
        };
        let field = |name: &str, _strict: bool| -> Result<Value> {
            let at = names.iter().position(|known| known == name);
            Ok(match at.and_then(|at| cells.get(at)) {
                Some(Some(text)) => Value::Text(text.clone()),
                Some(None) => Value::Null,
                None => Value::Absent,
            })
        };
        let there = || names.join(", ");
        let document = fields.document(&Row { file: &file, number, field, there }).transpose();
        if document.is_none() {
            skipped.one();
        }
        document
    });
    Ok(until_error(documents))
}
