//! The products by hand, for processors with AVX-512: panels of words, and one small product that all others are made of.
//!
//! A **word** is what one lane of 32 bits takes in a step: one f32, or two bf16 that lie beside each other along the inner
//! dimension. A **panel** holds [`MR`] rows of activations or [`NR`] rows of weights, word by word: first word of each row,
//! second word of each row, and so on, so that the product reads both from front to back.
//!
//! The **small product** multiplies one panel of each into `MR x NR` sums: 28 vectors of sums stay in registers, two hold
//! weights, one an activation, of the 32 that there are. An element is **one** chain of fused multiply-adds along the
//! inner dimension, ascending, whatever surrounds it; that it is taken up again from memory after a block of the inner
//! dimension changes no bit. All that the crate promises about results that do not depend on batch or threads stands on it.
//!
//! Why these sizes: 28 chains cover the latency of 4 cycles at two multiply-adds a cycle, and a step asks for 16 loads
//! where the processor can do 28. What was tried: 12 x 32, 8 x 48 and 6 x 64 lose 1 to 4 %.

#![allow(
    clippy::needless_range_loop,
    reason = "closures and iterators are not compiled for the processor of the function around them, and would be calls"
)]

use std::arch::x86_64::{
    __m512, __m512bh, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch, _mm512_castpd_ps, _mm512_castps_pd,
    _mm512_cvtne2ps_pbh, _mm512_dpbf16_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mask_storeu_ps,
    _mm512_maskz_loadu_ps, _mm512_reduce_add_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_shuffle_f32x4,
    _mm512_storeu_ps, _mm512_unpackhi_pd, _mm512_unpackhi_ps, _mm512_unpacklo_pd, _mm512_unpacklo_ps,
};

/// Rows of activations in a panel.
pub(super) const MR: usize = 14;

/// Rows of weights in a panel.
pub(super) const NR: usize = 32;

/// Lanes of a vector of 32-bit words.
const LANES: usize = 16;

/// A small product: `c [MR, NR] (+)= a b^T` over `words` words of both panels; see [`f32::multiply`].
pub(super) type Multiply = unsafe fn(usize, *const u32, *const u32, *mut f32, usize, bool, Ahead);

/// What a small product fetches into the second-level cache on the way, for the products that come later: from `from` on,
/// `pace` words in every step. An address only: it may lie anywhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead {
    pub(super) from: *const u32,
    pub(super) pace: usize,
}

impl Ahead {
    /// Nothing new.
    pub(super) const NOTHING: Self = Self { from: std::ptr::null(), pace: 0 };
}

/// A panel from rows of numbers; see [`f32::pack`].
pub(super) type Pack = unsafe fn(&[&[f32]], usize, usize, usize, *mut u32);

/// Fetches the two cache lines at `place` into the second-level cache. An address only: it may lie anywhere.
pub(super) fn fetch(place: *const f32) {
    // SAFETY: a prefetch reads nothing that the program could see, and every x86-64 processor has it.
    unsafe {
        _mm_prefetch::<_MM_HINT_T1>(place.cast());
        _mm_prefetch::<_MM_HINT_T1>(place.wrapping_add(LANES).cast());
    }
}

/// The lanes below `count`.
fn below(count: usize) -> u16 {
    if count >= LANES { u16::MAX } else { (1 << count) - 1 }
}

/// 16 x 16 words, rows to columns.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(r: [__m512; LANES]) -> [__m512; LANES] {
    let mut t = r;
    for i in 0..8 {
        t[2 * i] = _mm512_unpacklo_ps(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_ps(r[2 * i], r[2 * i + 1]);
    }
    // Now words of two rows beside each other; after this, of four.
    let mut q = t;
    for i in 0..4 {
        for j in 0..2 {
            let (lo, hi) = (_mm512_castps_pd(t[4 * i + j]), _mm512_castps_pd(t[4 * i + 2 + j]));
            q[4 * i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(lo, hi));
            q[4 * i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(lo, hi));
        }
    }
    // Quarter `c` of q[4 i + j] holds column 4 c + j of rows 4 i .. 4 i + 4: gather the quarters.
    let mut out = q;
    for j in 0..4 {
        let even_low = _mm512_shuffle_f32x4::<0x88>(q[j], q[4 + j]);
        let odd_low = _mm512_shuffle_f32x4::<0xdd>(q[j], q[4 + j]);
        let even_high = _mm512_shuffle_f32x4::<0x88>(q[8 + j], q[12 + j]);
        let odd_high = _mm512_shuffle_f32x4::<0xdd>(q[8 + j], q[12 + j]);
        out[j] = _mm512_shuffle_f32x4::<0x88>(even_low, even_high);
        out[8 + j] = _mm512_shuffle_f32x4::<0xdd>(even_low, even_high);
        out[4 + j] = _mm512_shuffle_f32x4::<0x88>(odd_low, odd_high);
        out[12 + j] = _mm512_shuffle_f32x4::<0xdd>(odd_low, odd_high);
    }
    out
}

