//! Tokens right in a row.

use relscale_laws::{EmergenceAtK, GroupFit, SequencePoint, SequencesOfLength};
use relscale_records::digits;

use super::cell::Cell;
use super::place::{At, at};
use super::table::{Column, Row, Table};

/// A row for each k and N: p measured, what independence and a first-order chain say of the largest
/// model, how many independent tokens the N count as, and the size of p = 0.5.
pub(super) fn table(groups: Vec<Vec<Row>>) -> Table {
    let mut columns = vec![Column::once("distribution")];
    columns.extend(
        [
            "k",
            "N",
            "p, smallest",
            "p, largest",
            "RBP^N",
            "chain",
            "N counts as",
            "S for p = 0.5",
            "decades beyond",
        ]
        .map(Column::numbers),
    );
    Table { title: "Tokens right in a row".to_owned(), columns, groups, ..Table::default() }
}

/// The rows of one family on one corpus.
pub(super) fn rows(group: &At<'_, GroupFit>, title: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(emergence) = at!(group.emergence).there() {
        for at_k in at!(emergence.by_k).each() {
            rows.extend(at!(at_k.lengths).each().map(|length| row(title, &at_k, &length)));
        }
    }
    rows
}

fn row(title: &str, at_k: &At<'_, EmergenceAtK>, length: &At<'_, SequencesOfLength>) -> Row {
    let mut points = at!(length.points).each();
    let smallest = points.next();
    let largest = points.next_back().or_else(|| smallest.clone());
    let measured = |point: &Option<At<'_, SequencePoint>>| {
        let point = point.as_ref();
        let p = point.and_then(|point| {
            Some(at!(point.probability).there()?.value_alone().claimed(point.claimed))
        });
        Cell::or_none(p)
    };
    let predicted = |p: Option<At<'_, f64>>| Cell::or_none(p.map(|p| p.number()));
    let of_largest = |what: &dyn Fn(&At<'_, SequencePoint>) -> Cell| {
        largest.as_ref().map_or_else(Cell::none, what)
    };
    let outcome = at!(length.half);
    let [size, decades] = match outcome.fit() {
        None => [Cell::none(), Cell::none()],
        Some(half) => [
            at!(half.parameters.value).written(digits::given).claimed(half.claimed),
            at!(half.decades_beyond).written(|decades| {
                if decades == 0.0 { "inside".to_owned() } else { format!("{decades:+.1}") }
            }),
        ],
    };
    vec![
        Cell::words(title),
        at!(at_k.k).count(),
        at!(length.length).count(),
        measured(&smallest),
        measured(&largest),
        of_largest(&|point| predicted(at!(point.independent).there())),
        of_largest(&|point| predicted(at!(point.markov).there())),
        of_largest(&|point| {
            let tokens = at!(point.effective_length).there();
            Cell::or_none(tokens.map(|tokens| at!(tokens.value).written(|n| format!("{n:.1}"))))
        }),
        size,
        decades,
    ]
    .into()
}
