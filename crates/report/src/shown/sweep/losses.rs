//! The loss of runs that were not trained, the form with one exponent, and runs left out.

use relscale_laws::{
    HeldOutBy, HeldOutCheck, HeldOutSurface, IsoflopGroup, LossPredictions, OverTrainingSurface,
    PointDistance, PointLoss, PointPrediction,
};
use relscale_records::digits;

use crate::shown::cell::{Cell, text};
use crate::shown::place::{At, at};
use crate::shown::table::{Column, Medium, Part, Role, Row, Said, Table, notes};

/// All of it, where points were asked for.
pub(super) fn losses(group: &At<'_, IsoflopGroup>, interval: &str) -> Vec<Part> {
    let Some(losses) = at!(group.losses).there() else { return Vec::new() };
    let name = &group.name;
    let mut parts: Vec<Part> =
        at!(losses.points).each().flat_map(|at| point(&at, name, interval)).collect();
    parts.extend(over_training(&losses, name, interval));
    parts.push(Said::part(Role::More, name, at!(losses.forms.verdict).sentence()));
    parts.extend(at!(losses.forms.exponent_ratios).each().map(|one| {
        let ratio = at!(one.ratio).estimate();
        let words = Cell::words("alpha / beta, ").then(one.method.name()).then(": ").with(ratio);
        Said::part(Role::More, name, words).only(Medium::Page)
    }));
    if let Some(aicc) = at!(losses.forms.aicc).there() {
        let words = Cell::words("AICc with two exponents ")
            .with(at!(aicc.chinchilla).written(|value| format!("{value:.1}")))
            .then(", with one ")
            .with(at!(aicc.over_training).written(|value| format!("{value:.1}")));
        parts.push(Said::part(Role::More, name, words).only(Medium::Page));
    }
    parts.extend(held_out(&losses, name));
    parts
}

/// One point: the loss, its parts, and how far off it is.
fn point(point: &At<'_, PointPrediction>, name: &str, interval: &str) -> Vec<Part> {
    let heading = Cell::words("The loss at N = ")
        .with(at!(point.params).written(digits::given))
        .then(", D = ")
        .with(at!(point.tokens).written(digits::given))
        .then(", M = ")
        .with(at!(point.multiplier).written(digits::given));
    let heading = match at!(point.flops).there() {
        Some(flops) => heading.then(", C = ").with(flops.written(digits::given)),
        None => heading,
    };
    let title = text(&heading.pieces);
    let table = |title: String, columns, rows| {
        Part::Table(Table { title, columns, groups: vec![rows], ..Table::default() })
    };
    let losses = || at!(point.losses).each();
    let mut parts = vec![Said::part(Role::Heading, name, heading).only(Medium::Screen)];
    parts.push(Part::Table(Table {
        title: format!("{title}, of {name}"),
        columns: vec![
            Column::once("form"),
            Column::words("by"),
            Column::estimates("loss", interval),
            Column::numbers("of the surface alone").only(Medium::Page),
        ],
        groups: vec![losses().map(|loss| told(&loss)).collect()],
        note: "The interval is that of one new run: what the draws of the runs leave open of the surface, and the scatter of runs beside it.",
        only: None,
    }));
    parts.push(table(
        format!("Its parts, of {name}"),
        vec![
            Column::once("its parts"),
            Column::words("by"),
            Column::numbers("E"),
            Column::numbers("of size"),
            Column::numbers("of data"),
        ],
        losses().map(|loss| split(&loss)).collect(),
    ));
    parts.push(table(
        format!("How far from the runs it is, of {name}"),
        vec![
            Column::words("quantity"),
            Column::numbers("there"),
            Column::numbers("runs from"),
            Column::numbers("to"),
            Column::numbers("outside by"),
        ],
        at!(point.distances).each().map(|at| distance(&at)).collect(),
    ));
    parts
}

fn head(loss: &PointLoss) -> Vec<Cell> {
    vec![Cell::words(loss.form.name()), Cell::words(loss.method.name())]
}

fn told(loss: &At<'_, PointLoss>) -> Row {
    let outcome = at!(loss.outcome);
    let mut cells = head(loss);
    cells.extend(match outcome.fit() {
        None => [Cell::none().hinted(outcome.reason()), Cell::none()],
        Some(there) => [at!(there.loss).estimate(), at!(there.of_surface).alone(digits::number)],
    });
    cells.into()
}

fn split(loss: &At<'_, PointLoss>) -> Row {
    let outcome = at!(loss.outcome);
    let mut cells = head(loss);
    cells.extend(match outcome.fit() {
        None => [Cell::none().hinted(outcome.reason()), Cell::none(), Cell::none()],
        Some(there) => {
            [at!(there.floor), at!(there.size), at!(there.data)].map(|part| part.estimate())
        }
    });
    cells.into()
}

fn distance(distance: &At<'_, PointDistance>) -> Row {
    let quantity = match distance.quantity.as_str() {
        "N" => "N, parameters",
        "D" => "D, tokens",
        "C" => "C, FLOPs",
        "M" => "M = D / N",
        other => other,
    };
    let ratio = at!(distance.ratio);
    let outside = match *ratio {
        1.0 => Cell::words("inside"),
        _ => {
            let end = if *ratio < 1.0 { " times the smallest" } else { " times the largest" };
            ratio.number().then(end)
        }
    };
    vec![
        Cell::words(quantity),
        at!(distance.at).written(digits::given),
        at!(distance.low).written(digits::given),
        at!(distance.high).written(digits::given),
        outside,
    ]
    .into()
}

