//! Making panels in plain code, vectors by the compiler: for AVX2 and for tiles. (With AVX-512
//! rows become columns in registers; see `avx512`.)

use super::shape::{SIDE, TILE_WORDS};
use crate::lanes::vectorised;

/// A number rounded to bf16, to the nearest, ties to even; a NaN stays one.
#[inline(always)]
fn bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let nearest = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    ((if nan { bits | 0x0040_0000 } else { nearest }) >> 16) as u16
}

#[inline(always)]
fn wide(value: u16) -> f32 {
    f32::from_bits(u32::from(value) << 16)
}

/// A number as parts of bf16 that add up to it: with three exactly, but below about 1e-30, where
/// the last ones fall under the smallest normal number. What is not finite stays so in the first,
/// and no finite number becomes infinite.
#[inline(always)]
fn parts<const PARTS: usize>(value: f32) -> [u16; PARTS] {
    let mut parts = [0; PARTS];
    parts[0] = bf16(value);
    if PARTS == 1 {
        return parts;
    }
    let finite = value.is_finite();
    if finite && !wide(parts[0]).is_finite() {
        parts[0] = (value.to_bits() >> 16) as u16;
    }
    let mut rest = if finite { value - wide(parts[0]) } else { 0.0 };
    for part in &mut parts[1..] {
        *part = bf16(rest);
        rest -= wide(*part);
    }
    parts
}

/// `[number][row]`, f32.
pub(super) fn numbers<const ROWS: usize>(
    rows: &[&[f32]],
    first: usize,
    words: usize,
    out: &mut [u32],
) {
    columns::<ROWS>(rows, out, words, |row, at| row.get(first + at).map_or(0, |v| v.to_bits()));
}

/// `[number][row]`, f32 of two numbers a word, each rounded to bf16.
pub(super) fn rounded_numbers<const ROWS: usize>(
    rows: &[&[f32]],
    first: usize,
    words: usize,
    out: &mut [u32],
) {
    columns::<ROWS>(rows, out, 2 * words, |row, at| {
        row.get(2 * first + at).map_or(0, |v| u32::from(bf16(*v)) << 16)
    });
}

/// `[word][row]` of pairs of bf16.
pub(super) fn pairs<const ROWS: usize>(
    rows: &[&[f32]],
    first: usize,
    words: usize,
    out: &mut [u32],
) {
    columns::<ROWS>(rows, out, words, |row, at| {
        let number = |at: usize| row.get(at).map_or(0, |v| u32::from(bf16(*v)));
        number(2 * (first + at)) | number(2 * (first + at) + 1) << 16
    });
}

/// `[column][row]` of what stands at `column` of each row, 0 for rows that there are not.
#[inline(always)]
fn columns<const ROWS: usize>(
    rows: &[&[f32]],
    out: &mut [u32],
    columns: usize,
    number: impl Fn(&[f32], usize) -> u32,
) {
    let lines = &mut out.as_chunks_mut::<ROWS>().0[..columns];
    vectorised(
        #[inline(always)]
        || {
            for place in 0..ROWS {
                match rows.get(place) {
                    Some(row) => {
                        lines.iter_mut().zip(0..).for_each(|(line, at)| {
                            line[place] = number(row, at);
                        });
                    }
                    None => lines.iter_mut().for_each(|line| line[place] = 0),
                }
            }
        },
    );
}

/// Tiles of activations: a row of bf16 a line.
pub(super) fn input_tiles<const PARTS: usize>(
    rows: &[&[f32]],
    first: usize,
    words: usize,
    out: &mut [u32],
) {
    let halves: &mut [u16] = bytemuck::cast_slice_mut(out);
    tiles::<PARTS>(rows, first, words, |tile, line, at, number| {
        halves[2 * (tile * TILE_WORDS + line * SIDE) + at] = number;
    });
}

/// Tiles of weights: a word of bf16 a line, a row a column.
pub(super) fn weight_tiles<const PARTS: usize>(
    rows: &[&[f32]],
    first: usize,
    words: usize,
    out: &mut [u32],
) {
    let halves: &mut [u16] = bytemuck::cast_slice_mut(out);
    tiles::<PARTS>(rows, first, words, |tile, line, at, number| {
        halves[2 * (tile * TILE_WORDS + at / 2 * SIDE + line) + at % 2] = number;
    });
}

/// Tiles of weights from lines of 32 columns: two lines are a word, 32 a tile.
pub(super) fn tiles_of_lines<const PARTS: usize>(lines: &[[f32; 2 * SIDE]], out: &mut [u32]) {
    let steps = lines.as_chunks::<{ 2 * SIDE }>().0.iter();
    vectorised(
        #[inline(always)]
        || {
            for (step, out) in steps.zip(out.chunks_exact_mut(2 * PARTS * TILE_WORDS)) {
                for (word, [low, high]) in step.as_chunks::<2>().0.iter().enumerate() {
                    for half in 0..2 {
                        for column in 0..SIDE {
                            let at = half * SIDE + column;
                            let (low, high) = (parts::<PARTS>(low[at]), parts::<PARTS>(high[at]));
                            for part in 0..PARTS {
                                let tile = 2 * part + half;
                                out[tile * TILE_WORDS + word * SIDE + column] =
                                    u32::from(low[part]) | u32::from(high[part]) << 16;
                            }
                        }
                    }
                }
            }
        },
    );
}

/// Calls `put` with the tile, the row of it, the number of it along the inner dimension, and a part
/// of that number, for all parts of 32 rows.
#[inline(always)]
fn tiles<const PARTS: usize>(
    rows: &[&[f32]],
    first: usize,
    words: usize,
    mut put: impl FnMut(usize, usize, usize, u16),
) {
    const NUMBERS: usize = 2 * SIDE;
    debug_assert!(words.is_multiple_of(SIDE), "whole tiles");
    vectorised(
        #[inline(always)]
        || {
            for place in 0..2 * SIDE {
                let row = rows.get(place).copied().unwrap_or_default();
                for step in 0..words / SIDE {
                    let from = 2 * first + step * NUMBERS;
                    let mut here = [0.0; NUMBERS];
                    match row.get(from..from + NUMBERS) {
                        Some(all) => here.copy_from_slice(all),
                        None => {
                            let rest = row.get(from..).unwrap_or_default();
                            here[..rest.len()].copy_from_slice(rest);
                        }
                    }
                    let tile = step * PARTS * 2 + place / SIDE;
                    for (at, value) in here.iter().enumerate() {
                        for (part, number) in parts::<PARTS>(*value).iter().enumerate() {
                            put(tile + 2 * part, place % SIDE, at, *number);
                        }
                    }
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As the `half` crate rounds, whatever the bits.
        #[test]
        fn bf16_is_rounded_to_the_nearest(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            let (own, theirs) = (bf16(value), half::bf16::from_f32(value));
            prop_assert!(own == theirs.to_bits() || value.is_nan() && wide(own).is_nan());
        }

        /// Three parts are the number itself.
        #[test]
        fn parts_add_up(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            let [high, middle, low] = parts::<3>(value).map(wide);
            let sum = high + middle + low;
            if value.is_nan() {
                prop_assert!(sum.is_nan());
            } else if value.is_infinite() || value.abs() > 1e-30 {
                prop_assert_eq!(sum, value);
            } else {
                prop_assert!((sum - value).abs() <= f32::MIN_POSITIVE);
            }
        }
    }
}
