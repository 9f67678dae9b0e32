//! Emergence: several tokens right in a row (arXiv 2510.20387, eq. 6 to 8), measured instead of
//! assumed.
//!
//! The paper has `p = RBP^N` for N tokens in a row, so that `-ln p = N C S^-alpha` and p(S) is a
//! sigmoid. Here p is the share of windows that succeed, counted in the records, and independence
//! is a prediction to be compared with it:
//!
//! | prediction | what it leaves out |
//! |---|---|
//! | `RBP^N` | everything: tokens alike and independent |
//! | shuffled | the order of hits inside a document; easy and hard documents are kept |
//! | `RBP q^(N-1)` | all but the last outcome: q is the chance of a hit after a hit (first-order Markov chain) |
//!
//! | file | what |
//! |---|---|
//! | `check` | what must be true of the counts before they are averaged |
//! | `counts` | columns that are resampled together with all models, and the statistics of them |
//! | `order` | one model: correlation by lag, runs against the geometric, the exponent of N |
//! | `lengths` | one N: every model's p beside the predictions, the law of `-ln p` over S |
//! | `half` | the size S* at which that law gives one half, how abruptly |
//! | `verdicts` | verdicts |
//!
//! Windows overlap and successes come in clumps, so the count of successes says little about how
//! well p is known: no claim is made below a minimum of successes that do not overlap, and
//! intervals are of resampled documents.

mod check;
mod counts;
mod half;
mod lengths;
mod order;
mod verdicts;

use rayon::prelude::*;
use relscale_records::sequences::SequenceTally;
use relscale_stats::bootstrap::Sample;

use crate::error::LawsError;
use crate::intervals::percentiles;
use crate::options::FitOptions;
use crate::result::{Emergence, EmergenceAtK, Estimate};
use crate::table::Group;

use counts::{Chosen, Counts, SequenceCounts};

/// Everything about sequences of one family on one corpus; `None` when no run counted them.
///
/// # Errors
/// Runs that counted different things, sums that contradict themselves, a k or an N that was not
/// counted.
pub(crate) fn emergence(
    group: &Group<'_>,
    options: &FitOptions,
) -> Result<Option<Emergence>, LawsError> {
    let Some(tallies) = check::sequences(group, options)? else { return Ok(None) };
    let chosen = Chosen::new(tallies[0], options);
    let table = SequenceCounts::new(&tallies, chosen, options);
    let by_k: Vec<EmergenceAtK> = (0..table.chosen.k.len())
        .into_par_iter()
        .map(|at| At { group, tallies: &tallies, table: &table, options, k: at }.describe())
        .collect();
    let verdict = verdicts::over_all_k(&by_k);
    Ok(Some(Emergence { by_k, verdict }))
}

/// One k of a group.
#[derive(Clone, Copy)]
struct At<'a> {
    group: &'a Group<'a>,
    tallies: &'a [&'a SequenceTally],
    table: &'a SequenceCounts,
    options: &'a FitOptions,
    /// Index in the chosen k.
    k: usize,
}

impl At<'_> {
    fn describe(self) -> EmergenceAtK {
        let k = self.table.chosen.k[self.k];
        let lengths: Vec<_> = (0..self.table.chosen.lengths.len())
            .into_par_iter()
            .map(|length| lengths::sequences(self, length))
            .collect();
        let models = (0..self.group.runs.len())
            .into_par_iter()
            .map(|model| order::hit_order(self, model, &lengths))
            .collect();
        let mut found = EmergenceAtK { k, models, lengths, verdict: String::new() };
        found.verdict = verdicts::at_k(&found, self.options);
        found
    }

    fn model(&self, model: usize) -> (String, u64) {
        let tally = self.group.runs[model].tally;
        (tally.model.clone(), tally.non_embedding)
    }

    fn counts(&self, model: usize) -> Counts<'_> {
        self.table.counts(model, self.k)
    }

    /// Runs of hits of one model, ascending by length.
    fn runs(&self, model: usize) -> &[relscale_records::sequences::RunCount] {
        let grid = &self.tallies[model].grid.k;
        let wanted = self.table.chosen.k[self.k];
        grid.iter().position(|k| *k == wanted).map_or(&[], |at| &self.tallies[model].runs[at])
    }

    /// A statistic with its standard error and interval over resampled documents; `None` when it
    /// has no finite value.
    fn estimate(
        &self,
        model: usize,
        unit: &str,
        statistic: impl Fn(Counts<'_>) -> f64,
    ) -> Option<Estimate> {
        let value = Some(statistic(self.counts(model))).filter(|value| value.is_finite())?;
        let sample = self.table.replicates(model, self.k, statistic).map(Sample::new);
        let standard_error = sample.as_ref().ok().and_then(|sample| sample.standard_error().ok());
        Some(Estimate {
            value,
            unit: unit.to_owned(),
            standard_error: standard_error.filter(|error| error.is_finite()),
            interval: percentiles(&sample, self.options.level),
        })
    }
}
