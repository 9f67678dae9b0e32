//! The verdicts: findings as sentences with their numbers.

use super::{Bent, FEWEST_MODELS, HOLDS, described, finding_of, form_of, r_squared, seen};
use relscale_records::digits;

use crate::judged::chance;
use crate::result::{Finding, FlagCode, FormFinding, Law, Outcome, PerfectLaw, ScatterTest};
use crate::series::BEYOND_NOISE;

/// Chance below which noise is only said to be a possible reason.
const DOUBTFUL: f64 = 0.05;

/// One sentence about one k.
pub(super) fn law(law: &Law, finding: Finding, test: &ScatterTest, bent: Option<Bent>) -> String {
    let at = law.k().map_or(String::new(), |k| format!("k = {k}: "));
    let Some(fit) = law.fit() else {
        let reason = match &law.outcome {
            Outcome::Refused { reason } => reason.as_str(),
            Outcome::Fitted(_) => "no fit",
        };
        return format!("{at}nothing can be said, {reason}.");
    };
    let found = r_squared(fit);
    if finding == Finding::TooFew {
        let few = [FlagCode::FewMisses, FlagCode::FewHits];
        let flags = law.flags.iter().filter(|flag| few.contains(&flag.code));
        let flags: Vec<&str> = flags.map(|flag| flag.message.as_str()).collect();
        return format!("{at}{found}; {}.", flags.join("; "));
    }
    if finding == Finding::Bends {
        return format!(
            "{at}a power law describes it to {:.1} % ({found}), but it bends ({}).",
            100.0 * farthest(law),
            form(law)
        );
    }
    if finding == Finding::Undecided && fit.points < FEWEST_MODELS {
        return format!(
            "{at}undecided, {found}: {} models, {FEWEST_MODELS} are needed.",
            fit.points
        );
    }
    if finding == Finding::Undecided && described(law) {
        let there = bent.map_or(String::new(), |bent| {
            format!(", but one as at k = {} would not be either", bent.k)
        });
        return format!("{at}undecided, {found}: no bend is seen ({}){there}.", form(law));
    }
    let perfect = match test {
        ScatterTest::Tested(perfect) => perfect,
        ScatterTest::Untested { reason } if finding == Finding::Holds => {
            return format!(
                "{at}the law holds, {found}, no bend ({}); what sampling noise adds is not known: {reason}.",
                form(law)
            );
        }
        ScatterTest::Untested { reason } => {
            return format!("{at}{found}; whether noise explains it cannot be said: {reason}.");
        }
    };
    let (noise, chance) = (noise_alone(perfect), chance(perfect.p_value));
    let may = if perfect.p_value < DOUBTFUL { "may explain" } else { "explains" };
    match finding {
        Finding::Holds if perfect.p_value < BEYOND_NOISE => format!(
            "{at}the law holds, {found}, no bend ({}); {noise}, so the models scatter for other reasons as well \
             ({chance}).",
            form(law)
        ),
        Finding::Holds => {
            format!(
                "{at}the law holds, {found}, no bend ({}); {noise}, which {may} the scatter ({chance}).",
                form(law)
            )
        }
        Finding::Departure => format!(
            "{at}{found}{}; {noise}: the models depart from the line by more than sampling noise ({chance}).",
            direction(fit.exponent.value)
        ),
        Finding::SlopeLost => format!(
            "{at}{found}; sampling noise {may} the scatter ({chance}), but no slope is seen{}.",
            power(perfect, ", while this sample would show one as at", "with chance")
        ),
        Finding::SamplingNoise => format!(
            "{at}{found}; {noise}: sampling noise alone {may} the scatter ({chance}){}.",
            match fit.exponent.bounds().filter(|_| seen(fit)) {
                Some((low, high)) => format!(
                    ", and the slope is still seen, its exponent in [{}, {}]",
                    digits::number(low),
                    digits::number(high)
                ),
                None =>
                    power(perfect, ", and this sample would show a slope as at", "only with chance"),
            }
        ),
        // Told above.
        Finding::Bends | Finding::TooFew | Finding::Undecided => format!("{at}undecided, {found}."),
    }
}

fn direction(exponent: f64) -> &'static str {
    if exponent > 0.0 { "" } else { ", and rising with size" }
}

/// Between which R² a perfect law would be found.
fn noise_alone(perfect: &PerfectLaw) -> String {
    format!(
        "a perfect law with the sample's noise would reach {} (above {} in 95 % of samples)",
        digits::r_squared(perfect.r_squared_median),
        digits::r_squared(perfect.r_squared_low)
    )
}

/// The p-value of the test of the form, with its level.
fn form(law: &Law) -> String {
    match form_of(law) {
        Some(test) => match test.p_value {
            Some(p_value) => format!("{}, level {} %", chance(p_value), 100.0 * test.level),
            None => "exact to rounding".to_owned(),
        },
        None => "not tested".to_owned(),
    }
}

