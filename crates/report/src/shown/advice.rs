//! What to measure next.

use relscale_laws::{Advice, Candidate, Further, LawAdvice};
use relscale_records::digits;

use super::cell::Cell;
use super::place::{At, at};
use super::table::{Column, Medium, Part, Role, Row, Said, Shown, Table};

/// A table of each law's candidates, the best for its cost first, and a sentence.
pub fn advice(all: &At<'_, Advice>) -> Shown {
    let heading =
        "intervals as parts of today's, and what they cost, in what measuring these models took";
    let mut parts = vec![Said::part(Role::Heading, "", Cell::words(heading))];
    for law in at!(all.laws).each() {
        let about = format!("{} on {}", law.family, law.corpus);
        let outcome = at!(law.outcome);
        if outcome.fit().is_some() {
            let title = format!("{} of {about}", law.quantity.symbol());
            parts.push(Said::part(Role::Heading, "", Cell::words(title)).only(Medium::Screen));
            parts.push(Part::Table(table(&law, &about)));
        }
        parts.push(Said::part(Role::Verdict, &about, at!(law.verdict).sentence()));
    }
    if !all.verdict.is_empty() {
        parts.push(Said::part(Role::Verdict, "", at!(all.verdict).sentence()));
    }
    Shown { title: "What to measure next".to_owned(), parts }
}

fn table(law: &At<'_, LawAdvice>, about: &str) -> Table {
    let outcome = at!(law.outcome);
    let rows = outcome
        .fit()
        .map_or_else(Vec::new, |found| at!(found.candidates).each().map(|one| row(&one)).collect());
    Table {
        title: format!("{} of {about}", law.quantity.symbol()),
        columns: vec![
            Column::words("measure"),
            Column::numbers("FLOPs").yields(1),
            Column::numbers("cost"),
            Column::numbers("exponent"),
            Column::numbers("prediction"),
            Column::numbers("worth").yields(2),
        ],
        groups: vec![rows],
        note: "Intervals as parts of today's; the prediction is that of one model of ten times the largest. Costs are multiples of what \
               measuring these models took; worth is the narrowing over the cost, and the order of the rows.",
        only: None,
    }
}

fn row(one: &At<'_, Candidate>) -> Row {
    let share = |part: f64| format!("{:.0} %", 100.0 * part);
    Row::from(vec![
        what(one),
        at!(one.flops).written(digits::given),
        at!(one.cost).number(),
        at!(one.exponent_part).written(share),
        Cell::or_none(at!(one.ahead_part).there().map(|part| part.written(share))),
        at!(one.worth).number(),
    ])
}

fn what(one: &At<'_, Candidate>) -> Cell {
    let what = at!(one.what);
    match what.it {
        Further::Model { parameters } => {
            let size = what.to(parameters, &["parameters"]).written(digits::given);
            Cell::words("a model of S = ").with(size)
        }
        Further::Text { times } => {
            what.to(times, &["times"]).written(digits::given).then(" times the text")
        }
    }
}
