//! The operations of a transformer on plain slices, one file each: forward, backward where training
//! needs it, and the naive version that stays beside the fast one as its judge and its explanation.
//!
//! Functions work on the rows they are given, on the calling thread, but for those that split work
//! over threads: [`rows`], [`linear::write()`] and [`linear::add`]. Letters as in [`crate::spec`].

pub mod activation;
pub mod attention;
pub mod linear;
pub mod norm;
pub mod positions;

use rayon::prelude::*;

/// Rows a thread takes at a time; a multiple of nothing in particular, large enough to hide the
/// hand-over.
const ROWS_A_TASK: usize = 64;

/// Runs `work(first_row, rows)` over blocks of whole rows of `data` (`[N, width]`), in parallel.
pub fn rows(data: &mut [f32], width: usize, work: impl Fn(usize, &mut [f32]) + Sync) {
    data.par_chunks_mut(ROWS_A_TASK * width)
        .enumerate()
        .for_each(|(block, rows)| work(block * ROWS_A_TASK, rows));
}
