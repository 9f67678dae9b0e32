//! Points to laws: the fit, its predictions of points it has not seen, its doubts.

use std::collections::BTreeMap;

use relscale_stats::StatsError;
use relscale_stats::forms::power::Power;
use relscale_stats::outcome::Caution;

use super::kind::{Kind, Value};
use crate::audit::{self, Held};
use crate::judged;
use crate::line::Fit;
use crate::power_law::bend;
use crate::result::{
    Flag, FlagCode, Rivals, TableAuditStep, TableGroup, TableHeldOut, TableLaw, TableLeftOut, TableOutcome,
    TablePoint, TablePowerLaw,
};
use crate::rivals::{self, Seen};
use crate::verdict;

/// What a row gives.
#[derive(Debug, Clone)]
pub(super) enum Given {
    /// Possible for its kind.
    Value(f64),
    /// Nothing that a law can use.
    None {
        /// Why, in words.
        reason: String,
        /// What stands there, where it is a number.
        number: Option<f64>,
    },
}

/// One value of one row.
#[derive(Debug, Clone)]
pub(super) struct Observation {
    pub(super) group: String,
    pub(super) column: String,
    pub(super) kind: Kind,
    pub(super) label: String,
    pub(super) place: String,
    /// Above zero, finite; `None` only where there is no value either.
    pub(super) x: Option<f64>,
    pub(super) given: Given,
    /// What the value is a mean over, where that is known.
    pub(super) samples: Option<u64>,
    /// Where x comes from, when that is a doubt.
    pub(super) doubts: Vec<Flag>,
}

