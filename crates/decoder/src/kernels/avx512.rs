//! The products by hand, for processors with AVX-512: panels of words, and one small product that
//! all others are made of.
//!
//! A **word** is what one lane of 32 bits takes in a step: one f32, or two bf16 that lie beside
//! each other along the inner dimension. A **panel** holds [`MR`] rows of activations or [`NR`]
//! rows of weights, word by word: first word of each row, second word of each row, and so on, so
//! that the product reads both from front to back.
//!
//! The **small product** multiplies one panel of each into `MR x NR` sums: 28 vectors of sums stay
//! in registers, two hold weights, one an activation, of the 32 that there are. An element is
//! **one** chain of fused multiply-adds along the inner dimension, ascending, whatever surrounds
//! it; that it is taken up again from memory after a block of the inner dimension changes no bit.
//! All that the crate promises about results that do not depend on batch or threads stands on it.
//!
//! Why these sizes: 28 chains cover the latency of 4 cycles at two multiply-adds a cycle, and a
//! step asks for 16 loads where the processor can do 28. What was tried: 12 x 32, 8 x 48 and 6 x 64
//! lose 1 to 4 %. Panels of [`LOW`] rows, and of [`MR`] places with at most [`FEW`] rows in them,
//! take the same product with fewer sums; an element's chain is the same.

#![allow(
    clippy::needless_range_loop,
    reason = "closures and iterators are not compiled for the processor of the function around them, and would be calls"
)]

use std::arch::x86_64::{
    __m256bh, __m256i, __m512, __m512bh, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch, _mm_sfence,
    _mm512_castpd_ps, _mm512_castps_pd, _mm512_cvtepu16_epi32, _mm512_cvtne2ps_pbh,
    _mm512_cvtneps_pbh, _mm512_dpbf16_ps, _mm512_fmadd_ps, _mm512_loadu_ps,
    _mm512_mask_storeu_epi32, _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps, _mm512_or_si512,
    _mm512_reduce_add_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_shuffle_f32x4,
    _mm512_slli_epi32, _mm512_storeu_ps, _mm512_stream_ps, _mm512_unpackhi_pd, _mm512_unpackhi_ps,
    _mm512_unpacklo_pd, _mm512_unpacklo_ps,
};

/// Rows of activations in a panel.
pub(super) const MR: usize = 14;

/// Rows of weights in a panel.
pub(super) const NR: usize = 32;

/// Rows in a low panel: for left factors of few rows, where 14 would leave too many of them empty.
pub(super) const LOW: usize = 8;

/// Lanes of a vector of 32-bit words.
const LANES: usize = 16;

/// Rows of a panel, of [`MR`] places, that holds no more.
const FEW: usize = 4;

/// A small product: `c [R, NR] (+)= a b^T` over `words` words of both panels; see
/// [`f32::multiply`].
pub(super) type Multiply = unsafe fn(usize, *const u32, *const u32, *mut f32, usize, bool, Ahead);

/// What a small product fetches into the second-level cache on the way, for the products that come
/// later: from `from` on, `pace` words in every step. An address only: it may lie anywhere.
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

/// Fetches the two cache lines at `place` into the second-level cache. An address only: it may lie
/// anywhere.
pub(super) fn fetch(place: *const f32) {
    // SAFETY: a prefetch reads nothing that the program could see, and every x86-64 processor has
    // it.
    unsafe {
        _mm_prefetch::<_MM_HINT_T1>(place.cast());
        _mm_prefetch::<_MM_HINT_T1>(place.wrapping_add(LANES).cast());
    }
}

/// The lanes below `count`.
fn below(count: usize) -> u16 {
    if count >= LANES { u16::MAX } else { (1 << count) - 1 }
}

