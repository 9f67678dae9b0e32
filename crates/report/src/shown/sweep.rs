//! An IsoFLOP sweep: minima of budgets, their growth, surfaces, what every method says ahead, and
//! the loss of further runs.

mod hints;
mod losses;

use relscale_laws::{
    Agreement, Along, Curve, FloorLaw, IsoflopBudget, IsoflopFit, IsoflopGroup, IsoflopSurface,
    Judged, LossForm, MethodOptimum, MethodValue, OptimumPath, OptimumPrediction, Outcome, PathLaw,
};
use relscale_records::digits;

use super::cell::{Cell, text};
use super::place::{At, at};
use super::table::{Column, Medium, Part, Role, Row, Said, Shown, Table, distance, notes};
use hints::SIZES;

/// Every group of runs.
pub fn sweep(fit: &At<'_, IsoflopFit>) -> Shown {
    let mut parts =
        vec![Said::part(Role::Heading, "", Cell::words(counted(fit))).only(Medium::Screen)];
    let level = digits::percent(fit.level);
    parts.extend(at!(fit.groups).each().flat_map(|group| group_parts(&group, &level)));
    Shown { title: "Compute-optimal models of the sweep".to_owned(), parts }
}

/// What C and N count.
fn counted(fit: &IsoflopFit) -> String {
    let flops = match fit.flops.as_str() {
        "fwd" => "FLOPs of the forward pass",
        "train" => "training FLOPs",
        _ => "FLOPs (not stated which)",
    };
    let computed =
        fit.budget_from.as_ref().map(|from| format!(", computed as {from}")).unwrap_or_default();
    let params = match fit.params.as_str() {
        "not stated" => "parameters (not stated which)".to_owned(),
        "total" => "all parameters".to_owned(),
        convention => {
            format!(
                "{} parameters",
                convention.replace('-', " ").replace("non embedding", "non-embedding")
            )
        }
    };
    let held = fit.size_exponent.map(|a| format!("; N* is held to C^{a}")).unwrap_or_default();
    format!("C counts {flops}{computed}; N {params}{held}")
}

fn group_parts(group: &At<'_, IsoflopGroup>, level: &str) -> Vec<Part> {
    let interval = format!("{level} interval");
    let mut parts = vec![Said::part(Role::Verdict, &group.name, at!(group.verdict).sentence())];
    if !group.budgets.is_empty() {
        parts.extend(minima(group, &interval));
        parts.extend(hints::refusals(group));
        parts.push(growth(group));
        parts.extend(floors(group));
    }
    parts.extend(surfaces(group, &interval));
    if group.agreement.len() > 1 && !group.budgets.is_empty() {
        parts.extend(agreement(&at!(group.agreement), &group.name, ""));
    }
    parts.extend(
        at!(group.ahead).each().flat_map(|optimum| prediction(&optimum, &group.name, &interval)),
    );
    parts.extend(losses::losses(group, &interval));
    parts.extend(notes(&at!(group.flags), &group.name));
    parts
}

fn minima(group: &At<'_, IsoflopGroup>, interval: &str) -> Option<Part> {
    let many = |budget: &At<'_, IsoflopBudget>| budget.size_count() >= SIZES;
    let rows: Vec<Row> =
        at!(group.budgets).each().filter(many).map(|budget| minimum(&budget).into()).collect();
    let columns = vec![
        Column::numbers("budget"),
        Column::numbers("sizes"),
        Column::estimates("N* cubic", interval).interval_yields(6),
        Column::estimates("D* cubic", interval).interval_yields(5),
        Column::numbers("loss"),
        Column::numbers("N* parabola").yields(4),
        Column::numbers("D* parabola").yields(1),
        Column::numbers("bias, cubic").yields(2),
        Column::numbers("bias, parabola").yields(3),
    ];
    let title = format!("Minima of the budgets of {}", group.name);
    let note = "Intervals by the scatter of a budget's runs about the curve; open: it leaves the minimum open on a side. Bias: by how \
                much a curve turns beside the optimum of the fitted surface by its shape alone, of N*.";
    (!rows.is_empty())
        .then(|| Part::Table(Table { title, columns, groups: vec![rows], note, only: None }))
}

fn minimum(budget: &At<'_, IsoflopBudget>) -> Vec<Cell> {
    let of = |curve, along| {
        let minimum =
            at!(budget.minima).each().find(|one| (one.curve, one.along) == (curve, along));
        minimum.and_then(|minimum| at!(minimum.outcome).fit())
    };
    let with_place = |along| {
        Cell::or_none(
            of(Curve::Cubic, along).map(|one| at!(one.at).within(&at!(one.place), "open")),
        )
    };
    let at = |along| Cell::or_none(of(Curve::Parabola, along).map(|one| at!(one.at).number()));
    // Of N*, by the shape of the curve alone.
    let bias = |curve| {
        let bias = of(curve, Along::Params).and_then(|one| at!(one.bias).there());
        Cell::or_none(bias.map(|bias| bias.written(digits::deviation)))
    };
    let sizes = if budget.sizes.is_empty() {
        at!(budget.runs).length()
    } else {
        at!(budget.sizes).length()
    };
    let sizes = if budget.size_count() < budget.runs.len() {
        sizes.then(" (").with(at!(budget.runs).length()).then(" runs)")
    } else {
        sizes
    };
    vec![
        at!(budget.budget).written(digits::given),
        sizes,
        with_place(Along::Params),
        with_place(Along::Tokens),
        Cell::or_none(of(Curve::Cubic, Along::Tokens).map(|one| at!(one.loss).number())),
        at(Along::Params),
        at(Along::Tokens),
        bias(Curve::Cubic),
        bias(Curve::Parabola),
    ]
}

