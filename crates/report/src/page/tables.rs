//! Tables of the results that have neither rank laws nor gaps: both stages, sizes against tokens, sweeps, questions with options.
//!
//! One form serves all: what a row is about, then numbers with their places, or the reason why there is none. The sentences of the
//! same results stand among the findings.

use std::collections::BTreeSet;

use relscale_laws::{
    ChoicesFit, ChoicesGroup, Direction, Estimate, IsoflopFit, IsoflopGroup, Judged, Outcome, SizeTokensFit,
    StageCurve, StagesFit,
};
use serde::Serialize;

use super::source::{Html, Place};
use crate::format;
use crate::results::{Named, Results};

/// One table.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    title: String,
    head: Vec<String>,
    rows: Vec<Vec<Cell>>,
    note: &'static str,
}

/// What stands in a row: words, or numbers (`estimate`), which stay on one line.
#[derive(Debug, Serialize)]
struct Cell {
    html: Html,
    class: &'static str,
}

fn words(text: &str) -> Cell {
    Cell { html: Html::text(text), class: "" }
}

fn number(html: Html) -> Cell {
    Cell { html, class: "estimate" }
}

fn none() -> Cell {
    words("–")
}

/// All of them, result by result.
pub(super) fn all(results: &Results) -> Vec<Table> {
    fn of<'a, T>(all: &'a [Named<T>], tables: impl Fn(&'a T, Place) -> Vec<Table>) -> Vec<Table> {
        all.iter().flat_map(|one| tables(&one.fit, Place::file(&format!("{}.json", one.file)))).collect()
    }
    let mut tables = of(&results.choices, |fit, place| questions(fit, &place));
    tables.extend(of(&results.stages, |fit, place| vec![stages(fit, &place)]));
    tables.extend(of(&results.size_tokens, |fit, place| vec![size_tokens(fit, &place)]));
    tables.extend(of(&results.isoflop, |fit, place| sweeps(fit, &place)));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn heads(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Means of every model on every distribution, groups within them left to the figure's numbers.
fn questions(fit: &ChoicesFit, place: &Place) -> Vec<Table> {
    let groups = fit.groups.iter().enumerate();
    groups.map(|(at, group)| of_questions(group, fit.level, &place.at("groups").at(at))).collect()
}

fn of_questions(group: &ChoicesGroup, level: f64, place: &Place) -> Table {
    let means = || group.models.iter().flat_map(|model| &model.means);
    // Fewer measures, the same order.
    let mut seen = BTreeSet::new();
    let measures: Vec<_> = means()
        .flat_map(|mean| &mean.values)
        .map(|value| value.measure)
        .filter(|measure| seen.insert(measure.name()))
        .collect();
    let level = format::percent(level);
    let mut head = heads(&["model", "asked", "distribution", "items", "by chance"]);
    head.extend(measures.iter().map(|measure| format!("{measure} [{level}]")));
    let mut rows = Vec::new();
    for (number_of_model, model) in group.models.iter().enumerate() {
        let place = place.at("models").at(number_of_model).at("means");
        for (at, mean) in model.means.iter().enumerate().filter(|(_, mean)| mean.group.is_none()) {
            let place = place.at(at);
            let mut row = vec![
                words(&model.model),
                words(&mean.format),
                words(mean.distribution.as_deref().unwrap_or("all")),
                number(place.at("items").count(mean.items)),
                number(place.at("chance").number(mean.chance, &format::fixed(mean.chance, 2))),
            ];
            row.extend(measures.iter().map(|&measure| {
                let found = mean.values.iter().enumerate().find(|(_, value)| value.measure == measure);
                found.map_or_else(none, |(at, value)| {
                    number(place.at("values").at(at).at("mean").estimate(&value.mean))
                })
            }));
            rows.push(row);
        }
    }
    Table {
        title: format!("Questions of {} under {}", group.corpus, group.family),
        head,
        rows,
        note: "Intervals by items drawn again, the models held fixed. By chance: the accuracy of one who picks blindly.",
    }
}

/// The curves of both stages and the direct ones.
fn stages(fit: &StagesFit, place: &Place) -> Table {
    let mut rows = Vec::new();
    for (at, group) in fit.groups.iter().enumerate() {
        let place = place.at("groups").at(at).at("curves");
        let curves = &group.curves;
        for (member, name, outcome) in [
            ("loss", "first stage: loss = a x^-alpha + c", &curves.loss),
            ("accuracy", "second stage: accuracy, a sigmoid of the loss", &curves.accuracy),
            ("direct_power", "directly: -ln accuracy = a x^-alpha", &curves.direct_power),
            ("direct_sigmoid", "directly: accuracy, a sigmoid of -ln x", &curves.direct_sigmoid),
        ] {
            rows.push(stage(&group.name, name, outcome, &place.at(member)));
        }
    }
    let level = format::percent(fit.level);
    Table {
        title: format!("{} to {}, in two stages, against {}", fit.loss, fit.accuracy, fit.x),
        head: vec![
            "group".to_owned(),
            "curve".to_owned(),
            format!("parameters [{level}]"),
            "R²".to_owned(),
            "points".to_owned(),
        ],
        rows,
        note: "R² is of what is fitted: ln loss in the first stage, the accuracy in the second, ln(-ln accuracy) of the direct power law.",
    }
}

fn stage(group: &str, name: &str, outcome: &Outcome<StageCurve>, place: &Place) -> Vec<Cell> {
    let mut row = vec![words(group), words(name)];
    row.extend(match outcome {
        Outcome::Refused { reason } => [words(reason), none(), none()],
        Outcome::Fitted(curve) => {
            let parameters = curve.parameters.iter().enumerate().map(|(at, parameter)| {
                let place = place.at("parameters").at(at).at("estimate");
                Html::text(&format!("{} ", parameter.name)).with(&place.significant(&parameter.estimate))
            });
            [
                Cell { html: Html::join(parameters, "; "), class: "words" },
                r_squared(curve.r_squared, &place.at("r_squared")),
                number(place.at("points").count(u64::from(curve.points))),
            ]
        }
    });
    row
}

fn r_squared(value: Option<f64>, place: &Place) -> Cell {
    value.map_or_else(none, |r| number(place.number(r, &format::r_squared(Some(r)))))
}

fn estimate(value: Option<&Estimate>, place: &Place) -> Cell {
    value.map_or_else(none, |value| number(place.estimate(value)))
}

/// Slopes of errors and gaps along size at fixed tokens, and along tokens at fixed size.
fn size_tokens(fit: &SizeTokensFit, place: &Place) -> Table {
    let mut rows = Vec::new();
    for (at, distribution) in fit.distributions.iter().enumerate() {
        let place = place.at("distributions").at(at);
        let directions = [
            ("along_size", "size", &distribution.absolute.along_size),
            ("along_tokens", "tokens", &distribution.absolute.along_tokens),
        ];
        for (number_of, (member, name, absolute)) in directions.into_iter().enumerate() {
            let gap = distribution.gap.as_ref().map(|gap| [&gap.along_size, &gap.along_tokens][number_of]);
            let mut row = vec![words(&distribution.name), words(name)];
            row.extend(direction(Some(absolute), &place.at("absolute").at(member)));
            row.extend(direction(gap, &place.at("gap").at(member)));
            row.push(number(
                place.at("absolute").at(member).at("slices").count(absolute.slices.len() as u64),
            ));
            rows.push(row);
        }
    }
    let level = format::percent(fit.level);
    Table {
        title: format!("{} along size and along tokens, gaps to {}", fit.error, fit.baseline),
        head: vec![
            "distribution".to_owned(),
            "along".to_owned(),
            format!("slope of ln E [{level}]"),
            "E times".to_owned(),
            format!("slope of ln G [{level}]"),
            "G times".to_owned(),
            "slices".to_owned(),
        ],
        rows,
        note: "A slope is the mean over slices, each of one number of tokens (or one size); its interval is the jackknife's over sizes. Times: what E or G is \
               multiplied by over the whole range. A slope of ln G below 0: the gap closes.",
    }
}

fn direction(direction: Option<&Direction>, place: &Place) -> [Cell; 2] {
    let factor = direction.and_then(|direction| direction.factor);
    [
        estimate(direction.and_then(|direction| direction.slope.as_ref()), &place.at("slope")),
        factor.map_or_else(none, |factor| {
            number(place.at("factor").number(factor, &format::significant(factor)))
        }),
    ]
}

/// How optima grow with the budget, by every method, and whether the methods agree.
fn sweeps(fit: &IsoflopFit, place: &Place) -> Vec<Table> {
    let level = format::percent(fit.level);
    let groups = fit.groups.iter().enumerate();
    groups
        .flat_map(|(at, group)| {
            let place = place.at("groups").at(at);
            [optima(group, &level, &place), surfaces(group, &level, &place), agreement(group, &place)]
        })
        .collect()
}

fn optima(group: &IsoflopGroup, level: &str, place: &Place) -> Table {
    let mut rows = Vec::new();
    for (at, path) in group.paths.iter().enumerate() {
        let place = place.at("paths").at(at);
        for (member, name, outcome) in [("params", "N*", &path.params), ("tokens", "D*", &path.tokens)] {
            let place = place.at(member);
            let mut row = vec![words(path.curve.name()), words(name)];
            row.extend(match outcome {
                Outcome::Refused { reason } => [words(reason), none(), none(), none()],
                Outcome::Fitted(law) => [
                    number(place.at("exponent").estimate(&law.exponent)),
                    number(place.at("exponent_by_runs").estimate(&law.exponent_by_runs)),
                    r_squared(law.r_squared, &place.at("r_squared")),
                    number(place.at("budgets").count(u64::from(law.budgets))),
                ],
            });
            rows.push(row);
        }
    }
    Table {
        title: format!("Optima of {} as A · C^a", group.name),
        head: vec![
            "minima by".to_owned(),
            "optimum".to_owned(),
            format!("a [{level}], scatter of the minima"),
            format!("a [{level}], scatter of the runs"),
            "R²".to_owned(),
            "budgets".to_owned(),
        ],
        rows,
        note: "",
    }
}

fn surfaces(group: &IsoflopGroup, level: &str, place: &Place) -> Table {
    let rows = group.surfaces.iter().enumerate().map(|(at, surface)| {
        let place = place.at("surfaces").at(at).at("outcome");
        let mut row = vec![words(surface.method.name())];
        row.extend(match &surface.outcome {
            Outcome::Refused { reason } => vec![words(reason), none(), none(), none(), none()],
            Outcome::Fitted(law) => [
                ("e", &law.e),
                ("alpha", &law.alpha),
                ("beta", &law.beta),
                ("size_exponent", &law.size_exponent),
                ("tokens_exponent", &law.tokens_exponent),
            ]
            .map(|(member, estimate)| number(place.at(member).estimate(estimate)))
            .into(),
        });
        row
    });
    Table {
        title: format!("The surface of {}, E + A · N^-alpha + B · D^-beta", group.name),
        head: vec![
            "by".to_owned(),
            format!("E [{level}]"),
            "alpha".to_owned(),
            "beta".to_owned(),
            "a of N*".to_owned(),
            "a of D*".to_owned(),
        ],
        rows: rows.collect(),
        note: "",
    }
}

fn agreement(group: &IsoflopGroup, place: &Place) -> Table {
    let rows = group.agreement.iter().enumerate().map(|(at, agreement)| {
        let place = place.at("agreement").at(at);
        let value = |member: &str, found: &relscale_laws::MethodValue| Cell {
            html: place
                .at(member)
                .at("value")
                .number(found.value, &format::significant(found.value))
                .then(&format!(", {}", found.method)),
            class: "words",
        };
        let outcome = match &agreement.outcome {
            Judged::Within => "within: every two intervals meet".to_owned(),
            Judged::Apart { pairs } => {
                let pairs: Vec<String> =
                    pairs.iter().map(|(one, other)| format!("{one} and {other}")).collect();
                format!("apart: {}", pairs.join("; "))
            }
            Judged::NotJudged => "not judged: fewer than two have an interval".to_owned(),
        };
        vec![
            words(&agreement.quantity),
            value("smallest", &agreement.smallest),
            value("largest", &agreement.largest),
            words(&outcome),
        ]
    });
    Table {
        title: format!("Whether the methods agree on {}", group.name),
        head: heads(&["quantity", "smallest", "largest", "intervals"]),
        rows: rows.collect(),
        note: "",
    }
}
