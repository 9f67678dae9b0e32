//! How panels lie, kernel by kernel: the one place that knows where a number of a row is.
//!
//! A **panel** holds some rows, of weights or of activations, for a small product. A **word** is a
//! step of the inner dimension as weights have it: one f32, or two numbers of bf16.
//!
//! | kernels | rows of activations | rows of weights | in a panel |
//! |---|---|---|---|
//! | `avx512` | 14 | 32 | `[word][row]` |
//! | `avx2` | 6 | 16 | `[word][row]` |
//! | both, bf16 | as above | as above | weights `[word][row]`, activations `[number][row]`, rounded, in f32 |
//! | `avx512-bf16` | 14 | 32 | `[word][row]` of pairs |
//! | `amx` | 32 | 32 | `[16 words][part][half][16 x 16]`: a tile of activations has a row a line, a tile of weights a word a line |
//!
//! Why these sizes: 28 chains of AVX-512 (or 12 of AVX2) cover the latency of 4 cycles at two
//! multiply-adds a cycle; with two vectors of weights and one activation they are all registers
//! that there are. Tiles are 2 x 2 sums, so that a load serves two products.

use super::{Dtype, Format, Kernels};

/// Lines of a tile, and words of one.
pub(super) const SIDE: usize = 16;

/// Words of a tile.
pub(super) const TILE_WORDS: usize = SIDE * SIDE;

/// Parts that a number of f32 is for the tiles.
pub(super) const PARTS: usize = 3;

/// Outputs of a right factor of attention's products.
pub const WIDTH: usize = 32;

/// Rows of a low panel of a left factor, by AVX-512: where 14 would leave too many of them empty.
pub(super) const LOW: usize = 8;

impl Format {
    /// Rows of activations in a panel; on the path by `gemm` too, where they are dealt out in
    /// portions of as many.
    pub(super) fn rows(self) -> usize {
        match self.kernels {
            Kernels::Gemm | Kernels::Avx512 | Kernels::Avx512Bf16 => 14,
            Kernels::Avx2 => 6,
            Kernels::Amx | Kernels::AmxModel => 2 * SIDE,
        }
    }

    /// Rows of weights in a panel; on the path by `gemm` too, which reads weights in portions of as
    /// many.
    pub(super) fn panel(self) -> usize {
        match self.kernels {
            Kernels::Avx2 => 16,
            _ => 32,
        }
    }

    /// Words of the inner dimension that are taken at once, so that a panel of activations stays in
    /// the first-level cache while panels of weights pass by.
    pub(super) fn block(self) -> usize {
        match (self.kernels, self.dtype) {
            (Kernels::Amx | Kernels::AmxModel, Dtype::F32) => 64,
            (Kernels::Amx | Kernels::AmxModel, Dtype::Bf16) => 128,
            // As many numbers of activations as in f32.
            (Kernels::Avx512 | Kernels::Avx2, Dtype::Bf16) => 256,
            _ => 512,
        }
    }

    /// Whether panels are tiles.
    pub(super) fn by_tiles(self) -> bool {
        matches!(self.kernels, Kernels::Amx | Kernels::AmxModel)
    }

    /// Numbers in a word.
    pub(super) fn per_word(self) -> usize {
        match self.dtype {
            Dtype::F32 if !self.by_tiles() => 1,
            _ => 2,
        }
    }

    /// Words of `columns` numbers; of tiles whole ones.
    pub(super) fn words(self, columns: usize) -> usize {
        let words = columns.div_ceil(self.per_word());
        if self.by_tiles() { words.next_multiple_of(SIDE) } else { words }
    }

    /// Numbers of 32 bits that a word of one row of weights takes.
    pub(super) fn parts(self) -> usize {
        if self.by_tiles() && self.dtype == Dtype::F32 { PARTS } else { 1 }
    }

    /// Whether weights are bf16 and meet activations in f32.
    pub(super) fn widens(self) -> bool {
        self.dtype == Dtype::Bf16 && matches!(self.kernels, Kernels::Avx2 | Kernels::Avx512)
    }

    /// Numbers of 32 bits that a panel of `words` words of weights takes.
    pub(super) fn weight_size(self, words: usize) -> usize {
        words * self.panel() * self.parts()
    }

    /// Numbers of 32 bits that a panel of `words` words of activations takes.
    pub(super) fn input_size(self, words: usize) -> usize {
        words * self.rows() * if self.widens() { 2 } else { self.parts() }
    }

    /// Where in a panel of weights the first part of `word` of `row` lies.
    pub(super) fn weight_at(self, word: usize, row: usize) -> usize {
        if self.by_tiles() {
            self.tile_at(word, row) + word % SIDE * SIDE + row % SIDE
        } else {
            word * self.panel() + row
        }
    }

    /// How far the parts of a word are apart.
    pub(super) fn part_step(self) -> usize {
        2 * TILE_WORDS
    }

    /// Where the tile of the first part of `word` of `row` begins.
    fn tile_at(self, word: usize, row: usize) -> usize {
        (word / SIDE * self.parts() * 2 + row / SIDE) * TILE_WORDS
    }

    /// The number at `second` of a word of weights whose parts `part` gives.
    pub(super) fn weight(self, second: bool, part: impl Fn(usize) -> u32) -> f32 {
        match self.per_word() {
            1 => f32::from_bits(part(0)),
            // The parts of an f32 add up to it exactly, from the largest on.
            _ => (0..self.parts()).map(|p| half(part(p), second)).sum(),
        }
    }

    /// Number `column` of `row` of a panel of activations.
    pub(super) fn activation(self, panel: &[u32], row: usize, column: usize) -> f32 {
        let (word, second) = (column / self.per_word(), column % self.per_word() == 1);
        if self.by_tiles() {
            let at = self.tile_at(word, row) + row % SIDE * SIDE + word % SIDE;
            self.weight(second, |part| panel[at + part * self.part_step()])
        } else if self.widens() {
            f32::from_bits(panel[column * self.rows() + row])
        } else {
            self.weight(second, |_| panel[word * self.rows() + row])
        }
    }
}

/// One number of a pair of bf16, as f32.
fn half(pair: u32, second: bool) -> f32 {
    f32::from_bits(if second { pair & 0xffff_0000 } else { pair << 16 })
}
