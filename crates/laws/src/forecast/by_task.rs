//! Each task left out: its curve has the shape of the other tasks', and the height that its
//! smallest models give it.

use std::collections::BTreeMap;

use rayon::prelude::*;
use relscale_stats::forms::shared_sigmoid::{self, SharedSigmoid, Shares};

use super::ForecastOptions;
use super::errors::{Cell, leave_out};
use super::exchange;
use super::panel::Panel;
use crate::result::{FeatureKind, Forecaster, LeaveOut};

/// Tasks of which one can be left out, and of the others one again.
const FEWEST_TASKS: usize = 3;

/// What a shape is of: a feature, or `-ln x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Of {
    Feature(usize),
    Size,
}

/// Each task left out in turn; `None` where there are too few, or no larger models.
pub(super) fn all(panel: &Panel, options: &ForecastOptions) -> Option<LeaveOut> {
    let tasks = panel.tasks.len();
    if tasks < FEWEST_TASKS {
        return None;
    }
    let given = options.given as usize;
    let [losses, ranks] = [FeatureKind::Loss, FeatureKind::Rank].map(|kind| panel.of_kind(kind));
    let of_features = losses.iter().chain(&ranks).map(|&feature| Of::Feature(feature));
    let all: Vec<Of> = of_features.chain([Of::Size]).collect();
    // Shapes without a task, and without two, which a choice among features takes.
    let pairs = (0..tasks).flat_map(|one| (one..tasks).map(move |other| (one, other)));
    let several = losses.len() > 1 || ranks.len() > 1;
    let wanted: Vec<(Of, usize, usize)> = pairs
        .filter(|(one, other)| one == other || several)
        .flat_map(|(one, other)| all.iter().map(move |&of| (of, one, other)))
        .collect();
    let shapes: BTreeMap<(Of, usize, usize), Option<SharedSigmoid>> = wanted
        .into_par_iter()
        .map(|(of, one, other)| ((of, one, other), shape(panel, &values(panel, of), &[one, other])))
        .collect();
    let shape_of = |of: Of, one: usize, other: usize| {
        shapes.get(&(of, one.min(other), one.max(other))).copied().flatten()
    };
    // The feature whose shape forecasts the other tasks best, each left out as well.
    let choose = |left: usize, candidates: &[usize]| -> Option<usize> {
        if let [only] = candidates {
            return Some(*only);
        }
        let error = |feature: usize| -> Option<f64> {
            let of = Of::Feature(feature);
            let values = values(panel, of);
            let mut sum = 0.0;
            for other in (0..tasks).filter(|other| *other != left) {
                let shape = shape_of(of, left, other)?;
                for (accuracy, found) in
                    forecasts(panel, other, &values, &shape, given)?.into_values()
                {
                    sum += f64::abs(found - accuracy);
                }
            }
            Some(sum)
        };
        let errors = candidates.iter().filter_map(|&feature| Some((error(feature)?, feature)));
        errors.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, feature)| feature)
    };
    let mut cells = Vec::new();
    let mut chosen: [Vec<usize>; 2] = Default::default();
    for task in 0..tasks {
        let features = [choose(task, &losses), choose(task, &ranks)];
        chosen.iter_mut().zip(features).for_each(|(chosen, feature)| chosen.extend(feature));
        let models: Vec<usize> = (0..panel.models.len()).collect();
        let (models, accuracy) = panel.with_accuracy(task, &models);
        if models.len() <= given {
            continue;
        }
        let found = |of: Option<Of>| {
            let shape = shape_of(of?, task, task)?;
            forecasts(panel, task, &values(panel, of?), &shape, given)
        };
        let by = Forecaster::ALL.map(|forecaster| match forecaster {
            Forecaster::Loss => found(features[0].map(Of::Feature)),
            Forecaster::Rank => found(features[1].map(Of::Feature)),
            Forecaster::Size => found(Some(Of::Size)),
            Forecaster::Last => {
                let last = accuracy[given - 1];
                let later = models.iter().zip(&accuracy).skip(given);
                Some(later.map(|(&model, &accuracy)| (model, (accuracy, last))).collect())
            }
            // The loss of every model is known here; and a task that is left out has no logits.
            Forecaster::Stages | Forecaster::RankStages | Forecaster::Profile => None,
        });
        cells.extend(models.iter().zip(&accuracy).skip(given).map(|(&model, &accuracy)| Cell {
            task,
            model,
            accuracy,
            forecasts: by.each_ref().map(|all: &Option<Found>| Some(all.as_ref()?.get(&model)?.1)),
        }));
    }
    let name = |chosen: &[usize]| most_frequent(chosen).map(|at| panel.features[at].name.clone());
    let names = Forecaster::ALL.map(|forecaster| match forecaster {
        Forecaster::Loss => name(&chosen[0]),
        Forecaster::Rank => name(&chosen[1]),
        _ => None,
    });
    let which = format!("each task but for its {given} smallest models");
    let often = |chosen: &[usize]| most_frequent(chosen).map(|at| values(panel, Of::Feature(at)));
    let loss = often(&chosen[0]);
    let chance = |values: Option<Vec<f64>>| {
        exchange::share(loss.as_deref()?, &values?, options, |values| error(panel, values, given))
    };
    let chances = Forecaster::ALL.map(|forecaster| match forecaster {
        Forecaster::Rank => chance(often(&chosen[1])),
        Forecaster::Size => chance(Some(values(panel, Of::Size))),
        _ => None,
    });
    leave_out(panel, which, cells, names, chances, options.level)
}

