//! The products by hand, for processors with AVX-512.
//!
//! A panel holds [`MR`] rows of activations or [`NR`] rows of weights, word by word (see `shape`),
//! so that the small product reads both from front to back: 28 vectors of sums stay in registers,
//! two hold weights, one an activation, of the 32 that there are.
//!
//! Why these sizes: 28 chains cover the latency of 4 cycles at two multiply-adds a cycle, and a
//! step asks for 16 loads where the processor can do 28. What was tried: 12 x 32, 8 x 48 and 6 x 64
//! lose 1 to 4 % on Zen 5 and nothing on Sapphire Rapids, where every shape from 6 x 64 to 14 x 32
//! runs at 97 to 99 % of the multiply-adds alone. Panels of [`LOW`] rows, and of [`MR`] places with
//! at most [`FEW`] rows in them, take the same product with fewer sums; an element's chain is the
//! same.
//!
//! In bf16 without `VDPBF16PS`, or where that is slow, a word of two weights becomes two vectors of
//! f32 in registers: four instructions for 56 multiply-adds.

#![allow(
    clippy::needless_range_loop,
    reason = "closures and iterators are not compiled for the processor of the function around them, and would be calls"
)]

use super::small::{Chains, Multiply, Pack, small_product};
pub(super) mod scan;
pub(super) mod tiles;

use super::shape::LOW;
use super::{Dtype, Format, Kernels};
use std::arch::x86_64::{
    __m256bh, __m256i, __m512, __m512bh, _CMP_UNORD_Q, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch,
    _mm_sfence, _mm512_add_epi32, _mm512_and_si512, _mm512_castpd_ps, _mm512_castps_pd,
    _mm512_castps_si512, _mm512_castsi256_si512, _mm512_castsi512_ps, _mm512_cmp_ps_mask,
    _mm512_cvtepi32_epi16, _mm512_cvtepu16_epi32, _mm512_cvtne2ps_pbh, _mm512_cvtneps_pbh,
    _mm512_dpbf16_ps, _mm512_fmadd_ps, _mm512_inserti64x4, _mm512_loadu_ps, _mm512_mask_mov_epi32,
    _mm512_mask_storeu_epi32, _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps, _mm512_or_si512,
    _mm512_reduce_add_ps, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
    _mm512_shuffle_f32x4, _mm512_slli_epi32, _mm512_srli_epi32, _mm512_storeu_ps, _mm512_stream_ps,
    _mm512_unpackhi_pd, _mm512_unpackhi_ps, _mm512_unpacklo_pd, _mm512_unpacklo_ps,
};

/// Rows of activations in a panel.
pub(super) const MR: usize = 14;

/// Rows of weights in a panel.
pub(super) const NR: usize = 32;

/// Lanes of a vector of 32-bit words.
const LANES: usize = 16;

/// Rows of a panel, of [`MR`] places, that holds no more.
const FEW: usize = 4;

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

use unrolled;

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

/// A vector of weights as it is.
#[inline]
#[target_feature(enable = "avx512f")]
fn whole(word: __m512) -> __m512 {
    word
}

/// The first numbers of words of two bf16, as f32.
#[inline]
#[target_feature(enable = "avx512f")]
fn first(word: __m512) -> __m512 {
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_castps_si512(word)))
}

/// The second numbers of words of two bf16, as f32.
#[inline]
#[target_feature(enable = "avx512f")]
fn second(word: __m512) -> __m512 {
    let upper = _mm512_set1_epi32(0xffff_0000_u32 as i32);
    _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(word), upper))
}

small_product! {
    /// Words of one f32.
    by_f32, "avx512f", vectors of LANES, panels of NR, unrolled 1,
    (_mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps),
    _mm512_fmadd_ps, [whole]
}

small_product! {
    /// Words of two bf16, multiplied exactly and summed in f32 (`VDPBF16PS`).
    by_pairs, "avx512f,avx512bf16", vectors of LANES, panels of NR, unrolled 1,
    (_mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps),
    pairs, [whole]
}

small_product! {
    /// Words of two weights in bf16 by activations in f32.
    by_bf16, "avx512f", vectors of LANES, panels of NR, unrolled 1,
    (_mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps),
    _mm512_fmadd_ps, [first] [second]
}

/// Numbers `from..` of a row, rounded to bf16, as f32.
#[inline]
#[target_feature(enable = "avx512f")]
fn rounded(row: &[f32], from: usize) -> __m512 {
    second(nearest(numbers(row, from)))
}

/// Words of two bf16 from number `from` of a row on: as `narrow`, for processors without its
/// instruction.
#[inline]
#[target_feature(enable = "avx512f")]
fn narrow_by_hand(row: &[f32], from: usize) -> __m512 {
    let bits = |from: usize| _mm512_castps_si512(nearest(numbers(row, from)));
    // Of 32 numbers the upper halves, in order.
    let upper = |v| _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(v));
    let (low, high) = (upper(bits(from)), upper(bits(from + LANES)));
    _mm512_castsi512_ps(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
}

/// The upper half of each number is that number rounded to bf16; the lower is of no use.
#[inline]
#[target_feature(enable = "avx512f")]
fn nearest(v: __m512) -> __m512 {
    let bits = _mm512_castps_si512(v);
    let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
    let up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    let quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x0040_0000));
    let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(v, v);
    _mm512_castsi512_ps(_mm512_mask_mov_epi32(up, nan, quiet))
}

