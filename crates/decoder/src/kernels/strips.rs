//! Small products on the calling thread, of activations by activations: what attention is made of.
//!
//! A [`Left`] factor is laid out once and passes over many [`Right`] ones, which are [`WIDTH`]
//! outputs wide. What such a product leaves, `[row of the left factor][output]`, is the right
//! factor of the next already, or becomes it in place: the weights of attention need no turning.
//! All are buffers, filled again and again, and only for formats of attention by hand
//! ([`Format::of_attention`]).

use std::ops::Range;

use super::shape::{LOW, PARTS, SIDE, WIDTH};
use super::small::{self, Ahead, Multiply, Pack};
use super::words::Words;
use super::{Dtype, Format, Kernels, amx, pack};

/// Words by which [`Left::fill_columns`] fetches ahead.
const AHEAD: usize = 16;

/// The left factor of small products: panels of some rows.
#[derive(Debug, Clone)]
pub struct Left {
    format: Format,
    /// Rows of a panel.
    height: usize,
    words: Words,
    /// Words of the inner dimension.
    inner: usize,
    panels: usize,
    /// Columns on their way to rows, where panels are tiles.
    turned: Vec<f32>,
}

impl Left {
    /// Nothing yet, in panels of as many rows as the kernels take at once: the fastest, where there
    /// are many.
    pub fn tall(format: Format) -> Self {
        Self::new(format, format.rows())
    }

    /// Nothing yet, in panels of which the usual widths of heads are multiples, or nearly.
    pub fn low(format: Format) -> Self {
        match format.kernels() {
            Kernels::Avx512 | Kernels::Avx512Bf16 => Self::new(format, LOW),
            _ => Self::tall(format),
        }
    }

    fn new(format: Format, height: usize) -> Self {
        assert_of_attention(format);
        let (words, turned) = Default::default();
        Self { format, height, words, inner: 0, panels: 0, turned }
    }

    /// Rows of a panel.
    pub fn height(&self) -> usize {
        self.height
    }

    /// How many panels there are.
    pub fn panels(&self) -> usize {
        self.panels
    }

    /// Numbers of 32 bits that `words` words of a panel take.
    fn size(&self, words: usize) -> usize {
        words * self.height * self.format.parts()
    }

    fn shape(&mut self, rows: usize, inner: usize) {
        (self.inner, self.panels) = (self.format.words(inner), rows.div_ceil(self.height));
        self.words.resize(self.size(self.inner) * self.panels);
    }

    /// `rows` rows of `width` numbers that lie side by side; the inner dimension runs along them.
    /// For keys.
    pub fn fill_rows(&mut self, data: &[f32], rows: usize, width: usize) {
        self.shape(rows, width);
        let (inner, height, size) = (self.inner, self.height, self.size(self.inner));
        let pack = pack_left(self.format, height);
        let panels = self.words.as_mut_slice().chunks_exact_mut(size.max(1));
        for (panel, out) in panels.enumerate() {
            let rest = &data[panel * height * width..rows * width];
            fetch(rest.get(2 * height * width..).unwrap_or_default(), height * width);
            panel_of(pack, height, width, rest, inner, out);
        }
    }

