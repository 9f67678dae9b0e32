//! Sizes so small that they are in millions or billions, or logarithms.

use crate::result::{Flag, FlagCode};

/// Below it no model, no text and no compute is counted one by one.
const SMALL: f64 = 1000.0;

/// Columns that count something of which there are many, in lower case: parameters, tokens, FLOPs.
const MANY: [&str; 16] = [
    "s",
    "n",
    "d",
    "c",
    "params",
    "parameters",
    "num_params",
    "n_params",
    "non_embedding",
    "non_embedding_parameters",
    "size",
    "tokens",
    "flops",
    "compute",
    "budget",
    "c_flops",
];

/// A caution that all of a column's numbers are smaller than what it counts, with what they are
/// likely in; `x` is the column.
pub(crate) fn small(x: &str, values: impl Iterator<Item = f64>) -> Option<Flag> {
    let counted = MANY.contains(&x.to_lowercase().as_str());
    let (low, high) =
        values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
    if !counted || !(low..SMALL).contains(&high) {
        return None;
    }
    // Sizes of a family lie a decade apart or more; their logarithms do not.
    let likely = if low >= 3.0 && high <= 30.0 && high < 3.0 * low {
        "logarithms to base 10? A power law needs the numbers themselves"
    } else {
        "in millions or billions? Write 70M, 1.4B or the whole number, so that predictions and comparisons are in one unit"
    };
    let message =
        format!("{x} goes from {low} to {high} only, which is small for what it counts: {likely}");
    Some(Flag::new(FlagCode::UnlikelyUnit, message))
}
