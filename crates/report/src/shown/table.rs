//! Tables and sentences, and where each of them is shown.

use relscale_laws::Flag;

use super::cell::Cell;
use super::place::{At, at};

/// A result as it is shown: its parts in the order of reading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shown {
    /// What kind of result it is, of what.
    pub title: String,
    /// Its parts.
    pub parts: Vec<Part>,
}

impl Shown {
    /// How many doubts there are.
    pub fn notes(&self) -> usize {
        let is_note = |part: &&Part| matches!(part, Part::Said(said) if said.role == Role::Note);
        self.parts.iter().filter(is_note).count()
    }
}

/// A part of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Numbers in rows.
    Table(Table),
    /// A sentence.
    Said(Said),
}

/// Where something is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// On a terminal only, where the page says it in another way.
    Screen,
    /// On the page only: detail for which a terminal is too narrow.
    Page,
}

/// A sentence with what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// What the sentence is for.
    pub role: Role,
    /// What it is about; empty where the sentence says so.
    pub about: String,
    /// The sentence.
    pub text: Cell,
    /// Where it is shown; without one, everywhere.
    pub only: Option<Medium>,
}

/// What a sentence is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The title of what follows.
    Heading,
    /// What a whole shows.
    Verdict,
    /// What one of several things shows.
    Item,
    /// One of several findings about the whole before.
    Subject,
    /// More about the thing before.
    More,
    /// A doubt. The page has all of them in one place.
    Note,
}

impl Said {
    pub(super) fn part(role: Role, about: &str, text: Cell) -> Part {
        Part::Said(Self { role, about: about.to_owned(), text, only: None })
    }
}

impl Part {
    /// The same in one place only.
    pub(super) fn only(mut self, medium: Medium) -> Self {
        match &mut self {
            Self::Table(table) => table.only = Some(medium),
            Self::Said(said) => said.only = Some(medium),
        }
        self
    }
}

/// Numbers in rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// What it is of; a screen says it in a heading where it must be said.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Rows that belong together.
    pub groups: Vec<Vec<Row>>,
    /// What a reader must know of it.
    pub note: &'static str,
    /// Where it is shown; without one, everywhere.
    pub only: Option<Medium>,
}

/// A row: a cell a column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The cells.
    pub cells: Vec<Cell>,
    /// A number by which a script finds the row.
    pub key: Option<u32>,
}

/// A column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Column {
    /// Its name.
    pub head: String,
    /// Words, to the left; else numbers, to the right.
    pub words: bool,
    /// Of estimates: what the column of their intervals is called, where that stands apart.
    pub interval: Option<String>,
    /// Of names: one that stands in the row above as well need not be said again.
    pub once: bool,
    /// When it goes where there is no room: 1 first; 0 never.
    pub yields: u8,
    /// When its intervals go.
    pub interval_yields: u8,
    /// Where it is shown; without one, everywhere.
    pub only: Option<Medium>,
}

impl Column {
    /// A column of names or words.
    pub(super) fn words(head: impl Into<String>) -> Self {
        Self { head: head.into(), words: true, ..Self::default() }
    }

    /// A column of names that are not repeated.
    pub(super) fn once(head: impl Into<String>) -> Self {
        Self { once: true, ..Self::words(head) }
    }

    /// A column of numbers.
    pub(super) fn numbers(head: impl Into<String>) -> Self {
        Self { head: head.into(), ..Self::default() }
    }

    /// A column of estimates with intervals of this name.
    pub(super) fn estimates(head: impl Into<String>, interval: impl Into<String>) -> Self {
        Self { interval: Some(interval.into()), ..Self::numbers(head) }
    }

    pub(super) fn yields(mut self, order: u8) -> Self {
        self.yields = order;
        self
    }

    pub(super) fn interval_yields(mut self, order: u8) -> Self {
        self.interval_yields = order;
        self
    }

    pub(super) fn only(mut self, medium: Medium) -> Self {
        self.only = Some(medium);
        self
    }
}

impl From<Vec<Cell>> for Row {
    fn from(cells: Vec<Cell>) -> Self {
        Self { cells, key: None }
    }
}

/// `1.3 decades beyond the data`: how far a prediction is from what was measured.
pub(super) fn distance(decades: &At<'_, f64>, what: &str) -> Cell {
    match **decades {
        0.0 => Cell::words(format!("inside {what}")),
        beyond if beyond > 0.0 => decades
            .written(|decades| format!("{decades:.1}"))
            .then(format!(" decades beyond {what}")),
        // The words have the sign.
        _ => decades
            .written(|decades| format!("{:.1}", -decades))
            .then(format!(" decades below {what}")),
    }
}

/// Each doubt as a note.
pub(super) fn notes(flags: &At<'_, Vec<Flag>>, about: &str) -> Vec<Part> {
    flags.each().map(|flag| Said::part(Role::Note, about, at!(flag.message).sentence())).collect()
}