/// The laws of all groups, groups by name, columns in the order of the observations.
pub(super) fn groups(observations: Vec<Observation>, x: &str, level: f64) -> Vec<TableGroup> {
    let mut columns: Vec<String> = Vec::new();
    let mut sorted: BTreeMap<String, BTreeMap<usize, Vec<Observation>>> = BTreeMap::new();
    for observation in observations {
        let column = columns.iter().position(|name| *name == observation.column).unwrap_or_else(|| {
            columns.push(observation.column.clone());
            columns.len() - 1
        });
        sorted.entry(observation.group.clone()).or_default().entry(column).or_default().push(observation);
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
fn law(mut rows: Vec<Observation>, x: &str, level: f64) -> TableLaw {
    let place = |row: &Observation| row.x.unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| {
        place(a).total_cmp(&place(b)).then_with(|| (&a.label, &a.place).cmp(&(&b.label, &b.place)))
    });
    let (column, kind) = (rows[0].column.clone(), rows[0].kind);
    let mut points = Vec::new();
    let mut left_out = Vec::new();
    for row in &rows {
        let (label, place, samples) = (row.label.clone(), row.place.clone(), row.samples);
        let (x, given, reason) = match (row.x, &row.given) {
            (Some(x), &Given::Value(given)) => match kind.value(given) {
                Value::Of(value) => {
                    let (fitted, log_residual, leverage) = (None, None, None);
                    points.push(TablePoint {
                        label,
                        place,
                        x,
                        given,
                        value,
                        samples,
                        fitted,
                        log_residual,
                        leverage,
                    });
                    continue;
                }
                Value::Boundary(reason) | Value::Impossible(reason) => {
                    (Some(x), Some(given), format!("{column} is {given}: {reason}"))
                }
            },
            (None, &Given::Value(given)) => (None, Some(given), "its size is not known".to_owned()),
            (x, Given::None { reason, number }) => (x, *number, reason.clone()),
        };
        left_out.push(TableLeftOut { label, place, x, given: given.filter(|n| n.is_finite()), reason });
    }
    let mut law = TableLaw {
        symbol: kind.symbol(&column),
        unit: kind.unit().to_owned(),
        column,
        kind,
        points,
        left_out,
        outcome: TableOutcome::Refused { reason: String::new() },
        rivals: None,
        flags: of_rows(&rows),
        verdict: String::new(),
    };
    law.flags.extend(left_out_flag(&law));
    fit(&mut law, level);
    law.verdict = sentence(&law, x);
    law
}

fn fit(law: &mut TableLaw, level: f64) {
    let xs: Vec<f64> = law.points.iter().map(|point| point.x).collect();
    let ys: Vec<f64> = law.points.iter().map(|point| point.value).collect();
    let fit = match Fit::new(&xs, &ys, None) {
        Ok(fit) => fit,
        Err(refusal) => {
            let reason = match law.points.as_slice() {
                [] => "no row has a point".to_owned(),
                [only] => format!("one point ({}) cannot show how the value changes", only.label),
                _ => refusal.to_string(),
            };
            law.outcome = TableOutcome::Refused { reason };
            return;
        }
    };
    for (at, point) in law.points.iter_mut().enumerate() {
        point.fitted = Some(fit.power.at(point.x)).filter(|value| value.is_finite());
        point.log_residual = Some(fit.power.line.residuals[at]);
        point.leverage = Some(fit.power.line.leverage[at]);
    }
    let described = describe(&fit, law, &xs, &ys, level);
    law.flags.extend(judge(&fit.power, &described, law, &xs, &ys));
    law.outcome = TableOutcome::Fitted(Box::new(described));
    let rivals = compare(law, level);
    law.flags.extend(bend(&rivals));
    law.rivals = Some(rivals);
}

/// The other forms. Their single predictions are left out: they would name sizes as whole numbers, which x need not be.
fn compare(law: &TableLaw, level: f64) -> Rivals {
    let points: Vec<Seen<'_>> = law
        .points
        .iter()
        .map(|point| Seen { name: &point.label, size: point.x, value: point.value })
        .collect();
    let mut rivals = rivals::of(&points, &law.unit, level, true);
    for held_out in rivals.forms.iter_mut().flat_map(|rival| &mut rival.held_out) {
        held_out.predictions.clear();
    }
    rivals
}

fn describe(fit: &Fit, law: &TableLaw, xs: &[f64], ys: &[f64], level: f64) -> TablePowerLaw {
    let unit = law.unit.as_str();
    let held_out = |held: Held| {
        let point = &law.points[held.point];
        TableHeldOut {
            label: point.label.clone(),
            x: point.x,
            observed: point.value,
            predicted: held.predicted,
            relative_error: held.relative_error,
            covered: held.covered,
        }
    };
    TablePowerLaw {
        exponent: fit.exponent(level),
        prefactor: fit.prefactor(unit, "x", level),
        centre: fit.power.centre(),
        at_centre: fit.at_centre(unit, level),
        r_squared: fit.power.line.r_squared,
        residual_standard_deviation: fit.power.line.residual_variance().map(f64::sqrt),
        points: xs.len() as u32,
        range: (xs[0], xs[xs.len() - 1]),
        leave_one_out: audit::held_out_each(audit::Form::Open, xs, ys, unit, level)
            .into_iter()
            .map(held_out)
            .collect(),
        audit: audit::smallest_first(audit::Form::Open, xs, ys, unit, level)
            .into_iter()
            .map(|(fitted, exponent, held)| TableAuditStep {
                fitted_points: fitted as u32,
                exponent,
                predictions: held.into_iter().map(held_out).collect(),
            })
            .collect(),
    }
}

/// Doubts that the rows brought along, each once.
fn of_rows(rows: &[Observation]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    for flag in rows.iter().flat_map(|row| &row.doubts) {
        if !flags.contains(flag) {
            flags.push(flag.clone());
        }
    }
    flags
}

fn left_out_flag(law: &TableLaw) -> Option<Flag> {
    let rows: Vec<String> =
        law.left_out.iter().map(|row| format!("{} ({}: {})", row.label, row.place, row.reason)).collect();
    let all = rows.len() + law.points.len();
    (!rows.is_empty()).then(|| {
        Flag::new(
            FlagCode::PointsLeftOut,
            format!("{} of {all} rows left out of the fit: {}", rows.len(), rows.join("; ")),
        )
    })
}

/// What must be said about a fit that exists.
fn judge(fit: &Power, described: &TablePowerLaw, law: &TableLaw, xs: &[f64], ys: &[f64]) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut flag = |code, message: String| flags.push(Flag::new(code, message));
    if fit.line.cautions.contains(&Caution::NoScatter) {
        flag(FlagCode::NoInterval, format!("{}: a slope only", StatsError::NoDegreesOfFreedom));
    }
    let symbol = &law.symbol;
    match described.exponent.bounds() {
        _ if described.exponent.value <= 0.0 => flag(
            FlagCode::NotFalling,
            format!("{symbol} does not fall: exponent {:.4}", described.exponent.value),
        ),
        Some((low, high)) if low <= 0.0 => flag(
            FlagCode::NotFalling,
            format!("{symbol} may not fall: the exponent's interval [{low:.4}, {high:.4}] holds 0"),
        ),
        _ => {}
    }
    let twins: Vec<String> = law
        .points
        .windows(2)
        .filter(|pair| pair[0].x == pair[1].x)
        .map(|pair| format!("{} and {} ({})", pair[0].label, pair[1].label, pair[0].x))
        .collect();
    if !twins.is_empty() {
        flag(FlagCode::SameSize, format!("rows of one x count as separate points: {}", twins.join(", ")));
    }
    if !fit.line.cautions.contains(&Caution::Exact) {
        for (at, error) in audit::outlying(xs, ys) {
            flag(
                FlagCode::Outlier,
                format!(
                    "{} lies {:+.1} % from where the other points predict it",
                    law.points[at].label,
                    100.0 * error
                ),
            );
        }
        flags.extend(judged::lumped(xs, ys, "points"));
    }
    flags
}

fn sentence(law: &TableLaw, x: &str) -> String {
    match &law.outcome {
        TableOutcome::Refused { reason } => format!("{}: no law, {reason}.", law.symbol),
        TableOutcome::Fitted(fit) => {
            let direction = verdict::direction(&fit.exponent);
            let slope = verdict::slope_in(x, &fit.exponent, fit.r_squared.filter(|_| fit.points > 2));
            format!(
                "{} {direction} as {slope} over {} points from {} to {}.",
                law.symbol,
                fit.points,
                verdict::magnitude(fit.range.0),
                verdict::magnitude(fit.range.1)
            )
        }
    }
}
