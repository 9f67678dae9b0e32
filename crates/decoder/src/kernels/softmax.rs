//! The softmax of attention, block of keys by block of keys, on the scores that a product of a
//! [`Left`](super::Left) and a [`Right`] factor leaves: `[key][WIDTH]`, a column a query.
//!
//! Of each query the largest score so far is kept, and what was summed before is scaled down when a
//! block has a larger one (Milakov & Gimelshein 2018; Dao et al. 2022). A key that a query does not
//! see weighs exactly 0, so that nothing depends on it.

#![allow(
    clippy::needless_range_loop,
    reason = "see `lanes`: with indices the loops over lanes become vectors"
)]

use super::shape::WIDTH;
use super::strips::Right;
use crate::lanes::{LOWEST_EXP2, exp2, vectorised};

/// A strip of [`WIDTH`] queries on its way over the keys.
#[derive(Debug, Clone)]
pub struct Softmax {
    /// Position of the first query.
    first: usize,
    /// Keys that a query sees at most, itself included.
    window: usize,
    /// From a difference of scores to the exponent of 2.
    factor: f32,
    /// The largest score so far.
    top: [f32; WIDTH],
    /// The sum of the weights so far, as they count against `top`.
    total: [f32; WIDTH],
}

impl Softmax {
    /// For the queries from position `first` on, each of which sees `window` keys at most, itself
    /// the last; `scale` is the factor of the scores.
    pub fn new(first: usize, window: Option<usize>, scale: f32) -> Self {
        Self {
            first,
            window: window.unwrap_or(usize::MAX / 2),
            factor: scale * std::f32::consts::LOG2_E,
            top: [f32::MIN; WIDTH],
            total: [0.0; WIDTH],
        }
    }

    /// Turns the scores in `right` of the keys from `from` on into weights against the largest
    /// score so far, and makes them a factor of a product; `before`, the sums of earlier blocks,
    /// `[D][WIDTH]`, are made to count against that score too.
    pub fn weigh(&mut self, from: usize, right: &mut Right, before: Option<&mut [f32]>) {
        let scores = right.scores();
        let factors = vectorised(
            #[inline(always)]
            || self.weigh_scores(from, scores),
        );
        if let Some(before) = before
            && factors.iter().any(|factor| *factor != 1.0)
        {
            scale(before, &factors);
        }
        right.settle();
    }

    /// Divides sums `[D][WIDTH]` by the sums of the weights.
    pub fn divide(&self, sums: &mut [f32]) {
        scale(sums, &self.total.map(|total| 1.0 / total));
    }

    /// The queries that see the key at `key`: no query before the key itself, and none from
    /// `key + window` on.
    #[inline(always)]
    fn seen_by(&self, key: usize) -> [i32; 2] {
        let place = |query: usize| query.saturating_sub(self.first).min(WIDTH) as i32;
        [place(key), place(key.saturating_add(self.window))]
    }

    /// Leaves weights in place of scores; returns what earlier weights are to be multiplied by.
    #[inline(always)]
    fn weigh_scores(&mut self, from: usize, scores: &mut [[f32; WIDTH]]) -> [f32; WIDTH] {
        const QUERIES: [i32; WIDTH] = {
            let mut queries = [0; WIDTH];
            let mut i = 0;
            while i < WIDTH {
                queries[i] = i as i32;
                i += 1;
            }
            queries
        };
        let (mut top, factor) = (self.top, self.factor);
        for (key, scores) in scores.iter().enumerate() {
            let [begin, end] = self.seen_by(from + key);
            for i in 0..WIDTH {
                let seen = (QUERIES[i] >= begin) & (QUERIES[i] < end);
                let score = if seen { scores[i] } else { f32::MIN };
                // A NaN is passed over here; its weight will be NaN.
                top[i] = if score > top[i] { score } else { top[i] };
            }
        }
        let mut factors = [0.0; WIDTH];
        for i in 0..WIDTH {
            // Nothing, and not the least number that there is, is left of what is far below.
            let x = (self.top[i] - top[i]) * factor;
            factors[i] = if x < LOWEST_EXP2 { 0.0 } else { exp2(x) };
        }
        let mut total = self.total;
        for i in 0..WIDTH {
            total[i] *= factors[i];
        }
        for (key, scores) in scores.iter_mut().enumerate() {
            let [begin, end] = self.seen_by(from + key);
            for i in 0..WIDTH {
                let seen = (QUERIES[i] >= begin) & (QUERIES[i] < end);
                let weight = exp2((scores[i] - top[i]) * factor);
                scores[i] = if seen { weight } else { 0.0 };
                total[i] += scores[i];
            }
        }
        (self.top, self.total) = (top, total);
        factors
    }
}

/// Multiplies rows by a factor for each column.
fn scale(rows: &mut [f32], factors: &[f32; WIDTH]) {
    vectorised(
        #[inline(always)]
        || {
            for row in rows.as_chunks_mut::<WIDTH>().0 {
                for i in 0..WIDTH {
                    row[i] *= factors[i];
                }
            }
        },
    );
}
