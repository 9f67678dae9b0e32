//! What was expected of a study, beside what came out.

use std::collections::BTreeSet;

use relscale_records::digits;
use serde_json::Value;

use super::cell::{Cell, Piece};
use super::table::{Column, Part, Role, Row, Said, Shown, Table};
use crate::expected::{Compared, Got, Verdict};

/// A row a value, why some are missing, and who expects them.
pub fn expected(rows: &[Compared]) -> Shown {
    let table = Table {
        title: "Expected and found".to_owned(),
        columns: vec![
            Column::words("value"),
            Column::numbers("expected"),
            Column::estimates("found", "interval").interval_yields(1),
            Column::words("verdict"),
        ],
        groups: vec![rows.iter().map(row).collect()],
        note: "",
        only: None,
    };
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let [agree, differ, missing] = [Verdict::Agrees, Verdict::Differs, Verdict::Missing].map(count);
    let mut parts = vec![
        Part::Table(table),
        Said::part(
            Role::Verdict,
            "",
            Cell::words(format!(
                "Of {} expected {} {agree} {}, {differ} {}, {missing} {} missing.",
                rows.len(),
                if rows.len() == 1 { "value" } else { "values" },
                if agree == 1 { "agrees" } else { "agree" },
                if differ == 1 { "differs" } else { "differ" },
                if missing == 1 { "is" } else { "are" },
            )),
        ),
    ];
    let absent = rows.iter().filter(|row| row.verdict == Verdict::Missing);
    parts.extend(
        absent.map(|row| {
            Said::part(Role::Note, "", Cell::words(format!("{}: {}", row.what, row.why)))
        }),
    );
    let sources: BTreeSet<&str> = rows.iter().map(|row| row.source.as_str()).collect();
    parts.extend(sources.into_iter().map(|source| Said::part(Role::More, "", Cell::words(source))));
    Shown { title: "What was expected".to_owned(), parts }
}

fn row(row: &Compared) -> Row {
    Row::from(vec![
        Cell::words(&row.what),
        Cell::words(&row.expected),
        row.got.as_ref().map_or_else(Cell::none, found),
        Cell::words(row.verdict.word()),
    ])
}

fn found(got: &Got) -> Cell {
    let number = match &got.value {
        Value::String(text) => return Cell::words(text),
        other => match other.as_f64() {
            Some(number) => number,
            None => return Cell::words(other.to_string()),
        },
    };
    let spelled = digits::estimate(number, got.interval.map(|[low, high]| (low, high)));
    let interval = spelled.ends.map(|[low, high]| vec![Piece::Words(format!("[{low}, {high}]"))]);
    Cell { interval, ..Cell::words(spelled.value) }
}
