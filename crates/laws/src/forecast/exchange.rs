//! Whether one feature forecasts better than another by more than the errors of both at single
//! models.
//!
//! A feature that is off at one model, held out or not, moves the forecasts of all tasks at once,
//! so tasks say little about it, and the models that are held out share the curve. Were both
//! features the same strength of a model with errors of their own, either could stand for the
//! other at any model. So both are brought to one mean and scatter (no curve is changed by that),
//! exchanged at some of the models in every possible way, and everything is fitted again: p is the
//! share of ways whose difference is at least that found. Features that are bent against each
//! other differ more when they are exchanged, which makes p larger, never smaller.

use rayon::prelude::*;
use relscale_stats::bootstrap::signs;

use super::ForecastOptions;

/// The share; `None` where a feature does not vary or a fit fails. `error` is the mean absolute
/// error by a curve of values, an entry a model.
pub(super) fn share(
    first: &[f64],
    second: &[f64],
    options: &ForecastOptions,
    error: impl Fn(&[f64]) -> Option<f64> + Sync,
) -> Option<f64> {
    let second = alike(second, first)?;
    let difference = |exchanged: &dyn Fn(usize) -> bool| -> Option<f64> {
        let of = |turned: bool| -> Vec<f64> {
            let either = |at: usize| if exchanged(at) == turned { first[at] } else { second[at] };
            (0..first.len()).map(either).collect()
        };
        Some(error(&of(true))? - error(&of(false))?)
    };
    let found = difference(&|_| false)?.abs();
    // The other half of the ways has the same differences with the other sign.
    let ways = 1_u64.checked_shl(first.len() as u32 - 1).unwrap_or(u64::MAX);
    let exhaustive = ways <= u64::from(options.exchanges);
    let drawn = if exhaustive { ways } else { u64::from(options.exchanges) };
    let beyond: Option<Vec<bool>> = (1..drawn)
        .into_par_iter()
        .map(|way| {
            let mut signed = vec![0.0; first.len()];
            if !exhaustive {
                signs(options.seed, way, &mut signed);
            }
            let exchanged = |at: usize| {
                if exhaustive { way >> at & 1 == 1 } else { signed[at] < 0.0 }
            };
            // As good as equal is equal.
            Some(difference(&exchanged)?.abs() >= found * (1.0 - 1e-9))
        })
        .collect();
    let beyond = beyond?.into_iter().filter(|beyond| *beyond).count();
    // The way that was found is one of them.
    Some((beyond + 1) as f64 / drawn as f64)
}

/// Values with the mean and standard deviation of others.
fn alike(values: &[f64], others: &[f64]) -> Option<Vec<f64>> {
    let [(mean, width), (theirs, their_width)] = [values, others].map(|values| {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (mean, (squares / count).sqrt())
    });
    (width > 0.0 && their_width > 0.0)
        .then(|| values.iter().map(|value| theirs + their_width * (value - mean) / width).collect())
}
