//! The largest models held out: curves of each task through the smaller ones.

use rayon::prelude::*;
use relscale_stats::forms::power_floor::PowerFloor;
use relscale_stats::forms::{self, sigmoid};
use relscale_stats::optimise::ridge;

use super::ForecastOptions;
use super::errors::{Cell, leave_out};
use super::exchange;
use super::panel::Panel;
use crate::result::{FeatureKind, Forecaster, LeaveOut};

/// Models that are left to fit to, where nobody says how many are held out.
const LEFT: usize = 5;

/// The most that are held out unasked.
const UNASKED: usize = 3;

/// Penalties of the ridge, in parts of the number of points.
const PENALTIES: [f64; 9] = [1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0];

/// The logit of an accuracy is taken no farther than of this, and of one less it.
const NEAREST: f64 = 0.02;

/// One, two, ... of the largest x held out.
pub(super) fn all(panel: &Panel, options: &ForecastOptions) -> Vec<LeaveOut> {
    let mut sizes: Vec<f64> = panel.models.iter().map(|model| model.x).collect();
    sizes.dedup();
    let unasked = UNASKED.min(sizes.len().saturating_sub(LEFT)).max(1);
    let most = options.held_out.map_or(unasked, |asked| asked as usize);
    (1..=most.min(sizes.len().saturating_sub(1)))
        .filter_map(|count| {
            let from = sizes[sizes.len() - count];
            let (unseen, known): (Vec<usize>, Vec<usize>) =
                (0..panel.models.len()).partition(|&at| panel.models[at].x >= from);
            held_out(panel, count, &known, &unseen, options)
        })
        .collect()
}

fn held_out(
    panel: &Panel,
    count: usize,
    known: &[usize],
    unseen: &[usize],
    options: &ForecastOptions,
) -> Option<LeaveOut> {
    let loss = choose(panel, known, &panel.of_kind(FeatureKind::Loss));
    let rank = choose(panel, known, &panel.of_kind(FeatureKind::Rank));
    let feature = |forecaster| match forecaster {
        Forecaster::Loss | Forecaster::Stages => loss,
        Forecaster::Rank | Forecaster::RankStages => rank,
        _ => None,
    };
    let values = Forecaster::ALL
        .map(|forecaster| values(panel, forecaster, feature(forecaster), known, unseen));
    let cells: Vec<Cell> = (0..panel.tasks.len())
        .into_par_iter()
        .flat_map(|task| {
            let (unseen, measured) = panel.with_accuracy(task, unseen);
            let by = |at: usize| {
                let values = values[at].as_deref();
                forecasts(panel, task, Forecaster::ALL[at], values, known, &unseen)
            };
            let forecasts: [_; Forecaster::ALL.len()] = std::array::from_fn(by);
            let cell = |(at, (&model, &accuracy)): (usize, (&usize, &f64))| Cell {
                task,
                model,
                accuracy,
                forecasts: forecasts.each_ref().map(|all| Some(all.as_ref()?[at])),
            };
            unseen.iter().zip(&measured).enumerate().map(cell).collect::<Vec<_>>()
        })
        .collect();
    let which = match count {
        1 => "the largest model".to_owned(),
        count => format!("the {count} largest models"),
    };
    let names = Forecaster::ALL
        .map(|forecaster| feature(forecaster).map(|feature| panel.features[feature].name.clone()));
    let error = |values: &[f64]| -> Option<f64> {
        let errors: Option<Vec<Vec<f64>>> = (0..panel.tasks.len())
            .map(|task| {
                let (unseen, measured) = panel.with_accuracy(task, unseen);
                let found = forecasts(panel, task, Forecaster::Loss, Some(values), known, &unseen)?;
                Some(found.iter().zip(&measured).map(|(found, is)| (found - is).abs()).collect())
            })
            .collect();
        let errors = errors?.concat();
        Some(errors.iter().sum::<f64>() / errors.len() as f64)
    };
    let place = |forecaster| Forecaster::ALL.iter().position(|other| *other == forecaster);
    let loss = place(Forecaster::Loss).and_then(|at| values[at].as_deref());
    let chances = std::array::from_fn(|at| match Forecaster::ALL[at] {
        Forecaster::Rank | Forecaster::Size => {
            exchange::share(loss?, values[at].as_deref()?, options, error)
        }
        _ => None,
    });
    leave_out(panel, which, cells, names, chances, options.level)
}

