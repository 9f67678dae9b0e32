//! In which order the hits of one model come.

use relscale_records::sequences::RunCount;
use relscale_stats::bootstrap::Sample;
use relscale_stats::optimise::least_squares;

use super::At;
use super::counts::Counts;
use crate::intervals::percentiles;
use crate::result::{
    Autocorrelation, Estimate, HitOrder, HitRuns, LengthExponent, RunDistance, RunSurvival,
    SequencesOfLength,
};

/// One model's order of hits; `lengths` tell which N may be claimed.
pub(super) fn hit_order(at: At<'_>, model: usize, lengths: &[SequencesOfLength]) -> HitOrder {
    let counts = at.counts(model);
    let (name, parameters) = at.model(model);
    let lags = at.table.chosen.lags.iter().enumerate();
    HitOrder {
        model: name,
        parameters,
        tokens: counts.tokens() as u64,
        hits: counts.hits() as u64,
        rbp: at.estimate(model, "1", |counts| counts.rbp()),
        after_hit: at.estimate(model, "1", |counts| counts.after_hit()),
        after_hit_excess: at.estimate(model, "1", |counts| counts.after_hit() - counts.rbp()),
        autocorrelation: lags
            .map(|(lag, &distance)| Autocorrelation {
                lag: distance,
                pairs: counts.pairs(lag) as u64,
                value: at.estimate(model, "1", |counts| counts.autocorrelation(lag)),
            })
            .collect(),
        runs: runs(at.runs(model), counts, &at.table.chosen.lengths),
        length_exponent: length_exponent(at, model, lengths),
    }
}

fn runs(runs: &[RunCount], counts: Counts<'_>, lengths: &[u32]) -> HitRuns {
    let (rbp, after_hit) = (counts.rbp(), counts.after_hit());
    let (ended, cut) = runs.iter().fold((0, 0), |sum, run| (sum.0 + run.ended, sum.1 + run.cut));
    let survival = Survival::from_runs(runs);
    let finite = |value: f64| value.is_finite().then_some(value);
    HitRuns {
        ended,
        cut,
        // Every hit but the last of a cut run had a next token, and a miss came after as many of
        // them as runs ended.
        mean_length: finite((counts.hits() - cut as f64) / ended as f64).filter(|_| ended > 0),
        independent_mean_length: finite(1.0 / (1.0 - rbp)),
        survival: lengths
            .iter()
            .filter_map(|&length| {
                Some(RunSurvival {
                    length,
                    observed: survival.at(length)?,
                    independent: rbp.powf(f64::from(length - 1)),
                    // Without any pair after a hit no run is longer than 1, and the power is 1.
                    markov: if length == 1 {
                        1.0
                    } else {
                        finite(after_hit.powf(f64::from(length - 1)))?
                    },
                })
            })
            .collect(),
        largest_distance: survival.largest_distance(rbp),
    }
}

/// The share of runs that reach a length, with runs cut by the end of a document allowed for: the
/// product over the lengths below it of one less the share of runs that ended there among those
/// that might have (Kaplan and Meier 1958).
struct Survival {
    /// Lengths at which runs ended, ascending, with the share that goes on beyond.
    steps: Vec<(u32, f64)>,
    /// The longest run.
    longest: u32,
}

impl Survival {
    fn from_runs(runs: &[RunCount]) -> Self {
        let mut reached: u64 = runs.iter().map(|run| run.ended + run.cut).sum();
        let mut share = 1.0;
        let mut steps = Vec::new();
        for run in runs {
            // A run cut at this length was not seen to end or to go on.
            let might_end = reached - run.cut;
            if run.ended > 0 {
                share *= 1.0 - run.ended as f64 / might_end as f64;
                steps.push((run.length, share));
            }
            reached -= run.ended + run.cut;
        }
        Self { steps, longest: runs.last().map_or(0, |run| run.length) }
    }

    /// The share that reaches `length`; `None` beyond the longest run.
    fn at(&self, length: u32) -> Option<f64> {
        let below = self.steps.partition_point(|step| step.0 < length);
        (length <= self.longest).then(|| if below == 0 { 1.0 } else { self.steps[below - 1].1 })
    }

