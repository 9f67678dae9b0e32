//! The products by hand, for processors with AVX2 and FMA and without AVX-512: the description of
//! `small` with vectors of 8.
//!
//! 6 x 16 sums are 12 vectors; two of weights and one activation make 15 of the 16 registers.

#![allow(
    clippy::needless_range_loop,
    reason = "see `avx512`: closures and iterators are not compiled for the processor of the function around them"
)]

use std::arch::x86_64::{
    __m256, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch, _mm256_and_ps, _mm256_castps_si256,
    _mm256_castsi256_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_epi32, _mm256_set1_ps,
    _mm256_setzero_ps, _mm256_slli_epi32, _mm256_storeu_ps,
};

use super::shape::WIDTH;
use super::small::{Chains, Multiply, small_product};

/// Rows of activations in a panel.
const MR: usize = 6;

/// Rows of weights in a panel.
const NR: usize = 16;

/// Lanes of a vector of 32-bit words.
const LANES: usize = 8;

/// A vector of weights as it is.
#[inline]
#[target_feature(enable = "avx2")]
fn whole(word: __m256) -> __m256 {
    word
}

/// The first numbers of words of two bf16, as f32.
#[inline]
#[target_feature(enable = "avx2")]
fn first(word: __m256) -> __m256 {
    _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_castps_si256(word)))
}

/// The second numbers of words of two bf16, as f32.
#[inline]
#[target_feature(enable = "avx2")]
fn second(word: __m256) -> __m256 {
    let upper = _mm256_set1_epi32(0xffff_0000_u32 as i32);
    _mm256_and_ps(word, _mm256_castsi256_ps(upper))
}

small_product! {
    /// Words of one f32.
    by_f32, "avx2,fma", vectors of LANES, panels of NR, unrolled 4,
    (_mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps),
    _mm256_fmadd_ps, [whole]
}

small_product! {
    /// Words of two weights in bf16 by activations in f32.
    by_bf16, "avx2,fma", vectors of LANES, panels of NR, unrolled 1,
    (_mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps),
    _mm256_fmadd_ps, [first] [second]
}

/// The small product of attention, of whose right factor it takes a part, and how wide that is.
pub(super) fn multiply_wide() -> (Multiply, usize) {
    (by_f32::<MR, MR, WIDTH>, NR)
}

/// Multiply-adds without memory: 12 chains.
pub(super) fn chains() -> Chains {
    const CHAINS: usize = MR * NR / LANES;
    #[target_feature(enable = "avx2,fma")]
    fn round(steps: usize) -> f32 {
        let mut sums = [_mm256_set1_ps(1e-3); CHAINS];
        let (a, b) = (
            _mm256_set1_ps(std::hint::black_box(1.0)),
            _mm256_set1_ps(std::hint::black_box(1e-30)),
        );
        for _ in 0..steps {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(a, b, *sum);
            }
        }
        let mut out = [0.0; LANES];
        sums.iter()
            .map(|sum| {
                // SAFETY: a vector is as long as the array.
                unsafe { _mm256_storeu_ps(out.as_mut_ptr(), *sum) };
                out.iter().sum::<f32>()
            })
            .sum()
    }
    // SAFETY: the kernels are chosen only where the processor has the features.
    unsafe { Chains::new(round, 1 << 21, MR * NR) }
}
