//! One treatment against the baseline: the line of `ln G` on `ln x`.

use relscale_records::digits;
use relscale_stats::outcome::Caution;

use super::series::{Counted, Series, SeriesPoint, log_error};
use super::{RelativeOptions, extrapolation};
use crate::audit::Form;
use crate::line::Fit;
use crate::result::{
    Estimate, Flag, FlagCode, Gap, GapLaw, GapTests, LeftOut, Outcome, Point, Quantity, TextNoise,
    Trend,
};
use crate::series::{self, Setting, UNKNOWN_TEXT, Words};

/// One model's gap, with the gap in every resample of the documents.
struct Pair<'a> {
    baseline: &'a SeriesPoint,
    treatment: &'a SeriesPoint,
    gap: f64,
    replicates: Result<Vec<f64>, String>,
}

/// The gap of a treatment. Its trend is undecided until the tests of all gaps are adjusted
/// together.
pub(super) fn fit_gap(baseline: &Series, treatment: &Series, options: &RelativeOptions) -> Gap {
    let pairs = pairs(baseline, treatment);
    let both: Vec<(&SeriesPoint, &SeriesPoint)> =
        pairs.iter().map(|pair| (pair.treatment, pair.baseline)).collect();
    let text = treatment.noise_of_ratio(baseline, &both);
    let mut points: Vec<Point> = pairs
        .iter()
        .map(|pair| Point {
            label: pair.baseline.model.clone(),
            x: pair.baseline.x,
            value: pair.gap,
            baseline: Some(pair.baseline.error),
            treatment: Some(pair.treatment.error),
            log_standard_error: log_error(&pair.replicates),
            ..Point::default()
        })
        .collect();
    let fit = series::fit(&mut points, text.as_ref());
    let left_out = unpaired(baseline, treatment);
    let mut flags = Vec::new();
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|left| left.label.as_str()).collect();
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
    let few = too_few(&pairs, baseline, treatment, options.minimum_count);
    let claimed = few.is_empty();
    flags.extend(few);
    let outcome = match fit {
        Err(refusal) => {
            let one = ("model", "the gap changes");
            Outcome::refuse(series::refused(&points, &refusal, "no model has both errors", one))
        }
        Ok(fit) => {
            let law = describe(&fit, text.as_ref(), &points, claimed, options);
            flags.extend(law_flags(&fit, &law, &points));
            Outcome::fitted(law)
        }
    };
    Gap {
        name: treatment.distribution.clone(),
        quantity: Quantity::Gap,
        unit: "1".to_owned(),
        points,
        left_out,
        outcome,
        rivals: None,
        text: None,
        flags,
        breakdown: None,
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
                (Ok(treated), Ok(base)) => {
                    Ok(treated.iter().zip(base).map(|(t, b)| t / b).collect())
                }
                (Err(reason), _) | (_, Err(reason)) => Err(reason.clone()),
            };
            Some(Pair {
                baseline: base,
                treatment: treated,
                gap: treated.error / base.error,
                replicates,
            })
        })
        .collect();
    pairs.sort_by(|a, b| {
        let (a, b) = (a.baseline, b.baseline);
        a.x.total_cmp(&b.x).then_with(|| a.model.cmp(&b.model))
    });
    pairs
}

/// Models of one series that the other does not have, with the other's reason where it gives one.
fn unpaired(baseline: &Series, treatment: &Series) -> Vec<LeftOut> {
    let alone = |one: &Series, other: &Series| -> Vec<LeftOut> {
        one.points
            .iter()
            .filter(|point| other.points.iter().all(|there| there.model != point.model))
            .map(|point| {
                let told = other.left_out.iter().find(|left| left.label == point.model);
                let reason = told.map_or("not measured".to_owned(), |left| left.reason.clone());
                LeftOut::new(&point.model, format!("no error on {}: {reason}", other.distribution))
            })
            .collect()
    };
    let mut all = [alone(baseline, treatment), alone(treatment, baseline)].concat();
    all.sort_by(|a, b| a.label.cmp(&b.label));
    all
}

