//! Windows of one length N: every model's share of successes beside the predictions, and the law
//! over S.

use super::At;
use super::half;
use crate::power_law::{self, Measured, Setting};
use crate::result::{Flag, FlagCode, Law, LeftOut, Quantity, SequencePoint, SequencesOfLength};

/// Everything about the length with index `length`.
pub(super) fn sequences(at: At<'_>, length: usize) -> SequencesOfLength {
    let n = at.table.chosen.lengths[length];
    let points: Vec<SequencePoint> =
        (0..at.group.runs.len()).map(|model| point(at, model, length, n)).collect();
    let law = law(at, length, n, &points);
    let half = half::half_size(at, &law, n);
    SequencesOfLength { length: n, points, law, half }
}

fn point(at: At<'_>, model: usize, length: usize, n: u32) -> SequencePoint {
    let counts = at.counts(model);
    let (name, parameters) = at.model(model);
    let finite = |value: f64| value.is_finite().then_some(value);
    // A ratio of zeros says nothing, and neither does a success that its prediction calls
    // impossible.
    let ratio = |share: f64| if share > 0.0 { share } else { f64::NAN };
    let disjoint =
        at.runs(model).iter().map(|run| (run.ended + run.cut) * u64::from(run.length / n)).sum();
    let misses = (counts.tokens() - counts.hits()) as u64;
    let minimum = at.options.minimum_count;
    SequencePoint {
        model: name,
        parameters,
        windows: counts.windows(length) as u64,
        successes: counts.successes(length) as u64,
        disjoint_successes: disjoint,
        probability: at.estimate(model, "1", |counts| counts.probability(length)),
        independent: finite(counts.independent(length)),
        shuffled: finite(counts.shuffled(length)),
        markov: finite(counts.markov(length)),
        over_independent: at.estimate(model, "1", |counts| {
            ratio(counts.probability(length)) / counts.independent(length)
        }),
        over_shuffled: at.estimate(model, "1", |counts| {
            ratio(counts.probability(length)) / counts.shuffled(length)
        }),
        over_markov: at.estimate(model, "1", |counts| {
            ratio(counts.probability(length)) / counts.markov(length)
        }),
        effective_length: at.estimate(model, "tokens", |counts| counts.effective_length(length)),
        claimed: disjoint >= minimum && misses >= minimum,
    }
}

/// `-ln p` against S. Successes of none or all of the windows have no logarithm: left out, with the
/// counts.
fn law(at: At<'_>, length: usize, n: u32, points: &[SequencePoint]) -> Law {
    let mut measured = Vec::new();
    let mut left_out = Vec::new();
    for (model, point) in points.iter().enumerate() {
        let SequencePoint { windows, successes, .. } = *point;
        let reason = if windows == 0 {
            format!("no {n} scored tokens in a row")
        } else if successes == 0 {
            format!("none of {windows} windows of {n} tokens succeeds: p = 0, its -ln is infinite")
        } else if successes == windows {
            format!(
                "all {windows} windows of {n} tokens succeed: p = 1, its -ln is 0 and has no logarithm"
            )
        } else {
            measured.push(Measured {
                model: point.model.clone(),
                parameters: point.parameters,
                tokens: windows,
                hits: Some(successes),
                value: at.counts(model).minus_ln_p(length),
                replicates: at.table.replicates(model, at.k, |counts| counts.minus_ln_p(length)),
                left_out: at
                    .table
                    .left_out((model, at.k), at.group.scored(), |counts| counts.minus_ln_p(length)),
            });
            continue;
        };
        left_out.push(LeftOut::new(&point.model, reason).at(point.parameters as f64));
    }
    let quantity = Quantity::Sequence { k: at.table.chosen.k[at.k], length: n };
    let setting = Setting { level: at.options.level, sizes: &at.group.sizes };
    power_law::law(quantity, setting, measured, left_out, |fitted| {
        let of = |name: &str| points.iter().position(|point| point.model == name);
        let models: Vec<usize> = fitted.iter().filter_map(|point| of(&point.label)).collect();
        too_few(at, n, points, &models)
    })
}

/// Too few non-overlapping successes, or too few tokens that miss, of a model in the fit.
fn too_few(at: At<'_>, n: u32, points: &[SequencePoint], models: &[usize]) -> Vec<Flag> {
    let minimum = at.options.minimum_count;
    let short = |count: &dyn Fn(usize) -> u64| -> Vec<String> {
        let few = models.iter().filter(|model| count(**model) < minimum);
        few.map(|model| format!("{} {}", points[*model].model, count(*model))).collect()
    };
    let misses = short(&|model| (at.counts(model).tokens() - at.counts(model).hits()) as u64);
    let successes = short(&|model| points[model].disjoint_successes);
    let flag = |code, what: String, short: Vec<String>| {
        let message =
            format!("no slope is claimed: fewer than {minimum} {what}: {}", short.join(", "));
        (!short.is_empty()).then(|| Flag::new(code, message))
    };
    [
        flag(FlagCode::FewMisses, "tokens that miss".to_owned(), misses),
        flag(FlagCode::FewHits, format!("successes of {n} tokens that do not overlap"), successes),
    ]
    .into_iter()
    .flatten()
    .collect()
}