    /// `inner` rows of `width` numbers that lie side by side; the inner dimension runs from row to
    /// row, up to `padded` with zeros. For values.
    pub fn fill_columns(&mut self, data: &[f32], inner: usize, padded: usize, width: usize) {
        if self.format.by_tiles() {
            return self.fill_turned(data, inner, padded, width);
        }
        self.shape(width, padded);
        let (words, per_word) = (self.inner, self.format.per_word());
        let row =
            |row: usize| if row < inner { &data[row * width..(row + 1) * width] } else { &[] };
        let (height, panels) = (self.height, self.panels);
        let mut line = vec![0; panels * height];
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
            for (panel, line) in line.chunks_exact(height).enumerate() {
                out[(panel * words + word) * height..][..height].copy_from_slice(line);
            }
        }
    }

    /// As [`Left::fill_columns`] for tiles, whose lines run along the inner dimension.
    fn fill_turned(&mut self, data: &[f32], inner: usize, padded: usize, width: usize) {
        let mut turned = std::mem::take(&mut self.turned);
        turned.clear();
        turned.resize(width * padded, 0.0);
        // Blocks of columns: more at a distance of a power of two would share a place in the cache.
        const LINE: usize = 8;
        for column in (0..width).step_by(LINE) {
            for (at, row) in data[..inner * width].chunks_exact(width).enumerate() {
                for (i, from) in row[column..].iter().take(LINE).enumerate() {
                    turned[(column + i) * padded + at] = *from;
                }
            }
        }
        self.fill_rows(&turned, width, padded);
        self.turned = turned;
    }

    /// `out[i, j] = sum over l of left[i, l] right[l, j]`, or `out +=` when `resume`, for the rows
    /// of `panels`: `out` holds `[row][WIDTH]` of them all. The words of `right` meet those of the
    /// left factor from `first` on.
    ///
    /// # Panics
    /// When something lies beyond its buffer, or the formats differ.
    pub fn times(
        &self,
        panels: Range<usize>,
        first: usize,
        right: &Right,
        out: &mut [f32],
        resume: bool,
    ) {
        assert_eq!(self.format, right.format, "formats of a product differ");
        let rest = self.inner.checked_sub(first);
        assert!(
            rest.is_some_and(|rest| right.inner <= rest) && panels.end <= self.panels,
            "beyond the left factor"
        );
        assert!(
            right.inner > 0 && (!self.format.by_tiles() || first.is_multiple_of(SIDE)),
            "a right factor without numbers, or within a tile"
        );
        assert!(panels.len() * self.height * WIDTH <= out.len(), "no room for the product");
        let (a, b) = (self.words.as_slice(), right.words());
        let size = self.size(self.inner);
        assert!(a.len() >= self.panels * size);
        assert!(b.len() >= right.inner * WIDTH * self.format.parts());
        let (multiply, width) = multiply(self.format, self.height);
        let _tiles = amx::Tiles::for_format(self.format);
        for (at, panel) in panels.enumerate() {
            let start = panel * size + self.size(first);
            for column in (0..WIDTH).step_by(width) {
                // SAFETY: the format says that the processor has what the kernels need, and tiles
                // are set up; the words of both factors and `height` rows of WIDTH numbers of `out`
                // are there, as was just asserted.
                unsafe {
                    let (a, b) = (a.as_ptr().add(start), b.as_ptr().add(column));
                    let out = out.as_mut_ptr().add(at * self.height * WIDTH + column);
                    multiply(right.inner, a, b, out, WIDTH, resume, Ahead::nothing(b));
                }
            }
        }
    }
}

/// The right factor of small products: [`WIDTH`] outputs.
#[derive(Debug, Clone)]
pub struct Right {
    format: Format,
    /// `[number of the inner dimension][output]` in f32: the factor itself for vectors of f32, else
    /// what it is made of.
    numbers: Words,
    /// The factor as the other kernels want it.
    packed: Words,
    /// Words of the inner dimension.
    inner: usize,
}

impl Right {
    /// Nothing yet.
    pub fn new(format: Format) -> Self {
        assert_of_attention(format);
        Self { format, numbers: Words::default(), packed: Words::default(), inner: 0 }
    }

    /// How many numbers of the inner dimension are one word.
    pub fn per_word(&self) -> usize {
        self.format.per_word()
    }

    /// Whether the numbers are the factor.
    fn plain(&self) -> bool {
        self.format.dtype == Dtype::F32 && !self.format.by_tiles()
    }

    fn words(&self) -> &[u32] {
        if self.plain() { self.numbers.as_slice() } else { self.packed.as_slice() }
    }

    /// Each of at most [`WIDTH`] rows of `width` numbers that lie side by side is one output; the
    /// inner dimension runs along them. For queries.
    ///
    /// # Panics
    /// With more rows.
    pub fn fill_rows(&mut self, data: &[f32], rows: usize, width: usize) {
        assert!(rows <= WIDTH, "{rows} rows in a right factor");
        self.inner = self.format.words(width);
        let (inner, pack) = (self.inner, pack_right(self.format));
        let words = if self.plain() { &mut self.numbers } else { &mut self.packed };
        words.resize(inner * WIDTH * self.format.parts());
        panel_of(pack, WIDTH, width, &data[..rows * width], inner, words.as_mut_slice());
    }

    /// Room for `inner` rows of [`WIDTH`] outputs, in f32, whose numbers are left open;
    /// [`Softmax`](super::Softmax) makes a factor of them.
    ///
    /// # Panics
    /// When `inner` numbers are no whole words.
    pub fn numbers_mut(&mut self, inner: usize) -> &mut [f32] {
        self.inner = self.format.words(inner);
        assert_eq!(inner, self.inner * self.format.per_word(), "no whole words");
        self.numbers.resize(inner * WIDTH);
        self.numbers.as_mut_floats()
    }

    /// The numbers of [`Right::numbers_mut`], row by row.
    pub(super) fn scores(&mut self) -> &mut [[f32; WIDTH]] {
        self.numbers.as_mut_floats().as_chunks_mut().0
    }