/// The rule of the rank law (`rank.rs`) for both sides of a gap: where a model's misses, or hits,
/// are few, its error is of the size of the whole effect.
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
                (few < minimum).then(|| {
                    format!("{} {few} of {} on {distribution}", point.model, counted.tokens)
                })
            })
            .collect();
        (!short.is_empty()).then(|| {
            let message = format!(
                "no slope is claimed: fewer than {minimum} {what} for {}",
                short.join(", ")
            );
            Flag::new(code, message)
        })
    };
    [
        of(FlagCode::FewMisses, "misses (tokens of a rank above k)", |counted| {
            counted.tokens - counted.hits
        }),
        of(FlagCode::FewHits, "hits (tokens of a rank of at most k)", |counted| counted.hits),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn describe(
    fit: &Fit,
    text: Option<&TextNoise>,
    points: &[Point],
    claimed: bool,
    options: &RelativeOptions,
) -> GapLaw {
    let level = options.level;
    let (x, _) = series::numbers(points);
    let unseen = Some(Form::Straight);
    let setting = Setting { unit: "1", x: "x", level, text, parts: false, unseen, claimed };
    let mut power = series::describe(fit, points, setting);
    power.prefactor = fit.prefactor("G", "x", level).filter(|gamma| gamma.value > 0.0);
    power.r_squared = power.r_squared.filter(|_| x.len() > 2);
    let delta_beta = turned(power.exponent.clone());
    let range = power.range;
    let predictions = extrapolation::predictions(fit, &options.at, &x, level);
    GapLaw {
        per_decade: Estimate {
            value: per_decade(delta_beta.value),
            unit: "per cent a decade of x".to_owned(),
            standard_error: delta_beta
                .standard_error
                .map(|error| {
                    error * std::f64::consts::LN_10 * 100.0 * 10_f64.powf(delta_beta.value)
                })
                .filter(|error| error.is_finite()),
            interval: {
                let mut interval = delta_beta.interval.clone();
                interval.each_end(per_decade);
                interval
            },
        },
        delta_beta,
        delta_beta_of_this_text: Some(turned(fit.exponent_of_this_text(level))),
        delta_beta_sampling: turned(fit.exponent_of_these_models(text, &x, UNKNOWN_TEXT, level)),
        at_smallest: extrapolation::law_at(fit, range.0, level),
        at_largest: extrapolation::law_at(fit, range.1, level),
        tests: fit.slope_tests(options.margin).ok().map(|tests| GapTests {
            difference_p: tests.difference,
            difference_q: tests.difference,
            equivalence_p: tests.equivalence,
            equivalence_q: tests.equivalence,
        }),
        trend: Trend::Undecided,
        crossings: options
            .reaches
            .iter()
            .map(|&gap| extrapolation::crossing(fit, gap, &x, level))
            .collect(),
        trace: extrapolation::traced(fit, range, &predictions, level),
        predictions,
        power,
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

/// Whether G goes through 1 between the smallest and the largest x: `Some(true)` where the
/// intervals of the law exclude 1 at both ends, on different sides; `Some(false)` where its values
/// alone lie on different sides, so that it may; `None` where they lie on one.
pub(super) fn crossing(smallest: &Estimate, largest: &Estimate) -> Option<bool> {
    let above = |value: f64| value > 1.0;
    if above(smallest.value) == above(largest.value) {
        return None;
    }
    let excludes = |end: &Estimate| {
        end.bounds()
            .is_some_and(|(low, high)| if above(end.value) { low > 1.0 } else { high < 1.0 })
    };
    Some(excludes(smallest) && excludes(largest))
}

/// What a gap that lies further from 1 below it than above it says: the words for a falling and a
/// rising G are those for one above.
fn beside_one(law: &GapLaw) -> Option<String> {
    let (first, last) = (law.at_smallest.value, law.at_largest.value);
    let further = |below: f64, above: f64| below < 1.0 && below.ln().abs() > above.ln().abs();
    let numbers = format!("G goes from {} to {}", digits::number(first), digits::number(last));
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
fn law_flags(fit: &Fit, law: &GapLaw, points: &[Point]) -> Vec<Flag> {
    let below = if points.iter().all(|point| point.value < 1.0) {
        Some(
            "G is below 1 throughout, the treatment has the smaller error: a falling G takes the two further apart"
                .to_owned(),
        )
    } else {
        beside_one(law)
    };
    let words = Words {
        points: "models",
        before: "the gap of ",
        falls: None,
        twins: Some((
            "models of one x count as separate points, though the law is meant for one model an x",
            false,
        )),
        bends: Some("ln G: "),
    };
    let below = below.map(|message| Flag::new(FlagCode::GapBelowOne, message));
    let mut flags = series::flags(fit, &law.power, points, words, below);
    let of_this_text = law.delta_beta_of_this_text.as_ref().and_then(Estimate::bounds);
    if let (Some((low, high)), Some((least, most))) = (of_this_text, law.delta_beta.bounds())
        && (low > 0.0 || high < 0.0)
        && least <= 0.0
        && most >= 0.0
        && !fit.power.line.cautions.contains(&Caution::Exact)
    {
        flags.push(Flag::new(
            FlagCode::NoiseBeyondScatter,
            format!(
                "for this very text the slope lies in [{low:.4}, {high:.4}], which excludes 0; other texts like it move it by more \
                 ([{least:.4}, {most:.4}]), so no trend is claimed: more documents are needed"
            ),
        ));
    }
    flags
}