fn growth(group: &At<'_, IsoflopGroup>) -> Part {
    let mut rows = Vec::new();
    for path in at!(group.paths).each() {
        let laws =
            [("N*", at!(path.params)), ("D*", at!(path.tokens)), ("least loss", at!(path.loss))];
        rows.extend(laws.map(|(what, outcome)| law(&path, what, &outcome)));
    }
    Part::Table(Table {
        title: format!("Optima of {} as A · C^a", group.name),
        columns: vec![
            Column::words("A C^a"),
            Column::words("curve"),
            Column::estimates("a", "Student t"),
            Column::numbers("by runs").yields(3),
            Column::estimates("A", "Student t").interval_yields(2),
            Column::numbers("R²").yields(1),
            Column::numbers("budgets").only(Medium::Page),
        ],
        groups: vec![rows],
        note: "Intervals by Student t come from the scatter of the minima about the line, those by runs from the runs' own scatter about \
               their curves.",
        only: None,
    })
}

fn law(path: &OptimumPath, what: &str, outcome: &At<'_, Outcome<PathLaw>>) -> Row {
    let mut cells = vec![Cell::words(what), Cell::words(path.curve.name())];
    match outcome.fit() {
        None => {
            cells.push(Cell::none().hinted(outcome.reason()));
            cells.extend([0; 4].map(|_| Cell::none()));
        }
        Some(law) => cells.extend([
            at!(law.exponent).estimate(),
            at!(law.exponent_by_runs.interval).alone(digits::number),
            at!(law.prefactor).estimate(),
            Cell::or_none(at!(law.r_squared).there().map(|r| r.written(digits::r_squared))),
            at!(law.budgets).count(),
        ]),
    }
    cells.into()
}

/// The least loss with a floor, a line a curve.
fn floors(group: &At<'_, IsoflopGroup>) -> Vec<Part> {
    let line = |path: At<'_, OptimumPath>| {
        let start = Cell::words(format!("least loss with a floor, {}: ", path.curve.name()));
        let outcome = at!(path.loss_with_floor);
        match outcome.fit() {
            None => start.then(format!("none, {}", outcome.reason())),
            Some(law) => start.with(floor(&law)),
        }
    };
    let lines =
        at!(group.paths).each().map(line).map(|line| Said::part(Role::More, &group.name, line));
    // Both curves are refused for one reason: too few budgets.
    let none = group.paths.iter().all(|path| path.loss_with_floor.fit().is_none());
    lines.take(if none { 1 } else { usize::MAX }).collect()
}

fn floor(law: &At<'_, FloorLaw>) -> Cell {
    let value = |estimate: At<'_, relscale_laws::Estimate>| estimate.value_alone();
    let told = if law.told { "" } else { ", not told from 0" };
    value(at!(law.floor))
        .then(" + ")
        .with(value(at!(law.prefactor)))
        .then(" C^-")
        .with(value(at!(law.exponent)))
        .then(", the floor ")
        .with(at!(law.floor.interval).alone(digits::number))
        .then(told)
}

fn surfaces(group: &At<'_, IsoflopGroup>, interval: &str) -> Vec<Part> {
    let row = |surface: At<'_, IsoflopSurface>| -> Row {
        let mut cells = vec![Cell::words(surface.method.name())];
        let outcome = at!(surface.outcome);
        match outcome.fit() {
            None => {
                cells.push(Cell::none().hinted(outcome.reason()));
                cells.extend([0; 6].map(|_| Cell::none()));
            }
            Some(law) => cells.extend(
                [
                    at!(law.e),
                    at!(law.a),
                    at!(law.b),
                    at!(law.alpha),
                    at!(law.beta),
                    at!(law.size_exponent),
                    at!(law.tokens_exponent),
                ]
                .map(|estimate| estimate.estimate()),
            ),
        }
        cells.into()
    };
    let mut parts = vec![Part::Table(Table {
        title: format!("The surface of {}, E + A · N^-alpha + B · D^-beta", group.name),
        columns: vec![
            Column::words("surface"),
            Column::numbers("E"),
            Column::numbers("A").yields(2),
            Column::numbers("B").yields(1),
            Column::numbers("alpha"),
            Column::numbers("beta"),
            Column::estimates("a of N*", interval),
            Column::estimates("a of D*", interval).only(Medium::Page),
        ],
        groups: vec![at!(group.surfaces).each().map(row).collect()],
        ..Table::default()
    })];
    for surface in at!(group.surfaces).each() {
        let (name, outcome) = (surface.method.name(), at!(surface.outcome));
        let note =
            |text: Cell| Said::part(Role::Note, "", Cell::words(format!("{name}: ")).with(text));
        match outcome.fit() {
            None => parts.push(note(Cell::words(format!("none, {}", outcome.reason())))),
            Some(law) => {
                parts.extend(at!(law.flags).each().map(|flag| note(at!(flag.message).sentence())))
            }
        }
    }
    parts
}