/// What stands behind `=>` for 0 to 15, as an array: a block of vectors then stays in registers,
/// which a loop does not promise.
macro_rules! unrolled {
    ($i:ident => $each:expr) => {
        unrolled!($i => $each; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($i:ident => $each:expr; $($number:literal)+) => {
        [$({ let $i = $number; $each }),+]
    };
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
    let (a, b) = unsafe {
        (std::mem::transmute::<__m512, __m512bh>(a), std::mem::transmute::<__m512, __m512bh>(b))
    };
    _mm512_dpbf16_ps(c, a, b)
}

/// Numbers `from..` of a row, 0 beyond its end, as one vector of f32.
#[inline]
#[target_feature(enable = "avx512f")]
fn numbers(row: &[f32], from: usize) -> __m512 {
    match row.get(from..) {
        // SAFETY: a whole vector is there.
        Some(rest) if rest.len() >= LANES => unsafe { _mm512_loadu_ps(rest.as_ptr()) },
        // SAFETY: lanes beyond the end are masked out, so nothing beyond it is read.
        Some(rest) => unsafe { _mm512_maskz_loadu_ps(below(rest.len()), rest.as_ptr()) },
        None => _mm512_setzero_ps(),
    }
}

/// Words of two bf16 each: one number of `low` and the one of `high` above it; what a row has not
/// counts as 0.
#[target_feature(enable = "avx512f,avx512bf16")]
pub(super) fn interleave(low: &[f32], high: &[f32], out: &mut [u32]) {
    for at in (0..out.len()).step_by(LANES) {
        let wide = |row: &[f32]| {
            let narrow: __m256bh = _mm512_cvtneps_pbh(numbers(row, at));
            // SAFETY: both types are 32 bytes without invalid values.
            _mm512_cvtepu16_epi32(unsafe { std::mem::transmute::<__m256bh, __m256i>(narrow) })
        };
        let words = _mm512_or_si512(wide(low), _mm512_slli_epi32::<16>(wide(high)));
        // SAFETY: `at` is inside `out`, and lanes beyond its end are masked out.
        unsafe {
            _mm512_mask_storeu_epi32(out.as_mut_ptr().add(at).cast(), below(out.len() - at), words)
        };
    }
}

/// Copies `numbers` to memory past the caches, which keep what they hold; [`settle`] must follow.
///
/// # Safety
/// The processor has the feature; `out` points to as many numbers that nobody else uses, on a
/// multiple of 64 bytes.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn stream(numbers: &[f32], out: *mut f32) {
    let (lines, rest) = numbers.as_chunks::<LANES>();
    // SAFETY: inside what the caller promises, line by line, and the lanes of the rest.
    unsafe {
        for (i, line) in lines.iter().enumerate() {
            _mm512_stream_ps(out.add(i * LANES), _mm512_loadu_ps(line.as_ptr()));
        }
        if !rest.is_empty() {
            let lanes = below(rest.len());
            let numbers = _mm512_maskz_loadu_ps(lanes, rest.as_ptr());
            _mm512_mask_storeu_ps(out.add(lines.len() * LANES), lanes, numbers);
        }
    }
}

/// Puts what was streamed before what is written from now on: such writes keep no order of their
/// own, also not with the one that tells another thread that the work is done.
pub(super) fn settle() {
    // SAFETY: every x86-64 processor has it, and it changes no memory.
    unsafe { _mm_sfence() };
}

/// Rows to columns: number `j` of row `i` of `from`, whose rows lie `stride` apart, to number `i`
/// of row `j` of `to`, whose rows have as many numbers as there are of `rows`. There are as many of
/// those as `to` has room for.
#[target_feature(enable = "avx512f")]
pub(super) fn turn(from: &[f32], stride: usize, rows: usize, to: &mut [f32]) {
    let columns = to.len() / rows;
    for row in (0..rows).step_by(LANES) {
        let lanes = below(rows - row);
        for column in (0..columns).step_by(LANES) {
            let block = transpose(unrolled!(i => {
                let line = if row + i < rows { &from[(row + i) * stride..][..columns] } else { &[] };
                numbers(line, column)
            }));
            unrolled!(j => if column + j < columns {
                let place = &mut to[(column + j) * rows + row..(column + j + 1) * rows];
                // SAFETY: `place` is the rest of a row, and lanes beyond its end are masked out.
                unsafe { _mm512_mask_storeu_ps(place.as_mut_ptr(), lanes, block[j]) };
            });
        }
    }
}

/// The two kernels for one type of word.
macro_rules! kernels {
    ($module:ident, $features:literal, $each:literal, $load:expr, $step:expr, $what:literal) => {
        #[doc = $what]
        pub(super) mod $module {
            use super::*;

            /// `c [R, NR] = a b^T` over `words` words, or `c +=` when `resume`; rows of `c` lie
            /// `stride` apart. Panels of `a` have `P` places, of which the first `R` take part.
            ///
            /// # Safety
            /// The processor has the features; `a` points to `words * P` words, `b` to
            /// `words * NR`, and `c` to `R` rows of [`NR`] numbers that nobody else uses.
            #[target_feature(enable = $features)]
            pub(in super::super) unsafe fn multiply<const R: usize, const P: usize>(
                words: usize,
                a: *const u32,
                b: *const u32,
                c: *mut f32,
                stride: usize,
                resume: bool,
                ahead: Ahead,
            ) {
                let (mut a, mut b, mut next) = (a.cast::<f32>(), b.cast::<f32>(), ahead.from);
                let mut sums = [[_mm512_setzero_ps(); NR / LANES]; R];
                // SAFETY: every address is within what the caller promises; a prefetch may point
                // anywhere.
                unsafe {
                    if resume {
                        for i in 0..R {
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
                        for i in 0..R {
                            let activation = _mm512_set1_ps(*a.add(i));
                            for j in 0..NR / LANES {
                                sums[i][j] = $step(activation, weights[j], sums[i][j]);
                            }
                        }
                        (a, b) = (a.add(P), b.add(NR));
                    }
                    for i in 0..R {
                        for j in 0..NR / LANES {
                            _mm512_storeu_ps(c.add(i * stride + j * LANES), sums[i][j]);
                        }
                    }
                }
            }

            /// Words `first..first + words` of at most `width` rows as a panel of `width`; missing
            /// rows and words are 0.
            ///
            /// # Safety
            /// The processor has the features; `out` points to `words * width` words that nobody
            /// else uses.
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
                    let mut lines: [&[f32]; LANES] = [&[]; LANES];
                    for (line, row) in lines.iter_mut().zip(rows.iter().skip(group)) {
                        *line = row;
                    }
                    for step in (0..words).step_by(LANES) {
                        let at = (first + step) * $each;
                        let block = transpose(unrolled!(i => $load(lines[i], at)));
                        unrolled!(i => {
                            let word = step + i;
                            // SAFETY: word `word` of lanes `group..` below `width`: inside what the
                            // caller promises. Lanes beyond `width` fall on the next word, which is
                            // written after this one, and the last word has none.
                            unsafe {
                                let place = out.wrapping_add(word * width + group).cast();
                                if word + 1 < words {
                                    _mm512_storeu_ps(place, block[i]);
                                } else if word < words {
                                    _mm512_mask_storeu_ps(place, lanes, block[i]);
                                }
                            }
                        });
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

/// The small product for `dtype` with a panel of which `rows` are filled.
pub(super) fn multiply(dtype: super::Dtype, rows: usize) -> Multiply {
    match (dtype, rows <= FEW) {
        (super::Dtype::F32, false) => f32::multiply::<MR, MR>,
        (super::Dtype::F32, true) => f32::multiply::<FEW, MR>,
        (super::Dtype::Bf16, false) => bf16::multiply::<MR, MR>,
        (super::Dtype::Bf16, true) => bf16::multiply::<FEW, MR>,
    }
}

/// The small product for `dtype` with low panels.
pub(super) fn multiply_low(dtype: super::Dtype) -> Multiply {
    match dtype {
        super::Dtype::F32 => f32::multiply::<LOW, LOW>,
        super::Dtype::Bf16 => bf16::multiply::<LOW, LOW>,
    }
}

/// The packing for `dtype`.
pub(super) fn pack(dtype: super::Dtype) -> Pack {
    match dtype {
        super::Dtype::F32 => f32::pack,
        super::Dtype::Bf16 => bf16::pack,
    }
}

/// Multiply-adds without memory: the most that the processor can do. `steps` rounds of 28 chains;
/// what comes back keeps the compiler from leaving them out.
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
                let (a, b) = (
                    _mm512_set1_ps(std::hint::black_box(1.0)),
                    _mm512_set1_ps(std::hint::black_box(1e-30)),
                );
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
