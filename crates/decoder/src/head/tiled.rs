//! The head that runs: for each share of positions, walk the vocabulary in tiles, one product a
//! tile, and fold each tile into running sums. Memory is one tile a thread, whatever the
//! vocabulary.
//!
//! **The target's logit must be the very number that its tile yields**, or an entry that equals it
//! exactly would be counted on the wrong side; `kernels` promises (and tests) that for
//! [`Packed::aimed`]. The target itself is then not compared at all but counted once, so that NaN
//! or rounding can never lose it.
//!
//! **Precision**: logits, exponentials and their sums within a tile are f32; sums over tiles are
//! f64.
//!
//! The cost beside the product: two passes over a tile that lies in cache.

#![allow(
    clippy::needless_range_loop,
    reason = "see `lanes`: with indices the loops over lanes become vectors"
)]

use crate::error::Result;
use crate::kernels::{Input, Numbers, Packed, TILE};
use crate::lanes::{LANES, LOWEST_EXP2, exp2, tanh, vectorised};
use rayon::prelude::*;
use std::f32::consts::LOG2_E;
use std::ops::Range;

use super::{Scored, Vocabulary};

/// Most positions that pass over the vocabulary together: their sums, 560 x 192 logits, take 430
/// KB, and the more they are, the less often the head is read.
const SHARE: usize = 560;

/// Stands in for the logits of rows that take no part, and of those that there are not: finite,
/// above no logit, its exponential the smallest there is (1e-38).
const ABSENT: f32 = f32::MIN;

/// Scores hidden rows `[N, E]` against `head` `[V, E]`: for each row its target's rank, ties, nll,
/// entropy, and the argmax; `None` where a logit was not finite. Rows are split over threads; no
/// result depends on how. A `bias` of `V` numbers is added to the logits. With a `cap` `c`, a logit
/// `z` counts as `c tanh(z / c)`; that rises with `z`, so ranks are taken of `z` itself, where
/// rounding makes fewer ties.
///
/// # Errors
/// A target that is not in the vocabulary, by its index.
///
/// # Panics
/// When there is a bias that is not one of `V` numbers.
pub fn score(
    head: &Packed,
    bias: Option<&[f32]>,
    hidden: &Input,
    targets: &[u32],
    vocabulary: &Vocabulary,
    cap: Option<f32>,
) -> Result<Vec<Option<Scored>>> {
    for (index, &target) in targets.iter().enumerate() {
        vocabulary.check_target(index, target)?;
    }
    let mut aimed = head.aimed(hidden, targets);
    if let Some(bias) = bias {
        assert_eq!(bias.len(), head.outputs(), "a number for every row of the head");
        aimed.iter_mut().zip(targets).for_each(|(z, target)| *z += bias[*target as usize]);
    }
    Ok(head
        .shares(targets.len(), SHARE)
        .into_par_iter()
        .flat_map_iter(|rows| {
            let (targets, aimed) = (&targets[rows.clone()], &aimed[rows.clone()]);
            share((head, bias), hidden, rows, targets, aimed, (vocabulary, cap))
        })
        .collect())
}

/// One share of positions.
fn share(
    (head, bias): (&Packed, Option<&[f32]>),
    hidden: &Input,
    rows: Range<usize>,
    targets: &[u32],
    aimed: &[f32],
    (vocabulary, cap): (&Vocabulary, Option<f32>),
) -> Vec<Option<Scored>> {
    let mut running = vec![Running::START; rows.len()];
    let start = rows.start;
    head.walk(hidden, rows, &mut Numbers::default(), |first, row, sums| {
        let end = (first + TILE).min(head.outputs());
        let absent: Vec<_> = vocabulary.left_out_within(first, end).collect();
        vectorised(
            #[inline(always)]
            || {
                for (z, i) in sums.chunks_exact_mut(TILE).zip(row - start..) {
                    // The same addition as that of the target's own, to the same bits.
                    if let Some(bias) = bias {
                        z.iter_mut().zip(&bias[first..end]).for_each(|(z, b)| *z += b);
                    }
                    // The last tile is filled up, so that all have one size.
                    z[end - first..].fill(ABSENT);
                    for range in &absent {
                        z[range.clone()].fill(ABSENT);
                    }
                    let own =
                        (targets[i] as usize).checked_sub(first).filter(|own| *own < end - first);
                    debug_assert!(own.is_none_or(
                        |own| z[own].to_bits() == aimed[i].to_bits() || z[own].is_nan()
                    ));
                    running[i].fold(z.as_chunks_mut().0, first as u32, aimed[i], own, cap);
                }
            },
        );
    });
    running.into_iter().zip(aimed).map(|(running, aimed)| running.finish(*aimed, cap)).collect()
}

/// Running sums of one position over the tiles seen so far, lane by lane: logit `i` of the
/// vocabulary counts in lane `i mod 16`, so that no tile needs to be folded.
#[derive(Clone)]
struct Running {
    /// Exponentials are `2^x` with `x = (z - reference) log2 e`.
    reference: f32,
    /// Above this logit they would grow too large, and the reference is moved.
    bound: f32,
    /// Sum of `2^x`.
    mass: [f64; LANES],
    /// Sum of `x 2^x`.
    tilt: [f64; LANES],
    /// The largest logit, and the chunk of the vocabulary that has it first.
    top: [f32; LANES],
    chunk: [u32; LANES],
    above: [u32; LANES],
    equal: [u32; LANES],
    /// The smallest logit; negative infinity is found by it, positive infinity by `top`, NaN by
    /// `mass`.
    least: [f32; LANES],
}

