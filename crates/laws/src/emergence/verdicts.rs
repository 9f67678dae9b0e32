//! Verdicts on sequences: does independence hold, and where is p one half?

use relscale_records::digits::{given, number};

use crate::options::FitOptions;
use crate::result::{EmergenceAtK, Estimate, HitOrder, Outcome, SequencePoint, SequencesOfLength};

/// The two sentences that matter most, of the smallest k with a claim; else the verdict of the
/// smallest k.
pub(super) fn over_all_k(by_k: &[EmergenceAtK]) -> String {
    let claimed = by_k.iter().find_map(|found| {
        let (order, length, point) = subject(found)?;
        let sentences = [independence(found.k, order, length, point), half(found, length)];
        Some(sentences.into_iter().flatten().collect::<Vec<String>>().join(" "))
    });
    claimed.or(by_k.first().map(|found| found.verdict.clone())).unwrap_or_default()
}

/// A few sentences about one k.
pub(super) fn at_k(found: &EmergenceAtK, options: &FitOptions) -> String {
    let k = found.k;
    let Some((order, length, point)) = subject(found) else {
        return format!(
            "k = {k}: nothing is claimed about tokens in a row, as no N above 1 has {0} successes that do not overlap \
             and {0} misses.",
            options.minimum_count
        );
    };
    let sentences = [
        independence(k, order, length, point),
        explained(point),
        growth(order),
        half(found, length),
    ];
    sentences.into_iter().flatten().collect::<Vec<String>>().join(" ")
}

/// What the verdict is about: the largest model with a claim, at its largest such N above 1.
fn subject(found: &EmergenceAtK) -> Option<(&HitOrder, &SequencesOfLength, &SequencePoint)> {
    (0..found.models.len()).rev().find_map(|model| {
        found.lengths.iter().rev().filter(|length| length.length > 1).find_map(|length| {
            let point = length.points.get(model).filter(|point| point.claimed)?;
            point.over_independent.as_ref()?;
            Some((&found.models[model], length, point))
        })
    })
}

fn independence(
    k: u32,
    order: &HitOrder,
    length: &SequencesOfLength,
    point: &SequencePoint,
) -> Option<String> {
    let (ratio, p) = (point.over_independent.as_ref()?, point.probability.as_ref()?);
    let n = length.length;
    let judgement = match ratio.bounds() {
        Some((low, _)) if low > 1.0 => "tokens are not independent: hits cluster",
        Some((_, high)) if high < 1.0 => "tokens are not independent: hits keep apart",
        Some(_) => "independence is not contradicted",
        None => "no interval, so nothing is said about independence",
    };
    let neighbours = match (&order.after_hit, &order.rbp) {
        (Some(after), Some(rbp)) => {
            format!(
                "; a hit follows a hit with chance {}, any token is one with {}",
                number(after.value),
                number(rbp.value)
            )
        }
        _ => String::new(),
    };
    Some(format!(
        "k = {k}, {}: windows of {n} tokens succeed {} times as often as RBP^{n} says{}, {} instead of {}{neighbours}: \
         {judgement}.",
        order.model,
        times(ratio.value),
        within(ratio),
        number(p.value),
        number(point.independent?),
    ))
}

/// What the two richer predictions leave over.
fn explained(point: &SequencePoint) -> Option<String> {
    let left = |ratio: &Estimate| format!("{} times{}", times(ratio.value), within(ratio));
    let (shuffled, markov) = (point.over_shuffled.as_ref()?, point.over_markov.as_ref()?);
    Some(format!(
        "It is {} what the same hits give in random order inside their documents, and {} what a first-order Markov chain gives.",
        left(shuffled),
        left(markov)
    ))
}

fn growth(order: &HitOrder) -> Option<String> {
    let exponent = order.length_exponent.value.as_ref()?;
    let markov = order.length_exponent.markov;
    let beside = markov.map_or(String::new(), |markov| format!(", {markov:.2} for the chain"));
    Some(format!(
        "-ln p grows as N^{:.2}{} (1 for independent tokens{beside}).",
        exponent.value,
        within(exponent)
    ))
}

/// Where p is one half: of the longest N whose law may be claimed for all models, else of the
/// verdict's own N.
fn half(found: &EmergenceAtK, own: &SequencesOfLength) -> Option<String> {
    let claimed = |length: &&SequencesOfLength| length.half.fit().is_some_and(|half| half.claimed);
    let length =
        found.lengths.iter().rev().filter(|length| length.length > 1).find(claimed).unwrap_or(own);
    let n = length.length;
    match &length.half {
        Outcome::Refused { reason } => {
            Some(format!("No size is given for p = 0.5 at N = {n}: {reason}."))
        }
        Outcome::Fitted(found) => {
            let interval = found.parameters.bounds().map_or(String::new(), |(low, high)| {
                format!(" (between {} and {})", given(low), given(high))
            });
            let decades = found.decades_beyond;
            let place = if decades > 0.0 {
                format!("{decades:.1} decades beyond the largest model")
            } else if decades < 0.0 {
                format!("{:.1} decades below the smallest model", -decades)
            } else {
                "among the sizes measured".to_owned()
            };
            let independent = found
                .independent
                .map_or(String::new(), |size| format!("; by RBP^{n} it would be {}", given(size)));
            let claim = if found.claimed {
                ""
            } else {
                ", which is not claimed as some model has too few counts"
            };
            Some(format!(
                "p = 0.5 at N = {n} needs S = {}{interval}, {place}{claim}{independent}.",
                given(found.parameters.value)
            ))
        }
    }
}

/// ` [0.97, 1.04]`, or nothing without an interval.
fn within(estimate: &Estimate) -> String {
    estimate
        .bounds()
        .map_or(String::new(), |(low, high)| format!(" [{}, {}]", times(low), times(high)))
}

/// A ratio in three digits, whatever its size.
fn times(ratio: f64) -> String {
    match ratio {
        ..0.01 => format!("{ratio:.1e}"),
        ..9.995 => format!("{ratio:.2}"),
        ..99.95 => format!("{ratio:.1}"),
        ..9999.5 => format!("{ratio:.0}"),
        _ => format!("{ratio:.1e}"),
    }
}
