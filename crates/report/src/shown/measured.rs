//! What was measured: a row a model.

use relscale_laws::{Estimate, GroupFit};

use super::cell::Cell;
use super::place::{At, at};
use super::table::{Column, Medium, Row, Table};

/// Averages of every model's run.
pub(crate) fn averages(group: &At<'_, GroupFit>) -> Table {
    let mut columns = vec![Column::words("model")];
    columns.extend(
        ["S", "tokens", "CE, nats", "bits per byte", "entropy, nats", "tied", "non-finite"]
            .map(Column::numbers),
    );
    let mean = |estimate: At<'_, Option<Estimate>>| {
        Cell::or_none(estimate.there().map(|estimate| estimate.with_error()))
    };
    let rows = at!(group.models).each().map(|model| -> Row {
        vec![
            Cell::words(&model.name),
            at!(model.parameters).count(),
            at!(model.tokens).count(),
            mean(at!(model.cross_entropy)),
            mean(at!(model.bits_per_byte)),
            mean(at!(model.entropy)),
            Cell::or_none(at!(model.tied).there().map(|tied| tied.count())),
            at!(model.nonfinite).count(),
        ]
        .into()
    });
    Table { columns, groups: vec![rows.collect()], only: Some(Medium::Page), ..Table::default() }
}

/// Bytes scored, and the sizes that are all called vocabulary size.
pub(crate) fn sizes(group: &At<'_, GroupFit>) -> Table {
    let mut columns = vec![Column::words("model")];
    columns.extend(
        ["bytes", "tokenizer", "with added tokens", "rows of the output head", "|V|, in ranks"]
            .map(Column::numbers),
    );
    let rows = at!(group.models).each().map(|model| -> Row {
        vec![
            Cell::words(&model.name),
            at!(model.bytes).count(),
            at!(model.vocabulary.tokenizer).count(),
            at!(model.vocabulary.with_added).count(),
            at!(model.vocabulary.rows).count(),
            at!(model.vocabulary.scored).count(),
        ]
        .into()
    });
    Table { columns, groups: vec![rows.collect()], only: Some(Medium::Page), ..Table::default() }
}
