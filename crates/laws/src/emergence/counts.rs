//! The counts of sequences as columns that can be resampled, and the statistics of them.

use rayon::prelude::*;
use relscale_records::sequences::{DocumentSequences, SequenceTally};

use crate::options::FitOptions;
use crate::table::Columns;

/// Where the chosen k and N stand in the grid that was counted.
pub(super) struct Chosen {
    pub(super) k: Vec<u32>,
    pub(super) lengths: Vec<u32>,
    pub(super) lags: Vec<u32>,
    k_at: Vec<usize>,
    lengths_at: Vec<usize>,
}

impl Chosen {
    /// Those of the grid that were asked for, all where nothing was asked. The guard has seen that
    /// they are there.
    pub(super) fn new(tally: &SequenceTally, options: &FitOptions) -> Self {
        let grid = &tally.grid;
        let pick = |all: &[u32], asked: &[u32]| -> (Vec<u32>, Vec<usize>) {
            let wanted = |value: &u32| asked.is_empty() || asked.contains(value);
            all.iter()
                .enumerate()
                .filter(|(_, value)| wanted(value))
                .map(|(at, value)| (*value, at))
                .unzip()
        };
        let (k, k_at) = pick(&grid.k, &options.emergence_k);
        let (lengths, lengths_at) = pick(&grid.lengths, &options.emergence_n);
        Self { k, lengths, lags: grid.lags.clone(), k_at, lengths_at }
    }

    /// Columns of one k: hits, pairs that begin with a hit at lag 1, then successes and shuffled
    /// successes by length, pairs of hits and ends of pairs that are hits by lag.
    fn width_of_k(&self) -> usize {
        2 + 2 * self.lengths.len() + 2 * self.lags.len()
    }

    /// Columns of one model: tokens, windows by length, pairs by lag, then each k.
    fn width(&self) -> usize {
        1 + self.lengths.len() + self.lags.len() + self.k.len() * self.width_of_k()
    }

    fn fill(&self, columns: &mut [f64], document: &DocumentSequences) {
        let (shared, by_k) = columns.split_at_mut(1 + self.lengths.len() + self.lags.len());
        shared[0] = f64::from(document.scored);
        for (column, &at) in shared[1..].iter_mut().zip(&self.lengths_at) {
            *column = f64::from(document.windows[at]);
        }
        for (column, &pairs) in shared[1 + self.lengths.len()..].iter_mut().zip(&document.pairs) {
            *column = f64::from(pairs);
        }
        for (columns, &at) in by_k.chunks_exact_mut(self.width_of_k()).zip(&self.k_at) {
            let counts = &document.by_k[at];
            columns[0] = f64::from(counts.hits);
            columns[1] = f64::from(counts.pairs[0].earlier);
            let (by_length, by_lag) = columns[2..].split_at_mut(2 * self.lengths.len());
            for ((columns, &n), &at) in
                by_length.chunks_exact_mut(2).zip(&self.lengths).zip(&self.lengths_at)
            {
                columns[0] = f64::from(counts.successes[at]);
                let chance = shuffled_success(counts.hits, document.scored, n);
                columns[1] = f64::from(document.windows[at]) * chance;
            }
            for (columns, pairs) in by_lag.chunks_exact_mut(2).zip(&counts.pairs) {
                columns[0] = f64::from(pairs.both);
                columns[1] = f64::from(pairs.earlier) + f64::from(pairs.later);
            }
        }
    }
}

/// The chance that `n` positions of a document are all hits when its hits stand in random order:
/// `C(hits, n) / C(scored, n)`.
fn shuffled_success(hits: u32, scored: u32, n: u32) -> f64 {
    if hits < n {
        return 0.0;
    }
    (0..n).map(|drawn| f64::from(hits - drawn) / f64::from(scored - drawn)).product()
}

/// The sums of one model over some documents, at one k.
#[derive(Clone, Copy)]
pub(super) struct Counts<'a> {
    chosen: &'a Chosen,
    shared: &'a [f64],
    at_k: &'a [f64],
}

impl<'a> Counts<'a> {
    fn new(chosen: &'a Chosen, columns: &'a [f64], k: usize) -> Self {
        let (shared, by_k) = columns.split_at(1 + chosen.lengths.len() + chosen.lags.len());
        Self { chosen, shared, at_k: &by_k[k * chosen.width_of_k()..][..chosen.width_of_k()] }
    }

    pub(super) fn tokens(self) -> f64 {
        self.shared[0]
    }

    pub(super) fn hits(self) -> f64 {
        self.at_k[0]
    }

    /// Windows of the length with this index.
    pub(super) fn windows(self, length: usize) -> f64 {
        self.shared[1 + length]
    }

    pub(super) fn successes(self, length: usize) -> f64 {
        self.at_k[2 + 2 * length]
    }

