//! Results on a terminal: the tables and sentences of `relscale_report::shown`.

use std::collections::BTreeSet;

use relscale_report::shown::{Cell, Medium, Part, Role, Said, Shown, Table, text};

use super::paragraph::paragraph;
use super::table::fitting_at;
use super::{Style, painted, safe, safe_line};

/// A result, its parts with a line between those that do not belong together.
///
/// Every line is [safe](super::safe()); names and numbers are set off where `paints` says so.
pub(super) fn shown(result: &Shown, paints: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut last: Option<&Part> = None;
    let on_screen = |part: &&Part| match part {
        Part::Table(table) => table.only != Some(Medium::Page),
        Part::Said(said) => said.only != Some(Medium::Page),
    };
    for part in result.parts.iter().filter(on_screen) {
        if last.is_some_and(|last| apart(last, part)) {
            lines.push(String::new());
        }
        lines.push(match part {
            Part::Table(part) => table(part, paints),
            Part::Said(said) => sentence(said, paints),
        });
        last = Some(part);
    }
    lines.join("\n")
}

/// Whether a line stands between two parts.
fn apart(one: &Part, next: &Part) -> bool {
    let of_table = matches!(one, Part::Table(_));
    match next {
        Part::Said(said) => match said.role {
            Role::Heading | Role::Verdict => true,
            Role::Note | Role::Subject => false,
            Role::Item | Role::More => of_table,
        },
        Part::Table(_) => true,
    }
}

fn sentence(said: &Said, paints: bool) -> String {
    let words = text(&said.text.clone().in_line().pieces);
    let lines = match said.role {
        Role::Heading => words,
        Role::Verdict if said.about.is_empty() => paragraph("", &words),
        Role::Verdict => paragraph("", &format!("{}: {words}", said.about)),
        Role::Item => paragraph("- ", &words),
        Role::More => paragraph("  ", &words),
        Role::Subject => paragraph(&format!("  {}: ", said.about), &words),
        Role::Note => paragraph("  note: ", &words),
    };
    let lines = safe(&lines).into_owned();
    let name = format!("{}:", safe_line(&said.about));
    match (paints, lines.find(&name)) {
        // The name in front, as far as it stands on one line.
        (true, Some(at)) if !said.about.is_empty() && at <= 2 => {
            let (before, after) = lines.split_at(at);
            format!("{before}{}{}", painted(&name, Style::Strong), &after[name.len()..])
        }
        _ => lines,
    }
}

/// A table with intervals in columns of their own.
fn table(table: &Table, paints: bool) -> String {
    let columns: Vec<usize> = (0..table.columns.len())
        .filter(|&at| table.columns[at].only != Some(Medium::Page))
        .collect();
    let left = columns.iter().take_while(|&&at| table.columns[at].words).count();
    let mut header: Vec<&str> = Vec::new();
    let mut to_go: Vec<(u8, usize)> = Vec::new();
    let mut numbers: Vec<usize> = Vec::new();
    for &at in &columns {
        let column = &table.columns[at];
        to_go.push((column.yields, header.len()));
        header.push(&column.head);
        if let Some(interval) = &column.interval {
            numbers.push(header.len() - 1);
            to_go.push((column.interval_yields, header.len()));
            header.push(interval);
        }
    }
    to_go.retain(|(order, _)| *order > 0);
    to_go.sort_unstable();
    let to_go: Vec<usize> = to_go.into_iter().map(|(_, at)| at).collect();
    let groups: Vec<Vec<Vec<String>>> = table
        .groups
        .iter()
        .map(|rows| {
            let mut said = BTreeSet::new();
            let row = |cells: &[Cell]| {
                let mut row = Vec::with_capacity(header.len());
                for &at in &columns {
                    let (column, cell) = (&table.columns[at], &cells[at]);
                    let words = value(cell);
                    let again = column.once && !said.insert((at, words.clone()));
                    row.push(if again { String::new() } else { words });
                    if column.interval.is_some() {
                        let absent = || if text(&cell.pieces).is_empty() { "" } else { "-" };
                        row.push(
                            cell.interval.as_deref().map_or_else(|| absent().to_owned(), text),
                        );
                    }
                }
                row
            };
            rows.iter().map(|row| &row.cells[..]).map(row).collect()
        })
        .collect();
    let numbers = paints.then_some(&numbers[..]);
    fitting_at(&header, left, &groups, &to_go, numbers)
}

/// Without its interval; in brackets where it is not claimed.
fn value(cell: &Cell) -> String {
    let words = text(&cell.pieces);
    if cell.unclaimed { format!("({words})") } else { words }
}
