//! The head that runs: for each block of positions, walk the vocabulary in tiles, one product a tile, and fold each
//! tile into running sums. Memory is one tile a thread, whatever the vocabulary.
//!
//! **The target's logit must be the very number that its tile yields**, or an entry that equals it exactly would be
//! counted on the wrong side. It is read from a product of the same kind, over the targets' rows gathered beside each
//! other, whose diagonal is wanted; `kernels` promises (and tests) that an element's bits depend on its row, its column
//! and the inner size alone. The target itself is then not compared at all but counted once, so that NaN or rounding
//! can never lose it.
//!
//! **Precision**: logits, exponentials and their sums within a tile are f32; sums over tiles are f64.
//!
//! The cost beside the product: 3 passes over a tile that lies in cache, and `DIAGONAL / V` more products.

use super::{Scored, Vocabulary};
use crate::error::Result;
use crate::kernels::{MIN_ROWS, View, product};
use crate::ops::lanes::{LANES, LOWEST, exp, fold, max, vectorised};
use crate::weights::Matrix;
use rayon::prelude::*;

/// Positions of one block; a tile of theirs, 128 x 512 logits, is 256 KB.
const BLOCK: usize = 128;

/// Vocabulary rows of one tile.
const TILE: usize = 512;

/// Positions whose targets are gathered into one small product.
const DIAGONAL: usize = MIN_ROWS;

/// Stands in for the logits of rows that take no part: finite, above no logit, its exponential the smallest there is (1e-38).
const ABSENT: f32 = f32::MIN;

/// Scores hidden rows `[N, E]` against `head` `[V, E]`: for each row its target's rank, ties, nll, entropy, and the argmax;
/// `None` where a logit was not finite. Rows are split over threads; no result depends on how.
///
/// # Errors
/// A target that is not in the vocabulary, by its index.
pub fn score(
    head: &Matrix,
    hidden: &[f32],
    targets: &[u32],
    vocabulary: &Vocabulary,
) -> Result<Vec<Option<Scored>>> {
    for (index, &target) in targets.iter().enumerate() {
        vocabulary.check_target(index, target)?;
    }
    Ok(hidden
        .par_chunks(BLOCK * head.columns)
        .zip(targets.par_chunks(BLOCK))
        .flat_map_iter(|(hidden, targets)| block(head, hidden, targets, vocabulary))
        .collect())
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
    finite: bool,
}

/// One block of at most [`BLOCK`] positions.
fn block(head: &Matrix, hidden: &[f32], targets: &[u32], vocabulary: &Vocabulary) -> Vec<Option<Scored>> {
    let width = head.columns;
    // Padded to whole blocks, so that the last positions are computed by the same kernels as all others.
    let mut rows = hidden.to_vec();
    rows.resize(BLOCK * width, 0.0);
    let aimed = target_logits(head, &rows, targets);
    let start =
        Running { top: f32::NEG_INFINITY, argmax: 0, mass: 0.0, tilt: 0.0, above: 0, equal: 0, finite: true };
    let mut running = vec![start; targets.len()];
    let mut tile = vec![0.0; BLOCK * TILE];
    let mut last = Vec::new();
    for first in (0..head.rows).step_by(TILE) {
        let end = (first + TILE).min(head.rows);
        let weights = if end - first >= MIN_ROWS {
            &head.data[first * width..end * width]
        } else {
            last = head.data[first * width..end * width].to_vec();
            last.resize(MIN_ROWS * width, 0.0);
            &last[..]
        };
        let columns = weights.len() / width;
        let (x, w) = (View::dense(&rows, BLOCK, width), View::dense(weights, columns, width));
        product(&mut tile, TILE, x, w.transposed(), false);
        let absent: Vec<_> = vocabulary.left_out_within(first, end).collect();
        let lines = tile.chunks_exact_mut(TILE).zip(&mut running).zip(targets.iter().zip(&aimed));
        for ((z, running), (&target, &aimed)) in lines {
            let z = &mut z[..end - first];
            absent.iter().for_each(|range| z[range.clone()].fill(ABSENT));
            let own = (target as usize).checked_sub(first).filter(|own| *own < z.len());
            debug_assert!(own.is_none_or(|own| z[own].to_bits() == aimed.to_bits() || aimed.is_nan()));
            vectorised(
                #[inline(always)]
                || running.fold(z, first as u32, aimed, own),
            );
        }
    }
    drop(last);
    running.into_iter().zip(aimed).map(|(running, aimed)| running.finish(aimed)).collect()
}

