//! How far each forecaster is off, and how far from the same way by cross entropy.

use std::collections::BTreeMap;

use relscale_stats::interval::welch;
use relscale_stats::multiple;

use super::panel::Panel;
use crate::result::{
    AgainstLoss, Estimate, ForecastPoint, ForecastValue, Forecaster, ForecasterErrors, Interval,
    LeaveOut,
};

/// One accuracy that was not seen, with the forecasts of it in the order of [`Forecaster::ALL`].
pub(super) struct Cell {
    pub(super) task: usize,
    pub(super) model: usize,
    pub(super) accuracy: f64,
    pub(super) forecasts: [Option<f64>; Forecaster::ALL.len()],
}

/// The errors over all cells; `None` where nobody forecasts them all.
pub(super) fn leave_out(
    panel: &Panel,
    which: String,
    cells: Vec<Cell>,
    features: [Option<String>; Forecaster::ALL.len()],
    chances: [Option<f64>; Forecaster::ALL.len()],
    level: f64,
) -> Option<LeaveOut> {
    // Signed errors of those that forecast every cell.
    let errors: BTreeMap<usize, Vec<f64>> = (0..Forecaster::ALL.len())
        .filter_map(|at| {
            let errors: Option<Vec<f64>> =
                cells.iter().map(|cell| Some(cell.forecasts[at]? - cell.accuracy)).collect();
            Some((at, errors?))
        })
        .collect();
    if cells.is_empty() || errors.is_empty() {
        return None;
    }
    let place = |forecaster| Forecaster::ALL.iter().position(|other| *other == forecaster);
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / cells.len() as f64;
    let forecasters = errors
        .iter()
        .map(|(&at, own)| {
            let forecaster = Forecaster::ALL[at];
            let rival =
                forecaster.rival().and_then(|rival| Some((rival, errors.get(&place(rival)?)?)));
            ForecasterErrors {
                forecaster,
                feature: features[at].clone(),
                mean_absolute: mean(&mut own.iter().map(|error| error.abs())),
                mean: mean(&mut own.iter().copied()),
                against: rival.map(|(rival, theirs)| {
                    let difference = difference(own, theirs, &cells, level);
                    AgainstLoss { rival, difference, p: chances[at], q: None, shown: false }
                }),
            }
        })
        .collect();
    let names = |values: &mut dyn Iterator<Item = usize>, name: &dyn Fn(usize) -> String| {
        let mut values: Vec<usize> = values.collect();
        values.sort_unstable();
        values.dedup();
        values.into_iter().map(name).collect::<Vec<String>>()
    };
    let task = |at: usize| panel.tasks[at].task.clone();
    let model = |at: usize| panel.models[at].model.clone();
    Some(LeaveOut {
        which,
        models: names(&mut cells.iter().map(|cell| cell.model), &model),
        tasks: names(&mut cells.iter().map(|cell| cell.task), &task),
        forecasters,
        points: cells
            .iter()
            .map(|cell| ForecastPoint {
                task: task(cell.task),
                model: model(cell.model),
                x: panel.models[cell.model].x,
                accuracy: cell.accuracy,
                forecasts: Forecaster::ALL
                    .into_iter()
                    .zip(cell.forecasts)
                    .filter_map(|(forecaster, found)| {
                        Some(ForecastValue { forecaster, accuracy: found? })
                    })
                    .collect(),
            })
            .collect(),
    })
}

/// The mean difference of absolute errors, by Student t over the tasks' means.
fn difference(own: &[f64], theirs: &[f64], cells: &[Cell], level: f64) -> Estimate {
    let mut tasks: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (cell, (own, theirs)) in cells.iter().zip(own.iter().zip(theirs)) {
        tasks.entry(cell.task).or_default().push(own.abs() - theirs.abs());
    }
    let value = tasks.values().flatten().sum::<f64>() / cells.len() as f64;
    let means: Vec<f64> =
        tasks.values().map(|of| of.iter().sum::<f64>() / of.len() as f64).collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let squares: f64 = means.iter().map(|one| (one - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let quantile = welch::two_sided_quantile(level, count - 1.0);
    let (standard_error, interval) = match quantile {
        Ok(quantile) if error.is_finite() => {
            let (low, high) = (value - quantile * error, value + quantile * error);
            let degrees_of_freedom = means.len() as u32 - 1;
            (Some(error), Interval::OverTasks { low, high, level, degrees_of_freedom })
        }
        _ => (None, Interval::None { reason: "one task does not tell of others".to_owned() }),
    };
    Estimate { value, unit: "1".to_owned(), standard_error, interval }
}

/// Adjusts the chances of all comparisons for their number, and says which differences are shown.
pub(super) fn adjust<'a>(all: impl Iterator<Item = &'a mut LeaveOut>, level: f64) {
    let found = all.flat_map(|found| &mut found.forecasters);
    let mut tested: Vec<&mut AgainstLoss> = found
        .filter_map(|errors| errors.against.as_mut())
        .filter(|against| against.p.is_some())
        .collect();
    let p: Vec<f64> = tested.iter().filter_map(|against| against.p).collect();
    let Ok(q) = multiple::adjusted(&p) else { return };
    for (against, q) in tested.iter_mut().zip(q) {
        against.q = Some(q);
        let outside =
            against.difference.bounds().is_some_and(|(low, high)| low > 0.0 || high < 0.0);
        against.shown = q <= 1.0 - level && outside;
    }
}
