//! Sentences with their numbers: what a reader would be told who asks once and reads no table.

use relscale_records::digits;
pub(crate) use relscale_records::digits::{given as magnitude, r_squared as r_squared_digits};

use crate::judged::chance;
use crate::result::{
    Estimate, FlagCode, FormFinding, FormTest, Interval, Law, Outcome, PowerLaw, Quantity, Regime,
    Rival, RivalFit, Rivals,
};

/// One sentence about a law.
pub(crate) fn law(law: &Law) -> String {
    let symbol = law.quantity.symbol();
    match &law.outcome {
        Outcome::Refused { reason } => format!("{symbol}: no law, {reason}."),
        Outcome::Fitted(fit) if !fit.claimed => {
            format!(
                "{symbol}: no slope is claimed, as some model has too few {} ({}).",
                if law.flags.iter().any(|flag| flag.code == FlagCode::FewMisses) {
                    "misses"
                } else {
                    "hits"
                },
                slope(fit)
            )
        }
        Outcome::Fitted(fit) => {
            format!("{symbol} {} as {}.", direction(&fit.exponent), slope_over(fit))
        }
    }
}

/// Two AICc no further apart than this tell nothing from one another (Burnham and Anderson 2002,
/// section 2.6).
const TOLD_APART: f64 = 2.0;

/// Whether the points reject a power law, which form is ahead if they do, and which predicts
/// held-out models best.
pub(crate) fn rivals(rivals: &Rivals, models: usize, claimed: bool) -> String {
    let mut said = Vec::new();
    if !claimed {
        said.push("Too few misses or hits to claim a law, so take no form from this.".to_owned());
    }
    let rejected = rivals.test.as_ref().is_some_and(|test| test.finding == FormFinding::Bends);
    said.extend(rivals.test.as_ref().map(|test| form_text(test, models)));
    if rejected {
        said.push(by_aicc(rivals, models));
    }
    if let Some(p_value) =
        rivals.test.as_ref().filter(|test| test.lumped).and_then(|test| test.lumped_p_value)
    {
        said.push(format!("Two laws explain the points better than one ({}).", chance(p_value)));
    }
    said.push(by_held_out(rivals, rejected));
    said.join(" ")
}

fn form_text(test: &FormTest, models: usize) -> String {
    let level = 100.0 * test.level;
    match (test.finding, test.p_value) {
        (FormFinding::Undecided, _) => {
            format!(
                "Undecided whether it is a power law: {models} models, {} are needed.",
                test.points_needed
            )
        }
        (FormFinding::Bends, Some(p_value)) => format!(
            "It is no power law: the points bend ({}, level {level} %), {}.",
            chance(p_value),
            if test.curvature.unwrap_or(0.0) > 0.0 {
                "flatter towards the largest"
            } else {
                "steeper towards the largest"
            }
        ),
        (_, Some(p_value)) => format!(
            "A power law is not rejected ({}, level {level} %); {}.",
            chance(p_value),
            test.would_change
        ),
        (_, None) => "The points lie on a power law to rounding.".to_owned(),
    }
}

/// Which form predicts the largest models best. It is one draw, and told as such unless the power
/// law is rejected anyway.
fn by_held_out(rivals: &Rivals, rejected: bool) -> String {
    let Some((name, left_out)) = rivals.best_by_held_out.as_deref().zip(rivals.held_out_models)
    else {
        return "Too few models to hold the largest ones out.".to_owned();
    };
    let whom = if left_out == 1 {
        "largest model".to_owned()
    } else {
        format!("{left_out} largest models")
    };
    let error = |name: &str| {
        rivals.form(name).and_then(|rival| rival.error(left_out)).map(|error| {
            match 100.0 * error.exp_m1() {
                error if error > 1000.0 => "more than tenfold".to_owned(),
                error => format!("{error:.1} %"),
            }
        })
    };
    let power = rivals.forms.first().map_or("power law", |rival| rival.form.as_str());
    let best = error(name).unwrap_or_default();
    if name == power {
        return format!(
            "From the smaller models the {name} predicts the {whom} best (error {best})."
        );
    }
    let beside = error(power).map_or("cannot".to_owned(), |error| error);
    let caveat = if rejected { "" } else { ", which by itself decides nothing" };
    format!(
        "From the smaller models the {name} predicts the {whom} best (error {best}, the {power} {beside}){caveat}."
    )
}