/// The targets' logits, with the bits that their tiles will yield.
fn target_logits(head: &Matrix, rows: &[f32], targets: &[u32]) -> Vec<f32> {
    let width = head.columns;
    let mut gathered = vec![0.0; DIAGONAL * width];
    let mut square = vec![0.0; DIAGONAL * DIAGONAL];
    let mut logits = Vec::with_capacity(targets.len());
    let mut padded;
    for (part, targets) in targets.chunks(DIAGONAL).enumerate() {
        for (slot, &target) in gathered.chunks_exact_mut(width).zip(targets) {
            slot.copy_from_slice(head.row(target as usize));
        }
        let rest = &rows[part * DIAGONAL * width..];
        let x = if rest.len() >= DIAGONAL * width {
            rest
        } else {
            padded = rest.to_vec();
            padded.resize(DIAGONAL * width, 0.0);
            &padded[..]
        };
        let (x, w) = (View::dense(x, DIAGONAL, width), View::dense(&gathered, DIAGONAL, width));
        product(&mut square, DIAGONAL, x, w.transposed(), false);
        logits.extend((0..targets.len()).map(|i| square[i * DIAGONAL + i]));
    }
    logits
}

/// Adds `exp(z - top)` and `(z - top) exp(z - top)` to the lanes.
#[inline(always)]
fn add(z: &[f32], top: f32, mass: &mut [f32; LANES], tilt: &mut [f32; LANES]) {
    for ((z, mass), tilt) in z.iter().zip(mass).zip(tilt) {
        let below = z - top;
        let below = if below < LOWEST { LOWEST } else { below };
        let e = exp(below);
        *mass += e;
        *tilt = below.mul_add(e, *tilt);
    }
}

impl Running {
    /// Folds the logits of one tile in; `own` is where the target stands in it, if it does.
    #[inline(always)]
    fn fold(&mut self, z: &[f32], first: u32, aimed: f32, own: Option<usize>) {
        let top = self.count(z, aimed, own);
        if top > self.top {
            self.argmax = first + z.iter().position(|v| *v == top).unwrap_or(0) as u32;
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
        for chunk in z.chunks(LANES) {
            // Whole chunks have a length the compiler knows, and become vectors.
            match <&[f32; LANES]>::try_from(chunk) {
                Ok(chunk) => add(chunk, top, &mut mass, &mut tilt),
                Err(_) => add(chunk, top, &mut mass, &mut tilt),
            }
        }
        self.mass += f64::from(fold(mass, |a, b| a + b));
        self.tilt += f64::from(fold(tilt, |a, b| a + b));
    }

    /// Counts entries above and equal to the target and notes non-finite ones; returns the tile's largest logit.
    #[inline(always)]
    fn count(&mut self, z: &[f32], aimed: f32, own: Option<usize>) -> f32 {
        let (mut above, mut equal, mut finite) = (0_u32, 0_u32, 0_u32);
        for &v in z {
            above += u32::from(v > aimed);
            equal += u32::from(v == aimed);
            finite += u32::from(v.abs() < f32::INFINITY);
        }
        self.above += above;
        self.equal += equal;
        self.finite &= finite as usize == z.len();
        if let Some(own) = own {
            // By the bits that stand there, so that it is taken back exactly as it was counted.
            self.above -= u32::from(z[own] > aimed);
            self.equal -= u32::from(z[own] == aimed);
        }
        max(z)
    }

    /// The score, once every tile has been seen.
    fn finish(self, aimed: f32) -> Option<Scored> {
        if !self.finite || !aimed.is_finite() {
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
