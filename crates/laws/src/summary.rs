//! One row a model: what its run adds up to.

use relscale_stats::bootstrap::Sample;

use crate::intervals::percentiles;
use crate::options::FitOptions;
use crate::result::{Estimate, ModelSummary};
use crate::table::{Group, Sums};

/// The summaries of a group's models, smallest first.
pub(crate) fn models(group: &Group<'_>, options: &FitOptions) -> Vec<ModelSummary> {
    (0..group.runs.len()).map(|model| summary(group, model, options)).collect()
}

fn summary(group: &Group<'_>, model: usize, options: &FitOptions) -> ModelSummary {
    let run = &group.runs[model];
    let sums = run.sums();
    let documents = &run.tally.documents;
    let mean = |unit, statistic: fn(Sums<'_>) -> f64| {
        let sample = group.replicates(model, statistic).map(Sample::new);
        Some(Estimate {
            value: Some(statistic(sums)).filter(|value| value.is_finite())?,
            unit: String::from(unit),
            standard_error: sample.as_ref().ok().and_then(|s| s.standard_error().ok()),
            interval: percentiles(&sample, options.level),
        })
    };
    ModelSummary {
        name: run.tally.model.clone(),
        parameters: run.tally.non_embedding,
        documents: documents.iter().filter(|d| d.scored > 0).count() as u64,
        tokens: sums.tokens as u64,
        nonfinite: documents.iter().map(|document| document.nonfinite).sum(),
        bytes: sums.bytes as u64,
        tied: documents.iter().map(|document| document.tied).sum(),
        vocabulary: run.tally.vocabulary,
        cross_entropy: mean("nats per token", |sums| sums.nll / sums.tokens),
        bits_per_byte: mean("bits per byte", |sums| sums.nll / std::f64::consts::LN_2 / sums.bytes),
        entropy: mean("nats per token", |sums| sums.entropy / sums.tokens),
    }
}