    /// Makes the factor of the numbers.
    pub(super) fn settle(&mut self) {
        if self.plain() {
            return;
        }
        let parts = self.format.parts();
        self.packed.resize(self.inner * WIDTH * parts);
        let rows = self.numbers.as_floats().as_chunks::<WIDTH>().0;
        let out = self.packed.as_mut_slice();
        match (self.format.by_tiles(), parts) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a processor with tiles that are used has AVX-512 too (`Kernels::available`).
            (true, 1) if self.format.kernels() == Kernels::Amx => unsafe {
                super::avx512::tiles::tiles_of_lines::<1>(rows, out)
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            (true, _) if self.format.kernels() == Kernels::Amx => unsafe {
                super::avx512::tiles::tiles_of_lines::<{ PARTS }>(rows, out)
            },
            (true, 1) => pack::tiles_of_lines::<1>(rows, out),
            (true, _) => pack::tiles_of_lines::<{ PARTS }>(rows, out),
            (false, _) => {
                for (out, rows) in out.chunks_exact_mut(WIDTH).zip(rows.as_chunks::<2>().0) {
                    interleave(&rows[0], &rows[1], out);
                }
            }
        }
    }
}

fn assert_of_attention(format: Format) {
    assert!(
        format.by_hand() && format.of_attention() == format,
        "factors are for formats of attention by hand"
    );
}

/// The small product for panels of `height` rows, and its outputs.
fn multiply(format: Format, height: usize) -> (Multiply, usize) {
    match (format.kernels(), height) {
        #[cfg(target_arch = "x86_64")]
        (Kernels::Avx512 | Kernels::Avx512Bf16, LOW) => {
            (super::avx512::multiply_low(format.dtype), WIDTH)
        }
        // Its panels of weights are narrower than a right factor.
        #[cfg(target_arch = "x86_64")]
        (Kernels::Avx2, _) => super::avx2::multiply_wide(),
        _ => (format.multiply(height), WIDTH),
    }
}

/// What makes panels of `height` rows.
fn pack_left(format: Format, height: usize) -> Pack {
    match (format.kernels(), height) {
        #[cfg(target_arch = "x86_64")]
        (Kernels::Avx512 | Kernels::Avx512Bf16, LOW) => super::avx512::pack_low(format.dtype),
        _ => format.pack_input(),
    }
}

/// What makes the panel of a right factor of rows.
fn pack_right(format: Format) -> Pack {
    match format.kernels() {
        Kernels::Avx2 => pack::numbers::<WIDTH>,
        _ => format.pack_weights(),
    }
}

/// One panel of `height` rows from the first rows of `data`, `width` numbers each; rows that are
/// not there are 0.
fn panel_of(pack: Pack, height: usize, width: usize, data: &[f32], words: usize, out: &mut [u32]) {
    assert!(height <= WIDTH, "no panel has so many rows");
    let mut rows: [&[f32]; WIDTH] = [&[]; WIDTH];
    let mut count = 0;
    for (row, numbers) in rows.iter_mut().zip(data.chunks_exact(width.max(1))).take(height) {
        *row = numbers;
        count += 1;
    }
    // SAFETY: factors are made only for formats whose kernels the processor has.
    unsafe { pack(&rows[..count], 0, words, out) };
}

/// Rows to columns: `sums` holds `[row][WIDTH]`, and of the first columns of `rows` rows `out`
/// takes as many as it has room for.
///
/// # Panics
/// Without rows, or with too few sums.
pub fn turn(sums: &[f32], rows: usize, out: &mut [f32]) {
    assert!(rows > 0 && out.len() / rows <= WIDTH && sums.len() >= rows * WIDTH, "no whole rows");
    #[cfg(target_arch = "x86_64")]
    if Kernels::Avx512.available(Dtype::F32) {
        // SAFETY: the processor has the feature.
        return unsafe { super::avx512::turn(sums, WIDTH, rows, out) };
    }
    for (column, out) in out.chunks_exact_mut(rows).enumerate() {
        out.iter_mut().zip(sums[column..].iter().step_by(WIDTH)).for_each(|(to, from)| *to = *from);
    }
}

/// Fetches the first `count` numbers into the second-level cache, for what reads them soon: they
/// were written by another thread or long ago, and are read in an order that the processor does not
/// foresee.
pub fn fetch(data: &[f32], count: usize) {
    for two_lines in data[..count.min(data.len())].chunks(WIDTH) {
        small::fetch(two_lines.as_ptr());
    }
}

/// Two rows as one of pairs of bf16; only called in formats of pairs.
#[cfg(target_arch = "x86_64")]
fn interleave(low: &[f32], high: &[f32], out: &mut [u32]) {
    // SAFETY: a factor of pairs is made only for formats whose kernels the processor has.
    unsafe { super::avx512::interleave(low, high, out) };
}

#[cfg(not(target_arch = "x86_64"))]
fn interleave(_: &[f32], _: &[f32], _: &mut [u32]) {
    unreachable!("there are pairs only where there are kernels for them");
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
                                    "{format:?} {rows} x {inner} x {columns}: off by {error}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}