/// What AICc says, or why it says nothing.
fn by_aicc(rivals: &Rivals, models: usize) -> String {
    let mut ranked: Vec<(&Rival, &RivalFit, f64)> = rivals
        .forms
        .iter()
        .filter_map(|rival| {
            let fit = rival.fit()?;
            Some((rival, fit, fit.aicc_difference?))
        })
        .collect();
    ranked.sort_by(|a, b| a.2.total_cmp(&b.2));
    let [(best, fit, _), others @ ..] = &ranked[..] else {
        return format!("{models} models are too few to compare forms by AICc.");
    };
    let Some((next, _, behind)) = others.first() else {
        return format!("{models} models are too few to compare forms by AICc.");
    };
    // A bend is seen with fewer models than a curve's parameters can be priced with.
    if rivals.forms.first().is_some_and(|power| power.form == best.form) {
        return format!(
            "{models} models are too few to name another form: by AICc none is ahead of it."
        );
    }
    let weight = fit.weight.unwrap_or(0.0);
    let level: Vec<&str> = others
        .iter()
        .take_while(|(_, _, difference)| *difference < TOLD_APART)
        .map(|(rival, _, _)| rival.form.as_str())
        .collect();
    if level.is_empty() {
        format!(
            "By AICc the {} describes them best (weight {weight:.2}; next, the {}, {behind:.1} behind).",
            best.form, next.form
        )
    } else {
        format!(
            "By AICc the {} is ahead (weight {weight:.2}), not told apart from the {}.",
            best.form,
            level.join(", the ")
        )
    }
}

/// A few sentences about a family on a corpus.
pub(crate) fn group(rank_laws: &[Law], cross_entropy: &Law) -> String {
    let mut sentences = Vec::new();
    // The smallest k that can be claimed; 1 wherever there is data.
    let head =
        rank_laws.iter().find_map(|law| law.fit().filter(|fit| fit.claimed).map(|fit| (law, fit)));
    match (head, cross_entropy.fit()) {
        (Some((law, fit)), Some(entropy)) => sentences.push(format!(
            "{} {} as {}; the cross entropy {} as {}.",
            law.quantity.symbol(),
            direction(&fit.exponent),
            slope_over(fit),
            direction(&entropy.exponent),
            slope(entropy)
        )),
        (Some((law, _)), None) => {
            sentences.push(law.verdict.clone());
            sentences.push(cross_entropy.verdict.clone());
        }
        (None, _) => {
            sentences.extend(rank_laws.first().map(|law| law.verdict.clone()));
            sentences.push(cross_entropy.verdict.clone());
        }
    }
    let told: Vec<&PowerLaw> =
        head.iter().map(|(_, fit)| *fit).chain(cross_entropy.fit()).collect();
    let level = told.iter().find_map(|fit| fit.exponent.interval.level()).unwrap_or(0.95);
    sentences.extend(held(&told, level));
    if let Some((law, fit)) = head {
        sentences.extend(top_k(rank_laws, law));
        sentences.extend(extrapolation(&law.quantity, fit));
    }
    sentences.extend(unclaimed(rank_laws));
    sentences.join(" ")
}

/// The largest k up to 100 that can be claimed and was not told: the paper has the exponent grow
/// towards it.
fn top_k(rank_laws: &[Law], told: &Law) -> Option<String> {
    rank_laws.iter().rev().find_map(|law| {
        let k = law
            .k()
            .filter(|_| law.quantity != told.quantity)
            .filter(|k| Regime::of(*k) == Regime::TopK)?;
        let fit = law.fit().filter(|fit| fit.claimed)?;
        Some(format!("At k = {k}, -ln RBP_{k} {} as {}.", direction(&fit.exponent), slope(fit)))
    })
}