/// `c tanh(z / c)`.
#[inline(always)]
fn capped(z: f32, c: f32) -> f32 {
    c * tanh(z / c)
}

/// By how much a logit may exceed the reference: the sums of a tile stay far below the largest f32.
const HEADROOM: f32 = 40.0;

impl Running {
    const START: Self = Self {
        reference: 0.0,
        bound: f32::NEG_INFINITY,
        mass: [0.0; LANES],
        tilt: [0.0; LANES],
        top: [f32::NEG_INFINITY; LANES],
        chunk: [0; LANES],
        above: [0; LANES],
        equal: [0; LANES],
        least: [f32::INFINITY; LANES],
    };

    /// Folds the logits of one tile in; `own` is where the target stands in it, if it does.
    #[inline(always)]
    fn fold(
        &mut self,
        z: &mut [[f32; LANES]],
        first: u32,
        aimed: f32,
        own: Option<usize>,
        cap: Option<f32>,
    ) {
        self.count(z, first, aimed);
        if let Some(own) = own {
            // By the bits that stand there, so that it is taken back exactly as it was counted.
            let (lane, own) = (own % LANES, z.as_flattened()[own]);
            self.above[lane] -= u32::from(own > aimed);
            self.equal[lane] -= u32::from(own == aimed);
        }
        let mut beyond = false;
        for i in 0..LANES {
            beyond |= self.top[i] > self.bound;
        }
        if beyond {
            self.move_reference(cap);
        }
        if let Some(cap) = cap {
            for z in z.as_flattened_mut() {
                *z = if *z == ABSENT { ABSENT } else { capped(*z, cap) };
            }
        }
        let reference = self.reference;
        let (mut mass, mut tilt) = ([0.0; LANES], [0.0; LANES]);
        for z in &*z {
            for i in 0..LANES {
                let x = (z[i] - reference) * LOG2_E;
                let x = if x < LOWEST_EXP2 { LOWEST_EXP2 } else { x };
                let e = exp2(x);
                mass[i] += e;
                tilt[i] = x.mul_add(e, tilt[i]);
            }
        }
        for i in 0..LANES {
            self.mass[i] += f64::from(mass[i]);
        }
        for i in 0..LANES {
            self.tilt[i] += f64::from(tilt[i]);
        }
    }

    /// Takes the largest logit so far for the reference.
    #[cold]
    fn move_reference(&mut self, cap: Option<f32>) {
        let top = self.largest();
        let (old, new) = (self.reference, cap.map_or(top, |cap| capped(top, cap)));
        // Two logits are never further apart for having been capped.
        (self.reference, self.bound) = (new, top + HEADROOM);
        if self.mass[0] > 0.0 {
            let drop = (f64::from(old) - f64::from(new)) * f64::from(LOG2_E);
            let shrink = drop.exp2();
            for i in 0..LANES {
                // The least exponential has a size, the difference may have no end.
                self.tilt[i] =
                    if shrink > 0.0 { shrink * (self.tilt[i] + drop * self.mass[i]) } else { 0.0 };
                self.mass[i] *= shrink;
            }
        }
    }

    fn largest(&self) -> f32 {
        self.top.iter().copied().fold(f32::NEG_INFINITY, f32::max)
    }

    /// Counts entries above and equal to the target, and notes the largest and the least.
    #[inline(always)]
    fn count(&mut self, z: &[[f32; LANES]], first: u32, aimed: f32) {
        let Self { mut top, mut chunk, mut above, mut equal, mut least, .. } = *self;
        for (z, number) in z.iter().zip(first / LANES as u32..) {
            for i in 0..LANES {
                above[i] += u32::from(z[i] > aimed);
                equal[i] += u32::from(z[i] == aimed);
                chunk[i] = if z[i] > top[i] { number } else { chunk[i] };
                top[i] = if z[i] > top[i] { z[i] } else { top[i] };
                least[i] = if z[i] < least[i] { z[i] } else { least[i] };
            }
        }
        (self.top, self.chunk, self.above, self.equal, self.least) =
            (top, chunk, above, equal, least);
    }

    /// The score, once every tile has been seen.
    fn finish(self, aimed: f32, cap: Option<f32>) -> Option<Scored> {
        let top = self.largest();
        let (mass, tilt) = (self.mass.iter().sum::<f64>(), self.tilt.iter().sum::<f64>());
        let low = self.least.contains(&f32::NEG_INFINITY);
        if low || top == f32::INFINITY || !mass.is_finite() || !aimed.is_finite() {
            return None;
        }
        let places = self.top.iter().zip(self.chunk).zip(0..).filter(|((z, _), _)| **z == top);
        let argmax = places.map(|((_, chunk), lane)| chunk * LANES as u32 + lane).min();
        let (above, equal) = (self.above.iter().sum::<u32>(), self.equal.iter().sum::<u32>());
        let log_mass = mass.ln();
        let aimed = cap.map_or(aimed, |cap| capped(aimed, cap));
        Some(Scored {
            rank: above + equal + 1,
            ties: equal,
            nll: (log_mass + f64::from(self.reference) - f64::from(aimed)) as f32,
            entropy: (log_mass - tilt / mass / f64::from(LOG2_E)) as f32,
            argmax: argmax.unwrap_or(0),
        })
    }
}
