//! One treatment against the baseline: the line of `ln G` on `ln x`.

use relscale_stats::bootstrap::Sample;
use relscale_stats::forms::power::{self, Power};
use relscale_stats::interval::student::{self, StudentInterval};
use relscale_stats::outcome::Caution;
use relscale_stats::{StatsError, multiple};

use super::series::{Counted, Series, SeriesPoint, log_error};
use super::{RelativeOptions, ahead};
use crate::audit::{self, Held};
use crate::judged;
use crate::power_law::{percentiles, student_t};
use crate::result::{
    Estimate, Flag, FlagCode, Gap, GapAuditStep, GapHeldOut, GapLaw, GapOutcome, GapPoint, GapTests,
    RelativeLeftOut, Trend,
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
    let fit = power::fit(&x, &gaps);
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
            fitted: fit.as_ref().ok().map(|fit| fit.at(pair.baseline.x)),
            log_residual: fit.as_ref().ok().map(|fit| fit.line.residuals[at]),
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
            let law = describe(&fit, &pairs, &x, &gaps, options);
            flags.extend(judge(&fit, &law, &pairs, &x, &gaps));
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

fn describe(fit: &Power, pairs: &[Pair<'_>], x: &[f64], gaps: &[f64], options: &RelativeOptions) -> GapLaw {
    let level = options.level;
    let slope = fit.line.slope;
    let interval = student::slope(&fit.line, level);
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
        delta_beta: Estimate {
            value: slope,
            unit: "1".to_owned(),
            standard_error: fit.line.slope_standard_error(),
            interval: student_t(interval.clone()),
        },
        delta_beta_sampling: sampling(slope, pairs, x, level),
        gamma: Some(Estimate {
            value: fit.prefactor(),
            unit: "G at x = 1".to_owned(),
            standard_error: fit
                .line
                .intercept_standard_error()
                .map(|error| error * fit.prefactor())
                .filter(|error| error.is_finite()),
            interval: student_t(fit.prefactor_interval(level)),
        })
        .filter(|gamma| gamma.value.is_finite() && gamma.value > 0.0),
        at_smallest: ahead::law_at(fit, range.0, level),
        at_largest: ahead::law_at(fit, range.1, level),
        per_decade: Estimate {
            value: per_decade(slope),
            unit: "per cent a decade of x".to_owned(),
            standard_error: fit
                .line
                .slope_standard_error()
                .map(|error| error * std::f64::consts::LN_10 * 100.0 * 10_f64.powf(slope))
                .filter(|error| error.is_finite()),
            interval: student_t(interval.map(|found| StudentInterval {
                low: per_decade(found.low),
                high: per_decade(found.high),
                ..found
            })),
        },
        r_squared: fit.line.r_squared.filter(|_| x.len() > 2),
        residual_standard_deviation: fit.line.residual_variance().map(f64::sqrt),
        models: x.len() as u32,
        range,
        tests: multiple::slope(&fit.line, options.margin).ok().map(|tests| GapTests {
            difference_p: tests.difference,
            difference_q: tests.difference,
            equivalence_p: tests.equivalence,
            equivalence_q: tests.equivalence,
        }),
        trend: Trend::Undecided,
        crossings: options.reaches.iter().map(|&gap| ahead::crossing(fit, gap, x, level)).collect(),
        trace: ahead::traced(fit, range, &predictions, level),
        predictions,
        leave_one_out: audit::held_out_each(x, gaps, "1", level).into_iter().map(held_out).collect(),
        audit: audit::smallest_first(x, gaps, "1", level)
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

/// The slope refitted on every resample of the documents.
fn sampling(slope: f64, pairs: &[Pair<'_>], x: &[f64], level: f64) -> Estimate {
    let series: Result<Vec<&[f64]>, &str> =
        pairs.iter().map(|pair| pair.replicates.as_deref().map_err(String::as_str)).collect();
    let slopes = series.map(|series| {
        let resamples = series.iter().map(|replicates| replicates.len()).min().unwrap_or(0);
        Sample::new((0..resamples).map(|resample| {
            let gaps: Vec<f64> = series.iter().map(|replicates| replicates[resample]).collect();
            // A resample in which some model has no error has no line: counted as dropped.
            power::fit(x, &gaps).map_or(f64::NAN, |fit| fit.line.slope)
        }))
    });
    Estimate {
        value: slope,
        unit: "1".to_owned(),
        standard_error: slopes.as_ref().ok().and_then(|sample| sample.standard_error().ok()),
        interval: percentiles(&slopes, level),
    }
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
    if let (Some(sampling), Some(scatter)) =
        (law.delta_beta_sampling.standard_error, law.delta_beta.standard_error)
        && sampling > 2.0 * scatter
    {
        flag(
            FlagCode::NoiseBeyondScatter,
            format!(
                "the text sample moves the slope by more ({sampling:.1e}) than the models' scatter about it tells ({scatter:.1e}): \
                 the verdict holds for this text, more text is needed for others like it"
            ),
        );
    }
    flags
}