/// How the fit to the smaller half of the models predicts the largest one.
fn extrapolation(quantity: &Quantity, fit: &PowerLaw) -> Option<String> {
    let half = fit.points.div_ceil(2).max(3);
    let step = fit.audit.iter().find(|step| step.fitted_points == half)?;
    let largest = step.predictions.last()?;
    let within = match largest.covered {
        Some(true) => ", inside its interval",
        Some(false) => ", outside its interval",
        None => "",
    };
    Some(format!(
        "Fitted to the {half} smallest models alone, it predicts {} of the largest with an error of {}{within}.",
        quantity.symbol(),
        digits::deviation(largest.relative_error)
    ))
}

/// From which k on no slope can be claimed.
fn unclaimed(rank_laws: &[Law]) -> Option<String> {
    let silent = |law: &Law| law.fit().is_none_or(|fit| !fit.claimed);
    let list: Vec<String> = rank_laws
        .iter()
        .filter(|law| silent(law))
        .filter_map(|law| law.k())
        .map(|k| k.to_string())
        .collect();
    (!list.is_empty() && list.len() < rank_laws.len())
        .then(|| format!("No slope is claimed for k = {}.", list.join(", ")))
}

/// What the interval of an exponent says about falling.
pub(crate) fn direction(exponent: &Estimate) -> &'static str {
    match exponent.bounds() {
        _ if exponent.value <= 0.0 => "does not fall: it goes",
        Some((low, _)) if low <= 0.0 => "may or may not fall: it goes",
        _ => "falls",
    }
}

fn slope(fit: &PowerLaw) -> String {
    slope_in("S", &fit.exponent, fit.r_squared)
}

/// `, for this very text in [0.0830, 0.0981]`: the interval from the scatter of the models alone,
/// where the headline has more in it.
fn interval_for_this_text(fit: &PowerLaw) -> String {
    let alone =
        fit.exponent_of_this_text.as_ref().filter(|_| fit.exponent.interval.text_share().is_some());
    let ends = alone.and_then(|alone| digits::estimate(alone.value, alone.bounds()).interval());
    ends.map_or(String::new(), |ends| format!(" (for this very text in {ends})"))
}

/// How many values of models that a fit to smaller ones had not seen lie in their intervals: of the
/// rank law told and of the cross entropy.
fn held(laws: &[&PowerLaw], level: f64) -> Option<String> {
    let counted = || laws.iter().filter_map(|law| law.coverage);
    let inside: u32 = counted().map(|counted| counted.inside).sum();
    let judged: u32 = counted().map(|counted| counted.judged).sum();
    (judged > 0).then(|| {
        format!(
            "Of {judged} predictions of larger models from smaller ones, {inside} lie in their intervals of {} %.",
            100.0 * level
        )
    })
}

/// `S^-0.1203 (exponent in [0.1041, 0.1366] at 95 %), R² 0.9913`, with the name of x for S.
pub(crate) fn slope_in(x: &str, exponent: &Estimate, r_squared: Option<f64>) -> String {
    let spelled = digits::estimate(exponent.value, exponent.bounds());
    let interval = match (spelled.interval(), exponent.interval.level()) {
        (Some(ends), Some(level)) => format!("exponent in {ends} at {} %", 100.0 * level),
        _ => "no interval".to_owned(),
    };
    let r_squared = r_squared.map_or(String::new(), |r| format!(", R² {}", r_squared_digits(r)));
    let power = match spelled.value.strip_prefix('-') {
        Some(positive) => positive.to_owned(),
        None if exponent.value == 0.0 => spelled.value,
        None => format!("-{}", spelled.value),
    };
    format!("{x}^{power} ({interval}){r_squared}")
}

fn slope_over(fit: &PowerLaw) -> String {
    let (smallest, largest) = fit.range;
    format!(
        "{}{} over {} models from {} to {} parameters",
        slope(fit),
        interval_for_this_text(fit),
        fit.points,
        magnitude(smallest),
        magnitude(largest)
    )
}

/// `in [0.412, 0.431] at 95 %`.
pub(crate) fn within(low: f64, high: f64, interval: &Interval) -> String {
    let level = interval.level().map_or(String::new(), |level| format!(" at {} %", 100.0 * level));
    format!("in [{}, {}]{level}", digits::number(low), digits::number(high))
}
