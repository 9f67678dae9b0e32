//! One treatment against the baseline: the line of `ln G` on `ln x`.

use relscale_stats::StatsError;
use relscale_stats::forms::power::Power;
use relscale_stats::outcome::Caution;

use super::series::{Counted, Series, SeriesPoint, log_error};
use super::{RelativeOptions, ahead};
use crate::audit::{self, Held};
use crate::judged;
use crate::line::Fit;
use crate::power_law::UNKNOWN_TEXT;
use crate::result::{
    Estimate, Flag, FlagCode, Gap, GapAuditStep, GapHeldOut, GapLaw, GapOutcome, GapPoint, GapTests,
    RelativeLeftOut, TextNoise, Trend,
};

/// One model's gap, with the gap in every resample of the documents.
struct Pair<'a> {
    baseline: &'a SeriesPoint,
    treatment: &'a SeriesPoint,
    gap: f64,
    replicates: Result<Vec<f64>, String>,
}

/// The gap of a treatment. Its trend is undecided until the tests of all gaps are adjusted together.
pub(super) fn of(baseline: &Series, treatment: &Series, options: &RelativeOptions) -> Gap {
    let pairs = pairs(baseline, treatment);
    let x: Vec<f64> = pairs.iter().map(|pair| pair.baseline.x).collect();
    let gaps: Vec<f64> = pairs.iter().map(|pair| pair.gap).collect();
    let both: Vec<(&SeriesPoint, &SeriesPoint)> =
        pairs.iter().map(|pair| (pair.treatment, pair.baseline)).collect();
    let text = treatment.noise_of_ratio(baseline, &both);
    let fit = Fit::new(&x, &gaps, text.as_ref());
    let points = pairs
        .iter()
        .enumerate()
        .map(|(at, pair)| GapPoint {
            model: pair.baseline.model.clone(),
            x: pair.baseline.x,
            baseline: pair.baseline.error,
            treatment: pair.treatment.error,
            gap: pair.gap,
            log_standard_error: log_error(&pair.replicates),
            fitted: fit.as_ref().ok().map(|fit| fit.power.at(pair.baseline.x)),
            log_residual: fit.as_ref().ok().map(|fit| fit.power.line.residuals[at]),
        })
        .collect();
    let unpaired = unpaired(baseline, treatment);
    let mut flags = Vec::new();
    if !unpaired.is_empty() {
        let names: Vec<&str> = unpaired.iter().map(|left| left.model.as_str()).collect();
        flags.push(Flag::new(
            FlagCode::PointsLeftOut,
            format!(
                "{} of {} models have one of the two errors only and take no part: {}",
                names.len(),
                names.len() + pairs.len(),
                names.join(", ")
            ),
        ));
    }
    flags.extend(too_few(&pairs, baseline, treatment, options.minimum_count));
    let outcome = match fit {
        Err(refusal) => GapOutcome::Refused { reason: refused(&pairs, &refusal) },
        Ok(fit) => {
            let law = describe(&fit, text.as_ref(), &pairs, &x, &gaps, options);
            flags.extend(judge(&fit.power, &law, &pairs, &x, &gaps));
            GapOutcome::Fitted(Box::new(law))
        }
    };
    Gap {
        treatment: treatment.distribution.clone(),
        points,
        unpaired,
        outcome,
        flags,
        verdict: String::new(),
    }
}

fn pairs<'a>(baseline: &'a Series, treatment: &'a Series) -> Vec<Pair<'a>> {
    let mut pairs: Vec<Pair<'a>> = baseline
        .points
        .iter()
        .filter_map(|base| {
            let treated = treatment.points.iter().find(|point| point.model == base.model)?;
            let replicates = match (&treated.replicates, &base.replicates) {
                (Ok(treated), Ok(base)) => Ok(treated.iter().zip(base).map(|(t, b)| t / b).collect()),
                (Err(reason), _) | (_, Err(reason)) => Err(reason.clone()),
            };
            Some(Pair { baseline: base, treatment: treated, gap: treated.error / base.error, replicates })
        })
        .collect();
    pairs.sort_by(|a, b| {
        let (a, b) = (a.baseline, b.baseline);
        a.x.total_cmp(&b.x).then_with(|| a.model.cmp(&b.model))
    });
    pairs
}

