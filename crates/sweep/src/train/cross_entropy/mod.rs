//! Softmax cross entropy over a head, with the z-loss where it is wanted, forward and backward at
//! once, for training.
//!
//! Shapes: hidden rows `x` `[N, E]`, head `W` `[V, E]`, targets `[N]`, logits `z = x W^T` `[N, V]`,
//! which never exist together: they are computed tile by tile, `R` rows by `T` entries of the
//! vocabulary, in a buffer of fixed size (`tiling`).
//!
//! Each block of rows walks the vocabulary twice (`rows` has the formulas):
//! 1. forward: a tile's logits are folded into each row's largest logit and sum of exponentials,
//!    and lost;
//! 2. backward: the logits are computed again, become their gradient where they lie, and yield
//!    `dx += dz W` and `dW += dz^T x` for the tile.
//!
//! The backward walk runs from the last tile, of which the exponentials are still there, to the
//! first. So a head whose block fits into one tile costs three products, as if its logits had been
//! kept, and one of `n` tiles costs `4 - 1 / n`.

mod losses;
mod rows;
#[cfg(test)]
mod tests;
mod tiling;

pub use losses::{Factors, Losses};
use relscale_decoder::kernels::{View, product};
use relscale_decoder::matrix::Matrix;
use rows::Row;
use tiling::Tiling;

/// Memory of the walk, kept from call to call: at most 4 MB of logits whatever the rows and the
/// vocabulary, and a few numbers for each of at most 1024 rows.
#[derive(Debug, Default)]
pub struct Scratch {
    logits: Vec<f32>,
    rows: Vec<Row>,
    /// Tiles that are asked for in place of the chosen ones.
    tiles: Option<Tiling>,
}

impl Scratch {
    /// Tiles of `rows` rows by `entries` of the vocabulary instead of the chosen ones, whatever
    /// memory they take: for comparing.
    ///
    /// # Panics
    /// When either is 0.
    #[must_use]
    pub fn in_tiles(rows: usize, entries: usize) -> Self {
        assert!(rows > 0 && entries > 0, "a tile of {rows} x {entries}");
        Self { tiles: Some(Tiling { rows, entries }), ..Self::default() }
    }
}

/// The losses of all rows. Adds their weighted gradient with respect to `W` to `dhead` and writes
/// that with respect to `x` to `dx`.
///
/// Runs on the calling thread; the bits of the result follow from its arguments alone. A logit that
/// is not finite makes its row's loss so.
///
/// # Panics
/// When a target is not below `V`, or a slice is too short.
pub fn forward_backward(
    head: &Matrix,
    x: &[f32],
    targets: &[u32],
    factors: Factors,
    dx: &mut [f32],
    dhead: &mut Matrix,
    scratch: &mut Scratch,
) -> Losses {
    if targets.is_empty() {
        return Losses::default();
    }
    let tiling = scratch.tiles.unwrap_or_else(|| Tiling::new(targets.len(), head.rows));
    let width = head.columns;
    let block = tiling.rows * width;
    let mut losses = Losses::default();
    for ((x, dx), targets) in
        x.chunks(block).zip(dx.chunks_mut(block)).zip(targets.chunks(tiling.rows))
    {
        let n = targets.len();
        let x = View::dense(x, n, width);
        let Scratch { logits, rows, .. } = &mut *scratch;
        rows.clear();
        rows.extend(targets.iter().map(|&target| Row::new(target)));

        for tile in tiling.tiles(head.rows) {
            let w = View::dense(&head.data[tile.start * width..], tile.len(), width);
            logits.resize(n * tile.len(), 0.0);
            product(logits, tile.len(), x, w.transposed(), false);
            rows::fold(rows, logits, &tile);
        }
        rows.iter_mut().for_each(|row| row.finish(factors, &mut losses));

        for (number, tile) in tiling.tiles(head.rows).rev().enumerate() {
            let again = number > 0;
            let w = View::dense(&head.data[tile.start * width..], tile.len(), width);
            if again {
                logits.resize(n * tile.len(), 0.0);
                product(logits, tile.len(), x, w.transposed(), false);
            }
            rows::turn(rows, logits, &tile, !again, factors);
            let dlogits = View::dense(logits, n, tile.len());
            product(dx, width, dlogits, w, again);
            product(&mut dhead.data[tile.start * width..], width, dlogits.transposed(), x, true);
        }
    }
    losses
}