/// The feature whose curve forecasts the known models best, each left out of it: one for all tasks.
/// `None` where there is none, or several and too few models to choose by.
fn choose(panel: &Panel, known: &[usize], candidates: &[usize]) -> Option<usize> {
    if let [only] = candidates {
        return Some(*only);
    }
    let error = |feature: usize| -> Option<f64> {
        let errors: Option<Vec<f64>> = (0..panel.tasks.len())
            .into_par_iter()
            .map(|task| {
                let (models, accuracy) = panel.with_accuracy(task, known);
                let loss = panel.feature(feature, &models);
                let mut sum = 0.0;
                for at in 0..models.len() {
                    let others = |values: &[f64]| [&values[..at], &values[at + 1..]].concat();
                    let seen = others(&accuracy);
                    let lower = panel.lower(task, &seen);
                    let found = curve(&others(&loss), &seen, lower, &loss[at..=at])?;
                    sum += (found[0] - accuracy[at]).abs();
                }
                Some(sum)
            })
            .collect();
        Some(errors?.iter().sum())
    };
    let errors = candidates.iter().filter_map(|&feature| Some((error(feature)?, feature)));
    errors.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, feature)| feature)
}

/// A sigmoid through points, at other losses.
fn curve(loss: &[f64], share: &[f64], lower: f64, at: &[f64]) -> Option<Vec<f64>> {
    let fit = sigmoid::fit(loss, share, Some(lower)).ok()?;
    Some(at.iter().map(|loss| fit.at(*loss)).collect())
}

/// What stands for the loss in a forecaster's curve, an entry a model: of those that are held out
/// as it was measured, or by a first stage through the others. `None` where there is no curve.
fn values(
    panel: &Panel,
    forecaster: Forecaster,
    feature: Option<usize>,
    known: &[usize],
    unseen: &[usize],
) -> Option<Vec<f64>> {
    let all: Vec<usize> = (0..panel.models.len()).collect();
    match forecaster {
        Forecaster::Last | Forecaster::Profile => None,
        Forecaster::Size => Some(panel.minus_log_x(&all)),
        Forecaster::Loss | Forecaster::Rank => Some(panel.feature(feature?, &all)),
        Forecaster::Stages | Forecaster::RankStages => {
            let x: Vec<f64> = known.iter().map(|&model| panel.models[model].x).collect();
            let first = forms::fit(&PowerFloor, &x, &panel.feature(feature?, known)).ok()?;
            let mut values = panel.feature(feature?, &all);
            for &model in unseen {
                values[model] = first.shape.at(panel.models[model].x)?;
            }
            Some(values)
        }
    }
}

/// The accuracies of models on a task by one forecaster; `None` where it has none.
fn forecasts(
    panel: &Panel,
    task: usize,
    forecaster: Forecaster,
    values: Option<&[f64]>,
    known: &[usize],
    unseen: &[usize],
) -> Option<Vec<f64>> {
    let (seen, accuracy) = panel.with_accuracy(task, known);
    let chance = panel.tasks[task].chance;
    match forecaster {
        Forecaster::Last => Some(vec![*accuracy.last()?; unseen.len()]),
        Forecaster::Size
        | Forecaster::Loss
        | Forecaster::Rank
        | Forecaster::Stages
        | Forecaster::RankStages => {
            let of = |models: &[usize]| -> Option<Vec<f64>> {
                models.iter().map(|&model| values.map(|values| values[model])).collect()
            };
            curve(&of(&seen)?, &accuracy, panel.lower(task, &accuracy), &of(unseen)?)
        }
        Forecaster::Profile => {
            let row = |&model: &usize| -> Vec<f64> {
                panel.models[model].values.iter().map(|value| value.ln()).collect()
            };
            let rows: Vec<Vec<f64>> = seen.iter().map(row).collect();
            let logits: Vec<f64> = accuracy
                .iter()
                .map(|accuracy| logit((accuracy - chance) / (1.0 - chance)))
                .collect();
            let penalties = PENALTIES.map(|part| part * seen.len() as f64);
            let fit = ridge::chosen(&logits, &rows, &penalties).ok()?;
            let back = |logit: f64| chance + (1.0 - chance) / (1.0 + (-logit).exp());
            Some(unseen.iter().map(|model| back(fit.at(&row(model)))).collect())
        }
    }
}

fn logit(share: f64) -> f64 {
    let share = share.clamp(NEAREST, 1.0 - NEAREST);
    (share / (1.0 - share)).ln()
}