fn over_training(losses: &At<'_, LossPredictions>, name: &str, interval: &str) -> Vec<Part> {
    let row = |surface: At<'_, OverTrainingSurface>| -> Row {
        let outcome = at!(surface.outcome);
        let mut cells = vec![Cell::words(surface.method.name())];
        match outcome.fit() {
            None => {
                cells.push(Cell::none().hinted(outcome.reason()));
                cells.extend([0; 5].map(|_| Cell::none()));
            }
            Some(law) => {
                let found =
                    [at!(law.e), at!(law.a), at!(law.b), at!(law.eta), at!(law.best_multiplier)];
                cells.extend(found.map(|estimate| estimate.estimate()));
                cells.push(at!(law.flops_per_parameter_and_token).written(digits::given));
            }
        }
        cells.into()
    };
    let mut parts = vec![Part::Table(Table {
        title: format!("One exponent, of {name}: E + (a · M^eta + b · M^-eta) · C^-eta"),
        columns: vec![
            Column::words("one exponent"),
            Column::numbers("E"),
            Column::numbers("a"),
            Column::numbers("b"),
            Column::estimates("eta", interval).interval_yields(1),
            Column::numbers("best M"),
            Column::numbers("k of C = k N D").only(Medium::Page),
        ],
        groups: vec![at!(losses.over_training).each().map(row).collect()],
        note: "The surface with alpha = beta = 2 eta, as Gadre et al. 2024 write it; M = D / N, and best M is where the loss is least at any C.",
        only: None,
    })];
    for surface in at!(losses.over_training).each() {
        let outcome = at!(surface.outcome);
        let about = format!("one exponent, {}", surface.method.name());
        match outcome.fit() {
            None => {
                let words = format!("{about}: none, {}", outcome.reason());
                parts.push(Said::part(Role::Note, "", Cell::words(words)));
            }
            Some(law) => parts.extend(notes(&at!(law.flags), &about)),
        }
    }
    parts
}

fn held_out(losses: &At<'_, LossPredictions>, name: &str) -> Vec<Part> {
    let mut groups = Vec::new();
    let mut lines = Vec::new();
    for runs in at!(losses.held_out).each() {
        let outcome = at!(runs.outcome);
        match outcome.fit() {
            None => {
                let words = format!("no check by {}: {}", runs.by.symbol(), outcome.reason());
                lines.push(Said::part(Role::Note, name, Cell::words(words)));
            }
            Some(check) => {
                lines.push(Said::part(Role::More, name, left_out(runs.by, &check)));
                let rows = at!(check.surfaces).each().map(|surface| errors(runs.by, &surface));
                groups.push(rows.collect());
            }
        }
    }
    let table = Part::Table(Table {
        title: format!("Runs left out and predicted by the others, of {name}"),
        columns: vec![
            Column::once("left out"),
            Column::once("form"),
            Column::words("by"),
            Column::numbers("mean error"),
            Column::numbers("r.m.s."),
            Column::numbers("inside"),
        ],
        groups,
        note: "Errors are relative, predicted over measured less 1; inside: runs in their interval of one new run.",
        only: None,
    });
    let has_rows = matches!(&table, Part::Table(table) if !table.groups.is_empty());
    has_rows.then_some(table).into_iter().chain(lines).collect()
}

fn left_out(by: HeldOutBy, check: &At<'_, HeldOutCheck>) -> Cell {
    let which = match by {
        HeldOutBy::Compute => " runs of most compute, up to ",
        HeldOutBy::Multiplier => " runs of most tokens a parameter, up to ",
    };
    Cell::words("left out by ")
        .then(format!("{}: the ", by.symbol()))
        .with(at!(check.runs).length())
        .then(which)
        .with(at!(check.reach).written(|reach| digits::given((reach * 100.0).round() / 100.0)))
        .then(" times the largest of the other ")
        .with(at!(check.fitted).count())
}

fn errors(by: HeldOutBy, surface: &At<'_, HeldOutSurface>) -> Row {
    let outcome = at!(surface.outcome);
    let largest = format!("most {}", by.symbol());
    let mut cells = vec![
        Cell::words(largest),
        Cell::words(surface.form.name()),
        Cell::words(surface.method.name()),
    ];
    match outcome.fit() {
        None => {
            cells.push(Cell::none().hinted(outcome.reason()));
            cells.extend([0; 2].map(|_| Cell::none()));
        }
        Some(found) => {
            let percent = |signed: bool| {
                move |error: f64| match signed {
                    true => format!("{:+.2} %", 100.0 * error),
                    false => format!("{:.2} %", 100.0 * error),
                }
            };
            let coverage = at!(found.coverage).there().map(|coverage| {
                at!(coverage.inside).count().then(" of ").with(at!(coverage.judged).count())
            });
            cells.extend([
                at!(found.mean_error).written(percent(true)),
                at!(found.root_mean_square_error).written(percent(false)),
                Cell::or_none(coverage),
            ]);
        }
    }
    cells.into()
}
