//! Small products on the calling thread, of activations by activations: what attention is made of.
//!
//! A [`Strip`] is at most [`STRIP`] rows of the left factor, [`Columns`] the right factor in panels. Both are buffers,
//! filled again and again. Only for formats with kernels by hand.

use super::input::{self, ROWS};
use super::packed::PANEL;
use super::words::Words;
use super::{Dtype, Format};
use std::ops::Range;

/// Rows of a strip; on every path, so that queries are dealt out alike.
pub const STRIP: usize = ROWS;

/// Outputs of a panel of [`Columns`].
pub const PANEL_WIDTH: usize = PANEL;

/// At most [`STRIP`] rows of the left factor.
#[derive(Debug, Clone)]
pub struct Strip {
    format: Format,
    words: Words,
    /// Words of the inner dimension.
    inner: usize,
}

impl Strip {
    /// Nothing yet.
    pub fn new(format: Format) -> Self {
        Self { format, words: Words::default(), inner: 0 }
    }

    /// The first `width` numbers of `rows` rows that lie `stride` apart.
    ///
    /// # Panics
    /// With more than [`STRIP`] rows, or when `data` is too short.
    pub fn fill(&mut self, data: &[f32], rows: usize, stride: usize, width: usize) {
        assert!((1..=STRIP).contains(&rows), "{rows} rows in a strip");
        self.inner = self.format.words(width);
        self.words.resize(self.inner * ROWS);
        let data = &data[..(rows - 1) * stride + width];
        input::pack(self.format, data, stride, width, self.words.as_mut_slice());
    }

    /// `out[i, j] = sum over l of strip[i, l] columns[l, j]` for the outputs `j` of `panels`; `l` runs over the strip's words, which
    /// meet those of `columns` from `first` on. Rows of `out` lie `stride` apart, and there are always [`STRIP`] of them.
    ///
    /// # Panics
    /// When something lies beyond its buffer, or the formats differ.
    #[cfg(target_arch = "x86_64")]
    pub fn times(
        &self,
        columns: &Columns,
        first: usize,
        panels: Range<usize>,
        out: &mut [f32],
        stride: usize,
    ) {
        assert!(self.format == columns.format && self.format.by_hand, "formats of a product differ");
        assert!(
            first + self.inner <= columns.inner && panels.end <= columns.panels,
            "beyond the right factor"
        );
        assert!(panels.len() * PANEL <= stride && (STRIP - 1) * stride + panels.len() * PANEL <= out.len());
        use super::avx512::{self, Ahead};
        let multiply = avx512::multiply(self.format.dtype);
        let (a, b) = (self.words.as_slice(), columns.words.as_slice());
        assert!(a.len() >= self.inner * ROWS && b.len() >= columns.panels * columns.inner * PANEL);
        for (at, panel) in panels.enumerate() {
            let start = (panel * columns.inner + first) * PANEL;
            // SAFETY: the format says that the processor has the features; the words of both factors and STRIP rows of
            // PANEL numbers of `out` are there, as was just asserted.
            unsafe {
                let (a, b) = (a.as_ptr(), b.as_ptr().add(start));
                multiply(self.inner, a, b, out.as_mut_ptr().add(at * PANEL), stride, false, Ahead::NOTHING);
            }
        }
    }

    /// There are no kernels by hand on this processor.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn times(&self, _: &Columns, _: usize, _: Range<usize>, _: &mut [f32], _: usize) {
        unreachable!("strips are for formats with kernels by hand");
    }
}

/// The right factor of small products, `[panel][word of the inner dimension][output of the panel]`.
#[derive(Debug, Clone)]
pub struct Columns {
    format: Format,
    words: Words,
    /// Words of the inner dimension.
    inner: usize,
    panels: usize,
}

impl Columns {
    /// Nothing yet.
    pub fn new(format: Format) -> Self {
        Self { format, words: Words::default(), inner: 0, panels: 0 }
    }

