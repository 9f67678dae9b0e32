//! From the tallies of runs to numbers a law can be fitted to.
//!
//! A [`Group`] is one family on one corpus: runs that the [`guard`] found comparable, smallest
//! model first, with their totals, and with the same sums over resampled documents. One draw of
//! documents serves all models and all k, as all of them read the same documents. What is counted
//! is tokens, or another [`Unit`].

mod columns;
mod guard;
mod unit;

pub(crate) use columns::Columns;
pub(crate) use guard::check as check_alike;
pub(crate) use unit::{Unit, bare};

use std::collections::BTreeMap;

use rayon::prelude::*;
use relscale_records::{DocumentTally, RunTally};

use crate::error::LawsError;
use crate::line::DocumentSizes;
use crate::options::FitOptions;

/// Comparable runs of one family on one corpus.
pub(crate) struct Group<'a> {
    pub(crate) family: &'a str,
    pub(crate) corpus: &'a str,
    /// Smallest model first; equal sizes by name.
    pub(crate) runs: Vec<ModelRun<'a>>,
    /// The k to fit, ascending, tallied for every run.
    pub(crate) k: Vec<u32>,
    /// Documents with at least one finite score in some model.
    pub(crate) documents: u64,
    /// Scored tokens of each of them, in their order.
    pub(crate) sizes: DocumentSizes,
    /// Where they stand among the documents of a run.
    scored: Vec<usize>,
}

/// One model's run and its sums.
pub(crate) struct ModelRun<'a> {
    pub(crate) tally: &'a RunTally,
    columns: Columns,
}

impl ModelRun<'_> {
    /// Sums over all documents.
    pub(crate) fn sums(&self) -> Sums<'_> {
        Sums::from_columns(self.columns.totals())
    }
}

/// What is averaged, over all documents or over one resample of them.
///
/// Counts are held as `f64`, exact below 2^53, because resampled sums come out of floating-point
/// columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sums<'a> {
    pub(crate) tokens: f64,
    pub(crate) bytes: f64,
    pub(crate) nll: f64,
    pub(crate) entropy: f64,
    /// One entry a k of the group.
    pub(crate) hits: &'a [f64],
}

/// Columns before the hits.
const FIXED: usize = 4;

impl<'a> Sums<'a> {
    fn from_columns(columns: &'a [f64]) -> Self {
        Self {
            tokens: columns[0],
            bytes: columns[1],
            nll: columns[2],
            entropy: columns[3],
            hits: &columns[FIXED..],
        }
    }
}

impl<'a> Group<'a> {
    /// Sorts runs into groups, checks each, adds up its documents and resamples them.
    ///
    /// # Errors
    /// Whatever the [`guard`] refuses.
    pub(crate) fn all(runs: &'a [RunTally], options: &FitOptions) -> Result<Vec<Self>, LawsError> {
        let mut sorted: BTreeMap<(&str, &str), Vec<&RunTally>> = BTreeMap::new();
        for run in runs {
            sorted.entry((&run.family, &run.corpus)).or_default().push(run);
        }
        sorted
            .into_iter()
            .map(|((family, corpus), mut runs)| {
                runs.sort_by(|a, b| (a.non_embedding, &a.model).cmp(&(b.non_embedding, &b.model)));
                guard::check(family, corpus, &runs)?;
                let k = chosen_k(&runs, &options.k)?;
                Ok(Self::new(family, corpus, runs, k, options))
            })
            .collect()
    }

    /// The same runs in another unit ([`Unit::view`]), at those of its k that were chosen; none
    /// where no k is left.
    ///
    /// # Errors
    /// [`LawsError::Corrupt`].
    pub(crate) fn of_views(
        &self,
        views: &'a [RunTally],
        options: &FitOptions,
    ) -> Result<Option<Self>, LawsError> {
        views.iter().try_for_each(guard::whole)?;
        let counted = |k: &u32| views.iter().all(|run| run.k_grid.binary_search(k).is_ok());
        let k: Vec<u32> = self.k.iter().copied().filter(counted).collect();
        let runs = views.iter().collect();
        Ok((!k.is_empty()).then(|| Self::new(self.family, self.corpus, runs, k, options)))
    }