/// Two f32 vectors as one of bf16, rounded to the nearest, ties to even; `low` first.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn narrow(low: __m512, high: __m512) -> __m512 {
    let pairs: __m512bh = _mm512_cvtne2ps_pbh(high, low);
    // SAFETY: both types are 64 bytes without invalid values.
    unsafe { std::mem::transmute::<__m512bh, __m512>(pairs) }
}

/// `c + a b` by pairs of bf16, summed in f32.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn pairs(a: __m512, b: __m512, c: __m512) -> __m512 {
    // SAFETY: as in `narrow`.
    let (a, b) =
        unsafe { (std::mem::transmute::<__m512, __m512bh>(a), std::mem::transmute::<__m512, __m512bh>(b)) };
    _mm512_dpbf16_ps(c, a, b)
}

/// Numbers `from..` of a row, 0 beyond its end, as one vector of f32.
#[inline]
#[target_feature(enable = "avx512f")]
fn numbers(row: &[f32], from: usize) -> __m512 {
    let there = row.len().saturating_sub(from);
    if there == 0 {
        return _mm512_setzero_ps();
    }
    // SAFETY: `from` is inside the row, and lanes from its end on are masked out, so nothing beyond it is read.
    unsafe { _mm512_maskz_loadu_ps(below(there), row.as_ptr().add(from)) }
}

/// The two kernels for one type of word.
macro_rules! kernels {
    ($module:ident, $features:literal, $each:literal, $load:expr, $step:expr, $what:literal) => {
        #[doc = $what]
        pub(super) mod $module {
            use super::*;

            /// `c [MR, NR] = a b^T` over `words` words, or `c +=` when `resume`; rows of `c` lie `stride` apart.
            ///
            /// # Safety
            /// The processor has the features; `a` points to `words * MR` words, `b` to `words * NR`, and `c` to
            /// [`MR`] rows of [`NR`] numbers that nobody else uses.
            #[target_feature(enable = $features)]
            pub(in super::super) unsafe fn multiply(
                words: usize,
                a: *const u32,
                b: *const u32,
                c: *mut f32,
                stride: usize,
                resume: bool,
                ahead: Ahead,
            ) {
                let (mut a, mut b, mut next) = (a.cast::<f32>(), b.cast::<f32>(), ahead.from);
                let mut sums = [[_mm512_setzero_ps(); NR / LANES]; MR];
                // SAFETY: every address is within what the caller promises; a prefetch may point anywhere.
                unsafe {
                    if resume {
                        for i in 0..MR {
                            for j in 0..NR / LANES {
                                sums[i][j] = _mm512_loadu_ps(c.add(i * stride + j * LANES));
                            }
                        }
                    }
                    for _ in 0..words {
                        let weights = [_mm512_loadu_ps(b), _mm512_loadu_ps(b.add(LANES))];
                        // A few steps ahead: the next panel, at the end of this one.
                        _mm_prefetch::<_MM_HINT_T0>(b.wrapping_add(8 * NR).cast());
                        _mm_prefetch::<_MM_HINT_T0>(b.wrapping_add(8 * NR + LANES).cast());
                        _mm_prefetch::<_MM_HINT_T1>(next.cast());
                        next = next.wrapping_add(ahead.pace);
                        for i in 0..MR {
                            let activation = _mm512_set1_ps(*a.add(i));
                            for j in 0..NR / LANES {
                                sums[i][j] = $step(activation, weights[j], sums[i][j]);
                            }
                        }
                        (a, b) = (a.add(MR), b.add(NR));
                    }
                    for i in 0..MR {
                        for j in 0..NR / LANES {
                            _mm512_storeu_ps(c.add(i * stride + j * LANES), sums[i][j]);
                        }
                    }
                }
            }

            /// Words `first..first + words` of at most `width` rows as a panel of `width`; missing rows and words are 0.
            ///
            /// # Safety
            /// The processor has the features; `out` points to `words * width` words that nobody else uses.
            #[target_feature(enable = $features)]
            pub(in super::super) unsafe fn pack(
                rows: &[&[f32]],
                width: usize,
                first: usize,
                words: usize,
                out: *mut u32,
            ) {
                // What a group writes too much must not be what another group wrote.
                assert!(width <= LANES || width.is_multiple_of(LANES), "panels of {width}");
                for group in (0..width).step_by(LANES) {
                    let lanes = below(width - group);
                    for step in (0..words).step_by(LANES) {
                        let at = (first + step) * $each;
                        let mut block = [_mm512_setzero_ps(); LANES];
                        for i in 0..rows.len().saturating_sub(group).min(LANES) {
                            block[i] = $load(rows[group + i], at);
                        }
                        let block = transpose(block);
                        for word in 0..LANES.min(words - step) {
                            // SAFETY: word `step + word` of lanes `group..` below `width`: inside what the caller promises.
                            // Lanes beyond `width` fall on the next word, which is written after this one, and the
                            // last word has none.
                            unsafe {
                                let place = out.add((step + word) * width + group);
                                if step + word + 1 < words {
                                    _mm512_storeu_ps(place.cast(), block[word]);
                                } else {
                                    _mm512_mask_storeu_ps(place.cast(), lanes, block[word]);
                                }
                            }
                        }
                    }
                }
            }
        }
    };
}

