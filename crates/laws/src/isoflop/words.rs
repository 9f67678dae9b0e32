//! Sentences with their numbers.

use crate::result::{Curve, Estimate, IsoflopGroup, MethodOptimum, PathLaw};
use crate::verdict::magnitude;

/// Whether the methods agree on a budget.
pub(super) fn of_methods(methods: &[MethodOptimum]) -> String {
    let with: Vec<(&str, f64, f64)> = methods
        .iter()
        .filter_map(|method| {
            let (low, high) = method.params.bounds()?;
            Some((method.method.as_str(), low, high))
        })
        .collect();
    if with.len() < 2 {
        return "fewer than two methods give an interval, so their agreement cannot be judged".to_owned();
    }
    let apart = with.iter().enumerate().find_map(|(at, a)| {
        let b = with[at + 1..].iter().find(|b| a.2 < b.1 || b.2 < a.1)?;
        Some((a, b))
    });
    let values: Vec<f64> = methods.iter().map(|method| method.params.value).collect();
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ratio = largest / values.iter().copied().fold(f64::INFINITY, f64::min);
    // Methods that differ by a per cent should not read as if they differed by nothing.
    let ratio = if ratio < 1.1 { format!("{ratio:.3}") } else { format!("{ratio:.2}") };
    match apart {
        None => format!("the methods agree on N* within their intervals (largest over smallest {ratio})"),
        Some((a, b)) => format!(
            "{} and {} disagree on N*: [{}, {}] and [{}, {}] do not meet (largest over smallest of all methods {ratio})",
            a.0,
            b.0,
            magnitude(a.1),
            magnitude(a.2),
            magnitude(b.1),
            magnitude(b.2)
        ),
    }
}

/// What a reader would be told who asks once.
pub(super) fn of_group(group: &IsoflopGroup) -> String {
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
            format!("{} runs in {budgets} budgets, {cubic} of them with a bracketed minimum", group.runs)
        }
    };
    let path = group.paths.iter().find(|path| path.curve == Curve::Cubic);
    let laws = path.and_then(|path| Some((path.params.law()?, path.tokens.law()?)));
    match laws {
        Some((params, tokens)) => {
            format!("{head}: N* grows as C^{}, D* as C^{}, by cubics.", power(params), power(tokens))
        }
        None => {
            let surface =
                group.surfaces.iter().find_map(|surface| surface.law().map(|law| (surface.method, law)));
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
        Some((low, high)) => format!("{:.3} [{low:.3}, {high:.3}]", estimate.value),
        None => format!("{:.3} (no interval)", estimate.value),
    }
}
