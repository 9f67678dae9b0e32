//! Points to laws: the fit, its predictions of points it has not seen, its flags.

use std::collections::BTreeMap;

use crate::audit::Form;
use crate::result::{Flag, FlagCode, Law, LeftOut, Outcome, Point, Quantity, TableGroup};
use crate::series::{self, Setting, Words};
use crate::tables::{Given, Observation};
use crate::{rivals, verdict};

/// The laws of all groups, groups by name, columns in the order of the observations.
pub(super) fn groups(observations: Vec<Observation>, x: &str, level: f64) -> Vec<TableGroup> {
    let mut columns: Vec<String> = Vec::new();
    let mut sorted: BTreeMap<String, BTreeMap<usize, Vec<Observation>>> = BTreeMap::new();
    for observation in observations {
        let column =
            columns.iter().position(|name| *name == observation.column).unwrap_or_else(|| {
                columns.push(observation.column.clone());
                columns.len() - 1
            });
        sorted
            .entry(observation.group.clone())
            .or_default()
            .entry(column)
            .or_default()
            .push(observation);
    }
    sorted
        .into_iter()
        .map(|(name, columns)| TableGroup {
            name,
            laws: columns.into_values().map(|rows| law(rows, x, level)).collect(),
        })
        .collect()
}

/// The law of one column in one group; there is at least one row.
fn law(mut rows: Vec<Observation>, x: &str, level: f64) -> Law {
    let place = |row: &Observation| row.x.first().copied().unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| {
        place(a).total_cmp(&place(b)).then_with(|| (a.name(), &a.place).cmp(&(b.name(), &b.place)))
    });
    let (column, kind) = (rows[0].column.clone(), rows[0].kind);
    let mut points = Vec::new();
    let mut left_out = Vec::new();
    for row in &rows {
        let (label, place) = (row.name().to_owned(), Some(row.place.clone()));
        let x = row.x.first().copied();
        let (given, reason) = match (x, &row.given) {
            (Some(x), &Given::Value { given, value }) => {
                let (given, samples) = (Some(given), row.samples);
                points.push(Point { label, place, x, given, value, samples, ..Point::default() });
                continue;
            }
            (None, &Given::Value { given, .. }) => {
                (Some(given), "its size is not known".to_owned())
            }
            (_, &Given::Boundary { given, .. }) => {
                (Some(given), row.left_out().unwrap_or_default())
            }
            (_, Given::Lacking { reason, number } | Given::Ended { reason, number }) => {
                (*number, reason.clone())
            }
        };
        left_out.push(LeftOut { label, place, x, given: given.filter(|n| n.is_finite()), reason });
    }
    let mut law = Law {
        quantity: Quantity::Column { kind, symbol: kind.symbol(&column) },
        name: column,
        unit: kind.unit().to_owned(),
        points,
        left_out,
        outcome: Outcome::refuse(""),
        rivals: None,
        text: None,
        flags: row_flags(&rows),
        breakdown: None,
        verdict: String::new(),
    };
    law.flags.extend(left_out_flag(&law));
    fit(&mut law, level);
    law.verdict = sentence(&law, x);
    law
}

fn fit(law: &mut Law, level: f64) {
    let fit = match series::fit(&mut law.points, None) {
        Ok(fit) => fit,
        Err(refusal) => {
            let one = ("point", "the value changes");
            law.outcome =
                Outcome::refuse(series::refused(&law.points, &refusal, "no row has a point", one));
            return;
        }
    };
    let (unit, points) = (law.unit.as_str(), law.points.as_slice());
    let unseen = Some(Form::Open);
    let setting = Setting { unit, x: "x", level, text: None, parts: false, unseen, claimed: true };
    let described = series::describe(&fit, points, setting);
    let symbol = law.quantity.symbol();
    let words = Words {
        points: "points",
        before: "",
        falls: Some((&symbol, "")),
        twins: Some(("rows of one x count as separate points", true)),
        bends: None,
    };
    law.flags.extend(series::flags(&fit, &described, points, words, []));
    let mut rivals = rivals::compare(points, unit, level, true);
    // Their error alone is told, in the sentence.
    for held_out in rivals.forms.iter_mut().flat_map(|rival| &mut rival.held_out) {
        held_out.predictions.clear();
    }
    law.flags.extend(series::bend(&rivals));
    law.outcome = Outcome::fitted(described);
    law.rivals = Some(rivals);
}

/// Flags that the rows brought along, each once.
fn row_flags(rows: &[Observation]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    for flag in rows.iter().flat_map(|row| &row.flags) {
        if !flags.contains(flag) {
            flags.push(flag.clone());
        }
    }
    flags
}

fn left_out_flag(law: &Law) -> Option<Flag> {
    let rows: Vec<String> = law
        .left_out
        .iter()
        .map(|row| {
            format!("{} ({}: {})", row.label, row.place.as_deref().unwrap_or_default(), row.reason)
        })
        .collect();
    let all = rows.len() + law.points.len();
    (!rows.is_empty()).then(|| {
        Flag::new(
            FlagCode::PointsLeftOut,
            format!("{} of {all} rows left out of the fit: {}", rows.len(), rows.join("; ")),
        )
    })
}

fn sentence(law: &Law, x: &str) -> String {
    let symbol = law.quantity.symbol();
    match &law.outcome {
        Outcome::Refused { reason } => format!("{symbol}: no law, {reason}."),
        Outcome::Fitted(fit) => {
            let direction = verdict::direction(&fit.exponent);
            let slope =
                verdict::slope_in(x, &fit.exponent, fit.r_squared.filter(|_| fit.points > 2));
            format!(
                "{symbol} {direction} as {slope} over {} points from {} to {}.",
                fit.points,
                verdict::magnitude(fit.range.0),
                verdict::magnitude(fit.range.1)
            )
        }
    }
}
