//! The size for a target.

use relscale_stats::interval::crossing;

use super::rivals;
use super::source::Source;
use crate::result::{
    Basis, Estimate, FoundSize, GroupFit, Interval, Outcome, Predicted, SizePrediction,
};
use crate::sizes;
use crate::verdict::magnitude;

/// Predicts the S at which `quantity` reaches `target`.
pub(super) fn reaching(
    group: &GroupFit,
    quantity: Predicted,
    target: f64,
    level: f64,
) -> SizePrediction {
    let goal = quantity.reaching(target);
    let refused = |reason: String| {
        let verdict = format!("{goal}: {reason}.");
        SizePrediction {
            quantity,
            target,
            outcome: Outcome::Refused { reason },
            flags: Vec::new(),
            verdict,
        }
    };
    let source = match Source::from_group(group, quantity) {
        Ok(source) => source,
        Err(reason) => return refused(reason),
    };
    let log_size = match crossing_of(&source, target) {
        Ok(log_size) => log_size,
        Err(reason) => return refused(reason),
    };
    let size = log_size.exp();
    let log_level = source.level_of(target).ln();
    let decades_beyond = sizes::decades_beyond(log_size, &source.sizes);
    let found = FoundSize {
        basis: source.basis,
        parameters: Estimate {
            value: size,
            unit: "parameters".to_owned(),
            // First order, through the slope and then the exponential.
            standard_error: source
                .fit
                .log_error(log_size)
                .map(|error| error / source.fit.power.exponent() * size)
                .filter(|error| error.is_finite()),
            interval: source.fit.reaches(log_level, false, level),
        },
        for_one_model: source.fit.reaches(log_level, true, level),
        decades_beyond,
        independent: independent(group, quantity, &source, target),
        rivals: rivals::sizes(&source, target),
    };
    let mut flags: Vec<_> = sizes::extrapolation(
        &format!("{goal}, at {size:.2e} parameters,"),
        decades_beyond,
        &source.sizes,
    )
    .into_iter()
    .collect();
    flags.extend(source.flags.iter().cloned());
    let verdict = sentence(&goal, &found);
    SizePrediction { quantity, target, outcome: Outcome::fitted(found), flags, verdict }
}

/// ln S at which the law reaches the target.
fn crossing_of(source: &Source<'_>, target: f64) -> Result<f64, String> {
    let exponent = source.fit.power.exponent();
    if exponent <= 0.0 {
        return Err(format!(
            "{} does not fall with size (exponent {exponent:.4}), so no size is large enough",
            source.law.quantity.symbol()
        ));
    }
    let log_size = crossing::at(&source.fit.power.line, source.level_of(target).ln())
        .map_err(|refusal| refusal.to_string())?;
    let size = log_size.exp();
    if size.is_finite() && size > 0.0 {
        Ok(log_size)
    } else {
        Err(format!(
            "the law gives 10^{:.0} parameters, beyond the range of numbers",
            log_size / std::f64::consts::LN_10
        ))
    }
}

/// Beside counted windows: the size by independence.
fn independent(
    group: &GroupFit,
    quantity: Predicted,
    source: &Source<'_>,
    target: f64,
) -> Option<f64> {
    let Predicted::Sequence { length, k } = quantity else { return None };
    if source.basis != Basis::CountedWindows {
        return None;
    }
    let single = Source::independent(group, length, k).ok()?;
    crossing_of(&single, target).ok().map(f64::exp)
}

fn sentence(goal: &str, found: &FoundSize) -> String {
    let range = |interval: &Interval| match interval.bounds() {
        Some((low, high)) => format!("[{}, {}]", magnitude(low), magnitude(high)),
        None => format!("without an end ({})", interval.reason().unwrap_or("unknown")),
    };
    let start = format!("{goal} takes {} parameters", magnitude(found.parameters.value));
    match (&found.parameters.interval, &found.for_one_model) {
        (Interval::None { reason }, Interval::None { .. }) => {
            format!("{start}, without an interval ({reason}).")
        }
        (law, model) => {
            format!(
                "{start}: the law reaches it in {}, one new model in {}.",
                range(law),
                range(model)
            )
        }
    }
}
