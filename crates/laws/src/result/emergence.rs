//! Several tokens right in a row: measured, beside what independence and a first-order chain say.
//!
//! A *success* of length N at k is a window of N consecutive scored tokens of one document that all
//! have rank at most k; `p` is the share of windows that succeed (sliding windows, all documents
//! together). Were tokens independent, `p` would be `RBP^N` and `-ln p = N C S^-alpha` (arXiv
//! 2510.20387, eq. 6 to 8).

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, Interval, Law, Outcome};

/// Emergence of one family on one corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Emergence {
    /// One entry a k, k ascending.
    pub by_k: Vec<EmergenceAtK>,
    /// Two sentences with the numbers, of the smallest k about which something can be said.
    pub verdict: String,
}

impl Emergence {
    /// What was found at `k`, when it was counted.
    pub fn at(&self, k: u32) -> Option<&EmergenceAtK> {
        self.by_k.iter().find(|found| found.k == k)
    }
}

/// Everything about one k.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmergenceAtK {
    /// The largest rank that counts as a hit.
    pub k: u32,
    /// In which order each model's hits come, smallest model first.
    pub models: Vec<HitOrder>,
    /// One entry a length N, ascending.
    pub lengths: Vec<SequencesOfLength>,
    /// A few sentences with the numbers: does independence hold, and where is p one half.
    pub verdict: String,
}

/// In which order the hits of one model come. Independent tokens have no order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HitOrder {
    /// The model's name.
    pub model: String,
    /// Non-embedding parameters S.
    pub parameters: u64,
    /// Scored tokens.
    pub tokens: u64,
    /// Those of rank at most k.
    pub hits: u64,
    /// `RBP_k = hits / tokens`; absent when no token was scored.
    pub rbp: Option<Estimate>,
    /// `q`, the chance of a hit after a hit; absent when no hit has a scored token after it.
    pub after_hit: Option<Estimate>,
    /// `q - RBP_k`, zero for independent tokens, with the interval of the difference.
    pub after_hit_excess: Option<Estimate>,
    /// Correlation of two outcomes a lag apart, lag ascending.
    pub autocorrelation: Vec<Autocorrelation>,
    /// Stretches of hits between two misses.
    pub runs: HitRuns,
    /// How `-ln p` grows with N; absent with the reason beside it.
    pub length_exponent: LengthExponent,
}

/// `cov(h_t, h_{t+lag}) / (RBP (1 - RBP))` for outcomes h (1 a hit, 0 a miss) inside a document,
/// about the mean of the whole corpus: what does not die out with the lag is the difference between
/// easy and hard documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Autocorrelation {
    /// Distance in tokens.
    pub lag: u32,
    /// Pairs of positions at that distance.
    pub pairs: u64,
    /// The correlation; absent without pairs, or when all tokens are hits or none is.
    pub value: Option<Estimate>,
}

/// Runs of hits. With independent tokens their lengths are geometric: a run has at least r hits
/// with chance `RBP^(r-1)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HitRuns {
    /// Runs that a miss ended.
    pub ended: u64,
    /// Runs that the end of the scored stretch cut: known to be at least this long.
    pub cut: u64,
    /// Mean length in tokens, `1 / (1 - q)`, the cut runs allowed for; absent when no run ended.
    pub mean_length: Option<f64>,
    /// What independence says, `1 / (1 - RBP)`; absent when every token is a hit.
    pub independent_mean_length: Option<f64>,
    /// Share of runs that reach a length, for each length N that was asked for and that some run
    /// may have reached.
    pub survival: Vec<RunSurvival>,
    /// The largest distance between the observed shares and the geometric ones over all lengths
    /// (Kolmogorov-Smirnov); absent without runs.
    pub largest_distance: Option<RunDistance>,
}

/// The share of runs with at least `length` hits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunSurvival {
    /// Hits in a row.
    pub length: u32,
    /// Observed (Kaplan-Meier, as the end of a document cuts runs).
    pub observed: f64,
    /// `RBP^(length - 1)`.
    pub independent: f64,
    /// `q^(length - 1)`.
    pub markov: f64,
}

