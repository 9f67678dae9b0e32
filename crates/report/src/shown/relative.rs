//! The gaps between distributions.

use relscale_laws::{Gap, GapLaw, GapPrediction, Law, RelativeFamily, RelativeFit, Trend};
use relscale_records::digits;

use super::cell::Cell;
use super::place::{At, at};
use super::table::{Column, Medium, Part, Role, Row, Said, Shown, Table, distance, notes};

/// All gaps to one baseline: a table, and what they show in words.
pub fn relative(fit: &At<'_, RelativeFit>) -> Shown {
    let several = fit.families.len() > 1;
    let mut parts = baseline_parts(fit);
    for family in at!(fit.families).each() {
        let about = if several { family.name.as_str() } else { "" };
        parts.push(Said::part(Role::Verdict, about, at!(family.verdict).sentence()));
        parts.extend(notes(&at!(family.flags), about));
        for gap in at!(family.gaps).each() {
            parts.push(Said::part(Role::Item, &gap.name, at!(gap.verdict).sentence()));
            let outcome = at!(gap.outcome);
            let lines = outcome.fit().map(|law| more(&law)).unwrap_or_default();
            parts.extend(lines.into_iter().map(|line| Said::part(Role::More, &gap.name, line)));
            parts.extend(notes(&at!(gap.flags), &gap.name));
        }
        let ranks = at!(family.ranks).there();
        parts.extend(
            ranks.map(|ranks| Said::part(Role::Verdict, "", at!(ranks.verdict).sentence())),
        );
        if let Some(link) = at!(family.covariate).there() {
            parts.push(Said::part(Role::Verdict, "", at!(link.verdict).sentence()));
            parts.extend(at!(link.left_out).each().map(|left| {
                let name = Cell::words(format!("{} left out: ", left.label));
                Said::part(Role::Note, "", name.with(at!(left.reason).sentence()))
            }));
        }
    }
    Shown { title: format!("Relative law of {} against {}", fit.error, fit.x), parts }
}

/// The same in short: the table, a sentence a family, and doubts.
pub fn relative_summary(fit: &At<'_, RelativeFit>) -> Shown {
    let mut parts = baseline_parts(fit);
    for family in at!(fit.families).each() {
        parts.push(Said::part(Role::Verdict, "", at!(family.verdict).sentence()));
        for gap in at!(family.gaps).each() {
            parts.extend(at!(gap.flags).each().map(|flag| {
                let name = Cell::words(format!("({}) ", gap.name));
                Said::part(Role::Note, &gap.name, name.with(at!(flag.message).sentence()))
            }));
        }
    }
    Shown { title: format!("Relative law of {} against {}", fit.error, fit.x), parts }
}

/// The sentence of each family alone.
pub fn relative_verdicts(fit: &At<'_, RelativeFit>) -> Shown {
    let several = fit.families.len() > 1;
    let said = |family: At<'_, RelativeFamily>| {
        let about = if several { family.name.as_str() } else { "" };
        let what = format!("{} against {}: ", fit.error, fit.x);
        Said::part(Role::Verdict, about, Cell::words(what).with(at!(family.verdict).sentence()))
    };
    Shown {
        title: format!("Relative law of {} against {}", fit.error, fit.x),
        parts: at!(fit.families).each().map(said).collect(),
    }
}

/// What E and G are, and the table.
fn baseline_parts(fit: &At<'_, RelativeFit>) -> Vec<Part> {
    let heading =
        format!("E = {}, G = E / E of {}, x = {}", fit.error, fit.options.baseline, fit.x);
    vec![
        Said::part(Role::Heading, "", Cell::words(heading)).only(Medium::Screen),
        Part::Table(table(fit)),
    ]
}

