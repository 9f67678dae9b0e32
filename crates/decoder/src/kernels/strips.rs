//! Small products on the calling thread, of activations by activations: what attention is made of.
//!
//! A [`Left`] factor is laid out once and passes over many [`Right`] ones, which are [`WIDTH`]
//! outputs wide. What such a product leaves, `[row of the left factor][output]`, is laid out as a
//! right factor already: the weights of attention need no turning. All are buffers, filled again
//! and again, and only for formats with kernels by hand.

use super::words::Words;
use super::{Dtype, Format, small};
use std::ops::Range;

/// Outputs of a [`Right`] factor.
pub const WIDTH: usize = 32;

/// Rows of a panel of [`Left::tall`].
pub const TALL: usize = 14;

/// The left factor of small products, `[panel][word of the inner dimension][row of the panel]`.
#[derive(Debug, Clone)]
pub struct Left {
    format: Format,
    /// Rows of a panel.
    height: usize,
    words: Words,
    /// Words of the inner dimension.
    inner: usize,
    panels: usize,
}

impl Left {
    /// Nothing yet, in panels of [`TALL`] rows: the fastest, where there are many.
    pub fn tall(format: Format) -> Self {
        Self::new(format, TALL)
    }

    /// Nothing yet, in panels of 8 rows, of which the usual widths of heads are multiples.
    pub fn low(format: Format) -> Self {
        Self::new(format, LOW)
    }

    fn new(format: Format, height: usize) -> Self {
        assert!(
            format.by_hand() && format.of_attention() == format,
            "factors are for formats of attention by hand"
        );
        Self { format, height, words: Words::default(), inner: 0, panels: 0 }
    }

    /// Rows of a panel.
    pub fn height(&self) -> usize {
        self.height
    }

    /// How many panels there are.
    pub fn panels(&self) -> usize {
        self.panels
    }

    fn shape(&mut self, rows: usize, inner: usize) {
        (self.inner, self.panels) = (self.format.words(inner), rows.div_ceil(self.height));
        self.words.resize(self.inner * self.panels * self.height);
    }

    /// `rows` rows of `width` numbers that lie side by side; the inner dimension runs along them.
    /// For keys.
    pub fn fill_rows(&mut self, data: &[f32], rows: usize, width: usize) {
        self.shape(rows, width);
        let (inner, height) = (self.inner, self.height);
        for (panel, out) in
            self.words.as_mut_slice().chunks_exact_mut((inner * height).max(1)).enumerate()
        {
            let rest = &data[panel * height * width..rows * width];
            fetch(rest.get(2 * height * width..).unwrap_or_default(), height * width);
            panel_of(self.format, height, width, rest, out);
        }
    }

    /// `inner` rows of `width` numbers that lie side by side; the inner dimension runs from row to
    /// row, up to `padded` with zeros. For values.
    ///
    /// # Panics
    /// For panels that are not low.
    pub fn fill_columns(&mut self, data: &[f32], inner: usize, padded: usize, width: usize) {
        assert_eq!(self.height, LOW, "columns are laid out in low panels");
        self.shape(width, padded);
        let (words, per_word) = (self.inner, self.format.per_word());
        let row =
            |row: usize| if row < inner { &data[row * width..(row + 1) * width] } else { &[] };
        let mut line = vec![0; self.panels * LOW];
        for word in 0..words {
            fetch(
                data.get((word + AHEAD) * per_word * width..).unwrap_or_default(),
                per_word * width,
            );
            match self.format.dtype {
                Dtype::F32 if word < inner => {
                    line.iter_mut()
                        .zip(row(word))
                        .for_each(|(word, number)| *word = number.to_bits());
                }
                Dtype::F32 => line.fill(0),
                Dtype::Bf16 => {
                    interleave(row(word * per_word), row(word * per_word + 1), &mut line)
                }
            }
            let out = self.words.as_mut_slice();
            for (panel, line) in line.as_chunks::<LOW>().0.iter().enumerate() {
                out[(panel * words + word) * LOW..][..LOW].copy_from_slice(line);
            }
        }
    }

