//! Is it a power law at all? Every form of `relscale-stats` on the points of a law.
//!
//! A test with a level says whether the points reject the power law (`judged`). Only where they do
//! is another form named: the one with the lowest AICc. Which form, fitted to the smaller models,
//! predicts the largest best is told beside it as what it is, one draw: under a true power law
//! another form wins there about every second time.

use relscale_stats::StatsError;
use relscale_stats::forms::{self, Curve, Form};
use relscale_stats::interval::profile::{self, ProfileInterval};
use relscale_stats::outcome::Caution;
use relscale_stats::select;

use crate::intervals::traced;
use crate::judged;
use crate::result::{
    Estimate, Flag, FlagCode, FormFinding, HeldOut, Parameter, Point, Rival, RivalFit,
    RivalHeldOut, Rivals,
};
use crate::verdict;

/// How many of the largest models are held out.
const HELD_OUT: [usize; 2] = [1, 2];

/// Compares all forms on points, smallest first. `claimed` says whether the counts behind the
/// points allow to claim a law at all.
pub(crate) fn compare(points: &[Point], unit: &str, level: f64, claimed: bool) -> Rivals {
    let mut forms: Vec<Rival> =
        forms::ALL.iter().map(|form| rival(*form, points, unit, level)).collect();
    let lowest = weigh(&mut forms);
    let (sizes, values): (Vec<f64>, Vec<f64>) =
        points.iter().map(|point| (point.x, point.value)).unzip();
    let test = judged::form_test(&sizes, &values);
    if let Some(power) = forms.first_mut().and_then(|rival| rival.outcome.fit_mut()) {
        power.flags.retain(|flag| flag.code != FlagCode::LackOfFit);
        power.flags.extend(judged::bends(&test, "S"));
    }
    let best_by_aicc = match test.finding {
        FormFinding::Bends => lowest,
        _ => lowest
            .and_then(|_| forms.first().filter(|rival| rival.fit().is_some()))
            .map(|rival| rival.form.clone()),
    };
    let (best_by_held_out, held_out_models) = foresee(&forms).unzip();
    let test = Some(test);
    let mut rivals = Rivals {
        forms,
        test,
        best_by_aicc,
        best_by_held_out,
        held_out_models,
        verdict: String::new(),
    };
    rivals.verdict = verdict::rivals(&rivals, points.len(), claimed);
    rivals
}

fn fit(form: &'static dyn Form, points: &[Point]) -> Result<Curve, StatsError> {
    let (sizes, values): (Vec<f64>, Vec<f64>) =
        points.iter().map(|point| (point.x, point.value)).unzip();
    forms::fit(form, &sizes, &values)
}

fn rival(form: &'static dyn Form, points: &[Point], unit: &str, level: f64) -> Rival {
    Rival {
        form: form.name().to_owned(),
        formula: form.formula().to_owned(),
        outcome: fit(form, points).map(|curve| describe(&curve, points, unit, level)).into(),
        held_out: HELD_OUT
            .into_iter()
            .filter(|models| *models < points.len())
            .map(|models| held_out(form, points, models, unit, level))
            .collect(),
    }
}

fn describe(curve: &Curve, points: &[Point], unit: &str, level: f64) -> RivalFit {
    let aicc = select::aicc(curve);
    let parameters = curve
        .parameters()
        .into_iter()
        .enumerate()
        .filter(|(_, parameter)| parameter.value.is_finite())
        .map(|(at, parameter)| {
            let estimate = Estimate {
                value: parameter.value,
                unit: unit_of(parameter.name, curve.shape.form.name(), unit),
                standard_error: parameter.standard_error,
                interval: traced(profile::parameter(curve, at, level)),
            };
            Parameter::new(parameter.name, estimate)
        })
        .collect();
    RivalFit {
        parameters,
        fitted: points
            .iter()
            .zip(&curve.residuals)
            .map(|(point, e)| point.value * (-e).exp())
            .collect(),
        residual_sum_of_squares: curve.residual_sum_of_squares,
        r_squared: curve.r_squared,
        no_aicc: aicc.as_ref().err().map(ToString::to_string),
        aicc: aicc.ok(),
        aicc_difference: None,
        weight: None,
        flags: curve.cautions.iter().filter_map(flag).collect(),
    }
}

/// The unit of a parameter when the law's values are in `unit`.
fn unit_of(parameter: &str, form: &str, unit: &str) -> String {
    match (parameter, form) {
        ("a", "exponential") => format!("{unit} at S = 0"),
        ("b", "exponential") => "1 / parameter".to_owned(),
        ("a", _) => format!("{unit} at S = 1"),
        ("b", _) => format!("{unit} per unit of ln S"),
        ("S_b", _) => "parameters".to_owned(),
        ("c" | "y_b", _) => unit.to_owned(),
        _ => "1".to_owned(),
    }
}