fn table(fit: &At<'_, RelativeFit>) -> Table {
    let level = digits::percent(fit.options.level);
    let several = fit.families.len() > 1;
    let groups = at!(fit.families).each().map(|family| {
        let name = |distribution: &str| match several {
            true => format!("{}: {distribution}", family.name),
            false => distribution.to_owned(),
        };
        at!(family.absolute).each().map(|law| row(&family, &law, name(&law.name))).collect()
    });
    Table {
        title: format!("Gaps to {}, E is {}, against {}", fit.options.baseline, fit.error, fit.x),
        columns: vec![
            Column::words("distribution"),
            Column::numbers("models").yields(2),
            Column::numbers("beta").yields(3),
            Column::numbers("G first").yields(5),
            Column::numbers("G last").yields(6),
            Column::estimates("delta_beta", format!("{level} interval")),
            Column::numbers("R²").yields(1),
            Column::numbers("q").yields(4),
            Column::numbers("gap"),
        ],
        groups: groups.collect(),
        note: "E falls as x^-beta. G = E of the treatment over E of the baseline, fitted as gamma x^delta_beta (the relative law), first \
               and last at the smallest and at the largest x: a slope below 0 closes a gap above 1. q: share of false claims among those \
               at least as sure.",
        only: None,
    }
}

fn row(family: &At<'_, RelativeFamily>, law: &At<'_, Law>, name: String) -> Row {
    let beta = at!(law.outcome).fit().map(|fit| at!(fit.exponent).estimate());
    let mut cells = vec![Cell::words(name), at!(law.points).length(), Cell::or_none(beta)];
    let gap = at!(family.gaps).each().find(|gap| gap.name == law.name);
    let without = |cell: fn() -> Cell, word: &str| {
        let mut cells: Vec<Cell> = (0..5).map(|_| cell()).collect();
        cells.push(Cell::words(word));
        cells
    };
    cells.extend(match gap.map(|gap| gap_cells(&gap)) {
        None => without(|| Cell::words(""), "baseline"),
        Some(None) => without(Cell::none, "none"),
        Some(Some(cells)) => cells,
    });
    cells.into()
}

fn gap_cells(gap: &At<'_, Gap>) -> Option<Vec<Cell>> {
    let outcome = at!(gap.outcome);
    let law = outcome.fit()?;
    // Written into the gap's own members.
    let power = law.content(|law| Some(&law.power))?;
    let q = at!(law.tests).there().map(|tests| match law.trend {
        Trend::Parallel => at!(tests.equivalence_q),
        _ => at!(tests.difference_q),
    });
    Some(vec![
        at!(law.at_smallest).estimate(),
        at!(law.at_largest).estimate(),
        at!(law.delta_beta).difference(),
        Cell::or_none(at!(power.r_squared).there().map(|r| r.written(digits::r_squared))),
        Cell::or_none(q.map(|q| q.written(digits::probability))),
        Cell::words(law.trend.name()),
    ])
}

/// The text sample's error of the slope, predictions, crossings.
fn more(law: &At<'_, GapLaw>) -> Vec<Cell> {
    let moved = at!(law.delta_beta_sampling.standard_error).there().map(|error| {
        Cell::words("the documents drawn again move delta_beta by ")
            .with(error.number())
            .then(" (standard error)")
    });
    let predictions = at!(law.predictions).each().map(|predicted| prediction_cell(&predicted));
    let crossings = at!(law.crossings).each().map(|crossing| at!(crossing.verdict).sentence());
    moved.into_iter().chain(predictions).chain(crossings).collect()
}

fn prediction_cell(predicted: &At<'_, GapPrediction>) -> Cell {
    let model = at!(predicted.model.interval);
    let ends = match predicted.model.bounds() {
        Some(_) => Cell::words("a new model in ").with(model.alone(digits::number)),
        None => Cell::words("no interval"),
    };
    Cell::words("G at x = ")
        .with(at!(predicted.x).written(digits::given))
        .then(", ")
        .with(distance(&at!(predicted.decades_beyond), "the data"))
        .then(": ")
        .with(at!(predicted.law).value_alone())
        .then(", ")
        .with(ends)
}