    fn new(
        family: &'a str,
        corpus: &'a str,
        runs: Vec<&'a RunTally>,
        k: Vec<u32>,
        options: &FitOptions,
    ) -> Self {
        let run = |tally: &'a RunTally| {
            let hits_at: Vec<usize> =
                k.iter().filter_map(|k| tally.k_grid.binary_search(k).ok()).collect();
            let fill = |row: &mut [f64], document: &DocumentTally| fill(row, document, &hits_at);
            ModelRun {
                tally,
                columns: Columns::new(&tally.documents, FIXED + k.len(), options, fill),
            }
        };
        let runs: Vec<ModelRun<'a>> = runs.into_par_iter().map(run).collect();
        // Tokens of the model that scored most of a document.
        let mut most = vec![0.0; runs[0].tally.documents.len()];
        for run in &runs {
            most.iter_mut()
                .zip(run.columns.rows())
                .for_each(|(most, row)| *most = f64::max(*most, row[0]));
        }
        let (scored, sizes): (Vec<usize>, Vec<f64>) =
            most.into_iter().enumerate().filter(|(_, tokens)| *tokens > 0.0).unzip();
        let documents = scored.len() as u64;
        let sizes = DocumentSizes(sizes);
        Self { family, corpus, runs, k, documents, sizes, scored }
    }

    /// Where the documents of [`sizes`](Self::sizes) stand among those of a run.
    pub(crate) fn scored(&self) -> &[usize] {
        &self.scored
    }

    /// A statistic of one model's sums without each document in turn, in the order of
    /// [`sizes`](Self::sizes).
    pub(crate) fn left_out(&self, model: usize, statistic: impl Fn(Sums<'_>) -> f64) -> Vec<f64> {
        self.runs[model]
            .columns
            .left_out(&self.scored, |columns| statistic(Sums::from_columns(columns)))
    }

    /// A statistic of one model's sums over every resample, in the order of the resamples, so that
    /// the replicates of different models and statistics pair up.
    ///
    /// # Errors
    /// The reason, in words, why documents could not be resampled.
    pub(crate) fn replicates(
        &self,
        model: usize,
        statistic: impl Fn(Sums<'_>) -> f64,
    ) -> Result<Vec<f64>, &str> {
        self.runs[model].columns.replicates(|columns| statistic(Sums::from_columns(columns)))
    }
}

fn fill(columns: &mut [f64], document: &DocumentTally, hits_at: &[usize]) {
    columns[0] = document.scored as f64;
    columns[1] = document.bytes as f64;
    columns[2] = document.sum_nll;
    // Not told is not a number, and neither is any sum with it.
    columns[3] = document.sum_entropy.unwrap_or(f64::NAN);
    for (column, &at) in columns[FIXED..].iter_mut().zip(hits_at) {
        *column = document.hits[at] as f64;
    }
}

/// The k asked for, or every k below |V| that all runs tallied.
fn chosen_k(runs: &[&RunTally], asked: &[u32]) -> Result<Vec<u32>, LawsError> {
    if asked.is_empty() {
        let smallest = runs.iter().map(|run| run.vocabulary.scored).min();
        let common = runs[0].k_grid.iter().copied().filter(|k| {
            Some(*k) < smallest && runs.iter().all(|run| run.k_grid.binary_search(k).is_ok())
        });
        return Ok(common.collect());
    }
    for run in runs {
        if let Some(&k) = asked.iter().find(|k| run.k_grid.binary_search(k).is_err()) {
            return Err(LawsError::UnknownK {
                k,
                model: run.model.clone(),
                corpus: run.corpus.clone(),
                tallied: run.k_grid.clone(),
            });
        }
    }
    Ok(asked.to_vec())
}
