//! Errors and gaps along size at fixed tokens, and along tokens at fixed size.

use relscale_laws::{Direction, SizeTokens, SizeTokensFit, Split};
use relscale_records::digits;

use super::cell::Cell;
use super::place::{At, at};
use super::table::{Column, Medium, Part, Role, Row, Said, Shown, Table, notes};

/// Slopes of every distribution in both directions.
pub fn size_tokens(fit: &At<'_, SizeTokensFit>) -> Shown {
    let heading = Cell::words(format!(
        "E = {}, G = E / E of {}; slopes of the logarithms; times: over {} from ",
        fit.error, fit.baseline, fit.params
    ))
    .with(range(&at!(fit.params_range)))
    .then(format!(", {} from ", fit.tokens))
    .with(range(&at!(fit.tokens_range)));
    let level = digits::percent(fit.level);
    let mut columns = vec![Column::once("distribution"), Column::words("of")];
    for along in ["along size", "along tokens"] {
        columns.push(Column::estimates(along, &level));
        columns.extend(["times", "slices"].map(Column::numbers));
    }
    let mut parts = vec![
        Said::part(Role::Heading, "", heading).only(Medium::Screen),
        Part::Table(Table {
            title: format!("{} along size and along tokens, gaps to {}", fit.error, fit.baseline),
            columns,
            groups: at!(fit.distributions).each().map(|found| rows(&found)).collect(),
            note: "A slope of ln E, or of ln G where G is E over that of the baseline, is the mean over slices, each of one number of \
                   tokens (or one size); its interval is the jackknife's over sizes. Times: what E or G is multiplied by over the whole \
                   range. A slope of G below 0: the gap closes.",
            only: None,
        }),
    ];
    parts.extend(notes(&at!(fit.flags), ""));
    for found in at!(fit.distributions).each() {
        parts.push(Said::part(Role::Item, &found.name, at!(found.verdict).sentence()));
        parts.extend(notes(&at!(found.flags), &found.name));
    }
    Shown { title: "Size against tokens".to_owned(), parts }
}

fn range(of: &At<'_, (f64, f64)>) -> Cell {
    Cell::join(of.both().map(|end| end.written(digits::given)), " to ")
}

fn rows(found: &At<'_, SizeTokens>) -> Vec<Row> {
    let splits = [("E", Some(at!(found.absolute))), ("G", at!(found.gap).there())];
    let row = |(quantity, split): (&str, Option<At<'_, Split>>)| {
        let split = split?;
        let mut cells = vec![Cell::words(&found.name), Cell::words(quantity)];
        cells.extend(direction(&at!(split.along_size)));
        cells.extend(direction(&at!(split.along_tokens)));
        Some(cells.into())
    };
    splits.into_iter().filter_map(row).collect()
}

fn direction(of: &At<'_, Direction>) -> [Cell; 3] {
    let Some(slope) = at!(of.slope).there() else { return [0; 3].map(|_| Cell::none()) };
    [
        slope.difference(),
        Cell::or_none(at!(of.factor).there().map(|factor| factor.number())),
        at!(of.slices).length(),
    ]
}
