//! Columns that count in another unit than one by one: sizes in millions, tokens in billions,
//! logarithms.
//!
//! FLOPs by N D tell it: 2 (forward) or 6 (training), a little more where attention and vocabulary
//! count. Where they are far from it, or sizes are smaller than any model, the units are tried that
//! would mend it, and the likeliest is named.

use super::facts::Facts;
use super::run::SweepRun;
use crate::result::{Curve, Flag, FlagCode, Outcome, PathLaw};

/// FLOPs by N D that are usual.
const USUAL: std::ops::RangeInclusive<f64> = 2.0..=12.0;
/// Below it nobody counts parameters or tokens one by one.
const SMALL: f64 = 1000.0;
/// How far the exponents of N* and D* together may lie from 1, where C goes with N D.
const SUM: f64 = 0.1;
/// Units of FLOPs, parameters and tokens, as they are named.
const UNITS: [(f64, &str); 6] = [
    (1.0, ""),
    (1e3, "thousands"),
    (1e6, "millions"),
    (1e9, "billions (G)"),
    (1e12, "trillions (T)"),
    (1e18, "1e18 (E)"),
];
/// Tokens a parameter that training makes usual.
const TOKENS_A_PARAMETER: f64 = 20.0;

/// The caution, with the units that would make the numbers usual.
pub(super) fn flag(facts: &Facts<'_>) -> Option<Flag> {
    let runs = &facts.runs.runs;
    let (params, tokens) =
        (median(runs, |run| Some(run.params))?, median(runs, |run| Some(run.tokens))?);
    let seen = facts.per_product.map(|(median, ..)| median);
    let off = seen.filter(|ratio| !USUAL.contains(ratio));
    let sum = facts.exponents.filter(|(a, b)| (a + b - 1.0).abs() > SUM);
    let small = params < SMALL || tokens < SMALL;
    if off.is_none() && !small && sum.is_none() {
        return None;
    }
    let mut told = Vec::new();
    if let Some(ratio) = off {
        told.push(format!(
            "budgets are {} times N D, where 2 (forward) or 6 (training) is usual",
            short(ratio)
        ));
    }
    if small {
        told.push(format!(
            "half of the runs have fewer than {} parameters and {} tokens",
            short(params),
            short(tokens)
        ));
    }
    if let Some((a, b)) = sum {
        told.push(format!(
            "N* grows as C^{a:.3} and D* as C^{b:.3}, which together should be close to C^1"
        ));
    }
    let likely = likely(runs, params, tokens).unwrap_or_else(|| {
        match off {
            Some(ratio) if (12.0..=1000.0).contains(&ratio) => {
                "N may leave out what costs most (embeddings, the head, attention): say what it counts with --count".to_owned()
            }
            _ => "if a column counts in another unit, write its numbers out (70M, 1.4B), and say the budgets' with --budget-unit (GFLOPs: 1e9)"
                .to_owned(),
        }
    });
    Some(Flag::new(FlagCode::UnlikelyUnit, format!("{}: {likely}", told.join("; "))))
}

/// The exponents of N* and D* by the default curve.
pub(super) fn exponents(paths: &[crate::result::OptimumPath]) -> Option<(f64, f64)> {
    let path = paths.iter().find(|path| path.curve == Curve::Cubic)?;
    let of = |outcome: &Outcome<PathLaw>| outcome.fit().map(|law| law.exponent.value);
    Some((of(&path.params)?, of(&path.tokens)?))
}

/// What the columns likely are.
fn likely(runs: &[SweepRun], params: f64, tokens: f64) -> Option<String> {
    let seen = median(runs, |run| Some(run.budget? / (run.params * run.tokens)));
    let of_base = |(base, name): (f64, &'static str)| {
        let (n, d) = (base.powf(params), base.powf(tokens));
        // Run by run: the middle of each column is another run's.
        let ratio = base.powf(median(runs, |run| Some(run.budget? - run.params - run.tokens))?);
        // The right one gives 6, or 2; others come near them by chance.
        let off = (ratio / 6.0).ln().abs().min((ratio / 2.0).ln().abs());
        (USUAL.contains(&ratio) && n > SMALL && d > SMALL).then_some((off, name, ratio))
    };
    let bases =
        [(10.0, "10"), (2.0, "2"), (std::f64::consts::E, "e")].into_iter().filter_map(of_base);
    if let Some((_, name, ratio)) = bases.min_by(|a, b| a.0.total_cmp(&b.0)) {
        return Some(format!(
            "the columns are likely logarithms to base {name}, for then budgets are {} times N D; give the numbers themselves",
            short(ratio)
        ));
    }
    let mut found: Vec<(usize, f64, String)> = Vec::new();
    for (of_budget, budgets) in UNITS {
        for (of_params, sizes) in &UNITS[..4] {
            for (of_tokens, texts) in &UNITS[..5] {
                let (n, d) = (params * of_params, tokens * of_tokens);
                let scale = of_budget / (of_params * of_tokens);
                let usual = seen.is_none_or(|ratio| USUAL.contains(&(ratio * scale)));
                if !usual || n < SMALL || d < SMALL {
                    continue;
                }
                let named = [("params", sizes), ("tokens", texts), ("budgets", &budgets)];
                let named: Vec<String> = named
                    .iter()
                    .filter(|(_, unit)| !unit.is_empty())
                    .map(|(what, unit)| format!("{what} in {unit}"))
                    .collect();
                let off = (d / n / TOKENS_A_PARAMETER).ln().abs();
                found.push((named.len(), off, named.join(", ")));
            }
        }
    }
    found.retain(|(count, ..)| *count > 0);
    let fewest = found.iter().map(|(count, ..)| *count).min()?;
    let best = found
        .into_iter()
        .filter(|(count, ..)| *count == fewest)
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let how = if best.2.contains("budgets") { " and --budget-unit for budgets" } else { "" };
    Some(format!("the table likely has {}; write the numbers out (70M, 1.4B){how}", best.2))
}

fn median(runs: &[SweepRun], of: impl Fn(&SweepRun) -> Option<f64>) -> Option<f64> {
    let mut values: Vec<f64> = runs.iter().filter_map(of).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn short(number: f64) -> String {
    match number {
        0.01..10000.0 => {
            format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{number:.1e}"),
    }
}
