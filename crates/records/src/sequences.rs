//! Sufficient statistics of *sequences*: how often several tokens in a row are hits, per document,
//! in sums that merge exactly.
//!
//! A **segment** is a stretch of scored positions of one document that follow each other without a
//! gap: a position that is not scored, or that has a non-finite logit, ends it. Inside segments,
//! for each k of a [`SequenceGrid`]:
//!
//! | count | what |
//! |---|---|
//! | windows, successes | stretches of N consecutive positions (sliding), and those of them that are all hits |
//! | pairs at a lag | positions a lag apart, by the four outcomes hit or miss of the earlier and the later one |
//! | runs | stretches of hits between two misses, by length; those that the end of a segment cuts are kept apart |
//!
//! [`SequenceCounter`] walks over the rows once, holding one segment's state: a run of r hits holds
//! `r + 1 - N` successes, and 64 earlier outcomes fit one word, so a row costs a few operations
//! whatever N and lag are. [`SequenceTally`] is what it yields.
//!
//! Exactness: all counts are integers, and a document is never split between parts, so no way of
//! splitting and merging changes them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::provenance::TieRule;
use crate::token::ScoredToken;

/// The largest lag that can be counted: earlier outcomes are bits of one word.
pub const LARGEST_LAG: u32 = 64;

/// Which sequences are counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceGrid {
    /// A hit is a rank of at most k; ascending, from 1.
    pub k: Vec<u32>,
    /// N, the lengths of windows in tokens; ascending, from 1.
    pub lengths: Vec<u32>,
    /// Distances in tokens at which outcomes are compared; ascending, from 1 (which must be there)
    /// to [`LARGEST_LAG`].
    pub lags: Vec<u32>,
}

impl Default for SequenceGrid {
    /// k of 1, 10, 100; N of 1, 2, 5, 10, 20, 50, 100; lags up to 50.
    fn default() -> Self {
        Self {
            k: vec![1, 10, 100],
            lengths: vec![1, 2, 5, 10, 20, 50, 100],
            lags: vec![1, 2, 3, 5, 7, 10, 15, 20, 30, 50],
        }
    }
}

impl SequenceGrid {
    /// Refuses a grid that cannot be counted.
    ///
    /// # Errors
    /// [`Error::SequenceGrid`] naming the list, its values and what is expected.
    pub fn validate(&self) -> Result<()> {
        let ascending =
            |values: &[u32]| values.first() > Some(&0) && values.is_sorted_by(|a, b| a < b);
        let refuse = |what, values: &[u32], expected| {
            Err(Error::SequenceGrid { what, values: values.to_vec(), expected })
        };
        if !ascending(&self.k) {
            return refuse("k", &self.k, "at least one value, from 1, ascending, each once");
        }
        if !ascending(&self.lengths) {
            return refuse("N", &self.lengths, "at least one value, from 1, ascending, each once");
        }
        if self.lags.first() != Some(&1)
            || !ascending(&self.lags)
            || self.lags.last() > Some(&LARGEST_LAG)
        {
            return refuse("lags", &self.lags, "1 first, ascending, each once, at most 64");
        }
        Ok(())
    }

    /// Whether all that `asked` counts is counted here.
    pub fn covers(&self, asked: &Self) -> bool {
        let within = |all: &[u32], some: &[u32]| some.iter().all(|value| all.contains(value));
        within(&self.k, &asked.k)
            && within(&self.lengths, &asked.lengths)
            && self.lags == asked.lags
    }
}

/// Pairs of positions a lag apart, both in one segment, by the outcome of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairCounts {
    /// Pairs whose earlier position is a hit.
    pub earlier: u32,
    /// Pairs whose later position is a hit.
    pub later: u32,
    /// Pairs of two hits.
    pub both: u32,
}

/// The counts of one document at one k.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HitCounts {
    /// Positions that are hits.
    pub hits: u32,
    /// Windows of only hits, one entry a length.
    pub successes: Vec<u32>,
    /// Pairs, one entry a lag.
    pub pairs: Vec<PairCounts>,
}

/// The counts of one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentSequences {
    /// Ordinal of the document in its corpus.
    pub document: u32,
    /// Positions with a finite score.
    pub scored: u32,
    /// Windows, one entry a length.
    pub windows: Vec<u32>,
    /// Pairs of positions, one entry a lag.
    pub pairs: Vec<u32>,
    /// One entry a k.
    pub by_k: Vec<HitCounts>,
}

