//! Compute to loss to accuracy, beside accuracy straight from compute.

use relscale_laws::{
    Outcome, Route, RouteValue, StageCurve, StagesFit, StagesGroup, StagesPrediction,
};
use relscale_records::digits;

use super::cell::Cell;
use super::place::{At, at};
use super::table::{Column, Medium, Part, Role, Row, Said, Shown, Table, distance, notes};

/// Held-out errors, curves and predictions of every group.
pub fn stages(fit: &At<'_, StagesFit>) -> Shown {
    let heading = format!(
        "x = {}, loss = {}, accuracy = {}; mean errors of the held-out points, those of accuracy as shares",
        fit.x, fit.loss, fit.accuracy
    );
    let mut parts = vec![
        Said::part(Role::Heading, "", Cell::words(heading)).only(Medium::Screen),
        Part::Table(held_out(fit)),
        Part::Table(curves(fit)),
    ];
    let several = fit.groups.len() > 1;
    for group in at!(fit.groups).each() {
        let about = if several { group.name.as_str() } else { "" };
        parts.push(Said::part(Role::Verdict, about, at!(group.verdict).sentence()));
        parts.extend(
            at!(group.ahead).each().map(|ahead| Said::part(Role::More, about, prediction(&ahead))),
        );
        parts.extend(notes(&at!(group.flags), about));
    }
    Shown { title: "Loss to accuracy, in two stages".to_owned(), parts }
}

fn held_out(fit: &At<'_, StagesFit>) -> Table {
    let mut columns = vec![Column::words("group")];
    columns.extend(["points", "predictable", "held out", "loss error"].map(Column::numbers));
    columns.extend(Route::ALL.map(|route| Column::numbers(route.name())));
    let rows = at!(fit.groups).each().map(|group| Row::from(errors(&group)));
    Table {
        title: format!("{} to {} against {}: held-out points", fit.loss, fit.accuracy, fit.x),
        columns,
        groups: vec![rows.collect()],
        note: "Mean errors of the points that were held out: of the loss as a part of it, of the accuracy by each route as a share. \
               Predictable: R² of a parabola of the loss in ln x.",
        only: None,
    }
}

fn errors(group: &At<'_, StagesGroup>) -> Vec<Cell> {
    let held_out = at!(group.held_out).there();
    let of_loss = held_out.as_ref().and_then(|held_out| at!(held_out.loss_error).there());
    let mut cells = vec![
        Cell::words(&group.name),
        at!(group.points).length(),
        Cell::or_none(
            at!(group.predictability.quadratic).there().map(|r| r.written(digits::r_squared)),
        ),
        Cell::or_none(held_out.as_ref().map(|held_out| at!(held_out.points).length())),
        Cell::or_none(of_loss.map(|error| error.written(digits::part))),
    ];
    cells.extend(Route::ALL.map(|route| {
        let errors = held_out
            .as_ref()
            .and_then(|held_out| at!(held_out.routes).each().find(|errors| errors.route == route));
        Cell::or_none(errors.map(|errors| at!(errors.mean_absolute).number()))
    }));
    cells
}

/// The curves of both stages and the direct ones.
fn curves(fit: &At<'_, StagesFit>) -> Table {
    let level = digits::percent(fit.level);
    let rows = at!(fit.groups).each().map(|group| {
        [
            ("first stage: loss = a x^-alpha + c", at!(group.curves.loss)),
            ("second stage: accuracy, a sigmoid of the loss", at!(group.curves.accuracy)),
            ("directly: -ln accuracy = a x^-alpha", at!(group.curves.direct_power)),
            ("directly: accuracy, a sigmoid of -ln x", at!(group.curves.direct_sigmoid)),
        ]
        .map(|(name, outcome)| curve(&group.name, name, &outcome))
        .into()
    });
    Table {
        title: format!("{} to {}, in two stages, against {}", fit.loss, fit.accuracy, fit.x),
        columns: vec![
            Column::words("group"),
            Column::words("curve"),
            Column::words(format!("parameters [{level}]")),
            Column::numbers("R²"),
            Column::numbers("points"),
        ],
        groups: rows.collect(),
        note: "R² is of what is fitted: ln loss in the first stage, the accuracy in the second, ln(-ln accuracy) of the direct power law.",
        only: Some(Medium::Page),
    }
}

fn curve(group: &str, name: &str, outcome: &At<'_, Outcome<StageCurve>>) -> Row {
    let mut cells = vec![Cell::words(group), Cell::words(name)];
    cells.extend(match outcome.fit() {
        None => [Cell::words(outcome.reason()), Cell::none(), Cell::none()],
        Some(curve) => {
            let parameters = at!(curve.parameters).each().map(|parameter| {
                Cell::words(format!("{} ", parameter.name)).with(at!(parameter.estimate).estimate())
            });
            let r_squared = at!(curve.r_squared).there().map(|r| r.written(digits::r_squared));
            [Cell::join(parameters, "; "), Cell::or_none(r_squared), at!(curve.points).count()]
        }
    });
    cells.into()
}

fn prediction(ahead: &At<'_, StagesPrediction>) -> Cell {
    let routes = at!(ahead.accuracy).each().map(|value: At<'_, RouteValue>| {
        at!(value.accuracy).estimate().in_line().then(format!(" by {}", value.route.name()))
    });
    Cell::words("accuracy at x = ")
        .with(at!(ahead.x).written(digits::given))
        .then(", ")
        .with(distance(&at!(ahead.decades_beyond), "the data"))
        .then(": ")
        .with(Cell::join(routes, ", "))
}