    /// `out[i, j] = sum over l of left[i, l] right[l, j]`, or `out +=` when `resume`, for the rows
    /// of `panels`: `out` holds `[row][WIDTH]` of them all. The words of `right` meet those of the
    /// left factor from `first` on.
    ///
    /// # Panics
    /// When something lies beyond its buffer, or the formats differ.
    #[cfg(target_arch = "x86_64")]
    pub fn times(
        &self,
        panels: Range<usize>,
        first: usize,
        right: &Right,
        out: &mut [f32],
        resume: bool,
    ) {
        use super::avx512;
        use small::Ahead;
        assert_eq!(self.format, right.format, "formats of a product differ");
        assert!(
            first + right.inner <= self.inner && panels.end <= self.panels,
            "beyond the left factor"
        );
        assert!(panels.len() * self.height * WIDTH <= out.len(), "no room for the product");
        let multiply = match self.height {
            TALL => avx512::multiply(self.format, TALL),
            _ => avx512::multiply_low(self.format.dtype),
        };
        let (a, b) = (self.words.as_slice(), right.words());
        assert!(
            a.len() >= self.panels * self.inner * self.height && b.len() >= right.inner * WIDTH
        );
        for (at, panel) in panels.enumerate() {
            let start = (panel * self.inner + first) * self.height;
            // SAFETY: the format says that the processor has the features; the words of both
            // factors and `height` rows of WIDTH numbers of `out` are there, as was just asserted.
            unsafe {
                let (a, out) =
                    (a.as_ptr().add(start), out.as_mut_ptr().add(at * self.height * WIDTH));
                multiply(right.inner, a, b.as_ptr(), out, WIDTH, resume, Ahead::NOTHING);
            }
        }
    }

    /// There are no kernels by hand on this processor.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn times(&self, _: Range<usize>, _: usize, _: &Right, _: &mut [f32], _: bool) {
        unreachable!("left factors are for formats with kernels by hand");
    }
}

/// The right factor of small products, `[word of the inner dimension][output]`, [`WIDTH`] outputs.
#[derive(Debug, Clone)]
pub struct Right {
    format: Format,
    /// `[number of the inner dimension][output]` in f32: the factor itself in that format, else
    /// what it is made of.
    numbers: Words,
    /// The factor in bf16.
    pairs: Words,
    /// Words of the inner dimension.
    inner: usize,
}

impl Right {
    /// Nothing yet.
    pub fn new(format: Format) -> Self {
        assert!(
            format.by_hand() && format.of_attention() == format,
            "factors are for formats of attention by hand"
        );
        Self { format, numbers: Words::default(), pairs: Words::default(), inner: 0 }
    }

    /// How many numbers of the inner dimension are one word.
    pub fn per_word(&self) -> usize {
        self.format.per_word()
    }

    fn words(&self) -> &[u32] {
        match self.format.dtype {
            Dtype::F32 => self.numbers.as_slice(),
            Dtype::Bf16 => self.pairs.as_slice(),
        }
    }

    /// Each of at most [`WIDTH`] rows of `width` numbers that lie side by side is one output; the
    /// inner dimension runs along them. For queries.
    ///
    /// # Panics
    /// With more rows.
    pub fn fill_rows(&mut self, data: &[f32], rows: usize, width: usize) {
        assert!(rows <= WIDTH, "{rows} rows in a right factor");
        self.inner = self.format.words(width);
        let words = match self.format.dtype {
            Dtype::F32 => &mut self.numbers,
            Dtype::Bf16 => &mut self.pairs,
        };
        words.resize(self.inner * WIDTH);
        panel_of(self.format, WIDTH, width, &data[..rows * width], words.as_mut_slice());
    }

    /// Room for `inner` rows of [`WIDTH`] outputs, in f32, whose numbers are left open;
    /// [`Softmax`](super::Softmax) makes a factor of them.
    ///
    /// # Panics
    /// When `inner` numbers are no whole words.
    pub fn numbers_mut(&mut self, inner: usize) -> &mut [f32] {
        assert!(inner.is_multiple_of(self.format.per_word()), "{inner} numbers are no whole words");
        self.inner = self.format.words(inner);
        self.numbers.resize(inner * WIDTH);
        self.numbers.as_mut_floats()
    }

    /// The numbers of [`Right::numbers_mut`], row by row, and the room of the factor in bf16
    /// (nothing in f32, where the numbers are the factor).
    pub(super) fn scores_and_pairs(&mut self) -> (&mut [[f32; WIDTH]], &mut [[u32; WIDTH]]) {
        if self.format.dtype == Dtype::Bf16 {
            self.pairs.resize(self.inner * WIDTH);
        }
        (
            self.numbers.as_mut_floats().as_chunks_mut().0,
            self.pairs.as_mut_slice().as_chunks_mut().0,
        )
    }

    pub(super) fn dtype(&self) -> Dtype {
        self.format.dtype
    }
}

/// Rows to columns: `sums` holds `[row][WIDTH]`, and of the first columns of `rows` rows `out`
/// takes as many as it has room for.
///
/// # Panics
/// Without rows, or with too few sums.
#[cfg(target_arch = "x86_64")]
pub fn turn(sums: &[f32], rows: usize, out: &mut [f32]) {
    assert!(rows > 0 && out.len() / rows <= WIDTH && sums.len() >= rows * WIDTH, "no whole rows");
    assert!(is_x86_feature_detected!("avx512f"), "for processors with kernels by hand");
    // SAFETY: the processor has the feature.
    unsafe { super::avx512::turn(sums, WIDTH, rows, out) };
}