    /// Pairs at the lag with this index.
    pub(super) fn pairs(self, lag: usize) -> f64 {
        self.shared[1 + self.chosen.lengths.len() + lag]
    }

    /// `RBP`; NaN without tokens, as every ratio here is without its denominator.
    pub(super) fn rbp(self) -> f64 {
        self.hits() / self.tokens()
    }

    /// `-ln RBP`, exact near 1.
    pub(super) fn minus_ln_rbp(self) -> f64 {
        minus_ln_share(self.hits(), self.tokens())
    }

    /// `q`, the chance of a hit after a hit.
    pub(super) fn after_hit(self) -> f64 {
        self.by_lag(0).0 / self.at_k[1]
    }

    /// `p` of the length with this index.
    pub(super) fn probability(self, length: usize) -> f64 {
        self.successes(length) / self.windows(length)
    }

    /// `-ln p`, exact near 1.
    pub(super) fn minus_ln_p(self, length: usize) -> f64 {
        minus_ln_share(self.successes(length), self.windows(length))
    }

    /// `RBP^N`.
    pub(super) fn independent(self, length: usize) -> f64 {
        self.rbp().powf(f64::from(self.chosen.lengths[length]))
    }

    /// `RBP q^(N-1)`.
    pub(super) fn markov(self, length: usize) -> f64 {
        self.rbp() * self.after_hit().powf(f64::from(self.chosen.lengths[length] - 1))
    }

    /// Each document's hits in random order, documents weighted by their windows.
    pub(super) fn shuffled(self, length: usize) -> f64 {
        self.at_k[3 + 2 * length] / self.windows(length)
    }

    /// `ln p / ln RBP`.
    pub(super) fn effective_length(self, length: usize) -> f64 {
        self.minus_ln_p(length) / self.minus_ln_rbp()
    }

    /// Correlation of outcomes at the lag with this index, about the mean of all tokens.
    pub(super) fn autocorrelation(self, lag: usize) -> f64 {
        let ((both, ends), pairs, mean) = (self.by_lag(lag), self.pairs(lag), self.rbp());
        (both - mean * ends + pairs * mean * mean) / (pairs * mean * (1.0 - mean))
    }

    /// Pairs of two hits, and hits among both ends of all pairs.
    fn by_lag(self, lag: usize) -> (f64, f64) {
        let at = 2 + 2 * self.chosen.lengths.len() + 2 * lag;
        (self.at_k[at], self.at_k[at + 1])
    }
}

/// `-ln(part / whole)`, exact also where nearly all is hit.
fn minus_ln_share(part: f64, whole: f64) -> f64 {
    -(-(whole - part) / whole).ln_1p()
}

/// The counts of all models.
pub(super) struct SequenceCounts {
    pub(super) chosen: Chosen,
    /// One entry a model.
    models: Vec<Columns>,
}

impl SequenceCounts {
    /// Adds up and resamples. The draws are those of all other statistics of the group, as seed and
    /// documents are.
    pub(super) fn new(tallies: &[&SequenceTally], chosen: Chosen, options: &FitOptions) -> Self {
        let fill = |row: &mut [f64], document: &DocumentSequences| chosen.fill(row, document);
        let columns =
            |tally: &&SequenceTally| Columns::new(&tally.documents, chosen.width(), options, fill);
        let models = tallies.par_iter().map(columns).collect();
        Self { chosen, models }
    }

    /// A model's counts at the k with this index, over all documents.
    pub(super) fn counts(&self, model: usize, k: usize) -> Counts<'_> {
        Counts::new(&self.chosen, self.models[model].totals(), k)
    }

    /// A statistic without each of some documents in turn.
    pub(super) fn left_out(
        &self,
        (model, k): (usize, usize),
        documents: &[usize],
        statistic: impl Fn(Counts<'_>) -> f64,
    ) -> Vec<f64> {
        self.models[model]
            .left_out(documents, |columns| statistic(Counts::new(&self.chosen, columns, k)))
    }

    /// A statistic over every resample, in their order.
    ///
    /// # Errors
    /// Why documents could not be resampled, in words.
    pub(super) fn replicates(
        &self,
        model: usize,
        k: usize,
        statistic: impl Fn(Counts<'_>) -> f64,
    ) -> Result<Vec<f64>, &str> {
        self.models[model].replicates(|columns| statistic(Counts::new(&self.chosen, columns, k)))
    }
}

#[cfg(test)]
mod tests {
    use super::shuffled_success;

    #[test]
    fn hits_in_random_order_by_hand() {
        // Three hits among five positions: two drawn positions are hits with chance 3/5 * 2/4.
        assert!((shuffled_success(3, 5, 2) - 0.3).abs() < 1e-15);
        assert_eq!(shuffled_success(3, 5, 4), 0.0);
        assert_eq!(shuffled_success(5, 5, 5), 1.0);
        assert_eq!(shuffled_success(0, 0, 1), 0.0);
    }
}
