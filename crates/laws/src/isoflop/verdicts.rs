//! The verdicts: sentences with their numbers.

use relscale_records::digits;

use super::path::HELD;
use crate::result::{Agreement, Curve, Estimate, IsoflopGroup, Judged, PathLaw};

/// Whether the methods agree, quantity by quantity.
pub(super) fn agreement(agreement: &[Agreement]) -> String {
    let of = |outcome: fn(&Judged) -> bool| -> Vec<&Agreement> {
        agreement.iter().filter(|agreement| outcome(&agreement.outcome)).collect()
    };
    let apart = of(|outcome| matches!(outcome, Judged::Apart { .. }));
    let within = of(|outcome| *outcome == Judged::Within);
    let mut parts: Vec<String> = apart
        .iter()
        .map(|agreement| {
            let Judged::Apart { pairs } = &agreement.outcome else { return String::new() };
            let pairs: Vec<String> = pairs.iter().map(|(a, b)| format!("{a} and {b}")).collect();
            format!(
                "on {} the intervals of {} do not meet ({})",
                agreement.quantity,
                pairs.join(", of "),
                range(agreement)
            )
        })
        .collect();
    if !within.is_empty() {
        let quantities: Vec<String> = within
            .iter()
            .map(|agreement| format!("{} ({})", agreement.quantity, range(agreement)))
            .collect();
        parts
            .push(format!("the methods agree within their intervals on {}", quantities.join(", ")));
    }
    match parts.is_empty() {
        true => "fewer than two methods give an interval, so their agreement cannot be judged"
            .to_owned(),
        false => parts.join("; "),
    }
}

/// From the smallest to the largest value, and how much that is.
fn range(agreement: &Agreement) -> String {
    let (low, high) = (agreement.smallest.value, agreement.largest.value);
    format!("{} to {}, ratio {:.3}", digits::number(low), digits::number(high), high / low)
}

/// What a reader would be told who asks once.
pub(super) fn group(group: &IsoflopGroup) -> String {
    let found = |curve| {
        let with = |budget: &&crate::result::IsoflopBudget| {
            budget.minima.iter().any(|minimum| minimum.curve == curve && minimum.found().is_some())
        };
        group.budgets.iter().filter(with).count()
    };
    let cubic = found(Curve::Cubic);
    let head = match group.budgets.len() {
        0 => format!("{} runs without budgets", group.runs),
        budgets => {
            format!(
                "{} runs in {budgets} budgets, {cubic} of them with a bracketed minimum",
                group.runs
            )
        }
    };
    let path = group.paths.iter().find(|path| path.curve == Curve::Cubic);
    let laws = path.and_then(|path| Some((path.params.fit()?, path.tokens.fit()?)));
    match laws {
        Some((params, tokens)) => {
            format!(
                "{head}: N* grows as C^{}, D* as C^{}, by cubics.",
                power(params),
                power(tokens)
            )
        }
        None => {
            let surface = group
                .surfaces
                .iter()
                .find_map(|surface| surface.law().map(|law| (surface.method, law)));
            match surface {
                Some((method, law)) => format!(
                    "{head}; by the surface ({}) N* grows as C^{}.",
                    method.name(),
                    with_interval(&law.size_exponent)
                ),
                None => format!("{head}; neither laws nor a surface could be fitted."),
            }
        }
    }
}

fn power(law: &PathLaw) -> String {
    with_interval(&law.exponent)
}

fn with_interval(estimate: &Estimate) -> String {
    match estimate.bounds() {
        None if estimate.interval.reason() == Some(HELD) => {
            format!("{} (held)", digits::number(estimate.value))
        }
        bounds => digits::estimate(estimate.value, bounds).to_string(),
    }
}