/// The packing for one type of word, of which a row has one in every `$each` numbers.
macro_rules! packing {
    ($(#[$doc:meta])* $name:ident, $features:literal, $each:literal, $load:expr) => {
        $(#[$doc])*
        ///
        /// Words `first..first + words` of at most `WIDTH` rows as a panel of `WIDTH`; missing
        /// rows and words are 0.
        ///
        /// # Safety
        /// The processor has the features.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name<const WIDTH: usize>(
            rows: &[&[f32]],
            first: usize,
            words: usize,
            out: &mut [u32],
        ) {
            // What a group writes too much must not be what another group wrote.
            const { assert!(WIDTH <= LANES || WIDTH.is_multiple_of(LANES)) };
            assert!(out.len() >= words * WIDTH, "no room for a panel");
            let out = out.as_mut_ptr();
            for group in (0..WIDTH).step_by(LANES) {
                let lanes = below(WIDTH - group);
                let mut lines: [&[f32]; LANES] = [&[]; LANES];
                for (line, row) in lines.iter_mut().zip(rows.iter().skip(group)) {
                    *line = row;
                }
                for step in (0..words).step_by(LANES) {
                    let at = (first + step) * $each;
                    let block = transpose(unrolled!(i => $load(lines[i], at)));
                    unrolled!(i => {
                        let word = step + i;
                        // SAFETY: word `word` of lanes `group..` below `WIDTH`: inside what was
                        // found to be there. Lanes beyond `WIDTH` fall on the next word, which is
                        // written after this one, and the last word has none.
                        unsafe {
                            let place = out.wrapping_add(word * WIDTH + group).cast();
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
    };
}

packing! {
    /// Words of one f32.
    pack_f32, "avx512f", 1, numbers
}
packing! {
    /// Words of two bf16.
    pack_pairs, "avx512f,avx512bf16", 2,
    |row, at| narrow(numbers(row, at), numbers(row, at + LANES))
}
packing! {
    /// Words of two bf16, without the instruction for it.
    pack_pairs_by_hand, "avx512f", 2, narrow_by_hand
}
packing! {
    /// Words of one f32, rounded to bf16. As many words as there are numbers.
    pack_rounded, "avx512f", 1, rounded
}

/// As `pack_rounded`, counted in words of two numbers.
unsafe fn pack_rounded_by_two(rows: &[&[f32]], first: usize, words: usize, out: &mut [u32]) {
    // SAFETY: the caller's promise.
    unsafe { pack_rounded::<MR>(rows, 2 * first, 2 * words, out) }
}

/// The small product of a format with a panel of which `rows` are filled.
pub(super) fn multiply(format: Format, rows: usize) -> Multiply {
    match (format.kernels(), format.dtype(), rows <= FEW) {
        (Kernels::Avx512Bf16, _, false) => by_pairs::<MR, MR, NR>,
        (Kernels::Avx512Bf16, _, true) => by_pairs::<FEW, MR, NR>,
        (_, Dtype::F32, false) => by_f32::<MR, MR, NR>,
        (_, Dtype::F32, true) => by_f32::<FEW, MR, NR>,
        (_, Dtype::Bf16, false) => by_bf16::<MR, MR, NR>,
        (_, Dtype::Bf16, true) => by_bf16::<FEW, MR, NR>,
    }
}

/// The small product for `dtype` with low panels.
pub(super) fn multiply_low(dtype: Dtype) -> Multiply {
    match dtype {
        Dtype::F32 => by_f32::<LOW, LOW, NR>,
        Dtype::Bf16 => by_pairs::<LOW, LOW, NR>,
    }
}

/// The packing of weights.
pub(super) fn pack_weights(format: Format) -> Pack {
    match (format.kernels(), format.dtype()) {
        (Kernels::Avx512Bf16, _) => pack_pairs::<NR>,
        (_, Dtype::F32) => pack_f32::<NR>,
        (_, Dtype::Bf16) => pack_pairs_by_hand::<NR>,
    }
}

/// The packing of activations.
pub(super) fn pack_input(format: Format) -> Pack {
    match (format.kernels(), format.dtype()) {
        (Kernels::Avx512Bf16, _) => pack_pairs::<MR>,
        (_, Dtype::F32) => pack_f32::<MR>,
        (_, Dtype::Bf16) => pack_rounded_by_two,
    }
}

/// The packing of low panels.
pub(super) fn pack_low(dtype: Dtype) -> Pack {
    match dtype {
        Dtype::F32 => pack_f32::<LOW>,
        Dtype::Bf16 => pack_pairs::<LOW>,
    }
}

/// Multiply-adds without memory, of a format: 28 chains.
pub(super) fn chains(format: Format) -> Chains {
    const CHAINS: usize = MR * NR / LANES;
    macro_rules! round {
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
    round!(by_f32, "avx512f", _mm512_fmadd_ps);
    round!(by_pairs, "avx512f,avx512bf16", pairs);
    const STEPS: usize = 1 << 20;
    // SAFETY: the format says that the processor has the features.
    unsafe {
        match format.kernels() {
            Kernels::Avx512Bf16 => Chains::new(by_pairs, STEPS, 2 * MR * NR),
            _ => Chains::new(by_f32, STEPS, MR * NR),
        }
    }
}
