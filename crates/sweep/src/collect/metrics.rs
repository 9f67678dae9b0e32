//! Metrics as JSONL, CSV or Parquet: a line a step, its members or columns the names.

use std::fs;
use std::path::Path;

use relscale_records::parquet::{Cell, cell_columns, read_cells};
use relscale_records::written::number::{self, Comma, Reading};
use relscale_records::written::{Fault, delimited, json, text};
use serde_json::Value;

use super::lives::{self, Step, Written};
use super::logged::Logged;
use crate::error::{Error, Result};

/// Names of the column or member that counts steps.
pub(super) const STEP: [&str; 8] = [
    "step",
    "Step",
    "_step",
    "global_step",
    "iter",
    "iteration",
    "trainer/global_step",
    "train/global_step",
];

/// The objects of a JSONL file, and what is odd about it.
pub(super) struct Objects {
    pub(super) objects: Vec<Value>,
    torn: bool,
}

impl Objects {
    /// Some of its objects.
    pub(super) fn with(&self, objects: Vec<Value>) -> Self {
        Self { objects, torn: self.torn }
    }
}

/// Reads JSONL.
///
/// # Errors
/// [`Error::Metrics`] with the line: one that is no JSON object (the last may be torn), or none at
/// all.
pub(super) fn jsonl(path: &Path) -> Result<Objects> {
    let text = text_of(path)?;
    let mut found = Objects { objects: Vec::new(), torn: false };
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
    for (number, (at, line)) in lines.iter().enumerate() {
        match json::parse(line) {
            Ok(value) if value.is_object() => found.objects.push(value),
            _ if number + 1 == lines.len() && number > 0 && !text.ends_with('\n') => {
                found.torn = true
            }
            other => {
                let reason =
                    other.map_or_else(|error| error.to_string(), |_| "no object".to_owned());
                return Err(refuse(path, *at as u64 + 1, reason));
            }
        }
    }
    if found.objects.is_empty() {
        return Err(refuse(path, 1, "no line".to_owned()));
    }
    Ok(found)
}

/// The objects as steps of one run.
pub(super) fn steps(name: String, found: Objects) -> Logged {
    let mut logged = Logged::new(name);
    if found.torn {
        logged.notes.push("the last line is torn and was left out".to_owned());
    }
    let mut rows = Vec::with_capacity(found.objects.len());
    for object in found.objects {
        let mut of_step = Logged::new("");
        of_step.add_object(&object, "", ".", None);
        let last = |series: &Vec<super::logged::Entry>| series.last().map(|entry| entry.value);
        let numbers = of_step
            .numbers
            .iter()
            .filter_map(|(name, series)| Some((name.clone(), last(series)?)))
            .collect();
        let step = STEP.iter().find_map(|name| json::number(object.get(*name)?));
        let texts = of_step.texts.iter().filter(|(name, _)| !of_step.numbers.contains_key(*name));
        texts.for_each(|(name, text)| logged.add_unread(name, step, text));
        rows.push(Step { step, numbers });
        logged.add_texts(of_step);
    }
    lives::add(&mut logged, rows, Written::Rows);
    logged.tell_unread();
    logged
}

/// A table as it was read.
pub(super) struct Table {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    comma: Comma,
    torn: bool,
}

impl Table {
    /// The first column of one of these names.
    pub(super) fn column(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.columns.iter().position(|column| column == name))
    }

    /// A cell as it can be read.
    pub(super) fn reading(&self, row: &[String], at: usize) -> Reading {
        row.get(at).map_or(Reading::Nothing, |text| number::read(text, self.comma))
    }
}

/// Reads CSV with a header.
///
/// # Errors
/// [`Error::Metrics`] with the line.
pub(super) fn table(path: &Path) -> Result<Table> {
    let tabs = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tsv"));
    let found = delimited::read(&text_of(path)?, tabs)
        .map_err(|Fault { line, reason }| refuse(path, line, reason))?;
    Ok(Table {
        columns: found.columns,
        rows: found.rows.into_iter().map(|(_, cells)| cells).collect(),
        comma: found.comma,
        torn: found.torn.is_some(),
    })
}

/// Reads a Parquet file's columns of numbers and texts.
///
/// # Errors
/// [`Error::Records`].
pub(super) fn parquet(path: &Path) -> Result<Table> {
    let columns: Vec<String> = cell_columns(path)?
        .into_iter()
        .filter_map(|(name, readable)| readable.then_some(name))
        .collect();
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let text = |cell: Cell| match cell {
        Cell::Missing => String::new(),
        Cell::Number(number) => number.to_string(),
        Cell::Text(text) => text,
        Cell::Truth(truth) => truth.to_string(),
    };
    let rows = read_cells(path, &names)?
        .map(|cells| Ok(cells?.into_iter().map(text).collect()))
        .collect::<Result<_>>()?;
    Ok(Table { columns, rows, comma: Comma::Thousands, torn: false })
}

/// These rows of a table as steps of one run; cells that are empty are no numbers, and those that
/// are texts among numbers are told.
pub(super) fn history<'a>(
    name: String,
    table: &Table,
    step: usize,
    rows: impl Iterator<Item = &'a Vec<String>>,
) -> Logged {
    let mut logged = Logged::new(name);
    if table.torn {
        logged.notes.push("the last line is torn and was left out".to_owned());
    }
    let mut steps = Vec::new();
    for row in rows {
        let at = table.reading(row, step).number();
        let mut numbers = Vec::new();
        for (column, name) in table.columns.iter().enumerate() {
            match table.reading(row, column) {
                Reading::Number(number) => numbers.push((name.clone(), number)),
                Reading::Nothing => {}
                Reading::Text | Reading::Ambiguous => {
                    logged.texts.insert(name.clone(), row[column].clone());
                    logged.add_unread(name, at, &row[column]);
                }
            }
        }
        steps.push(Step { step: at, numbers });
    }
    lives::add(&mut logged, steps, Written::Rows);
    logged.tell_unread();
    logged
}

/// The text of a file.
///
/// # Errors
/// [`Error::Read`]; [`Error::Metrics`]: what it is instead of a text.
pub(super) fn text_of(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    text::decode(bytes).map_err(|Fault { line, reason }| refuse(path, line, reason))
}

/// A line that does not follow its format.
pub(super) fn refuse(path: &Path, line: u64, reason: String) -> Error {
    Error::Metrics { path: path.to_owned(), place: format!("line {line}"), reason }
}

/// What a file of metrics calls its run: its own name, or that of its folder where the file's is a
/// common one.
pub(super) fn run_name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if is_common(path) { folder_name(path) } else { stem }
}

/// Whether a file's name is one that logs of every run have.
pub(super) fn is_common(path: &Path) -> bool {
    let stem =
        path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    ["metrics", "log", "logs", "history", "train", "training", "progress"].contains(&stem.as_str())
}

/// The name of the folder that a file lies in.
pub(super) fn folder_name(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = full.parent().and_then(Path::file_name);
    folder.map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}