/// Runs of hits of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCount {
    /// Hits in a row.
    pub length: u32,
    /// Runs of this length that a miss ended.
    pub ended: u64,
    /// Runs that were this long when their segment ended: how long they would have become is not
    /// known.
    pub cut: u64,
}

/// All counts of a run. Part of [`RunTally`](crate::RunTally).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceTally {
    /// What was counted.
    pub grid: SequenceGrid,
    /// One entry a document, ascending by ordinal: the same documents as in the tally that holds
    /// this.
    pub documents: Vec<DocumentSequences>,
    /// For each k, the runs of hits over all documents, ascending by length.
    pub runs: Vec<Vec<RunCount>>,
}

impl SequenceTally {
    /// A tally of no document.
    pub fn empty(grid: SequenceGrid) -> Self {
        let runs = vec![Vec::new(); grid.k.len()];
        Self { grid, documents: Vec::new(), runs }
    }

    /// Joins the counts of two disjoint sets of documents. Associative and commutative.
    ///
    /// # Errors
    /// [`Error::Merge`] when the grids differ, or a document is in both.
    pub fn merge(self, other: Self) -> Result<Self> {
        if self.grid != other.grid {
            let reason = format!("sequence grid differs: {:?} and {:?}", self.grid, other.grid);
            return Err(Error::Merge { reason });
        }
        let mut merged = BTreeMap::new();
        for document in self.documents.into_iter().chain(other.documents) {
            let ordinal = document.document;
            if merged.insert(ordinal, document).is_some() {
                return Err(Error::Merge {
                    reason: format!("sequences of document {ordinal} are in both"),
                });
            }
        }
        let runs = self.runs.into_iter().zip(other.runs).map(|(a, b)| {
            let mut runs = Runs::default();
            for run in a.into_iter().chain(b) {
                runs.add(run.length, run.ended, run.cut);
            }
            runs.counts()
        });
        Ok(Self {
            runs: runs.collect(),
            documents: merged.into_values().collect(),
            grid: self.grid,
        })
    }
}

/// Runs by length, while they are counted.
#[derive(Debug, Clone, Default)]
struct Runs(BTreeMap<u32, (u64, u64)>);

impl Runs {
    fn add(&mut self, length: u32, ended: u64, cut: u64) {
        let count = self.0.entry(length).or_default();
        count.0 += ended;
        count.1 += cut;
    }

    fn counts(self) -> Vec<RunCount> {
        self.0.into_iter().map(|(length, (ended, cut))| RunCount { length, ended, cut }).collect()
    }
}

/// The outcomes at one k of the segment that is being read.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    hits: u32,
    /// Hits in a row up to the last position.
    run: u32,
    /// Bit i: outcome of the segment's position i, for its first 64.
    first: u64,
    /// Bit i: outcome i + 1 positions before the next one.
    last: u64,
}

/// Counts sequences over a stream of rows.
///
/// ```
/// use relscale_records::provenance::TieRule;
/// use relscale_records::sequences::{SequenceCounter, SequenceGrid};
/// use relscale_records::{Score, ScoredToken};
///
/// let grid = SequenceGrid { k: vec![1], lengths: vec![1, 2, 3], lags: vec![1] };
/// let mut counter = SequenceCounter::new(grid, TieRule::AtLeast)?;
/// for (position, rank) in [(1, 1), (2, 1), (3, 1), (4, 9), (5, 1)] {
///     let score = Some(Score { rank, ties: Some(0), nll: 1.0, entropy: Some(1.0), argmax: Some(0) });
///     counter.add(&ScoredToken { document: 0, position, token: 0, bytes: 1, context: position, score });
/// }
/// let tally = counter.finish();
/// let document = &tally.documents[0];
/// assert_eq!(document.windows, [5, 4, 3]);
/// assert_eq!(document.by_k[0].successes, [4, 2, 1]);
/// // Of four neighbouring pairs three begin with a hit, and two of those go on with one.
/// assert_eq!((document.pairs[0], document.by_k[0].pairs[0].earlier, document.by_k[0].pairs[0].both), (4, 3, 2));
/// # Ok::<(), relscale_records::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SequenceCounter {
    grid: SequenceGrid,
    tie_rule: TieRule,
    documents: Vec<DocumentSequences>,
    runs: Vec<Runs>,
    /// Positions of the open segment; 0 when there is none.
    length: u32,
    /// The position that would go on with the open segment.
    next: u32,
    open: Vec<Open>,
}

