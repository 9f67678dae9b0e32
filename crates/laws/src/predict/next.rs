//! What the next size buys: the laws of one group at ten times the largest model, beside what that
//! model has.

use super::value;
use crate::result::{FoundValue, GroupFit, Interval, NextSize, NextValue, Predicted, Quantity};
use crate::verdict::magnitude;
use relscale_records::digits;

/// The next size over the largest measured one. Predictions reach further less and less safely; a
/// decade is what families are extended by.
const TIMES: f64 = 10.0;

/// Reads the greedy law and the cross-entropy law at [`TIMES`] the largest model; none where
/// neither can be read.
pub(crate) fn next_size(group: &GroupFit, level: f64) -> Option<NextSize> {
    let largest = group.models.last()?;
    let parameters = TIMES * largest.parameters as f64;
    let greedy = group.rank_laws.first().and_then(|law| law.k()).map(|k| Predicted::Rbp { k });
    let values: Vec<NextValue> = greedy
        .into_iter()
        .chain([Predicted::CrossEntropy])
        .filter_map(|quantity| {
            let prediction = value::at(group, quantity, parameters, level);
            let measured = measured(group, quantity, &largest.name)?;
            prediction.outcome.fit().is_some().then_some(NextValue { measured, prediction })
        })
        .collect();
    let verdict = sentence(&largest.name, parameters, &values)?;
    Some(NextSize {
        parameters,
        times_largest: TIMES,
        largest: largest.name.clone(),
        values,
        verdict,
    })
}

/// What the model itself has.
fn measured(group: &GroupFit, quantity: Predicted, model: &str) -> Option<f64> {
    let laws = || group.rank_laws.iter().chain([&group.cross_entropy_law]);
    let law = laws().find(|law| match (&law.quantity, quantity) {
        (Quantity::Rank { k }, Predicted::Rbp { k: wanted }) => *k == wanted,
        (Quantity::CrossEntropy, Predicted::CrossEntropy) => true,
        _ => false,
    })?;
    let value = law.point(model)?.value;
    Some(if quantity == Predicted::CrossEntropy { value } else { (-value).exp() })
}

/// "A model of 2.210e7 parameters, 10 times the largest (m), has RBP_1 0.5650 [0.5310, 0.5980]
/// instead of 0.4980 and ...; a pure power law says RBP_1 0.5710 [0.5400, 0.6030]." Where a pure
/// power law is excluded that comes first.
fn sentence(largest: &str, parameters: f64, values: &[NextValue]) -> Option<String> {
    let found: Vec<(&NextValue, &FoundValue)> =
        values.iter().filter_map(|next| Some((next, next.prediction.outcome.fit()?))).collect();
    if found.is_empty() {
        return None;
    }
    let symbol = |next: &NextValue| next.prediction.quantity.symbol();
    let told: Vec<String> = found
        .iter()
        .map(|(next, found)| {
            let value = found.value.value;
            format!(
                "{} {}{} instead of {}",
                symbol(next),
                digits::number(value),
                ends(found),
                digits::number(next.measured)
            )
        })
        .collect();
    let pure = |(next, found): &(&NextValue, &FoundValue)| {
        let line = &found.power_law.as_ref()?.value;
        let ends = line.bounds().map_or(String::new(), |(low, high)| {
            format!(" [{}, {}]", digits::number(low), digits::number(high))
        });
        Some(format!("{} {}{ends}", symbol(next), digits::number(line.value)))
    };
    let excluded = |(_, found): &&(&NextValue, &FoundValue)| {
        let line = found.power_law.as_ref().map(|line| line.value.value);
        line.zip(found.value.bounds()).is_some_and(|(line, (low, high))| line < low || high < line)
    };
    let outside: Vec<String> = found.iter().filter(excluded).filter_map(pure).collect();
    let beside: Vec<String> = found
        .iter()
        .filter(|found| found.1.form != "power law" && !excluded(found))
        .filter_map(pure)
        .collect();
    let first = match outside.is_empty() {
        true => String::new(),
        false => format!(
            "The form decides here: a pure power law would say {}, outside of what the points allow. ",
            outside.join(" and ")
        ),
    };
    let last = match beside.is_empty() {
        true => String::new(),
        false => format!("; a pure power law says {}", beside.join(" and ")),
    };
    Some(format!(
        "{first}A model of {} parameters, {TIMES} times the largest ({largest}), has {}, whether or not the law flattens towards a \
         floor{last}.",
        magnitude(parameters),
        told.join(" and ")
    ))
}

fn ends(found: &FoundValue) -> String {
    match (found.value.bounds(), &found.value.interval) {
        (Some((low, high)), _) => format!(" [{}, {}]", digits::number(low), digits::number(high)),
        (None, Interval::None { .. }) => " (no interval)".to_owned(),
        (None, _) => String::new(),
    }
}
