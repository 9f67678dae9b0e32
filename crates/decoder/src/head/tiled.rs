//! The head that runs: for each share of positions, walk the vocabulary in tiles, one product a tile, and fold each
//! tile into running sums. Memory is one tile a thread, whatever the vocabulary.
//!
//! **The target's logit must be the very number that its tile yields**, or an entry that equals it exactly would be
//! counted on the wrong side; `kernels` promises (and tests) that for [`Packed::aimed`]. The target itself is then not compared
//! at all but counted once, so that NaN or rounding can never lose it.
//!
//! **Precision**: logits, exponentials and their sums within a tile are f32; sums over tiles are f64.
//!
//! The cost beside the product: two passes over a tile that lies in cache.

#![allow(
    clippy::needless_range_loop,
    reason = "see `ops::lanes`: with indices the loops over lanes become vectors"
)]

use crate::error::Result;
use crate::kernels::{Input, Packed, TILE};
use crate::ops::lanes::{LANES, LOWEST, exp, fold, vectorised};
use rayon::prelude::*;
use std::ops::Range;

use super::{Scored, Vocabulary};

/// Most positions that pass over the vocabulary together: their sums, 280 x 192 logits, take 215 KB, and the more they are, the
/// less often the head is read.
const SHARE: usize = 280;

/// Stands in for the logits of rows that take no part, and of those that there are not: finite, above no logit, its exponential the smallest there is (1e-38).
const ABSENT: f32 = f32::MIN;

/// Scores hidden rows `[N, E]` against `head` `[V, E]`: for each row its target's rank, ties, nll, entropy, and the argmax;
/// `None` where a logit was not finite. Rows are split over threads; no result depends on how.
///
/// # Errors
/// A target that is not in the vocabulary, by its index.
pub fn score(
    head: &Packed,
    hidden: &Input,
    targets: &[u32],
    vocabulary: &Vocabulary,
) -> Result<Vec<Option<Scored>>> {
    for (index, &target) in targets.iter().enumerate() {
        vocabulary.check_target(index, target)?;
    }
    let aimed = head.aimed(hidden, targets);
    Ok(Packed::shares(targets.len(), SHARE)
        .into_par_iter()
        .flat_map_iter(|rows| {
            let (targets, aimed) = (&targets[rows.clone()], &aimed[rows.clone()]);
            share(head, hidden, rows, targets, aimed, vocabulary)
        })
        .collect())
}

/// One share of positions.
fn share(
    head: &Packed,
    hidden: &Input,
    rows: Range<usize>,
    targets: &[u32],
    aimed: &[f32],
    vocabulary: &Vocabulary,
) -> Vec<Option<Scored>> {
    let mut running = vec![Running::START; rows.len()];
    let start = rows.start;
    head.walk(hidden, rows, &mut Vec::new(), |first, row, sums| {
        let end = (first + TILE).min(head.outputs());
        let absent: Vec<_> = vocabulary.left_out_within(first, end).collect();
        vectorised(
            #[inline(always)]
            || {
                for (z, i) in sums.chunks_exact_mut(TILE).zip(row - start..) {
                    // The last tile is filled up, so that all have one size.
                    z[end - first..].fill(ABSENT);
                    for range in &absent {
                        z[range.clone()].fill(ABSENT);
                    }
                    let own = (targets[i] as usize).checked_sub(first).filter(|own| *own < end - first);
                    debug_assert!(
                        own.is_none_or(|own| z[own].to_bits() == aimed[i].to_bits() || z[own].is_nan())
                    );
                    running[i].fold(z.as_chunks().0, first as u32, aimed[i], own);
                }
            },
        );
    });
    running.into_iter().zip(aimed).map(|(running, aimed)| running.finish(*aimed)).collect()
}

/// Running sums of one position over the tiles seen so far.
#[derive(Clone)]
struct Running {
    top: f32,
    argmax: u32,
    /// `sum exp(z - top)`.
    mass: f64,
    /// `sum (z - top) exp(z - top)`.
    tilt: f64,
    above: u32,
    equal: u32,
    /// The smallest logit; negative infinity is found by it, positive infinity by `top`, NaN by `mass`.
    least: f32,
}

impl Running {
    const START: Self = Self {
        top: f32::NEG_INFINITY,
        argmax: 0,
        mass: 0.0,
        tilt: 0.0,
        above: 0,
        equal: 0,
        least: f32::INFINITY,
    };

    /// Folds the logits of one tile in; `own` is where the target stands in it, if it does.
    #[inline(always)]
    fn fold(&mut self, z: &[[f32; LANES]], first: u32, aimed: f32, own: Option<usize>) {
        let top = self.count(z, aimed, own);
        if top > self.top {
            self.argmax = first + z.as_flattened().iter().position(|v| *v == top).unwrap_or(0) as u32;
            if self.mass > 0.0 {
                let drop = f64::from(self.top) - f64::from(top);
                let shrink = drop.exp();
                self.tilt = if shrink > 0.0 { shrink * (self.tilt + drop * self.mass) } else { 0.0 };
                self.mass *= shrink;
            }
            self.top = top;
        }
        let top = self.top;
        let (mut mass, mut tilt) = ([0.0; LANES], [0.0; LANES]);
        for z in z {
            for i in 0..LANES {
                let below = z[i] - top;
                let below = if below < LOWEST { LOWEST } else { below };
                let e = exp(below);
                mass[i] += e;
                tilt[i] = below.mul_add(e, tilt[i]);
            }
        }
        self.mass += f64::from(fold(mass, |a, b| a + b));
        self.tilt += f64::from(fold(tilt, |a, b| a + b));
    }

    /// Counts entries above and equal to the target and notes the least; returns the tile's largest logit.
    #[inline(always)]
    fn count(&mut self, z: &[[f32; LANES]], aimed: f32, own: Option<usize>) -> f32 {
        let (mut above, mut equal) = ([0_u32; LANES], [0_u32; LANES]);
        let (mut top, mut least) = ([f32::NEG_INFINITY; LANES], [f32::INFINITY; LANES]);
        for z in z {
            for i in 0..LANES {
                above[i] += u32::from(z[i] > aimed);
                equal[i] += u32::from(z[i] == aimed);
                top[i] = if z[i] > top[i] { z[i] } else { top[i] };
                least[i] = if z[i] < least[i] { z[i] } else { least[i] };
            }
        }
        self.above += above.iter().sum::<u32>();
        self.equal += equal.iter().sum::<u32>();
        self.least = self.least.min(fold(least, |a, b| if b < a { b } else { a }));
        if let Some(own) = own {
            // By the bits that stand there, so that it is taken back exactly as it was counted.
            let own = z.as_flattened()[own];
            self.above -= u32::from(own > aimed);
            self.equal -= u32::from(own == aimed);
        }
        fold(top, |a, b| if b > a { b } else { a })
    }

    /// The score, once every tile has been seen.
    fn finish(self, aimed: f32) -> Option<Scored> {
        let finite = self.least > f32::NEG_INFINITY && self.top < f32::INFINITY && self.mass.is_finite();
        if !finite || !aimed.is_finite() {
            return None;
        }
        let log_mass = self.mass.ln();
        Some(Scored {
            rank: self.above + self.equal + 1,
            ties: self.equal,
            nll: (log_mass + f64::from(self.top) - f64::from(aimed)) as f32,
            entropy: (log_mass - self.tilt / self.mass) as f32,
            argmax: self.argmax,
        })
    }
}