fn agreement(of: &At<'_, Vec<Agreement>>, name: &str, place: &str) -> Vec<Part> {
    let value =
        |found: At<'_, MethodValue>| [at!(found.value).number(), Cell::words(&found.method)];
    let row = |agreement: At<'_, Agreement>| -> Row {
        let (low, high) = (at!(agreement.smallest), at!(agreement.largest));
        let ratio = at!(high.value).over(&at!(low.value)).written(|ratio| format!("{ratio:.3}"));
        let mut cells = vec![Cell::words(&agreement.quantity)];
        cells.extend([value(low), value(high)].into_iter().flatten());
        cells.push(ratio);
        cells.push(Cell::words(match agreement.outcome {
            Judged::Within => "meet",
            Judged::Apart { .. } => "do not meet",
            Judged::NotJudged => "-",
        }));
        cells.into()
    };
    let mut parts = vec![Part::Table(Table {
        title: format!("Whether the methods agree on {name}{place}"),
        columns: vec![
            Column::words("agreement"),
            Column::numbers("least"),
            Column::numbers("by").yields(2),
            Column::numbers("most"),
            Column::numbers("by").yields(1),
            Column::numbers("ratio"),
            Column::numbers("intervals"),
        ],
        groups: vec![of.each().map(row).collect()],
        ..Table::default()
    })];
    for agreement in of.it {
        if let Judged::Apart { pairs } = &agreement.outcome {
            let pairs = hints::some_of(pairs.iter().map(|(a, b)| format!("{a} with {b}")), 3);
            let text = format!("{}: these intervals do not meet: {pairs}", agreement.quantity);
            parts.push(Said::part(Role::More, name, Cell::words(text)));
        }
    }
    parts
}

fn prediction(optimum: &At<'_, OptimumPrediction>, name: &str, interval: &str) -> Vec<Part> {
    let place = match optimum.decades_beyond {
        0.0 => Cell::default(),
        _ => Cell::words(", ")
            .with(distance(&at!(optimum.decades_beyond), "the budgets with a minimum")),
    };
    let heading =
        Cell::words("Optimum at C = ").with(at!(optimum.budget).written(digits::given)).with(place);
    let title = text(&heading.pieces);
    let mut parts = vec![Said::part(Role::Heading, name, heading).only(Medium::Screen)];
    if optimum.methods.is_empty() {
        let why = "no method tells it: curves need two budgets with a minimum, a surface budgets and six runs";
        parts.push(Said::part(Role::Note, "", Cell::words(why)));
        return parts;
    }
    let places = at!(optimum.methods).each().map(|method| {
        let of = [at!(method.params), at!(method.tokens)].map(|estimate| estimate.estimate());
        Row::from([Cell::words(&method.method)].into_iter().chain(of).collect::<Vec<_>>())
    });
    parts.push(Part::Table(Table {
        title: format!("{title}, of {name}"),
        columns: vec![
            Column::words("method"),
            Column::estimates("N*", interval),
            Column::estimates("D*", interval).interval_yields(1),
        ],
        groups: vec![places.collect()],
        ..Table::default()
    }));
    parts.push(Part::Table(Table {
        title: format!("The loss there, of {name}"),
        columns: vec![
            Column::words("loss there"),
            Column::words("by"),
            Column::estimates("value", interval),
        ],
        groups: vec![at!(optimum.methods).each().flat_map(|method| losses(&method)).collect()],
        ..Table::default()
    }));
    if let Some(loss) = at!(optimum.loss).there() {
        let text = Cell::words("expect a loss of ").with(at!(loss.value).estimate()).then(format!(
            ", by the {} ({})",
            loss.method,
            loss.form.formula()
        ));
        parts.push(Said::part(Role::More, name, text));
    }
    if !optimum.agreement.is_empty() {
        parts.extend(agreement(&at!(optimum.agreement), name, &format!(", {title}")));
    }
    parts
}

/// The loss by a method, in every form that it has.
fn losses(method: &At<'_, MethodOptimum>) -> Vec<Row> {
    let pure = at!(method.loss_without_floor).there().filter(|pure| *pure.it != method.loss);
    let of = [(method.loss_form, at!(method.loss))].into_iter();
    of.chain(pure.map(|pure| (LossForm::Power, pure)))
        .map(|(form, loss)| {
            vec![Cell::words(&method.method), Cell::words(form.formula()), loss.estimate()].into()
        })
        .collect()
}