/// Where run lengths differ most from the geometric distribution of independent tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunDistance {
    /// Hits in a row.
    pub length: u32,
    /// `|observed - independent|` of the share of runs with at least so many.
    pub distance: f64,
}

/// The exponent eta of `-ln p = c N^eta`, by a straight line of `ln(-ln p)` on `ln N`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LengthExponent {
    /// The N of the fit: those with successes and failures enough.
    pub lengths: Vec<u32>,
    /// eta; 1 for independent tokens. Absent with fewer than two lengths.
    pub value: Option<Estimate>,
    /// eta of a first-order Markov chain with this model's RBP and q at the same N: below 1 where
    /// hits cluster, and tending to 1 for large N.
    pub markov: Option<f64>,
    /// Why there is no exponent.
    pub reason: Option<String>,
}

/// Windows of one length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SequencesOfLength {
    /// N, tokens in a row.
    pub length: u32,
    /// Every model, smallest first.
    pub points: Vec<SequencePoint>,
    /// `-ln p` against S.
    pub law: Law,
    /// The size at which the law gives `p = 0.5`.
    pub half: Outcome<HalfSize>,
}

/// One model's windows of one length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SequencePoint {
    /// The model's name.
    pub model: String,
    /// Non-embedding parameters S.
    pub parameters: u64,
    /// Windows of N consecutive scored tokens.
    pub windows: u64,
    /// Those of them that are all hits. Windows overlap: a run of r hits counts `r + 1 - N` times.
    pub successes: u64,
    /// Successes that do not overlap, `sum floor(r / N)` over the runs of r hits: what the evidence
    /// amounts to.
    pub disjoint_successes: u64,
    /// `p = successes / windows`; absent without windows.
    pub probability: Option<Estimate>,
    /// `RBP^N`, were tokens independent and documents alike; absent when no token was scored.
    pub independent: Option<f64>,
    /// The chance when each document's hits are put in random order: what the difference between
    /// documents explains alone; absent without windows.
    pub shuffled: Option<f64>,
    /// `RBP q^(N-1)`, a first-order Markov chain; absent without q.
    pub markov: Option<f64>,
    /// `p` over `independent`; absent (as the next two) when either is 0 or unknown.
    pub over_independent: Option<Estimate>,
    /// `p` over `shuffled`: what the order of hits inside documents adds.
    pub over_shuffled: Option<Estimate>,
    /// `p` over `markov`: what neighbours alone do not explain.
    pub over_markov: Option<Estimate>,
    /// `ln p / ln RBP`: how many independent tokens the N count as; N where independence holds,
    /// fewer where hits cluster. Absent when either logarithm is 0 or infinite.
    pub effective_length: Option<Estimate>,
    /// False when successes or misses are too few for any claim (see the flags of the law).
    pub claimed: bool,
}

/// S*, the size at which the law of `-ln p` reaches `ln 2`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HalfSize {
    /// S* in parameters; the interval (Fieller) is that of the law's crossing.
    pub parameters: Estimate,
    /// Sizes at which one new model may reach one half: the scatter of a model about the law
    /// included.
    pub for_one_model: Interval,
    /// Decades of S from the nearest measured model to S*: positive beyond the largest, negative
    /// below the smallest, 0 between.
    pub decades_beyond: f64,
    /// S* by the law of RBP and independence, `(N C / ln 2)^(1/alpha)`; absent when that law has no
    /// such size.
    pub independent: Option<f64>,
    /// `dp / d ln S` at S*: `alpha (ln 2) / 2` for a power law of `-ln p`.
    pub steepness: Estimate,
    /// Decades of S from `p = 0.1` to `p = 0.9`: the smaller, the more abrupt.
    pub decades_from_a_tenth_to_nine: f64,
    /// False when the law behind it is not claimed.
    pub claimed: bool,
    /// Doubts, the distance beyond the data first.
    pub flags: Vec<Flag>,
}
