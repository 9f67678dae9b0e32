//! Which feature of small models orders training corpora as the largest models' accuracies do.
//!
//! A pair of corpora is ordered right when the one with the smaller feature has the larger mean
//! accuracy at the largest size (the decision accuracy of DataDecide, Magnusson et al. 2025).
//! Intervals are percentiles over corpora drawn again, each pair as often as both are. The k of
//! ranks is chosen without the corpora of the pair that it decides.

use relscale_stats::bootstrap::{Sample, multiplicities};

use super::ForecastOptions;
use super::panel::Panel;
use crate::result::{CorpusRanking, Estimate, FeatureKind, ForecastModel, Interval, RankingAtSize};

/// Corpora below which there is no order to speak of.
const FEWEST: usize = 3;

/// The ranking; `None` without groups, or with fewer than three corpora that share two sizes.
pub(super) fn ranking(panel: &Panel, options: &ForecastOptions) -> Option<CorpusRanking> {
    let mut corpora: Vec<&str> =
        panel.models.iter().filter_map(|model| model.group.as_deref()).collect();
    corpora.sort_unstable();
    corpora.dedup();
    let mut sizes: Vec<f64> = panel.models.iter().map(|model| model.x).collect();
    sizes.dedup();
    let largest = *sizes.last()?;
    let at = |corpus: &str, x: f64| {
        let is = |model: &ForecastModel| model.group.as_deref() == Some(corpus) && model.x == x;
        panel.models.iter().position(is)
    };
    corpora
        .retain(|corpus| at(corpus, largest).is_some_and(|model| accuracy(panel, model).is_some()));
    if corpora.len() < FEWEST {
        return None;
    }
    let shared = |x: &f64| corpora.iter().all(|corpus| at(corpus, *x).is_some());
    let sizes: Vec<f64> = sizes.into_iter().filter(|x| *x < largest && shared(x)).collect();
    let models =
        |x: f64| -> Option<Vec<usize>> { corpora.iter().map(|corpus| at(corpus, x)).collect() };
    let truth: Option<Vec<f64>> =
        models(largest)?.into_iter().map(|model| accuracy(panel, model)).collect();
    let truth = truth?;
    let found: Option<Vec<RankingAtSize>> =
        sizes.iter().map(|&x| Some(at_size(panel, x, &models(x)?, &truth, options))).collect();
    let sizes = found?;
    if sizes.is_empty() {
        return None;
    }
    let corpora = corpora.into_iter().map(str::to_owned).collect();
    Some(CorpusRanking { corpora, largest, sizes })
}

/// The mean accuracy of a model over tasks; `None` where it lacks one.
fn accuracy(panel: &Panel, model: usize) -> Option<f64> {
    let all: Option<Vec<f64>> = panel.tasks.iter().map(|task| task.accuracy[model]).collect();
    let all = all?;
    Some(all.iter().sum::<f64>() / all.len() as f64)
}

/// Credit for each pair of corpora: 1, 0.5 or 0; `None` on and below the diagonal, and where the
/// truth ties.
type Credits = Vec<Vec<Option<f64>>>;

/// Credits of numbers of which the smaller should have the larger truth.
fn credits(values: &[f64], truth: &[f64]) -> Credits {
    let credit = |a: usize, b: usize| {
        let (order, right) = (values[b].total_cmp(&values[a]), truth[a].total_cmp(&truth[b]));
        match (a < b && right.is_ne(), order.is_eq()) {
            (false, _) => None,
            (true, true) => Some(0.5),
            (true, false) => Some(if order == right { 1.0 } else { 0.0 }),
        }
    };
    (0..truth.len()).map(|a| (0..truth.len()).map(|b| credit(a, b)).collect()).collect()
}

/// The weighted share of pairs; `None` where no pair is left.
fn share(credits: &Credits, weight: impl Fn(usize, usize) -> f64) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (a, row) in credits.iter().enumerate() {
        for (b, credit) in row.iter().enumerate() {
            if let Some(credit) = credit {
                sum += weight(a, b) * credit;
                weights += weight(a, b);
            }
        }
    }
    (weights > 0.0).then(|| sum / weights)
}

/// Ranks with k chosen on the pairs that have neither corpus of the pair that is decided.
fn with_chosen_k(ranks: &[&Credits], corpora: usize) -> Option<Credits> {
    let decided = |a: usize, b: usize| -> Option<f64> {
        let others =
            |c: usize, d: usize| if [a, b].contains(&c) || [a, b].contains(&d) { 0.0 } else { 1.0 };
        let by = ranks.iter().map(|credits| (share(credits, others).unwrap_or(0.0), *credits));
        let best = by.rev().max_by(|one, other| one.0.total_cmp(&other.0))?;
        best.1[a][b]
    };
    (!ranks.is_empty())
        .then(|| (0..corpora).map(|a| (0..corpora).map(|b| decided(a, b)).collect()).collect())
}

fn at_size(
    panel: &Panel,
    x: f64,
    models: &[usize],
    truth: &[f64],
    options: &ForecastOptions,
) -> RankingAtSize {
    let corpora = truth.len();
    let of_features: Vec<Credits> = (0..panel.features.len())
        .map(|feature| credits(&panel.feature(feature, models), truth))
        .collect();
    let own: Option<Vec<f64>> =
        models.iter().map(|&model| accuracy(panel, model).map(|accuracy| -accuracy)).collect();
    let of_kind = |kind| -> Vec<&Credits> {
        panel.of_kind(kind).into_iter().map(|feature| &of_features[feature]).collect()
    };
    let ranks = with_chosen_k(&of_kind(FeatureKind::Rank), corpora);
    let losses = with_chosen_k(&of_kind(FeatureKind::Loss), corpora);
    let estimate = |statistic: &Statistic<'_>| {
        let value = statistic(&|_, _| 1.0)?;
        let mut counts = vec![0; corpora];
        let drawn = (0..options.resamples).map(|resample| {
            multiplicities(options.seed, u64::from(resample), &mut counts);
            statistic(&|a, b| f64::from(counts[a] * counts[b])).unwrap_or(f64::NAN)
        });
        let sample = Sample::new(drawn.collect::<Vec<_>>());
        let resamples = sample.replicates() as u32;
        let interval = match sample.interval(options.level) {
            Ok((low, high)) => {
                Interval::CorpusBootstrap { low, high, level: options.level, resamples }
            }
            Err(error) => Interval::None { reason: error.to_string() },
        };
        let standard_error = sample.standard_error().ok();
        Some(Estimate { value, unit: "1".to_owned(), standard_error, interval })
    };
    let of = |credits: &Credits| estimate(&|weight| share(credits, weight));
    RankingAtSize {
        x,
        pairs: of_features
            .first()
            .map_or(0, |credits| credits.iter().flatten().flatten().count() as u32),
        features: of_features.iter().filter_map(of).collect(),
        accuracy: own.and_then(|own| of(&credits(&own, truth))),
        ranks_less_loss: ranks.zip(losses).and_then(|(ranks, losses)| {
            estimate(&|weight| Some(share(&ranks, weight)? - share(&losses, weight)?))
        }),
    }
}

/// A number of pairs, each with the weight that a draw gives it.
type Statistic<'a> = dyn Fn(&dyn Fn(usize, usize) -> f64) -> Option<f64> + 'a;
