//! Made-up rows: outcomes in a known order, counted as a study counts them.

use relscale_records::provenance::TieRule;
use relscale_records::sequences::{SequenceCounter, SequenceGrid};
use relscale_records::{DocumentTally, RunTally, Score, ScoredToken};

use super::run;

/// Repeatable numbers in `[0, 1)` (splitmix64).
pub(crate) struct Uniform(pub(crate) u64);

impl Uniform {
    pub(crate) fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Outcomes of a stationary Markov chain: share `p` of hits, a hit after a hit with chance `q`
/// (`q = p`: independent).
pub(crate) fn chain(p: f64, q: f64, length: usize, random: &mut Uniform) -> Vec<bool> {
    let after_miss = p * (1.0 - q) / (1.0 - p);
    let mut chance = p;
    (0..length)
        .map(|_| {
            let hit = random.draw() < chance;
            chance = if hit { q } else { after_miss };
            hit
        })
        .collect()
}

/// A run at k = 1 whose documents have these outcomes, one position after another.
pub(crate) fn with_outcomes(
    model: &str,
    parameters: u64,
    documents: &[Vec<bool>],
    lengths: &[u32],
    lags: &[u32],
) -> RunTally {
    let mut tally = run(model, parameters, &[1]);
    let grid = SequenceGrid { k: vec![1], lengths: lengths.to_vec(), lags: lags.to_vec() };
    let mut counter = SequenceCounter::new(grid, TieRule::AtLeast).unwrap();
    for (ordinal, outcomes) in documents.iter().enumerate() {
        let mut sums = DocumentTally::new(ordinal as u32, 1);
        for (position, &hit) in outcomes.iter().enumerate() {
            let position = position as u32 + 1;
            let rank = if hit { 1 } else { 9 };
            let token = ScoredToken {
                document: ordinal as u32,
                position,
                token: 0,
                bytes: 4,
                context: position,
                score: Some(Score {
                    rank,
                    ties: Some(0),
                    nll: 2.0,
                    entropy: Some(2.0),
                    argmax: Some(0),
                }),
            };
            sums.add(&token, &[1], TieRule::AtLeast);
            counter.add(&token);
        }
        tally.documents.push(sums);
    }
    tally.sequences = Some(counter.finish());
    tally
}
