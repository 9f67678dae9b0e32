//! A row is a model: no model is there twice, and none has two sizes.
//!
//! A model pasted again under its name adds points that know nothing new, and every error shrinks
//! by the root of their number. Several seeds of one size are models of their own as long as they
//! have names of their own, or the table names no models at all. Where nothing tells two rows of
//! such a table apart, to the last cell, one is taken for a copy of the other.

use std::collections::BTreeMap;

use super::rows::{Row, Rows, text};
use crate::error::TableError;

/// The models of a table, as its rows name them.
pub(crate) struct Once<'a> {
    rows: &'a Rows,
    /// By part (a group, a family with its distribution) and name: place and x of each row, in the
    /// order of the rows.
    named: BTreeMap<(String, String), Vec<(String, f64)>>,
    /// By all that an unnamed row holds: its place.
    unnamed: BTreeMap<Vec<String>, String>,
    /// The first unnamed row that is a copy of an earlier one: its place and that of the other.
    copy: Option<(String, String)>,
}

impl<'a> Once<'a> {
    /// No rows yet.
    pub(crate) fn new(rows: &'a Rows) -> Self {
        Self { rows, named: BTreeMap::new(), unnamed: BTreeMap::new(), copy: None }
    }

    /// A row of a part of the table, and the model it names, where a column names models.
    pub(crate) fn add(&mut self, part: &str, model: Option<&str>, row: &Row, x: f64) {
        match model {
            Some(model) => {
                let key = (part.to_owned(), model.to_owned());
                self.named.entry(key).or_default().push((row.place.clone(), x));
            }
            None if self.rows.whole => {
                let cells = row.cells.iter().map(text).collect();
                match self.unnamed.get(&cells) {
                    Some(first) => {
                        let copy = (row.place.clone(), first.clone());
                        self.copy.get_or_insert(copy);
                    }
                    None => drop(self.unnamed.insert(cells, row.place.clone())),
                }
            }
            // Of a table of which some columns were not read, what looks the same need not be.
            None => {}
        }
    }

    /// Nothing where each model is there once in each part.
    ///
    /// # Errors
    /// [`TableError::ModelTwice`], [`TableError::TwoXs`], [`TableError::SameRow`], each with all
    /// its lines.
    pub(crate) fn check(self) -> Result<(), TableError> {
        if let Some((place, first)) = self.copy {
            return Err(TableError::SameRow { path: self.rows.path.clone(), place, first });
        }
        let several = || self.named.iter().filter(|(_, rows)| rows.len() > 1);
        let others = several().count().saturating_sub(1);
        let Some(((part, model), rows)) = several().next() else { return Ok(()) };
        if rows.iter().all(|(_, x)| *x == rows[0].1) {
            let (path, part, model) = (self.rows.path.clone(), part_text(part), model.clone());
            let places: Vec<&str> = rows.iter().map(|(place, _)| place.as_str()).collect();
            let others = match others {
                0 => String::new(),
                1 => ", and one more model likewise".to_owned(),
                _ => format!(", and {others} more models likewise"),
            };
            let (count, places) = (rows.len(), in_words(&places));
            let places = format!("{places}{others}");
            return Err(TableError::ModelTwice { path, part, model, count, places });
        }
        self.check_sizes()
    }

    /// Nothing where each model has one x, however many rows it has.
    ///
    /// # Errors
    /// [`TableError::TwoXs`] with the lines.
    pub(crate) fn check_sizes(self) -> Result<(), TableError> {
        let found = self.named.iter().find(|(_, rows)| rows.iter().any(|(_, x)| *x != rows[0].1));
        let Some(((part, model), rows)) = found else { return Ok(()) };
        // The first row of each x, as all of them say nothing more.
        let mut each: Vec<(&str, f64)> = Vec::new();
        for (place, x) in rows {
            if each.iter().all(|(_, there)| there != x) {
                each.push((place, *x));
            }
        }
        let each: Vec<String> = each.iter().map(|(place, x)| format!("{x} ({place})")).collect();
        let each: Vec<&str> = each.iter().map(String::as_str).collect();
        Err(TableError::TwoXs {
            path: self.rows.path.clone(),
            part: part_text(part),
            model: model.clone(),
            each: in_words(&each),
        })
    }
}

/// ` of code`; nothing for the whole table.
fn part_text(part: &str) -> String {
    if part.is_empty() || part == "all" { String::new() } else { format!(" of {part}") }
}

/// `line 2, line 10 and line 18`; of many, the first and how many more.
fn in_words(items: &[&str]) -> String {
    const SHOWN: usize = 6;
    match items {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] if items.len() <= SHOWN => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} more", items[..SHOWN].join(", "), items.len() - SHOWN),
    }
}