/// Models of one series that the other does not have, with the other's reason where it gives one.
fn unpaired(baseline: &Series, treatment: &Series) -> Vec<RelativeLeftOut> {
    let alone = |one: &Series, other: &Series| -> Vec<RelativeLeftOut> {
        one.points
            .iter()
            .filter(|point| other.points.iter().all(|there| there.model != point.model))
            .map(|point| {
                let told = other.left_out.iter().find(|left| left.model == point.model);
                let reason = told.map_or("not measured".to_owned(), |left| left.reason.clone());
                RelativeLeftOut {
                    model: point.model.clone(),
                    reason: format!("no error on {}: {reason}", other.distribution),
                }
            })
            .collect()
    };
    let mut all = [alone(baseline, treatment), alone(treatment, baseline)].concat();
    all.sort_by(|a, b| a.model.cmp(&b.model));
    all
}

/// The rule of the rank law (`rank.rs`) for both sides of a gap: where a model's misses, or hits, are few, its error is of the size
/// of the whole effect.
fn too_few(pairs: &[Pair<'_>], baseline: &Series, treatment: &Series, minimum: u64) -> Vec<Flag> {
    let of = |code, what: &str, count: fn(Counted) -> u64| {
        let short: Vec<String> = pairs
            .iter()
            .flat_map(|pair| {
                [(&baseline.distribution, pair.baseline), (&treatment.distribution, pair.treatment)]
            })
            .filter_map(|(distribution, point)| {
                let counted = point.counted?;
                let few = count(counted);
                (few < minimum)
                    .then(|| format!("{} {few} of {} on {distribution}", point.model, counted.tokens))
            })
            .collect();
        (!short.is_empty()).then(|| {
            let message =
                format!("no slope is claimed: fewer than {minimum} {what} for {}", short.join(", "));
            Flag::new(code, message)
        })
    };
    [
        of(FlagCode::FewMisses, "misses (tokens of a rank above k)", |counted| counted.tokens - counted.hits),
        of(FlagCode::FewHits, "hits (tokens of a rank of at most k)", |counted| counted.hits),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn refused(pairs: &[Pair<'_>], refusal: &StatsError) -> String {
    match pairs {
        [] => "no model has both errors".to_owned(),
        [only] => format!("one model ({}) cannot show how the gap changes", only.baseline.model),
        _ => refusal.to_string(),
    }
}

fn describe(
    fit: &Fit,
    text: Option<&TextNoise>,
    pairs: &[Pair<'_>],
    x: &[f64],
    gaps: &[f64],
    options: &RelativeOptions,
) -> GapLaw {
    let level = options.level;
    let line = &fit.power.line;
    let delta_beta = turned(fit.exponent(level));
    let held_out = |held: Held| GapHeldOut {
        model: pairs[held.point].baseline.model.clone(),
        x: pairs[held.point].baseline.x,
        observed: pairs[held.point].gap,
        predicted: held.predicted,
        relative_error: held.relative_error,
        covered: held.covered,
    };
    let range = (x[0], x[x.len() - 1]);
    let predictions = ahead::predictions(fit, &options.at, x, level);
    GapLaw {
        per_decade: Estimate {
            value: per_decade(delta_beta.value),
            unit: "per cent a decade of x".to_owned(),
            standard_error: delta_beta
                .standard_error
                .map(|error| error * std::f64::consts::LN_10 * 100.0 * 10_f64.powf(delta_beta.value))
                .filter(|error| error.is_finite()),
            interval: {
                let mut interval = delta_beta.interval.clone();
                interval.each_end(per_decade);
                interval
            },
        },
        delta_beta,
        delta_beta_of_this_text: Some(turned(fit.exponent_of_this_text(level))),
        delta_beta_sampling: turned(fit.exponent_of_these_models(text, x, UNKNOWN_TEXT, level)),
        gamma: fit
            .prefactor("G", "x", level)
            .filter(|gamma| gamma.value > 0.0)
            .map(|gamma| Estimate { unit: "G at x = 1".to_owned(), ..gamma }),
        at_smallest: ahead::law_at(fit, range.0, level),
        at_largest: ahead::law_at(fit, range.1, level),
        r_squared: line.r_squared.filter(|_| x.len() > 2),
        residual_standard_deviation: line.residual_variance().map(f64::sqrt),
        models: x.len() as u32,
        range,
        tests: fit.slope_tests(options.margin).ok().map(|tests| GapTests {
            difference_p: tests.difference,
            difference_q: tests.difference,
            equivalence_p: tests.equivalence,
            equivalence_q: tests.equivalence,
        }),
        trend: Trend::Undecided,
        crossings: options.reaches.iter().map(|&gap| ahead::crossing(fit, gap, x, level)).collect(),
        trace: ahead::traced(fit, range, &predictions, level),
        predictions,
        leave_one_out: audit::held_out_each(audit::Form::Straight, x, gaps, "1", level)
            .into_iter()
            .map(held_out)
            .collect(),
        audit: audit::smallest_first(audit::Form::Straight, x, gaps, "1", level)
            .into_iter()
            .map(|(fitted, exponent, held)| GapAuditStep {
                fitted_models: fitted as u32,
                delta_beta: 0.0 - exponent,
                predictions: held.into_iter().map(held_out).collect(),
            })
            .collect(),
    }
}

fn per_decade(slope: f64) -> f64 {
    100.0 * (slope * std::f64::consts::LN_10).exp_m1()
}

/// An exponent as the slope of which it is minus the value.
fn turned(exponent: Estimate) -> Estimate {
    let mut interval = exponent.interval;
    if let Some((low, high)) = interval.bounds() {
        interval.each_end(|end| 0.0 - if end == low { high } else { low });
    }
    Estimate { value: 0.0 - exponent.value, interval, ..exponent }
}

/// What a gap that lies further from 1 below it than above it says: the words for a falling and a rising G are those for one above.
fn beside_one(law: &GapLaw) -> Option<String> {
    let (first, last) = (law.at_smallest.value, law.at_largest.value);
    let further = |below: f64, above: f64| below < 1.0 && below.ln().abs() > above.ln().abs();
    let numbers = format!("G goes from {first:.3} to {last:.3}");
    if last < first && further(last, first) {
        return Some(format!(
            "{numbers}, further below 1 than it began: at the largest x the treatment has the smaller error, and the two lie further apart than at the smallest"
        ));
    }
    (last > first && further(first, last)).then(|| {
        format!(
            "{numbers}, and began further below 1: at the smallest x the treatment has the smaller error, and the two lie closer together at the largest"
        )
    })
}

/// What must be said about a fit that exists.
fn judge(fit: &Power, law: &GapLaw, pairs: &[Pair<'_>], x: &[f64], gaps: &[f64]) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut flag = |code, message: String| flags.push(Flag::new(code, message));
    let name = |at: usize| pairs[at].baseline.model.as_str();
    if fit.line.cautions.contains(&Caution::NoScatter) {
        flag(FlagCode::NoInterval, format!("{}: a slope only", StatsError::NoDegreesOfFreedom));
    }
    if gaps.iter().all(|gap| *gap < 1.0) {
        flag(
            FlagCode::GapBelowOne,
            "G is below 1 throughout, the treatment has the smaller error: a falling G takes the two further apart"
                .to_owned(),
        );
    } else if let Some(message) = beside_one(law) {
        flag(FlagCode::GapBelowOne, message);
    }
    let twins: Vec<String> = (1..x.len())
        .filter(|&at| x[at - 1] == x[at])
        .map(|at| format!("{} and {}", name(at - 1), name(at)))
        .collect();
    if !twins.is_empty() {
        flag(
            FlagCode::SameSize,
            format!(
                "models of one x count as separate points, though the law is meant for one model an x: {}",
                twins.join(", ")
            ),
        );
    }
    if fit.line.cautions.contains(&Caution::Exact) {
        return flags;
    }
    if let Some(bent) = judged::bends(&judged::form_test(x, gaps), "x") {
        flag(FlagCode::LackOfFit, format!("ln G: {}", bent.message));
    }
    for (at, error) in audit::outlying(x, gaps) {
        flag(
            FlagCode::Outlier,
            format!(
                "the gap of {} lies {:+.1} % from where the other models predict it",
                name(at),
                100.0 * error
            ),
        );
    }
    let of_this_text = law.delta_beta_of_this_text.as_ref().and_then(Estimate::bounds);
    if let (Some((low, high)), Some((least, most))) = (of_this_text, law.delta_beta.bounds())
        && (low > 0.0 || high < 0.0)
        && least <= 0.0
        && most >= 0.0
    {
        flag(
            FlagCode::NoiseBeyondScatter,
            format!(
                "for this very text the slope lies in [{low:.4}, {high:.4}], which excludes 0; other texts like it move it by more \
                 ([{least:.4}, {most:.4}]), so no trend is claimed: more documents are needed"
            ),
        );
    }
    flags
}