pub(crate) fn flag(caution: &Caution) -> Option<Flag> {
    let code = match caution {
        Caution::AtBound { .. } => FlagCode::AtBound,
        Caution::IllConditioned { .. } => FlagCode::IllConditioned,
        Caution::Unconfirmed => FlagCode::Unconfirmed,
        Caution::LackOfFit { .. } => FlagCode::LackOfFit,
        _ => return None,
    };
    Some(Flag::new(code, caution.to_string()))
}

/// Fits all but the `models` largest and predicts those.
fn held_out(
    form: &'static dyn Form,
    points: &[Point],
    models: usize,
    unit: &str,
    level: f64,
) -> RivalHeldOut {
    let (known, unseen) = points.split_at(points.len() - models);
    let mut out =
        RivalHeldOut { models: models as u32, predictions: Vec::new(), error: None, reason: None };
    let curve = match fit(form, known) {
        Ok(curve) => curve,
        Err(refusal) => {
            out.reason = Some(refusal.to_string());
            return out;
        }
    };
    for point in unseen {
        match predict(&curve, point, unit, level) {
            Some(prediction) => out.predictions.push(prediction),
            None => {
                let what = match curve.shape.log_at(point.x) {
                    Some(_) => "a value beyond the range of numbers",
                    None => "no value above zero",
                };
                out.reason = Some(format!(
                    "fitted to the smaller models, the {} has {what} at the size of {}",
                    form.name(),
                    point.label
                ));
            }
        }
    }
    if out.predictions.len() == unseen.len() {
        let squares: f64 = out
            .predictions
            .iter()
            .map(|p| (p.predicted.value.ln() - p.observed.ln()).powi(2))
            .sum();
        out.error = Some((squares / unseen.len() as f64).sqrt());
    }
    out
}

fn predict(curve: &Curve, point: &Point, unit: &str, level: f64) -> Option<HeldOut> {
    let size = point.x;
    let predicted = curve.shape.at(size)?;
    let relative_error = Some(predicted / point.value - 1.0).filter(|error| error.is_finite())?;
    let interval = profile::prediction(curve, size, level).map(|found| ProfileInterval {
        low: found.low.map(f64::exp),
        high: found.high.map(f64::exp),
        ..found
    });
    let covered = interval.as_ref().ok().map(|found| found.holds(point.value));
    // First order, as any error of an exponential is: of the curve and of one model's scatter.
    let standard_error = curve
        .standard_error(|shape| shape.log_at(size).unwrap_or(f64::NAN))
        .map(|error| predicted * error.hypot(curve.residual_variance().sqrt()))
        .filter(|error| error.is_finite());
    Some(HeldOut {
        label: point.label.clone(),
        x: size,
        observed: point.value,
        predicted: Estimate {
            value: predicted,
            unit: unit.to_owned(),
            standard_error,
            interval: traced(interval),
        },
        relative_error,
        covered,
    })
}

/// Fills in differences and weights, and names the lowest.
fn weigh(forms: &mut [Rival]) -> Option<String> {
    let (at, criteria): (Vec<usize>, Vec<f64>) =
        forms.iter().enumerate().filter_map(|(at, rival)| Some((at, rival.fit()?.aicc?))).unzip();
    let weights = select::weights(&criteria);
    let least = criteria.iter().fold(f64::INFINITY, |a, &b| a.min(b));
    for ((&at, criterion), weight) in at.iter().zip(&criteria).zip(weights) {
        if let Some(fit) = forms[at].outcome.fit_mut() {
            fit.aicc_difference = Some(criterion - least);
            fit.weight = Some(weight);
        }
    }
    let best = simplest_of_least(&criteria, least)?;
    (at.len() > 1).then(|| forms[at[best]].form.clone())
}

/// Two errors or criteria no further apart than this part of the larger are the same: rounding, and
/// where an optimiser stops, depend on the units.
const SAME: f64 = 1e-6;

/// Errors in `ln value` no larger than this are rounding.
const ROUNDING: f64 = 1e-9;

/// The first, that is the simplest, of those that are the same as the least.
fn simplest_of_least(values: &[f64], least: f64) -> Option<usize> {
    values.iter().position(|value| *value <= least + SAME * least.abs() + ROUNDING)
}

/// The form with the smallest error on the largest models: on two of them when at least two forms
/// can be fitted without them, else on one. Of forms that do equally well the simplest is named.
fn foresee(forms: &[Rival]) -> Option<(String, u32)> {
    HELD_OUT.iter().rev().find_map(|&models| {
        let (rivals, errors): (Vec<&Rival>, Vec<f64>) =
            forms.iter().filter_map(|rival| Some((rival, rival.error(models as u32)?))).unzip();
        let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let best = rivals[simplest_of_least(&errors, least)?];
        (errors.len() > 1).then(|| (best.form.clone(), models as u32))
    })
}
