//! Laws of a table that somebody brought.

use relscale_laws::{Law, TableFit};
use relscale_records::digits;

use super::cell::Cell;
use super::place::{At, at};
use super::table::{Column, Part, Role, Row, Said, Shown, Table, notes};

/// All laws of a table.
pub fn table_fit(fit: &At<'_, TableFit>) -> Shown {
    let level = digits::percent(fit.level);
    let rows = at!(fit.groups)
        .each()
        .map(|group| at!(group.laws).each().map(|law| row(&law, &group.name)).collect());
    let mut parts = vec![Part::Table(Table {
        title: format!("Laws against {}", fit.x),
        columns: vec![
            Column::once("group"),
            Column::words("law"),
            Column::estimates("exponent", format!("{level} interval")),
            Column::numbers("R²"),
            Column::numbers("points"),
            Column::numbers("worst left out"),
        ],
        groups: rows.collect(),
        ..Table::default()
    })];
    for group in at!(fit.groups).each() {
        let about = if fit.groups.len() > 1 { group.name.as_str() } else { "" };
        for law in at!(group.laws).each() {
            parts.push(Said::part(Role::Verdict, about, at!(law.verdict).sentence()));
            let rivals = at!(law.rivals).there();
            parts.extend(
                rivals.map(|rivals| Said::part(Role::More, about, at!(rivals.verdict).sentence())),
            );
            parts.extend(notes(&at!(law.flags), about));
        }
    }
    Shown { title: format!("Laws against {}", fit.x), parts }
}

fn row(law: &At<'_, Law>, group: &str) -> Row {
    let mut cells = vec![Cell::words(group), Cell::words(law.quantity.symbol())];
    let outcome = at!(law.outcome);
    match outcome.fit() {
        None => {
            cells.extend([Cell::none().hinted(outcome.reason()), Cell::none()]);
            cells.extend([at!(law.points).length(), Cell::none()]);
        }
        Some(fit) => {
            // A line through two points is always perfect.
            let r_squared = at!(fit.r_squared).there().filter(|_| fit.points > 2);
            let errors = at!(fit.leave_one_out).each().map(|held| at!(held.relative_error));
            let worst = errors.max_by(|a, b| a.abs().total_cmp(&b.abs()));
            cells.extend([
                at!(fit.exponent).estimate(),
                Cell::or_none(r_squared.map(|r| r.written(digits::r_squared))),
                at!(fit.points).count(),
                Cell::or_none(worst.map(|error| error.written(digits::deviation))),
            ]);
        }
    }
    cells.into()
}