/// How far the farthest point lies from the line, as a share of its value.
fn farthest(law: &Law) -> f64 {
    let shares = law.points.iter().filter_map(|point| point.log_residual).map(|e| e.exp_m1().abs());
    shares.fold(0.0, f64::max)
}

/// What would change a finding.
pub(super) fn would_change(law: &Law, finding: Finding) -> String {
    let few = law.fit().is_some_and(|fit| fit.points < FEWEST_MODELS);
    match finding {
        Finding::Holds => form_of(law).map_or(String::new(), |test| test.would_change.clone()),
        Finding::Bends | Finding::Departure => "other models: more text would not".to_owned(),
        Finding::SlopeLost => "other models: this text would have shown the slope".to_owned(),
        Finding::SamplingNoise => "more text".to_owned(),
        Finding::TooFew => "more text, until every model has misses and hits enough".to_owned(),
        Finding::Undecided if few => format!("models: {FEWEST_MODELS} are needed"),
        Finding::Undecided => "more text or more models".to_owned(),
    }
}

fn power(perfect: &PerfectLaw, before: &str, after: &str) -> String {
    perfect.reference.as_ref().map_or(String::new(), |reference| {
        format!(
            "{before} k = {} (S^-{}) {after} {:.2}",
            reference.k,
            digits::number(reference.exponent),
            reference.power
        )
    })
}

/// A few sentences about all k.
pub(super) fn group(laws: &[Law], holds_up_to: Option<u32>) -> String {
    if laws.is_empty() {
        return "No k was fitted.".to_owned();
    }
    let most = laws.iter().filter_map(|law| Some(law.fit()?.points)).max();
    if let Some(models) = most.filter(|models| *models < FEWEST_MODELS) {
        return format!(
            "Undecided whether the rank law holds: {models} {}, {FEWEST_MODELS} are needed.",
            if models == 1 { "model" } else { "models" }
        );
    }
    let last = laws.last().and_then(Law::k);
    let yardstick = format!("falling, R² of at least {HOLDS}, no bend; each k tested at 5 %");
    let mut sentences = vec![match holds_up_to {
        Some(k) if holds_up_to == last => {
            return format!("The rank law holds at every k fitted, up to k = {k} ({yardstick}).");
        }
        Some(k) => format!("The rank law holds up to k = {k} ({yardstick})."),
        None => match laws.first().and_then(finding_of) {
            Some(Finding::Bends | Finding::Departure | Finding::SlopeLost) => {
                format!("The rank law does not hold at the smallest k fitted ({yardstick}).")
            }
            _ => format!(
                "Undecided whether the rank law holds at the smallest k fitted ({yardstick})."
            ),
        },
    }];
    let beyond: Vec<&Law> = laws.iter().filter(|law| law.k() > holds_up_to).collect();
    let hidden = |law: &&&Law| {
        form_of(law).is_some_and(|test| test.finding == FormFinding::NotRejected) && described(law)
    };
    let again = if holds_up_to.is_some() { "the law holds again" } else { "the law holds" };
    let undecided = Finding::Undecided;
    for (list, words) in [
        (with_finding(&beyond, Finding::Bends), "a power law describes the points, but they bend"),
        (
            with_finding(&beyond, Finding::Departure),
            "the models depart from a line by more than sampling noise",
        ),
        (
            with_finding(&beyond, Finding::SlopeLost),
            "noise explains the scatter, but the slope is lost: one as before would have been seen",
        ),
        (
            with_finding(&beyond, Finding::SamplingNoise),
            "sampling noise alone explains the low R²: more text is needed to know",
        ),
        (
            with_finding(&beyond, Finding::TooFew),
            "some model has too few misses or hits for a slope to be claimed",
        ),
        (
            with_finding(&beyond.iter().filter(hidden).copied().collect::<Vec<_>>(), undecided),
            "it is undecided: no bend is seen, but one as at the smallest k would not be either",
        ),
        (
            with_finding(
                &beyond.iter().filter(|law| !hidden(law)).copied().collect::<Vec<_>>(),
                undecided,
            ),
            "it is undecided: there is no fit, or the noise is not known",
        ),
        (with_finding(&beyond, Finding::Holds), again),
    ] {
        if !list.is_empty() {
            sentences.push(format!("At k = {} {words}.", list.join(", ")));
        }
    }
    sentences.join(" ")
}

/// The k of the laws with that finding.
fn with_finding(laws: &[&Law], finding: Finding) -> Vec<String> {
    laws.iter()
        .filter(|law| finding_of(law) == Some(finding))
        .filter_map(|law| law.k())
        .map(|k| k.to_string())
        .collect()
}
