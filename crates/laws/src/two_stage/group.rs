//! One group of points: how predictable its loss is, its curves, and how they do on points they
//! have not seen.

use relscale_stats::forms::power;
use relscale_stats::optimise::polynomial;

use super::chain::{Chain, FROM_X};
use super::{HeldOut, StagesOptions, verdicts};
use crate::result::{
    Flag, FlagCode, HeldOutPoint, HeldOutStages, Outcome, Predictability, Route, RouteErrors,
    StagesGroup, StagesPoint, StagesPrediction,
};

/// Fits a group; `points` ascend in x.
pub(super) fn fit(name: String, points: Vec<StagesPoint>, options: &StagesOptions) -> StagesGroup {
    let level = options.level;
    let all: Vec<&StagesPoint> = points.iter().collect();
    let chain = Chain::fit(&all, options.chance);
    let (x, loss) = ranges(&all, options);
    let mut group = StagesGroup {
        name,
        predictability: predictability(&all),
        curves: chain.describe(x, loss, level),
        ahead: options.at.iter().map(|&x| prediction(&chain, &all, x, level)).collect(),
        held_out: held_out(&all, options),
        flags: Vec::new(),
        verdict: String::new(),
        points,
    };
    group.flags = flags(&group, options);
    group.verdict = verdicts::group(&group);
    group
}

/// Smallest and largest x and loss of the points, the x asked for included.
fn ranges(points: &[&StagesPoint], options: &StagesOptions) -> ((f64, f64), (f64, f64)) {
    let widened =
        |range: (f64, f64), value: f64| (f64::min(range.0, value), f64::max(range.1, value));
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let x = points.iter().map(|point| point.x).chain(options.at.iter().copied());
    (x.fold(none, widened), points.iter().map(|point| point.loss).fold(none, widened))
}

fn predictability(points: &[&StagesPoint]) -> Predictability {
    let x: Vec<f64> = points.iter().map(|point| point.x).collect();
    let log_x: Vec<f64> = x.iter().map(|x| x.ln()).collect();
    let loss: Vec<f64> = points.iter().map(|point| point.loss).collect();
    // Three points lie on every parabola.
    let quadratic = polynomial::fit(&log_x, &loss, 2, None).ok().filter(|_| points.len() > 3);
    // Two points lie on every line.
    let power = power::fit(&x, &loss).ok().filter(|_| points.len() > 2);
    let power_left_out = power.as_ref().and_then(|fit| {
        let errors: Option<Vec<f64>> = fit.line.left_out_errors.iter().copied().collect();
        let logs: Vec<f64> = loss.iter().map(|loss| loss.ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let total: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let left_out: f64 = errors?.iter().map(|error| error * error).sum();
        (total > 0.0).then(|| 1.0 - left_out / total)
    });
    Predictability {
        quadratic: quadratic.as_ref().and_then(|fit| fit.r_squared(&loss)),
        quadratic_left_out: quadratic.as_ref().and_then(|fit| fit.left_out_r_squared(&loss)),
        power: power.as_ref().and_then(|fit| fit.line.r_squared),
        power_left_out,
    }
}

fn prediction(chain: &Chain, points: &[&StagesPoint], x: f64, level: f64) -> StagesPrediction {
    let (smallest, largest) = (points[0].x, points[points.len() - 1].x);
    let decades_beyond = match x {
        _ if x > largest => (x / largest).log10(),
        _ if x < smallest => (x / smallest).log10(),
        _ => 0.0,
    };
    let accuracy =
        FROM_X.into_iter().filter_map(|route| chain.value_at(route, x, None, level)).collect();
    StagesPrediction { x, decades_beyond, accuracy }
}

fn held_out(points: &[&StagesPoint], options: &StagesOptions) -> Option<HeldOutStages> {
    let (unseen, known): (Vec<&StagesPoint>, Vec<&StagesPoint>) =
        points.iter().partition(|point| point.held_out);
    if unseen.is_empty() || known.is_empty() {
        return None;
    }
    let level = options.level;
    let chain = Chain::fit(&known, options.chance);
    let (x, loss) = ranges(points, options);
    let predicted: Vec<HeldOutPoint> = unseen
        .iter()
        .map(|point| {
            let loss = chain.loss_at(point.x, level);
            HeldOutPoint {
                label: point.label.clone(),
                x: point.x,
                loss: point.loss,
                accuracy: point.accuracy,
                loss_error: loss.as_ref().map(|loss| loss.value / point.loss - 1.0),
                predicted_loss: loss,
                predicted: Route::ALL
                    .into_iter()
                    .filter_map(|route| chain.value_at(route, point.x, Some(point.loss), level))
                    .collect(),
            }
        })
        .collect();
    let loss_errors: Option<Vec<f64>> = predicted.iter().map(|point| point.loss_error).collect();
    Some(HeldOutStages {
        which: match &options.held_out {
            HeldOut::Largest(1) => format!("the largest {}", options.x()),
            HeldOut::Largest(count) => format!("the {count} largest {}", options.x()),
            HeldOut::Where(column, value) => format!("{column} = {value}"),
        },
        curves: chain.describe(x, loss, level),
        loss_error: loss_errors.map(|errors| {
            errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64
        }),
        routes: Route::ALL.into_iter().filter_map(|route| errors(route, &predicted)).collect(),
        points: predicted,
    })
}

/// A route's errors, when it predicts every point.
fn errors(route: Route, points: &[HeldOutPoint]) -> Option<RouteErrors> {
    let mut found =
        RouteErrors { route, mean_absolute: 0.0, mean: 0.0, covered: 0, with_interval: 0 };
    for point in points {
        let value = &point.predicted.iter().find(|value| value.route == route)?.accuracy;
        let error = value.value - point.accuracy;
        found.mean_absolute += error.abs() / points.len() as f64;
        found.mean += error / points.len() as f64;
        if let Some((low, high)) = value.bounds() {
            found.with_interval += 1;
            found.covered += u32::from((low..=high).contains(&point.accuracy));
        }
    }
    Some(found)
}

fn flags(group: &StagesGroup, options: &StagesOptions) -> Vec<Flag> {
    let mut flags = Vec::new();
    let curves = [
        ("first stage", &group.curves.loss),
        ("second stage", &group.curves.accuracy),
        ("direct power law", &group.curves.direct_power),
        ("direct sigmoid", &group.curves.direct_sigmoid),
    ];
    for (name, outcome) in curves {
        match outcome {
            Outcome::Refused { reason } => {
                flags.push(Flag::new(FlagCode::TooFewPoints, format!("{name}: none, {reason}")));
            }
            Outcome::Fitted(curve) => flags.extend(
                curve
                    .flags
                    .iter()
                    .map(|flag| Flag::new(flag.code, format!("{name}: {}", flag.message))),
            ),
        }
    }
    if let Some(chance) = options.chance {
        let below: Vec<&str> = group
            .points
            .iter()
            .filter(|point| point.accuracy <= chance)
            .map(|point| point.label.as_str())
            .collect();
        if !below.is_empty() {
            flags.push(Flag::new(
                FlagCode::ChosenAnswers,
                format!("no better than chance ({chance}): {}", below.join(", ")),
            ));
        }
    }
    if group.held_out.is_none() {
        flags.push(Flag::new(
            FlagCode::TooFewPoints,
            "no point was held out (or all were), so nothing is known of predictions".to_owned(),
        ));
    }
    flags
}
