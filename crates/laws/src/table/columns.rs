//! What is counted of one model, a document a row: its sums, those without each document, and those
//! of every resample.
//!
//! Documents are drawn by the same seed for every model and everything that is counted, so that
//! replicates pair up.

use relscale_stats::bootstrap::{self, Totals, UnitTable};

use crate::options::FitOptions;

/// The counts of one model.
pub(crate) struct Columns {
    width: usize,
    /// `documents × width`.
    rows: Vec<f64>,
    totals: Vec<f64>,
    /// `resamples × width`, or why documents could not be resampled.
    resampled: Result<Totals, String>,
}

impl Columns {
    /// Adds up and resamples rows of `width` numbers; `fill` writes that of each document in turn.
    pub(crate) fn new<T>(
        documents: &[T],
        width: usize,
        options: &FitOptions,
        fill: impl Fn(&mut [f64], &T),
    ) -> Self {
        let mut rows = vec![0.0; documents.len() * width];
        let mut totals = vec![0.0; width];
        for (row, document) in rows.chunks_exact_mut(width).zip(documents) {
            fill(row, document);
            totals.iter_mut().zip(row).for_each(|(sum, value)| *sum += *value);
        }
        let resampled = UnitTable::new(&rows, width)
            .and_then(|table| bootstrap::totals(table, options.resamples, options.seed))
            .map_err(|refusal| format!("no error from the text sample: {refusal}"));
        Self { width, rows, totals, resampled }
    }

    /// The sums over all documents.
    pub(crate) fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// The rows, a document each.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.rows.chunks_exact(self.width)
    }

    /// A statistic of the sums without each of some documents in turn.
    pub(crate) fn left_out(
        &self,
        documents: &[usize],
        statistic: impl Fn(&[f64]) -> f64,
    ) -> Vec<f64> {
        let mut columns = vec![0.0; self.width];
        let without = |&at: &usize| {
            let row = &self.rows[at * self.width..][..self.width];
            for ((column, total), value) in columns.iter_mut().zip(&self.totals).zip(row) {
                *column = total - value;
            }
            statistic(&columns)
        };
        documents.iter().map(without).collect()
    }

    /// A statistic of the sums over every resample, in the order of the resamples.
    ///
    /// # Errors
    /// The reason, in words, why documents could not be resampled.
    pub(crate) fn replicates(&self, statistic: impl Fn(&[f64]) -> f64) -> Result<Vec<f64>, &str> {
        let totals = self.resampled.as_ref().map_err(String::as_str)?;
        Ok(totals.rows().map(statistic).collect())
    }
}
