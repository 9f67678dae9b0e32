//! The noise of each point of a law.

use relscale_stats::bootstrap::Sample;

use crate::rank::minus_ln_rbp;
use crate::result::{Law, PointNoise};
use crate::table::Group;

/// `-ln RBP_k` of each point of a law in every resample of the documents, or why there is none.
pub(super) struct Replicates<'a> {
    values: Result<Vec<Vec<f64>>, &'a str>,
    logarithms: Vec<Vec<f64>>,
}

impl<'a> Replicates<'a> {
    /// Those of the law at the k with index `at` of the group.
    pub(super) fn new(group: &'a Group<'_>, at: usize, law: &Law) -> Self {
        let models = law.points.iter().filter_map(|point| {
            group.runs.iter().position(|run| {
                run.tally.model == point.label && run.tally.non_embedding as f64 == point.x
            })
        });
        let values: Result<Vec<Vec<f64>>, &str> = models
            .map(|model| group.replicates(model, |sums| minus_ln_rbp(sums.hits[at], sums.tokens)))
            .collect();
        let logarithms =
            values.iter().flatten().map(|values| values.iter().map(|v| v.ln()).collect());
        Self { logarithms: logarithms.collect(), values }
    }

    /// `ln(-ln RBP_k)` of each resample, a series a point.
    pub(super) fn logarithms(&self) -> Result<&[Vec<f64>], String> {
        match &self.values {
            Ok(_) => Ok(&self.logarithms),
            Err(reason) => Err((*reason).to_owned()),
        }
    }

    /// What the resamples say of each point.
    pub(super) fn noise(&self, law: &Law) -> Vec<PointNoise> {
        law.points
            .iter()
            .enumerate()
            .map(|(at, point)| {
                let p = (-point.value).exp();
                let tokens = point.tokens.unwrap_or_default() as f64;
                // 1 - p by expm1: near p = 1 the difference is all there is.
                let variance = p * -(-point.value).exp_m1() / tokens;
                let replicates = self.values.as_ref().ok().map(|values| &values[at]);
                let resampled = replicates.and_then(|values| {
                    Sample::new(values.iter().map(|value| (-value).exp_m1())).standard_error().ok()
                });
                let design_effect = resampled
                    .map(|error| error * error / variance)
                    .filter(|effect| effect.is_finite());
                PointNoise {
                    model: point.label.clone(),
                    log_standard_error: point.log_standard_error,
                    independent_log_standard_error: variance.sqrt() / (p * point.value),
                    design_effect,
                    effective_tokens: design_effect
                        .map(|effect| tokens / effect)
                        .filter(|tokens| tokens.is_finite()),
                }
            })
            .collect()
    }
}
