//! The verdicts: sentences with their numbers.

use crate::choice_measure::ChoiceMeasure;
use crate::result::{ChoiceMean, ChoicesGroup, ChoicesModel, Interval};
use crate::verdict::within;

/// What a reader would be told who asks once: what the largest model gets right, and how much of
/// that it knows.
pub(super) fn group(group: &ChoicesGroup) -> String {
    let Some(largest) = group.models.last().filter(|_| group.items > 0) else {
        return format!("{}: no item that every model can be judged on.", group.corpus);
    };
    let options = match group.options {
        (few, many) if few == many => few.to_string(),
        (few, many) => format!("{few} to {many}"),
    };
    let whole = whole(largest).map_or(String::new(), |mean| mean_text(largest, mean));
    format!("{} items of {options} options, {} models. {whole}", group.items, group.models.len())
}

/// The widest mean of a model's first format.
fn whole(model: &ChoicesModel) -> Option<&ChoiceMean> {
    let of_format =
        |mean: &&ChoiceMean| mean.group.is_none() && mean.format == model.means[0].format;
    model.means.iter().filter(of_format).max_by_key(|mean| mean.items)
}

fn mean_text(model: &ChoicesModel, mean: &ChoiceMean) -> String {
    let Some(accuracy) = mean.value(ChoiceMeasure::Accuracy) else { return String::new() };
    let share = |estimate: &crate::result::Estimate| match &estimate.interval {
        Interval::None { .. } => format!("{:.4}", estimate.value),
        interval => match interval.bounds() {
            Some((low, high)) => format!("{:.4} ({})", estimate.value, within(low, high, interval)),
            None => format!("{:.4}", estimate.value),
        },
    };
    let null = accuracy.shuffled;
    let beyond = (accuracy.mean.value - null.mean) / null.standard_deviation;
    // Rounding leaves a trace of a deviation where every way gives the same.
    let known = match null.standard_deviation > 1e-9 {
        true => format!(
            ", with the gold shuffled {:.4} ± {:.4}: {:.1} deviations {}",
            null.mean,
            null.standard_deviation,
            beyond.abs(),
            if beyond >= 0.0 { "above" } else { "below" }
        ),
        false => ", which shuffling the gold does not change".to_owned(),
    };
    format!(
        "The largest, {}, prefers the gold option by sum in a share of {}; a blind pick {:.4}{known}.",
        model.model,
        share(&accuracy.mean),
        mean.chance
    )
}
