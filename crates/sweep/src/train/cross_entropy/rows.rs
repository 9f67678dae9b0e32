//! What happens to the rows of one tile of logits, on the way forward and on the way back.
//!
//! With `m` the largest logit of a row and `s = sum_v exp(z[v] - m)`, gathered tile by tile
//! (Milakov & Gimelshein 2018): `nll = ln s + m - z[target]`, log normaliser `l = ln s + m`, and
//! `dz[v] = weight (exp(z[v] - m) / s (1 + 2 z_loss l) - [v = target])`.

use super::losses::{Factors, Losses};
use relscale_decoder::lanes::{exp, max, sum, vectorised};
use std::ops::Range;

/// What is known of one row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    target: u32,
    /// The target's logit, once its tile has been seen.
    aimed: f32,
    /// `m` of the tiles seen so far.
    top: f32,
    /// `s` of the tiles seen so far; summed in f32 within a tile.
    mass: f64,
    /// `weight (1 + 2 z_loss l) / s`.
    scale: f32,
}

impl Row {
    /// Before the first tile.
    pub(super) fn new(target: u32) -> Self {
        Self { target, aimed: f32::NAN, top: f32::NEG_INFINITY, mass: 0.0, scale: 0.0 }
    }

    /// After the last tile of the way forward: adds the row's losses and prepares its gradient.
    pub(super) fn finish(&mut self, factors: Factors, losses: &mut Losses) {
        let normaliser = self.mass.ln() + f64::from(self.top);
        losses.nll += normaliser - f64::from(self.aimed);
        losses.squares += normaliser * normaliser;
        let pull = 1.0 + 2.0 * f64::from(factors.z_loss) * normaliser;
        self.scale = (f64::from(factors.weight) * pull / self.mass) as f32;
    }

    /// Where in the tile the target stands, if it does.
    #[inline(always)]
    fn own(&self, tile: &Range<usize>) -> Option<usize> {
        let target = self.target as usize;
        tile.contains(&target).then(|| target - tile.start)
    }

    #[inline(always)]
    fn fold(&mut self, z: &mut [f32], tile: &Range<usize>) {
        if let Some(own) = self.own(tile) {
            self.aimed = z[own];
        }
        let top = max(z).max(self.top);
        // Nothing to shrink before the first tile, where the old top is no number to subtract from.
        if top > self.top && self.mass > 0.0 {
            self.mass *= (f64::from(self.top) - f64::from(top)).exp();
        }
        self.top = top;
        z.iter_mut().for_each(
            #[inline(always)]
            |z| *z = exp(*z - top),
        );
        self.mass += f64::from(sum(z));
    }

    #[inline(always)]
    fn turn(&self, z: &mut [f32], tile: &Range<usize>, folded: bool, factors: Factors) {
        let (top, scale) = (self.top, self.scale);
        if folded {
            z.iter_mut().for_each(|z| *z *= scale);
        } else {
            z.iter_mut().for_each(
                #[inline(always)]
                |z| *z = exp(*z - top) * scale,
            );
        }
        if let Some(own) = self.own(tile) {
            z[own] -= factors.weight;
        }
    }
}

/// Folds one tile's logits, `[rows, T]`, into the rows. `exp(z - m)`, with the `m` of the tiles so
/// far, is left in their place.
pub(super) fn fold(rows: &mut [Row], logits: &mut [f32], tile: &Range<usize>) {
    vectorised(
        #[inline(always)]
        || {
            for (row, z) in rows.iter_mut().zip(logits.chunks_exact_mut(tile.len())) {
                row.fold(z, tile);
            }
        },
    );
}

/// One tile's logits, `[rows, T]`, become their gradient; `folded` where they are what [`fold`]
/// left of the last tile.
pub(super) fn turn(
    rows: &[Row],
    logits: &mut [f32],
    tile: &Range<usize>,
    folded: bool,
    factors: Factors,
) {
    vectorised(
        #[inline(always)]
        || {
            for (row, z) in rows.iter().zip(logits.chunks_exact_mut(tile.len())) {
                row.turn(z, tile, folded, factors);
            }
        },
    );
}
