//! The findings as sentences with their numbers.

use super::{FEWEST_MODELS, HOLDS, finding_of, r_squared, seen};
use crate::power_law::BEYOND_NOISE;
use crate::result::{Finding, FlagCode, Law, Outcome, PerfectLaw, ScatterTest};
use crate::verdict::r_squared_digits as digits;

/// Chance below which noise is only said to be a possible reason.
const DOUBTFUL: f64 = 0.05;

/// One sentence about one k.
pub(super) fn of_law(law: &Law, finding: Finding, test: &ScatterTest) -> String {
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
        let doubts = law.flags.iter().filter(|flag| few.contains(&flag.code));
        let doubts: Vec<&str> = doubts.map(|flag| flag.message.as_str()).collect();
        return format!("{at}{found}; {}.", doubts.join("; "));
    }
    let perfect = match test {
        ScatterTest::Tested(perfect) => perfect,
        ScatterTest::Untested { reason } if finding == Finding::Holds => {
            return format!("{at}the law holds, {found}; what sampling noise adds is not known: {reason}.");
        }
        ScatterTest::Untested { reason } => {
            return format!("{at}{found}; whether noise explains it cannot be said: {reason}.");
        }
    };
    let (noise, chance) = (noise_alone(perfect), chance(perfect.p_value));
    let may = if perfect.p_value < DOUBTFUL { "may explain" } else { "explains" };
    match finding {
        Finding::Holds if perfect.p_value < BEYOND_NOISE => format!(
            "{at}the law holds, {found}; {noise}, so the models scatter for other reasons as well ({chance})."
        ),
        Finding::Holds => {
            format!("{at}the law holds, {found}; {noise}, which {may} the scatter ({chance}).")
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
                Some((low, high)) =>
                    format!(", and the slope is still seen, its exponent in [{low:.3}, {high:.3}]"),
                None => power(perfect, ", and this sample would show a slope as at", "only with chance"),
            }
        ),
        Finding::TooFew | Finding::Undecided => format!(
            "{at}{found} over {} models: fewer than {FEWEST_MODELS} decide nothing ({chance} for noise alone).",
            fit.models
        ),
    }
}

fn direction(exponent: f64) -> &'static str {
    if exponent > 0.0 { "" } else { ", and rising with size" }
}

/// Between which R² a perfect law would be found.
fn noise_alone(perfect: &PerfectLaw) -> String {
    format!(
        "a perfect law with the sample's noise would reach {} (above {} in 95 % of samples)",
        digits(perfect.r_squared_median),
        digits(perfect.r_squared_low)
    )
}

fn chance(p_value: f64) -> String {
    if p_value < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p_value:.3}") }
}

fn power(perfect: &PerfectLaw, before: &str, after: &str) -> String {
    perfect.reference.as_ref().map_or(String::new(), |reference| {
        format!("{before} k = {} (S^-{:.3}) {after} {:.2}", reference.k, reference.exponent, reference.power)
    })
}

/// A few sentences about all k.
pub(super) fn of_group(laws: &[Law], holds_up_to: Option<u32>) -> String {
    if laws.is_empty() {
        return "No k was fitted.".to_owned();
    }
    let last = laws.last().and_then(Law::k);
    let yardstick = format!("R² of at least {HOLDS} and falling");
    let mut sentences = vec![match holds_up_to {
        Some(k) if holds_up_to == last => {
            return format!("The rank law holds at every k fitted, up to k = {k} ({yardstick}).");
        }
        Some(k) => format!("The rank law holds up to k = {k} ({yardstick})."),
        None => format!("The rank law does not hold at the smallest k fitted ({yardstick})."),
    }];
    let beyond = |law: &&Law| law.k() > holds_up_to;
    for (finding, words) in [
        (Finding::Departure, "the models depart from a line by more than sampling noise"),
        (
            Finding::SlopeLost,
            "noise explains the scatter, but the slope is lost: one as before would have been seen",
        ),
        (Finding::SamplingNoise, "sampling noise alone explains the low R²: more text is needed to know"),
        (Finding::TooFew, "some model has too few misses or hits for a slope to be claimed"),
        (Finding::Undecided, "nothing can be decided"),
        (Finding::Holds, "the law holds again"),
    ] {
        let list: Vec<String> = laws
            .iter()
            .filter(beyond)
            .filter(|law| finding_of(law) == Some(finding))
            .filter_map(Law::k)
            .map(|k| k.to_string())
            .collect();
        if !list.is_empty() {
            sentences.push(format!("At k = {} {words}.", list.join(", ")));
        }
    }
    sentences.join(" ")
}
