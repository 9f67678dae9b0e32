//! Sentences about what to measure next, with their numbers.

use relscale_records::digits;

use crate::result::{Candidate, FoundAdvice, Further, LawAdvice, Narrowed, Predicted};
use crate::verdict::magnitude;

/// "One model of 2.2e7 parameters".
pub(super) fn what(what: Further) -> String {
    match what {
        Further::Model { parameters } => {
            format!("one model of {} parameters", magnitude(parameters))
        }
        Further::Text { times } => format!("{times} times the text"),
    }
}

fn narrows(candidate: &Candidate, of: Narrowed) -> String {
    format!(
        "{} ({} FLOPs) narrows {} by {:.0} %",
        what(candidate.what),
        magnitude(candidate.flops),
        match of {
            Narrowed::Exponent => "its interval",
            Narrowed::Prediction => "that of a model of ten times the largest",
        },
        100.0 * (1.0 - candidate.part(of).unwrap_or(1.0))
    )
}

/// What one law could gain.
pub(super) fn law(quantity: Predicted, found: &FoundAdvice, of: Narrowed) -> String {
    let head = format!(
        "The exponent of {} is {} ± {}, {:.0} % of its variance from the text",
        quantity.symbol(),
        digits::number(found.exponent),
        digits::number(found.half),
        100.0 * found.text_share
    );
    let worth = || found.candidates.iter().filter(|one| one.worth > 0.0);
    let Some(best) = worth().next() else {
        return format!("{head}; nothing of what was tried narrows it.");
    };
    let least =
        |one: &&Candidate, other: &&Candidate| one.exponent_part.total_cmp(&other.exponent_part);
    let most = worth().min_by(least).filter(|most| most.what != best.what);
    let most = most.map_or(String::new(), |most| format!("; most at all: {}", narrows(most, of)));
    format!("{head}. Most for its cost: {}{most}.", narrows(best, of))
}

/// Which of all laws gains most for its cost.
pub(super) fn whole(laws: &[LawAdvice], of: Narrowed) -> String {
    let best = laws
        .iter()
        .filter_map(|law| {
            let best = law.outcome.fit()?.candidates.first()?;
            (best.worth > 0.0).then_some((law, best))
        })
        // Costs are parts of each law's own: of laws the FLOPs compare.
        .max_by(|(_, one), (_, other)| {
            let worth = |one: &Candidate| one.worth * one.cost / one.flops.max(1.0);
            worth(one).total_cmp(&worth(other))
        });
    match best {
        Some((law, best)) if laws.len() > 1 => format!(
            "Over all laws most for its cost: for {} of {} on {}, {}.",
            law.quantity.symbol(),
            law.family,
            law.corpus,
            narrows(best, of)
        ),
        Some(_) => String::new(),
        None => "Nothing of what was tried narrows an interval.".into(),
    }
}