kernels!(f32, "avx512f", 1, numbers, _mm512_fmadd_ps, "Words of one f32.");
kernels!(
    bf16,
    "avx512f,avx512bf16",
    2,
    |row, at| narrow(numbers(row, at), numbers(row, at + LANES)),
    pairs,
    "Words of two bf16, multiplied exactly and summed in f32 (`VDPBF16PS`)."
);

/// The small product for `dtype`.
pub(super) fn multiply(dtype: super::Dtype) -> Multiply {
    match dtype {
        super::Dtype::F32 => f32::multiply,
        super::Dtype::Bf16 => bf16::multiply,
    }
}

/// The packing for `dtype`.
pub(super) fn pack(dtype: super::Dtype) -> Pack {
    match dtype {
        super::Dtype::F32 => f32::pack,
        super::Dtype::Bf16 => bf16::pack,
    }
}

/// Multiply-adds without memory: the most that the processor can do. `steps` rounds of 28 chains; what comes back keeps
/// the compiler from leaving them out.
///
/// # Safety
/// The processor has the features of the small product for `dtype`.
pub(super) unsafe fn chains(dtype: super::Dtype, steps: usize) -> f32 {
    const CHAINS: usize = MR * NR / LANES;
    macro_rules! run {
        ($name:ident, $features:literal, $step:expr) => {
            #[target_feature(enable = $features)]
            fn $name(steps: usize) -> f32 {
                let mut sums = [_mm512_set1_ps(1e-3); CHAINS];
                let (a, b) =
                    (_mm512_set1_ps(std::hint::black_box(1.0)), _mm512_set1_ps(std::hint::black_box(1e-30)));
                for _ in 0..steps {
                    for sum in &mut sums {
                        *sum = $step(a, b, *sum);
                    }
                }
                sums.iter().map(|sum| _mm512_reduce_add_ps(*sum)).sum()
            }
        };
    }
    run!(f32, "avx512f", _mm512_fmadd_ps);
    run!(bf16, "avx512f,avx512bf16", pairs);
    // SAFETY: the caller's promise.
    unsafe {
        match dtype {
            super::Dtype::F32 => f32(steps),
            super::Dtype::Bf16 => bf16(steps),
        }
    }
}
