//! The verdicts: sentences with their numbers.

use relscale_records::digits;

use super::forms;
use crate::result::{HeldOutStages, Route, RouteErrors, StagesGroup};
use crate::verdict::r_squared_digits;

/// What a reader would be told who asks once.
pub(super) fn group(group: &StagesGroup) -> String {
    let mut text = match group.predictability.quadratic {
        Some(r) => format!(
            "A parabola in ln x explains {} of the variation of the loss over {} points.",
            r_squared_digits(r),
            group.points.len()
        ),
        None => {
            format!("{} points are too few to say how predictable the loss is.", group.points.len())
        }
    };
    if let Some(held_out) = &group.held_out {
        text.push(' ');
        text.push_str(&held_out_text(held_out));
    }
    let tested = group.curves.direct_power.fit().and_then(|curve| curve.form_test);
    if let Some(test) = tested.filter(|test| test.rejected) {
        text.push_str(&format!(
            " A power law of -ln accuracy straight from x is the wrong form here: its points bend ({}, tested at {:.0} %).",
            forms::p_in_words(test.p),
            100.0 * test.level
        ));
    }
    text
}

fn held_out_text(held_out: &HeldOutStages) -> String {
    let count = held_out.points.len();
    let whom = if count == 1 { "1 point".to_owned() } else { format!("{count} points") };
    let mut text = format!("With {} held out ({whom}), ", held_out.which);
    match (held_out.loss_error, held_out.route(Route::SecondStage)) {
        (Some(loss), Some(second)) => text.push_str(&format!(
            "the first stage misses the loss by {:.1} % and the second, given the loss, the accuracy by {}",
            100.0 * loss,
            digits::number(second.mean_absolute)
        )),
        (Some(loss), None) => {
            text.push_str(&format!(
                "the first stage misses the loss by {:.1} %; there is no second",
                100.0 * loss
            ));
        }
        (None, _) => text.push_str("there is no first stage"),
    }
    let Some(chain) = held_out.route(Route::Chain) else {
        text.push_str(", so there is no chain.");
        return text;
    };
    text.push_str(&format!(
        "; both together miss it by {}{}",
        digits::number(chain.mean_absolute),
        covered(chain)
    ));
    let direct = [Route::DirectPower, Route::DirectSigmoid]
        .into_iter()
        .filter_map(|route| held_out.route(route));
    let Some(best) = direct.min_by(|a, b| a.mean_absolute.total_cmp(&b.mean_absolute)) else {
        text.push('.');
        return text;
    };
    let better = if best.mean_absolute < chain.mean_absolute { "better" } else { "no better" };
    text.push_str(&format!(
        ". Straight from x, the {} misses it by {}{}, {better} than by way of the loss.",
        best.route.name(),
        digits::number(best.mean_absolute),
        covered(best)
    ));
    text
}

/// How many held-out points lay inside their intervals, in brackets; nothing where none has one.
fn covered(errors: &RouteErrors) -> String {
    if errors.with_interval == 0 {
        return String::new();
    }
    format!(" ({} of {} inside the interval)", errors.covered, errors.with_interval)
}