    /// How many numbers of the inner dimension are one word.
    pub fn per_word(&self) -> usize {
        self.format.per_word()
    }

    /// Each of `count` rows, `stride` apart, is one output; the inner dimension runs along `width` numbers of it. For keys.
    #[cfg(target_arch = "x86_64")]
    pub fn fill_outputs(&mut self, data: &[f32], count: usize, stride: usize, width: usize) {
        self.shape(count, width);
        let pack = super::avx512::pack(self.format.dtype);
        let inner = self.inner;
        for (panel, out) in self.words.as_mut_slice().chunks_exact_mut((inner * PANEL).max(1)).enumerate() {
            let lines: [&[f32]; PANEL] = std::array::from_fn(|row| {
                let row = panel * PANEL + row;
                if row < count { &data[row * stride..row * stride + width] } else { &[] }
            });
            // SAFETY: the format says that the processor has the features; `out` has the `inner * PANEL` words written.
            unsafe { pack(&lines, PANEL, 0, inner, out.as_mut_ptr()) };
        }
    }

    /// There are no kernels by hand on this processor.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn fill_outputs(&mut self, _: &[f32], _: usize, _: usize, _: usize) {
        unreachable!("columns are for formats with kernels by hand");
    }

    /// The inner dimension runs along `inner` rows, `stride` apart, of which `count` are there and the others 0; each of `width`
    /// numbers of a row is one output. For values.
    pub fn fill_inner(&mut self, data: &[f32], inner: usize, count: usize, stride: usize, width: usize) {
        self.shape(width, inner);
        let (inner, dtype, per_word) = (self.inner, self.format.dtype, self.format.per_word());
        let row = |row: usize| if row < count { &data[row * stride..row * stride + width] } else { &[][..] };
        for (panel, out) in self.words.as_mut_slice().chunks_exact_mut((inner * PANEL).max(1)).enumerate() {
            let first = panel * PANEL;
            let taken = PANEL.min(width - first);
            for (word, out) in out.chunks_exact_mut(PANEL).enumerate() {
                out.fill(0);
                let here = row(word * per_word).get(first..first + taken).unwrap_or(&[]);
                match dtype {
                    Dtype::F32 => out.iter_mut().zip(here).for_each(|(out, v)| *out = v.to_bits()),
                    Dtype::Bf16 => {
                        let next = row(word * 2 + 1).get(first..first + taken).unwrap_or(&[]);
                        out.iter_mut().zip(here).for_each(|(out, v)| *out = bits(*v));
                        out.iter_mut().zip(next).for_each(|(out, v)| *out |= bits(*v) << 16);
                    }
                }
            }
        }
    }

    fn shape(&mut self, outputs: usize, inner: usize) {
        assert!(self.format.by_hand, "columns are for formats with kernels by hand");
        (self.inner, self.panels) = (self.format.words(inner), outputs.div_ceil(PANEL));
        self.words.resize(self.inner * self.panels * PANEL);
    }
}

/// The bits of `value` as bf16, rounded to the nearest, ties to even; a NaN stays one. Without branches, so that loops of it
/// become vectors.
#[inline(always)]
fn bits(value: f32) -> u32 {
    let bits = value.to_bits();
    let even = (bits.wrapping_add(0x7fff + (bits >> 16 & 1))) >> 16;
    if value.is_nan() { bits >> 16 | 0x40 } else { even }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_library() {
        for value in [
            0.0,
            -0.0,
            1.0,
            1.003_906_3,
            1.011_718_8,
            -3.1e38,
            f32::MAX,
            f32::INFINITY,
            f32::NEG_INFINITY,
            1e-30,
        ] {
            assert_eq!(bits(value), u32::from(half::bf16::from_f32(value).to_bits()), "{value}");
        }
        assert!(half::bf16::from_bits(bits(f32::NAN) as u16).is_nan());
    }
}
