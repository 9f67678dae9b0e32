//! The value at a size.

use relscale_records::digits;
use relscale_stats::interval::open_form::Of;

use super::rivals;
use super::source::Source;
use crate::extrapolate;
use crate::result::{
    Basis, FoundValue, GroupFit, Interval, LineValue, Outcome, Predicted, ValuePrediction,
};
use crate::sizes;
use crate::verdict::{magnitude, within};

/// Predicts `quantity` at S = `parameters`, above zero.
pub(super) fn at(
    group: &GroupFit,
    quantity: Predicted,
    parameters: f64,
    level: f64,
) -> ValuePrediction {
    let symbol = quantity.symbol();
    let source = match Source::from_group(group, quantity) {
        Ok(source) => source,
        Err(reason) => return refused(quantity, parameters, reason),
    };
    let decades_beyond = sizes::decades_beyond(parameters.ln(), &source.sizes);
    let unit = quantity.unit();
    let open =
        |of| extrapolate::at(&source.open, parameters, of, unit, level, |l| source.reading(l));
    let (Some(value), Some(law)) = (open(Of::Point), open(Of::Law)) else {
        return refused(
            quantity,
            parameters,
            "the law's value exceeds the range of numbers".to_owned(),
        );
    };
    let line = |fresh| source.read(source.fit.value(parameters, fresh, "", level), unit);
    let found = FoundValue {
        basis: source.basis,
        form: source.open.form().to_owned(),
        value,
        law_interval: law.interval,
        power_law: Some(LineValue { value: line(true), law_interval: line(false).interval })
            .filter(|line| line.value.value.is_finite()),
        independent: independent(group, quantity, &source, parameters),
        rivals: rivals::values(&source, parameters),
    };
    let mut flags: Vec<_> = sizes::extrapolation(
        &format!("{symbol} at S = {parameters:.2e}"),
        decades_beyond,
        &source.sizes,
    )
    .into_iter()
    .collect();
    flags.extend(source.flags.iter().cloned());
    let verdict = sentence(&symbol, parameters, &found);
    ValuePrediction {
        quantity,
        parameters,
        decades_beyond,
        outcome: Outcome::fitted(found),
        flags,
        verdict,
    }
}

fn refused(quantity: Predicted, parameters: f64, reason: String) -> ValuePrediction {
    let verdict = format!("{} at S = {}: {reason}.", quantity.symbol(), magnitude(parameters));
    let outcome = Outcome::Refused { reason };
    ValuePrediction {
        quantity,
        parameters,
        decades_beyond: 0.0,
        outcome,
        flags: Vec::new(),
        verdict,
    }
}

/// Beside counted windows: what independence gives.
fn independent(
    group: &GroupFit,
    quantity: Predicted,
    source: &Source<'_>,
    parameters: f64,
) -> Option<f64> {
    let Predicted::Sequence { length, k } = quantity else { return None };
    if source.basis != Basis::CountedWindows {
        return None;
    }
    let single = Source::independent(group, length, k).ok()?;
    Some(single.reading(single.fit.power.at(parameters))).filter(|value| value.is_finite())
}

fn sentence(symbol: &str, parameters: f64, found: &FoundValue) -> String {
    let size = magnitude(parameters);
    let value = digits::number(found.value.value);
    match (found.value.bounds(), found.law_interval.bounds()) {
        (Some(model), Some(law)) => format!(
            "At S = {size}, {symbol} is {value}: one new model {}, the law {}.",
            within(model.0, model.1, &found.value.interval),
            within(law.0, law.1, &found.law_interval),
        ),
        _ => {
            let reason = match &found.value.interval {
                Interval::None { reason } => reason.as_str(),
                _ => "no interval",
            };
            format!("At S = {size}, {symbol} is {value}, without an interval ({reason}).")
        }
    }
}
