//! The operations of a transformer on plain slices, one file each: forward, backward where training needs it, and
//! the naive version that stays beside the fast one as its judge and its explanation.
//!
//! Functions work on the rows they are given, on the calling thread, but for those that split work over threads: [`rows`],
//! [`linear::write()`] and [`linear::add`]. Letters as in [`crate::spec`].

pub mod activation;
pub mod adamw;
pub mod attention;
pub mod cross_entropy;
pub mod lanes;
pub mod linear;
pub mod norm;
pub mod positions;

use rayon::prelude::*;

/// Rows a thread takes at a time; a multiple of nothing in particular, large enough to hide the hand-over.
const ROWS_A_TASK: usize = 64;

/// Runs `work(first_row, rows)` over blocks of whole rows of `data` (`[N, width]`), in parallel.
pub fn rows(data: &mut [f32], width: usize, work: impl Fn(usize, &mut [f32]) + Sync) {
    data.par_chunks_mut(ROWS_A_TASK * width)
        .enumerate()
        .for_each(|(block, rows)| work(block * ROWS_A_TASK, rows));
}

#[cfg(test)]
pub(crate) mod testing {
    //! What the tests of several operations share.

    /// `len` numbers in `[-1, 1)`, the same for the same seed.
    pub(crate) fn numbers(len: usize, seed: u64) -> Vec<f32> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .take(len)
        .collect()
    }

    /// Compares a gradient with central differences of `loss` (in f64), element by element.
    pub(crate) fn check_gradient(name: &str, x: &[f32], gradient: &[f32], loss: impl Fn(&[f32]) -> f64) {
        let mut at = x.to_vec();
        for i in 0..x.len() {
            let step = 4e-3;
            at[i] = x[i] + step;
            let (above, high) = (loss(&at), f64::from(at[i]));
            at[i] = x[i] - step;
            let (below, low) = (loss(&at), f64::from(at[i]));
            at[i] = x[i];
            let want = (above - below) / (high - low);
            let got = f64::from(gradient[i]);
            assert!((got - want).abs() < 1e-3 * want.abs().max(0.3), "{name}[{i}]: {got} against {want}");
        }
    }
}