    /// The largest distance from the geometric shares `rbp^(length - 1)`.
    fn largest_distance(&self, rbp: f64) -> Option<RunDistance> {
        let distances = (1..=self.longest).filter_map(|length| {
            let distance = (self.at(length)? - rbp.powf(f64::from(length - 1))).abs();
            Some(RunDistance { length, distance })
        });
        // The first of equal ones.
        distances.reduce(|most, next| if next.distance > most.distance { next } else { most })
    }
}

/// The slope of `ln(-ln p)` on `ln N`, over the lengths that may be claimed for this model.
fn length_exponent(at: At<'_>, model: usize, lengths: &[SequencesOfLength]) -> LengthExponent {
    let used: Vec<usize> =
        (0..lengths.len()).filter(|&length| lengths[length].points[model].claimed).collect();
    let log_lengths: Vec<f64> =
        used.iter().map(|&length| f64::from(lengths[length].length).ln()).collect();
    let slope = |value: &dyn Fn(usize) -> f64| {
        let logs: Vec<f64> = used.iter().map(|&length| value(length).ln()).collect();
        least_squares::line(&log_lengths, &logs).map(|line| line.slope)
    };
    let fitted = |counts: Counts<'_>| slope(&|length| counts.minus_ln_p(length));
    let counts = at.counts(model);
    let used_lengths = used.iter().map(|&length| lengths[length].length).collect();
    match fitted(counts) {
        Err(_) => LengthExponent {
            lengths: used_lengths,
            value: None,
            markov: None,
            reason: Some(format!(
                "{} of {} lengths have successes and misses enough; two are needed",
                used.len(),
                lengths.len()
            )),
        },
        Ok(value) => {
            // What each length weighs in the slope, for all resamples alike.
            let mean = log_lengths.iter().sum::<f64>() / log_lengths.len() as f64;
            let spread: f64 = log_lengths.iter().map(|x| (x - mean).powi(2)).sum();
            let weights: Vec<(usize, f64)> =
                used.iter().copied().zip(log_lengths.iter().map(|x| (x - mean) / spread)).collect();
            let replicates = at.table.replicates(model, at.k, |counts| {
                weights.iter().map(|(length, w)| w * counts.minus_ln_p(*length).ln()).sum()
            });
            let sample = replicates.map(Sample::new);
            let standard_error =
                sample.as_ref().ok().and_then(|sample| sample.standard_error().ok());
            LengthExponent {
                lengths: used_lengths,
                value: Some(Estimate {
                    value,
                    unit: "1".to_owned(),
                    standard_error,
                    interval: percentiles(&sample, at.options.level),
                }),
                markov: slope(&|length| -counts.markov(length).ln()).ok(),
                reason: None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(length: u32, ended: u64, cut: u64) -> RunCount {
        RunCount { length, ended, cut }
    }

    #[test]
    fn shares_by_hand_with_a_run_that_was_cut() {
        // Ten runs: 4 ended at 1; of the other 6 one was cut at 2, so 2 of 5 ended there; 3 were
        // left, cut at 5.
        let survival = Survival::from_runs(&[run(1, 4, 0), run(2, 2, 1), run(5, 0, 3)]);
        let shares: Vec<Option<f64>> = [1, 2, 3, 5, 6].map(|length| survival.at(length)).into();
        assert_eq!(shares[..2], [Some(1.0), Some(0.6)]);
        assert!((shares[2].unwrap() - 0.36).abs() < 1e-15 && shares[3] == shares[2]);
        assert_eq!(shares[4], None);
        // Geometric shares for 0.5: 1, 0.5, 0.25, 0.125, 0.0625.
        let most = survival.largest_distance(0.5).unwrap();
        assert!(most.length == 5 && (most.distance - (0.36 - 0.0625)).abs() < 1e-15);
        assert_eq!(Survival::from_runs(&[]).largest_distance(0.5), None);
    }
}
