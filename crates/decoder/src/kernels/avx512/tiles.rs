//! Panels of tiles with AVX-512, for the processors whose tiles are used: what `pack` does in plain
//! code, ten times as fast.

use std::arch::x86_64::{
    __m512, _CMP_EQ_OQ, _CMP_LT_OQ, _mm512_abs_ps, _mm512_castps_si512, _mm512_castsi256_si512,
    _mm512_castsi512_ps, _mm512_cmp_ps_mask, _mm512_cvtepi32_epi16, _mm512_inserti64x4,
    _mm512_mask_mov_ps, _mm512_maskz_sub_ps, _mm512_or_si512, _mm512_set1_ps, _mm512_srli_epi32,
    _mm512_storeu_ps,
};

use super::super::shape::{SIDE, TILE_WORDS};
use super::{LANES, nearest, numbers, second, transpose, unrolled};

/// A number's first part in bf16, as f32, and what is left of it, as the plain code of `pack` does:
/// rounded to the nearest, but where it is one of several never from a finite number to infinity.
#[inline]
#[target_feature(enable = "avx512f")]
fn part(v: __m512, summed: bool) -> (__m512, __m512) {
    let infinity = _mm512_set1_ps(f32::INFINITY);
    let finite = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_abs_ps(v), infinity);
    let near = second(nearest(v));
    if !summed {
        return (near, near);
    }
    let grown = finite & _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(_mm512_abs_ps(near), infinity);
    let near = _mm512_mask_mov_ps(near, grown, second(v));
    (near, _mm512_maskz_sub_ps(finite, v, near))
}

/// The upper halves of 32 numbers, in order.
#[inline]
#[target_feature(enable = "avx512f")]
fn uppers(low: __m512, high: __m512) -> __m512 {
    let upper = |v| _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(_mm512_castps_si512(v)));
    let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(upper(low)), upper(high));
    _mm512_castsi512_ps(both)
}

/// The parts of 32 numbers of a row, from `at` on, as words of bf16.
#[inline]
#[target_feature(enable = "avx512f")]
fn words_of_parts<const PARTS: usize>(row: &[f32], at: usize) -> [__m512; PARTS] {
    let (mut low, mut high) = (numbers(row, at), numbers(row, at + LANES));
    let mut words = [low; PARTS];
    for word in &mut words {
        let ((first, low_rest), (second, high_rest)) =
            (part(low, PARTS > 1), part(high, PARTS > 1));
        *word = uppers(first, second);
        (low, high) = (low_rest, high_rest);
    }
    words
}

/// As [`pack::input_tiles`](super::super::pack::input_tiles).
///
/// # Safety
/// The processor has the feature.
#[target_feature(enable = "avx512f")]
pub(in super::super) unsafe fn input_tiles<const PARTS: usize>(
    rows: &[&[f32]],
    first: usize,
    words: usize,
    out: &mut [u32],
) {
    for (step, out) in steps_of_tiles::<PARTS>(words, out) {
        for place in 0..2 * SIDE {
            let row = rows.get(place).copied().unwrap_or_default();
            let words = words_of_parts::<PARTS>(row, 2 * (first + step * SIDE));
            for (part, words) in words.iter().enumerate() {
                let line = (2 * part + place / SIDE) * TILE_WORDS + place % SIDE * SIDE;
                put(&mut out[line..line + SIDE], *words);
            }
        }
    }
}

/// As [`pack::weight_tiles`](super::super::pack::weight_tiles).
///
/// # Safety
/// The processor has the feature.
#[target_feature(enable = "avx512f")]
pub(in super::super) unsafe fn weight_tiles<const PARTS: usize>(
    rows: &[&[f32]],
    first: usize,
    words: usize,
    out: &mut [u32],
) {
    for (step, out) in steps_of_tiles::<PARTS>(words, out) {
        for half in 0..2 {
            let blocks: [[__m512; PARTS]; SIDE] = unrolled!(i => {
                let row = rows.get(half * SIDE + i).copied().unwrap_or_default();
                words_of_parts::<PARTS>(row, 2 * (first + step * SIDE))
            });
            for part in 0..PARTS {
                let turned = transpose(unrolled!(i => blocks[i][part]));
                let tile = &mut out[(2 * part + half) * TILE_WORDS..][..TILE_WORDS];
                for (line, words) in tile.chunks_exact_mut(SIDE).zip(turned) {
                    put(line, words);
                }
            }
        }
    }
}