/// Model -> accuracy as measured, and as forecast.
type Found = BTreeMap<usize, (f64, f64)>;

/// What the shape is of, an entry a model.
fn values(panel: &Panel, of: Of) -> Vec<f64> {
    let models: Vec<usize> = (0..panel.models.len()).collect();
    match of {
        Of::Feature(feature) => panel.feature(feature, &models),
        Of::Size => panel.minus_log_x(&models),
    }
}

fn shares(panel: &Panel, task: usize, values: &[f64], models: &[usize]) -> Shares {
    let (models, share) = panel.with_accuracy(task, models);
    let lower = panel.lower(task, &share);
    Shares { loss: models.iter().map(|&model| values[model]).collect(), share, lower }
}

/// The shape of all tasks but these.
fn shape(panel: &Panel, values: &[f64], without: &[usize]) -> Option<SharedSigmoid> {
    let models: Vec<usize> = (0..panel.models.len()).collect();
    let tasks = (0..panel.tasks.len()).filter(|task| !without.contains(task));
    let series: Vec<Shares> = tasks.map(|task| shares(panel, task, values, &models)).collect();
    shared_sigmoid::fit(&series).ok()
}

/// The larger models of a task by a shape, its height by the smallest.
fn forecasts(
    panel: &Panel,
    task: usize,
    values: &[f64],
    shape: &SharedSigmoid,
    given: usize,
) -> Option<Found> {
    let models: Vec<usize> = (0..panel.models.len()).collect();
    let (models, accuracy) = panel.with_accuracy(task, &models);
    let (small, large) = models.split_at_checked(given)?;
    let series = shares(panel, task, values, small);
    let height = shape.height(&series);
    let found = large.iter().zip(&accuracy[given..]).map(|(&model, &accuracy)| {
        (model, (accuracy, shape.at(series.lower, height, values[model])))
    });
    Some(found.collect())
}

/// The mean absolute error by shapes of these values, each task left out.
fn error(panel: &Panel, values: &[f64], given: usize) -> Option<f64> {
    let mut errors: Vec<f64> = Vec::new();
    for task in 0..panel.tasks.len() {
        let shape = shape(panel, values, &[task])?;
        let found = forecasts(panel, task, values, &shape, given).unwrap_or_default();
        errors.extend(found.into_values().map(|(is, found)| (found - is).abs()));
    }
    (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
}

fn most_frequent(values: &[usize]) -> Option<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    values.iter().for_each(|value| *counts.entry(*value).or_default() += 1);
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(value, _)| value)
}
