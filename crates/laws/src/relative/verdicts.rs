//! The verdicts: sentences with their numbers.

use relscale_records::digits;

use super::RelativeOptions;
use super::gap::crossing;
use crate::result::{Estimate, Gap, GapLaw, Outcome, Trend};
use crate::verdict::{magnitude, r_squared_digits};

/// One sentence about a gap.
pub(super) fn gap(gap: &Gap, options: &RelativeOptions) -> String {
    let treatment = &gap.name;
    let law = match &gap.outcome {
        Outcome::Refused { reason } => return format!("{treatment}: no relative law, {reason}."),
        Outcome::Fitted(law) => law,
    };
    let against = format!("{treatment} against {}", options.baseline);
    let slope = slope(law);
    let ends = format!(
        "G goes from {} at x = {} to {} at {}",
        digits::number(law.at_smallest.value),
        magnitude(law.power.range.0),
        digits::number(law.at_largest.value),
        magnitude(law.power.range.1)
    );
    let margin = options.margin;
    match (law.trend, law.tests) {
        (Trend::Closes, _) => {
            format!("{against}: the gap closes, {slope}; {ends}{}.", may_cross(law))
        }
        (Trend::Widens, _) => {
            format!("{against}: the gap widens, {slope}; {ends}{}.", may_cross(law))
        }
        (Trend::Crossed, _) => {
            let (first, last) = if law.delta_beta.value < 0.0 {
                ("larger", "smaller")
            } else {
                ("smaller", "larger")
            };
            let place = through_one(law).map_or(String::new(), |place| format!(" at x = {place}"));
            format!(
                "{against}: the gap is crossed: {treatment} has the {first} error at first and the {last} one at last, G goes through 1{place}; {slope}; {ends}."
            )
        }
        (Trend::Parallel, Some(tests)) => {
            let nonetheless = if tests.difference_q <= options.false_discovery {
                ", though it is not zero"
            } else {
                ""
            };
            format!(
                "{against}: parallel, {slope}; the slope is inside ±{margin} (q {}){nonetheless}; {ends}.",
                q(tests.equivalence_q)
            )
        }
        (_, Some(tests)) => format!(
            "{against}: undecided, {slope}; neither a slope (q {}) nor one inside ±{margin} (q {}) is shown.",
            q(tests.difference_q),
            q(tests.equivalence_q)
        ),
        (_, None) if !gap.claimed() => {
            format!(
                "{against}: no slope is claimed, {slope}; some model has too few misses or hits, see the flags."
            )
        }
        (_, None) => {
            format!(
                "{against}: undecided, {slope}; two models leave nothing to judge the slope by."
            )
        }
    }
}

/// What is said of a gap whose values lie on both sides of 1 where its intervals do not settle it.
fn may_cross(law: &GapLaw) -> String {
    let open = crossing(&law.at_smallest, &law.at_largest).is_some();
    let place = through_one(law).filter(|_| open);
    place.map_or(String::new(), |place| format!(", so it may cross 1, at x = {place}"))
}

/// The x at which the law goes through 1, with Fieller's interval where that was asked for.
fn through_one(law: &GapLaw) -> Option<String> {
    let asked = law
        .crossings
        .iter()
        .find(|crossing| crossing.gap == 1.0)
        .and_then(|found| found.x.as_ref());
    if let Some((x, (low, high))) = asked.and_then(|x| Some((x, x.bounds()?))) {
        return Some(format!(
            "{} (in [{}, {}])",
            magnitude(x.value),
            magnitude(low),
            magnitude(high)
        ));
    }
    // ln G is a line in ln x.
    let (from, to) = (law.at_smallest.value.ln(), law.at_largest.value.ln());
    let share = from / (from - to);
    let x = (law.power.range.0.ln() + share * (law.power.range.1 / law.power.range.0).ln()).exp();
    Some(magnitude(x)).filter(|_| (0.0..=1.0).contains(&share))
}

/// What the gaps of a family say together.
pub(super) fn family(gaps: &[Gap], options: &RelativeOptions) -> String {
    let laws: Vec<(&str, &GapLaw)> =
        gaps.iter().filter_map(|gap| Some((gap.name.as_str(), gap.fit()?))).collect();
    if laws.is_empty() {
        return gaps.first().map_or_else(
            || format!("No gap to {}: nothing to compare it with.", options.baseline),
            |gap| gap.verdict.clone(),
        );
    }
    let named = |trend: Trend, one: &str, several: &str| {
        let names: Vec<&str> =
            laws.iter().filter(|(_, law)| law.trend == trend).map(|(name, _)| *name).collect();
        let verb = if names.len() == 1 { one } else { several };
        (!names.is_empty()).then(|| format!("{} {verb} ({})", names.len(), names.join(", ")))
    };
    let groups: Vec<String> = [
        named(Trend::Closes, "closes", "close"),
        named(Trend::Widens, "widens", "widen"),
        named(Trend::Crossed, "is crossed", "are crossed"),
        named(Trend::Parallel, "is parallel", "are parallel"),
        named(Trend::Undecided, "is undecided", "are undecided"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let subject = if laws.len() == 1 { "gap" } else { "gaps" };
    let told = format!(
        "Of {} {subject} to {}, {} (false claims at most {} %, parallel means a slope inside ±{}).",
        laws.len(),
        options.baseline,
        groups.join("; "),
        100.0 * options.false_discovery,
        options.margin
    );
    match held_out(&laws) {
        Some(check) => format!("{told} {check}"),
        None => told,
    }
}

/// How well the smaller models predict the largest one's gaps.
fn held_out(laws: &[(&str, &GapLaw)]) -> Option<String> {
    let largest: Vec<(&str, f64, Option<bool>)> = laws
        .iter()
        .filter_map(|(name, law)| {
            let held = law.power.audit.last()?.predictions.last()?;
            Some((*name, held.relative_error, held.covered))
        })
        .collect();
    let worst = largest.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let inside = largest.iter().filter(|(.., covered)| *covered == Some(true)).count();
    Some(format!(
        "From the smaller models the gap of the largest is predicted to within {:.1} % ({} is worst), {inside} of {} inside the \
         prediction's interval.",
        100.0 * worst.1.abs(),
        worst.0,
        largest.len()
    ))
}

/// `delta_beta -0.0128 (in [-0.0137, -0.0119] at 95 %), R² 0.9823`.
fn slope(law: &GapLaw) -> String {
    let r_squared =
        law.power.r_squared.map_or(String::new(), |r| format!(", R² {}", r_squared_digits(r)));
    format!("delta_beta {}{r_squared}", with_interval(&law.delta_beta))
}

fn with_interval(estimate: &Estimate) -> String {
    let spelled = digits::estimate(estimate.value, estimate.bounds()).signed();
    let ends = match (estimate.interval.level(), spelled.interval()) {
        (Some(level), Some(ends)) => format!("in {ends} at {} %", 100.0 * level),
        _ => "no interval".to_owned(),
    };
    format!("{} ({ends})", spelled.value)
}

/// A q-value as far as it matters: `= 0.018`, `< 0.001`.
pub(super) fn q(value: f64) -> String {
    match digits::probability(value) {
        below if below.starts_with('<') => below,
        q => format!("= {q}"),
    }
}
