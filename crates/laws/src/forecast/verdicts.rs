//! The verdicts: sentences with their numbers.

use relscale_records::digits;

use crate::result::{AgainstLoss, Forecast, Forecaster, LeaveOut};

/// What a reader would be told who asks once.
pub(super) fn forecast(found: &Forecast) -> String {
    let mut sentences: Vec<String> = Vec::new();
    // The hardest of those by size.
    sentences.extend(found.by_size.last().map(|found| leave_out(found, "held out")));
    sentences.extend(found.by_task.as_ref().map(|found| leave_out(found, "left out")));
    if let Some(ranking) = &found.ranking
        && let Some(small) = ranking.sizes.first()
        && let Some(difference) = &small.ranks_less_loss
    {
        let (low, high) = difference.bounds().unwrap_or_default();
        let shown = if low > 0.0 || high < 0.0 { "shown" } else { "not shown" };
        sentences.push(format!(
            "At the smallest size ranks order {} more of {} pairs of training corpora as the largest models do than the loss [{}, {}]: {shown}.",
            share(difference.value),
            small.pairs,
            share(low),
            share(high)
        ));
    }
    sentences.join(" ")
}

fn leave_out(found: &LeaveOut, how: &str) -> String {
    let what = format!(
        "With {} {how} ({} tasks, {} models forecast)",
        found.which,
        found.tasks.len(),
        found.models.len()
    );
    let error = |forecaster| found.of(forecaster).map(|errors| errors.mean_absolute);
    let (Some(loss), Some(rank)) = (error(Forecaster::Loss), found.of(Forecaster::Rank)) else {
        let all: Vec<String> = found
            .forecasters
            .iter()
            .map(|errors| {
                format!("{} by {}", share(errors.mean_absolute), errors.forecaster.name())
            })
            .collect();
        return format!(
            "{what} the accuracy is missed by {}; loss and ranks cannot be compared.",
            all.join(", ")
        );
    };
    let feature = rank.feature.as_deref().unwrap_or("ranks");
    let judged = rank.against.as_ref().map(judged).unwrap_or_default();
    let last = error(Forecaster::Last).map(|last| format!(", {} by the last value", share(last)));
    format!(
        "{what} the accuracy is missed by {} by the loss, {} by ranks ({feature}){}; {judged}.",
        share(loss),
        share(rank.mean_absolute),
        last.unwrap_or_default()
    )
}

/// Whether ranks forecast better than the loss.
fn judged(against: &AgainstLoss) -> String {
    let difference = against.difference.value;
    let (low, high) = against.difference.bounds().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let ends = match against.difference.bounds() {
        Some(_) => format!(" [{}, {}] over tasks", share(low), share(high)),
        None => String::new(),
    };
    let over_models = match against.q {
        Some(q) => format!(", q = {} over models", digits::probability(q)),
        None => String::new(),
    };
    let what = match (against.shown, difference < 0.0) {
        (false, _) => "a difference is not shown",
        (true, true) => "ranks are better",
        (true, false) => "the loss is better",
    };
    format!("{what}: {}{ends}{over_models}", share(difference))
}

fn share(value: f64) -> String {
    digits::number(value)
}