impl SequenceCounter {
    /// A counter that has seen no row.
    ///
    /// # Errors
    /// As [`SequenceGrid::validate`].
    pub fn new(grid: SequenceGrid, tie_rule: TieRule) -> Result<Self> {
        grid.validate()?;
        let width = grid.k.len();
        Ok(Self {
            grid,
            tie_rule,
            documents: Vec::new(),
            runs: vec![Runs::default(); width],
            length: 0,
            next: 0,
            open: vec![Open::default(); width],
        })
    }

    /// Adds one position. Rows must come by document, then position, as they stand in a part.
    pub fn add(&mut self, token: &ScoredToken) {
        if self.documents.last().is_none_or(|last| last.document != token.document) {
            self.end_segment();
            self.documents.push(DocumentSequences::new(token.document, &self.grid));
        }
        let Some(score) = token.score else {
            self.end_segment();
            return;
        };
        if token.position != self.next {
            self.end_segment();
        }
        let Some(document) = self.documents.last_mut() else { return };
        let rank = score.rank_by(self.tie_rule);
        document.scored += 1;
        for (((&k, open), counts), runs) in
            self.grid.k.iter().zip(&mut self.open).zip(&mut document.by_k).zip(&mut self.runs)
        {
            let hit = rank <= k;
            if hit {
                open.hits += 1;
                open.run += 1;
                for (pairs, &lag) in counts.pairs.iter_mut().zip(&self.grid.lags) {
                    pairs.both += u32::from(open.last >> (lag - 1) & 1 == 1);
                }
            } else if open.run > 0 {
                counts.add_successes(open.run, &self.grid.lengths);
                runs.add(open.run, 1, 0);
                open.run = 0;
            }
            open.last = open.last << 1 | u64::from(hit);
            if self.length < u64::BITS {
                open.first |= u64::from(hit) << self.length;
            }
        }
        self.length += 1;
        self.next = token.position.wrapping_add(1);
    }

    /// Takes the first documents, which must have ended; runs of hits are kept for the end.
    pub(crate) fn take(&mut self, documents: usize) -> Vec<DocumentSequences> {
        self.documents.drain(..documents).collect()
    }

    /// The counts of all rows so far, but for documents that were taken before.
    pub fn finish(mut self) -> SequenceTally {
        self.end_segment();
        let runs = self.runs.into_iter().map(Runs::counts).collect();
        SequenceTally { grid: self.grid, documents: self.documents, runs }
    }

    /// Adds what is known of a segment only when its length is.
    fn end_segment(&mut self) {
        let length = std::mem::take(&mut self.length);
        let Some(document) = self.documents.last_mut().filter(|_| length > 0) else { return };
        for (windows, &n) in document.windows.iter_mut().zip(&self.grid.lengths) {
            *windows += (length + 1).saturating_sub(n);
        }
        for (pairs, &lag) in document.pairs.iter_mut().zip(&self.grid.lags) {
            *pairs += length.saturating_sub(lag);
        }
        for ((open, counts), runs) in
            self.open.iter_mut().zip(&mut document.by_k).zip(&mut self.runs)
        {
            let Open { hits, run, first, last } = std::mem::take(open);
            counts.hits += hits;
            if run > 0 {
                counts.add_successes(run, &self.grid.lengths);
                runs.add(run, 0, 1);
            }
            for (pairs, &lag) in
                counts.pairs.iter_mut().zip(&self.grid.lags).filter(|(_, lag)| **lag < length)
            {
                // All positions but the last `lag` are the earlier ones of a pair, all but the
                // first the later ones.
                let low = u64::MAX >> (u64::BITS - lag);
                pairs.earlier += hits - (last & low).count_ones();
                pairs.later += hits - (first & low).count_ones();
            }
        }
    }
}

impl DocumentSequences {
    fn new(document: u32, grid: &SequenceGrid) -> Self {
        let counts = HitCounts {
            hits: 0,
            successes: vec![0; grid.lengths.len()],
            pairs: vec![PairCounts::default(); grid.lags.len()],
        };
        Self {
            document,
            scored: 0,
            windows: vec![0; grid.lengths.len()],
            pairs: vec![0; grid.lags.len()],
            by_k: vec![counts; grid.k.len()],
        }
    }
}

impl HitCounts {
    /// A run of r hits holds `r + 1 - N` windows of N hits.
    fn add_successes(&mut self, run: u32, lengths: &[u32]) {
        for (successes, &n) in self.successes.iter_mut().zip(lengths) {
            *successes += (run + 1).saturating_sub(n);
        }
    }
}
