//! The law over training.

use relscale_laws::{Direction, EarlyCut, Quantity, TrainingFit, TrainingGroup, TrainingLaw};
use relscale_records::digits;

use super::cell::Cell;
use super::place::{At, at};
use super::table::{Column, Medium, Part, Role, Row, Said, Shown, Table, notes};

/// Slopes, surface, how early the end is told, and what seeds scatter: of each family on each
/// distribution.
pub fn training(fit: &At<'_, TrainingFit>) -> Shown {
    let heading = format!(
        "along size ({}) and along tokens ({}); mistakes as parts of the error",
        fit.params, fit.tokens
    );
    let mut parts = vec![Said::part(Role::Heading, "", Cell::words(heading)).only(Medium::Screen)];
    for group in at!(fit.groups).each() {
        let about = format!("{} on {}", group.family, group.distribution);
        parts.push(Said::part(Role::Heading, "", Cell::words(&about)).only(Medium::Screen));
        parts.push(Part::Table(slopes(fit, &group, &about)));
        parts.push(Part::Table(early(&group, &about)));
        parts.push(Said::part(Role::Verdict, &about, at!(group.verdict).sentence()));
        for law in at!(group.laws).each().filter(is_told) {
            parts.push(Said::part(Role::Item, "", at!(law.verdict).sentence()));
        }
        for law in at!(group.laws).each() {
            parts.extend(notes(&at!(law.flags), &law.quantity.symbol()));
        }
    }
    parts.extend(notes(&at!(fit.flags), ""));
    Shown { title: "The law over training".to_owned(), parts }
}

/// Whether a law has a sentence of its own: the cross entropy and k = 1, 10, 100.
fn is_told(law: &At<'_, TrainingLaw>) -> bool {
    matches!(law.quantity, Quantity::CrossEntropy | Quantity::Rank { k: 1 | 10 | 100 })
}

fn slopes(fit: &TrainingFit, group: &At<'_, TrainingGroup>, about: &str) -> Table {
    let level = digits::percent(fit.level);
    let rows = at!(group.laws).each().map(|law| {
        let along = |direction: At<'_, Direction>| {
            Cell::or_none(at!(direction.slope).there().map(|slope| slope.estimate()))
        };
        let surface = at!(law.surface);
        let of_surface = surface.fit();
        let exponent = |which: usize| {
            Cell::or_none(of_surface.as_ref().map(|surface| match which {
                0 => at!(surface.size_exponent).estimate(),
                _ => at!(surface.tokens_exponent).estimate(),
            }))
        };
        let share = |part: f64| format!("{:.1} %", 100.0 * part);
        let seeds = at!(law.seeds).there();
        Row::from(vec![
            Cell::words(law.quantity.symbol()),
            along(at!(law.split.along_size)),
            along(at!(law.split.along_tokens)),
            exponent(0),
            exponent(1),
            Cell::or_none(seeds.as_ref().map(|seeds| at!(seeds.deviation).written(share))),
            Cell::or_none(
                seeds.as_ref().and_then(|seeds| Some(at!(seeds.text).there()?.written(share))),
            ),
        ])
    });
    let of = |head: &str| Column::estimates(head, format!("{level} interval"));
    Table {
        title: format!("{about}: slopes and scatter"),
        columns: vec![
            Column::words("quantity"),
            of("along ln S").interval_yields(2),
            of("along ln D").interval_yields(3),
            of("alpha").yields(4).interval_yields(1),
            of("beta").yields(5).interval_yields(1),
            Column::numbers("seeds").yields(6),
            Column::numbers("text").yields(6),
        ],
        groups: vec![rows.collect()],
        note: "Means over numbers of tokens that three sizes share, and over sizes, with intervals by leaving out whole sizes; alpha and beta \
               are those of the surface E + A S^-alpha + B D^-beta. Seeds: standard deviation of runs that differ in their seed alone, the \
               noise of their common text taken off; text: that of one run.",
        only: None,
    }
}

fn early(group: &At<'_, TrainingGroup>, about: &str) -> Table {
    let rows = at!(group.laws)
        .each()
        .filter(is_told)
        .map(|law| at!(law.early).each().map(|cut| cut_row(&law, &cut)).collect::<Vec<Row>>());
    Table {
        title: format!("{about}: the end, told from a part of the training"),
        columns: vec![
            Column::once("quantity"),
            Column::numbers("tokens"),
            Column::numbers("of the end"),
            Column::numbers("own line"),
            Column::numbers("surface"),
            Column::numbers("as it is"),
            Column::numbers("alpha then").yields(1),
            Column::numbers("at the end").yields(1),
        ],
        groups: rows.filter(|rows| !rows.is_empty()).collect(),
        note: "By how much the error at the end of a run is missed, mean over runs: by the line through the run's own last three checkpoints, \
               by the surface through all checkpoints up to there, and by the error as it is then. None of them has seen the end.",
        only: None,
    }
}

fn cut_row(law: &At<'_, TrainingLaw>, cut: &At<'_, EarlyCut>) -> Row {
    let per_cent = |log: f64| format!("{:.1} %", 100.0 * (log.exp() - 1.0));
    Row::from(vec![
        Cell::words(law.quantity.symbol()),
        at!(cut.tokens).written(digits::given),
        at!(cut.part).written(|part| format!("{:.0} %", 100.0 * part)),
        Cell::or_none(at!(cut.own_line).there().map(|error| error.written(per_cent))),
        Cell::or_none(at!(cut.surface).there().map(|error| error.written(per_cent))),
        at!(cut.unchanged).written(per_cent),
        Cell::or_none(at!(cut.size_exponent).there().map(|exponent| exponent.number())),
        Cell::or_none(at!(cut.size_exponent_at_end).there().map(|exponent| exponent.number())),
    ])
}
