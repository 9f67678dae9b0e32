//! Tables of results as the template takes them.

use serde::Serialize;

use super::source::Html;
use crate::shown::{Cell, Medium, Row, Table, text};

/// One table.
#[derive(Debug, Serialize)]
pub(super) struct View {
    title: String,
    head: Vec<Head>,
    rows: Vec<Line>,
    note: &'static str,
}

#[derive(Debug, Serialize)]
struct Head {
    html: Html,
    class: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Line {
    cells: Vec<Entry>,
    /// By which a script finds it.
    key: Option<u32>,
    unclaimed: bool,
}

/// What stands in a row: words, or numbers (`estimate`), which stay on one line.
#[derive(Debug, Clone, Serialize)]
struct Entry {
    html: Html,
    class: String,
    hint: String,
}

impl View {
    /// A table; none where it is for screens, or has no rows.
    pub(super) fn from_table(table: &Table) -> Option<Self> {
        if table.only == Some(Medium::Screen) || table.groups.iter().all(Vec::is_empty) {
            return None;
        }
        let shown: Vec<usize> = (0..table.columns.len())
            .filter(|&at| table.columns[at].only != Some(Medium::Screen))
            .collect();
        let head = shown.iter().map(|&at| {
            let column = &table.columns[at];
            let interval = column.interval.as_ref().map(|interval| format!(" [{interval}]"));
            Head {
                html: Html::from(&Cell::words(format!(
                    "{}{}",
                    column.head,
                    interval.unwrap_or_default()
                ))),
                class: if column.words || column.interval.is_some() { "" } else { "number" },
            }
        });
        let line = |row: &Row| Line {
            cells: shown.iter().map(|&at| cell(&row.cells[at], table.columns[at].words)).collect(),
            key: row.key,
            unclaimed: row.cells.iter().any(|cell| cell.unclaimed),
        };
        Some(Self {
            title: table.title.clone(),
            head: head.collect(),
            rows: table.groups.iter().flatten().map(line).collect(),
            note: table.note,
        })
    }
}

impl View {
    /// A copy of one of its rows.
    pub(super) fn line(&self, at: usize) -> Line {
        self.rows[at].clone()
    }
}

fn cell(cell: &Cell, words: bool) -> Entry {
    let none = text(&cell.pieces) == "-";
    // Why there is nothing stands in its place: nothing on the page needs a pointer.
    let html = match (none, cell.hint.is_empty()) {
        (true, true) => Html::text("–"),
        (true, false) => Html::text(&cell.hint),
        _ => Html::from(cell),
    };
    let html = if cell.unclaimed { html.then(" (not claimed)") } else { html };
    let html = match &cell.share {
        Some(share) => html.with(&Html::parts(share)),
        None => html,
    };
    let class = match (words, none, cell.interval.is_some()) {
        (true, ..) => "",
        // A reason is words; a dash stands where the numbers do.
        (_, true, _) if !cell.hint.is_empty() => "",
        (_, false, true) => "estimate",
        _ => "number",
    };
    let class = if cell.unclaimed { format!("{class} unclaimed") } else { class.to_owned() };
    Entry { html, class, hint: if none { String::new() } else { cell.hint.clone() } }
}
