//! The cross-entropy law: mean negative log-likelihood of a token against S; and the same a byte.
//!
//! `CE = C S^-beta` without a floor, as the paper sets it beside the rank law; the total is over
//! tokens, so long documents weigh by their length.

use std::f64::consts::LN_2;

use crate::options::FitOptions;
use crate::power_law::{self, Measured, Setting};
use crate::result::{Law, LeftOut, Quantity};
use crate::table::{Group, Sums};

/// The cross-entropy law of a group.
pub(crate) fn law(group: &Group<'_>, options: &FitOptions) -> Law {
    of_mean(group, options, Quantity::CrossEntropy, |sums| sums.nll / sums.tokens)
}

/// The law of bits per byte of a group, which compares across tokenizers.
pub(crate) fn bits_per_byte(group: &Group<'_>, options: &FitOptions) -> Law {
    of_mean(group, options, Quantity::BitsPerByte, |sums| sums.nll / LN_2 / sums.bytes)
}

fn of_mean(
    group: &Group<'_>,
    options: &FitOptions,
    quantity: Quantity,
    statistic: fn(Sums<'_>) -> f64,
) -> Law {
    let mut measured = Vec::new();
    let mut left_out = Vec::new();
    for (model, run) in group.runs.iter().enumerate() {
        let sums = run.sums();
        let value = statistic(sums);
        if value > 0.0 && value.is_finite() {
            measured.push(Measured {
                model: run.tally.model.clone(),
                parameters: run.tally.non_embedding,
                tokens: sums.tokens as u64,
                hits: None,
                value,
                replicates: group.replicates(model, statistic),
                left_out: group.left_out(model, statistic),
            });
        } else {
            let reason = if sums.tokens == 0.0 {
                "no token was scored".to_owned()
            } else if quantity == Quantity::CrossEntropy {
                format!("its cross entropy is {value} nats per token, which has no logarithm")
            } else if sums.bytes == 0.0 {
                "its tokens have no bytes: the text came as ids".to_owned()
            } else {
                format!("it has {value} bits per byte, which has no logarithm")
            };
            left_out
                .push(LeftOut::new(&run.tally.model, reason).at(run.tally.non_embedding as f64));
        }
    }
    let setting = Setting { level: options.level, sizes: &group.sizes };
    power_law::law(quantity, setting, measured, left_out, |_| Vec::new())
}