/// As [`pack::tiles_of_lines`](super::super::pack::tiles_of_lines).
///
/// # Safety
/// The processor has the feature.
#[target_feature(enable = "avx512f")]
pub(in super::super) unsafe fn tiles_of_lines<const PARTS: usize>(
    lines: &[[f32; 2 * SIDE]],
    out: &mut [u32],
) {
    let steps = lines.as_chunks::<{ 2 * SIDE }>().0.iter();
    for (step, out) in steps.zip(out.chunks_exact_mut(2 * PARTS * TILE_WORDS)) {
        for (word, [low, high]) in step.as_chunks::<2>().0.iter().enumerate() {
            for half in 0..2 {
                let mut low = numbers(&low[half * SIDE..], 0);
                let mut high = numbers(&high[half * SIDE..], 0);
                for part in 0..PARTS {
                    let ((first, low_rest), (second, high_rest)) =
                        (self::part(low, PARTS > 1), self::part(high, PARTS > 1));
                    let first = _mm512_srli_epi32::<16>(_mm512_castps_si512(first));
                    let words = _mm512_or_si512(first, _mm512_castps_si512(second));
                    let line = (2 * part + half) * TILE_WORDS + word * SIDE;
                    put(&mut out[line..line + SIDE], _mm512_castsi512_ps(words));
                    (low, high) = (low_rest, high_rest);
                }
            }
        }
    }
}

/// The tiles of each step along the inner dimension.
fn steps_of_tiles<const PARTS: usize>(
    words: usize,
    out: &mut [u32],
) -> impl Iterator<Item = (usize, &mut [u32])> {
    out.chunks_exact_mut(2 * PARTS * TILE_WORDS).take(words / SIDE).enumerate()
}

/// Writes one line of a tile.
#[inline]
#[target_feature(enable = "avx512f")]
fn put(line: &mut [u32], words: __m512) {
    assert!(line.len() == LANES, "a line of a tile");
    // SAFETY: the line is as long as a vector.
    unsafe { _mm512_storeu_ps(line.as_mut_ptr().cast(), words) };
}

#[cfg(test)]
mod tests {
    use super::super::super::{Dtype, Kernels, pack};
    use super::*;
    use relscale_testkit::data::{MACHINE, skipped};
    use relscale_testkit::numbers::numbers;

    /// Tiles in registers against those in plain code: rows and words that are cut, every kind of
    /// number.
    #[test]
    fn tiles_are_those_of_the_plain_code() {
        if !Kernels::Avx512.available(Dtype::F32) {
            skipped(MACHINE, "no avx512 on this processor");
            return;
        }
        let mut data = numbers(40 * 100, 1);
        let odd = [0.0, -0.0, f32::MAX, f32::INFINITY, f32::NAN, f32::MIN, 1e-41, 3e38, -1e-30];
        data.iter_mut().step_by(37).zip(odd.into_iter().cycle()).for_each(|(x, odd)| *x = odd);
        fn both<const PARTS: usize>(data: &[f32]) {
            type Plain = fn(&[&[f32]], usize, usize, &mut [u32]);
            type Fast = unsafe fn(&[&[f32]], usize, usize, &mut [u32]);
            let pairs: [(Plain, Fast); 2] = [
                (pack::input_tiles::<PARTS>, input_tiles::<PARTS>),
                (pack::weight_tiles::<PARTS>, weight_tiles::<PARTS>),
            ];
            for (count, width, first, words) in [(32, 96, 0, 48), (5, 70, 16, 32), (17, 33, 0, 32)]
            {
                let rows: Vec<&[f32]> = data.chunks(100).map(|row| &row[..width]).collect();
                for (plain, fast) in pairs {
                    let mut out = [vec![7; words * 32 * PARTS], vec![9; words * 32 * PARTS]];
                    plain(&rows[..count], first, words, &mut out[0]);
                    // SAFETY: the processor has the feature.
                    unsafe { fast(&rows[..count], first, words, &mut out[1]) };
                    assert_eq!(out[0], out[1], "{PARTS} parts, {count} rows of {width}");
                }
            }
            let lines = &data.as_chunks::<32>().0[..96];
            let mut out = [vec![7; 96 * 16 * PARTS], vec![9; 96 * 16 * PARTS]];
            pack::tiles_of_lines::<PARTS>(lines, &mut out[0]);
            // SAFETY: the processor has the feature.
            unsafe { tiles_of_lines::<PARTS>(lines, &mut out[1]) };
            assert_eq!(out[0], out[1], "{PARTS} parts, lines");
        }
        both::<1>(&data);
        both::<3>(&data);
    }
}
