//! What the laws of a study say of sizes that were not measured.

use relscale_laws::{
    Basis, FlagCode, GroupPredictions, Predictions, SizePrediction, ValuePrediction,
};
use relscale_records::digits;

use super::cell::{Cell, text};
use super::place::{At, at};
use super::table::{Column, Part, Role, Row, Said, Shown, Table};

/// Values at sizes, then sizes for targets, then what must be said of both.
pub fn predictions(all: &At<'_, Predictions>) -> Shown {
    let level = digits::percent(all.level);
    let (model, law) = (format!("one model, {level}"), format!("the law, {level}"));
    let several = all.groups.windows(2).any(|pair| pair[0].family != pair[1].family);
    let title = |group: &GroupPredictions| match several {
        true => format!("{} on {}", group.family, group.corpus),
        false => group.corpus.clone(),
    };
    let columns = |of: [&str; 2], more: &[&str]| {
        let mut columns = vec![Column::once("corpus"), Column::words(of[0])];
        columns.extend([of[1]].into_iter().chain(more.iter().copied()).map(Column::numbers));
        // The value and the interval of one model stay.
        for (order, head) in (1..).zip(["other forms", &law, "decades beyond"]) {
            columns.iter_mut().filter(|column| column.head == head).for_each(|c| c.yields = order);
        }
        columns
    };
    let table = |what: &str, columns, rows: &dyn Fn(&At<'_, GroupPredictions>) -> Vec<Row>| {
        let titled = |group: At<'_, GroupPredictions>| {
            let mut rows = rows(&group);
            rows.iter_mut().for_each(|row| row.cells.insert(0, Cell::words(title(&group))));
            rows
        };
        let groups: Vec<Vec<Row>> =
            at!(all.groups).each().map(titled).filter(|rows: &Vec<Row>| !rows.is_empty()).collect();
        let table = Table { title: what.to_owned(), columns, groups, ..Table::default() };
        (!table.groups.is_empty()).then_some(Part::Table(table))
    };
    let mut parts: Vec<Part> = [
        table(
            "Values at sizes",
            columns(["quantity", "S"], &["value", &model, &law, "other forms", "decades beyond"]),
            &|group| at!(group.values).each().map(|value| value_cells(&value).into()).collect(),
        ),
        table(
            "Sizes for targets",
            columns(["target", "S"], &[&law, &model, "other forms", "decades beyond"]),
            &|group| at!(group.sizes).each().map(|size| size_cells(&size).into()).collect(),
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    for group in at!(all.groups).each() {
        parts.extend(said(&group, &title(&group)));
    }
    Shown { title: "Predictions".to_owned(), parts }
}

fn value_cells(value: &At<'_, ValuePrediction>) -> Vec<Cell> {
    let mut cells =
        vec![Cell::words(value.quantity.symbol()), at!(value.parameters).written(digits::given)];
    let outcome = at!(value.outcome);
    let Some(found) = outcome.fit() else {
        cells.extend([0; 5].map(|_| Cell::none()));
        return cells;
    };
    let estimate = at!(found.value);
    let others = at!(found.rivals)
        .each()
        .filter(|rival| possible(rival.weight))
        .map(|rival| at!(rival.value));
    cells.extend([
        estimate.value_alone(),
        at!(estimate.interval).alone(digits::number),
        at!(found.law_interval).alone(digits::number),
        span(others, digits::number),
        decades(&at!(value.decades_beyond)),
    ]);
    cells
}

fn size_cells(size: &At<'_, SizePrediction>) -> Vec<Cell> {
    let mut cells = vec![target(size)];
    let outcome = at!(size.outcome);
    let Some(found) = outcome.fit() else {
        cells.extend([0; 5].map(|_| Cell::none()));
        return cells;
    };
    let estimate = at!(found.parameters);
    let others = at!(found.rivals).each().filter(|rival| possible(rival.weight));
    cells.extend([
        at!(estimate.value).written(digits::given),
        at!(estimate.interval).alone(digits::given),
        at!(found.for_one_model).alone(digits::given),
        span(others.filter_map(|rival| at!(rival.parameters).there()), digits::given),
        decades(&at!(found.decades_beyond)),
    ]);
    cells
}

/// `RBP_1 = 0.6`, as it may be asked for.
fn target(size: &At<'_, SizePrediction>) -> Cell {
    let (asked, target) = (size.quantity.reaching(size.target), size.target.to_string());
    match asked.split_once(&format!("= {target}")) {
        Some((before, after)) => Cell::words(format!("{before}= "))
            .with(at!(size.target).written(|_| target))
            .then(after),
        None => Cell::words(asked),
    }
}

/// Whether the points leave a form open: its weight is a hundredth at least, or unknown.
fn possible(weight: Option<f64>) -> bool {
    weight.is_none_or(|weight| weight >= 0.01)
}

/// From the least to the greatest.
fn span<'a>(values: impl Iterator<Item = At<'a, f64>>, form: fn(f64) -> String) -> Cell {
    let mut ends: Option<[At<'a, f64>; 2]> = None;
    for value in values {
        ends = Some(match ends {
            None => [value.clone(), value],
            Some([least, most]) => [
                if *value < *least { value.clone() } else { least },
                if *value > *most { value } else { most },
            ],
        });
    }
    let Some([least, most]) = ends else { return Cell::none() };
    let (low, high) = (least.written(form), most.written(form));
    if text(&low.pieces) == text(&high.pieces) { low } else { low.then(" to ").with(high) }
}

fn decades(of: &At<'_, f64>) -> Cell {
    of.written(|decades| if decades == 0.0 { "0".to_owned() } else { format!("{decades:+.1}") })
}

/// What must be said: refusals, and each kind of doubt once a group with the first one's words.
fn said(group: &At<'_, GroupPredictions>, title: &str) -> Vec<Part> {
    let mut lines: Vec<(Option<FlagCode>, Cell, usize)> = Vec::new();
    let values = at!(group.values).each().map(|value| {
        let (outcome, verdict) = (at!(value.outcome), at!(value.verdict));
        let found = outcome.fit().map(|found| found.basis);
        // A value's sentence says what its row says.
        (found, found.is_none().then_some(verdict), at!(value.flags))
    });
    let sizes = at!(group.sizes).each().map(|size| {
        let (outcome, verdict) = (at!(size.outcome), at!(size.verdict));
        (outcome.fit().map(|found| found.basis), Some(verdict), at!(size.flags))
    });
    for (basis, verdict, flags) in values.chain(sizes) {
        let counted = "chances of tokens in a row are from the law of windows as they were counted";
        let basis = (basis == Some(Basis::CountedWindows)).then(|| Cell::words(counted));
        for cell in verdict.map(|verdict| verdict.sentence()).into_iter().chain(basis) {
            if !lines.iter().any(|(_, there, _)| text(&there.pieces) == text(&cell.pieces)) {
                lines.push((None, cell, 1));
            }
        }
        for flag in flags.each() {
            match lines.iter_mut().find(|(there, ..)| *there == Some(flag.code)) {
                Some((.., times)) => *times += 1,
                None => lines.push((Some(flag.code), at!(flag.message).sentence(), 1)),
            }
        }
    }
    let note = |(_, cell, times): (Option<FlagCode>, Cell, usize)| {
        let more = if times > 1 { format!(" (and {} more)", times - 1) } else { String::new() };
        Said::part(Role::Note, "", Cell::words(format!("({title}) ")).with(cell).then(more))
    };
    lines.into_iter().map(note).collect()
}