/// There are no kernels by hand on this processor.
#[cfg(not(target_arch = "x86_64"))]
pub fn turn(_: &[f32], _: usize, _: &mut [f32]) {
    unreachable!("for processors with kernels by hand");
}

/// Rows of a panel of [`Left::low`].
const LOW: usize = 8;

/// Words by which [`Left::fill_columns`] fetches ahead.
const AHEAD: usize = 16;

/// Fetches the first `count` numbers into the second-level cache, for what reads them soon: they
/// were written by another thread or long ago, and are read in an order that the processor does not
/// foresee.
pub fn fetch(data: &[f32], count: usize) {
    for two_lines in data[..count.min(data.len())].chunks(WIDTH) {
        small::fetch(two_lines.as_ptr());
    }
}

/// One panel of `height` rows from the first rows of `data`, `width` numbers each; rows that are
/// not there are 0.
#[cfg(target_arch = "x86_64")]
fn panel_of(format: Format, height: usize, width: usize, data: &[f32], out: &mut [u32]) {
    use super::avx512;
    const _: () = assert!(LOW == avx512::LOW && TALL == avx512::MR && WIDTH == avx512::NR);
    let words = format.words(width);
    assert!(height <= WIDTH && out.len() >= words * height, "no room for a panel");
    let mut rows: [&[f32]; WIDTH] = [&[]; WIDTH];
    for (row, numbers) in rows.iter_mut().zip(data.chunks_exact(width.max(1))).take(height) {
        *row = numbers;
    }
    // SAFETY: factors are made only for formats whose kernels the processor has.
    unsafe { (avx512::pack_for_attention(format.dtype, height))(&rows[..height], 0, words, out) };
}

#[cfg(not(target_arch = "x86_64"))]
fn panel_of(_: Format, _: usize, _: usize, _: &[f32], _: &mut [u32]) {
    unreachable!("there are panels only where there are kernels by hand");
}

/// Two rows as one of pairs of bf16; only called in formats of bf16 by hand.
#[cfg(target_arch = "x86_64")]
fn interleave(low: &[f32], high: &[f32], out: &mut [u32]) {
    // SAFETY: a factor in bf16 is made only for formats whose kernels the processor has.
    unsafe { super::avx512::interleave(low, high, out) };
}

#[cfg(not(target_arch = "x86_64"))]
fn interleave(_: &[f32], _: &[f32], _: &mut [u32]) {
    unreachable!("there are pairs only where there are kernels by hand");
}

#[cfg(test)]
mod tests {
    use relscale_testkit::data::{MACHINE, skipped};

    use super::*;
    use crate::kernels::Kernels;

    fn numbers(len: usize) -> Vec<f32> {
        (0..len as u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 16) as f32 / 65_536.0 - 0.5)
            .collect()
    }

    /// Both heights, both fillings, sizes that are no multiple of anything, resumed: against sums
    /// in f64.
    #[test]
    fn products_are_those_of_the_definition() {
        for dtype in [Dtype::F32, Dtype::Bf16] {
            let kernels = if dtype == Dtype::F32 { Kernels::Avx512 } else { Kernels::Avx512Bf16 };
            let Some(format) = Format::by(dtype, kernels) else {
                skipped(MACHINE, &format!("no {} on this processor", kernels.name()));
                continue;
            };
            let most = if dtype == Dtype::F32 { 1e-5 } else { 0.03 };
            for (rows, inner, columns) in [(1, 2, 1), (14, 8, 32), (33, 26, 7), (61, 84, 31)] {
                let (a, b) = (numbers(rows * inner), numbers(columns * inner));
                let turned: Vec<f32> = (0..inner)
                    .flat_map(|l| (0..rows).map(move |i| (i, l)))
                    .map(|(i, l)| a[i * inner + l])
                    .collect();
                let mut right = Right::new(format);
                right.fill_rows(&b, columns, inner);
                for mut left in [Left::tall(format), Left::low(format)] {
                    for by_columns in [false, true] {
                        if by_columns && left.height() != LOW {
                            continue;
                        }
                        if by_columns {
                            left.fill_columns(&turned, inner, inner + 2, rows);
                        } else {
                            left.fill_rows(&a, rows, inner);
                        }
                        let mut out = vec![1.0; left.panels() * left.height() * WIDTH];
                        left.times(0..left.panels(), 0, &right, &mut out, true);
                        for (i, out) in out.chunks_exact(WIDTH).take(rows).enumerate() {
                            for (j, got) in out.iter().take(columns).enumerate() {
                                let terms = (0..inner).map(|l| {
                                    f64::from(a[i * inner + l]) * f64::from(b[j * inner + l])
                                });
                                let error = (f64::from(*got) - 1.0 - terms.sum::<f64>()).abs();
                                assert!(
                                    error < most,
                                    "{dtype:?} {rows} x {inner} x {columns}: off by {error}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}
