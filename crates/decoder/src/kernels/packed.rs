//! A weight matrix, laid out for products.

use std::convert::Infallible;
use std::ops::Range;

use half::bf16;
use half::slice::HalfBitsSliceExt;
use rayon::prelude::*;

use super::words::Words;
use super::{Dtype, Format, MIN_ROWS, rounded};
use crate::matrix::Matrix;

/// Outputs of a tile: six panels of 32 whose weights, with the block of the inner dimension, stay
/// in the second-level cache while all rows pass by. 96 and 256 do as well within noise, 1536 loses
/// 3 to 7 %.
pub const TILE: usize = 192;

/// Words of the inner dimension that are taken at once: a panel of activations then fits the
/// first-level cache.
pub(super) const BLOCK: usize = 512;

/// Rows of weights in a panel; on every path, so that layouts have one arithmetic.
pub(super) const PANEL: usize = 32;

/// Which output stands where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As in the matrix.
    Plain,
    /// The matrix is two halves, gate and up: each tile of [`TILE`] holds as many of the one as of
    /// the other, the gate's first, so that they meet while both are at hand.
    Gated,
    /// As in the matrix, which takes part in no product: only its rows are read
    /// ([`Packed::row_into`]).
    Table,
    /// As in the matrix; the products of some of its rows are also asked for alone
    /// ([`Packed::aimed`]), with the same bits.
    Head,
}

/// A weight matrix `[O, I]`, laid out once. The numbers of the matrix are nowhere else: drop it.
#[derive(Debug, Clone, PartialEq)]
pub struct Packed {
    pub(super) format: Format,
    pub(super) order: Order,
    /// `O`.
    pub(super) outputs: usize,
    /// `I`.
    pub(super) inputs: usize,
    store: Store,
    words: Words,
}

/// What the words of a matrix are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Store {
    /// `[tile][block of words][panel of the tile][word][row of the panel]`.
    Panels,
    /// `[place][input]`, in f32; places beyond the outputs are 0.
    Dense,
    /// `[row][input]`, bf16; tables only.
    Halves,
}

/// Fetches rows of a matrix, in f32 one after another.
type Rows<'a, E> = dyn Fn(Range<usize>, &mut [f32]) -> Result<(), E> + Sync + 'a;

impl Packed {
    /// Lays `matrix` out.
    ///
    /// # Panics
    /// As [`Packed::read`].
    pub fn new(matrix: &Matrix, format: Format, order: Order) -> Self {
        let columns = matrix.columns;
        let rows = |rows: Range<usize>, out: &mut [f32]| {
            out.copy_from_slice(&matrix.data[rows.start * columns..rows.end * columns]);
            Ok::<(), Infallible>(())
        };
        let Ok(packed) = Self::read(matrix.rows, columns, format, order, rows);
        packed
    }

    /// Lays out a matrix of `outputs` rows and `inputs` columns that need not be in memory: all
    /// threads ask `rows` for a panel of 32 rows (or fewer) at a time, in f32 one after another,
    /// which go to their places while they are in the cache.
    ///
    /// # Errors
    /// One of those of `rows`.
    ///
    /// # Panics
    /// [`Order::Gated`] with an odd number of rows.
    pub fn read<E: Send>(
        outputs: usize,
        inputs: usize,
        format: Format,
        order: Order,
        rows: impl Fn(Range<usize>, &mut [f32]) -> Result<(), E> + Sync,
    ) -> Result<Self, E> {
        assert!(
            order != Order::Gated || outputs.is_multiple_of(2),
            "gate and up have different sizes"
        );
        let store = match (order, format.dtype) {
            (Order::Table, Dtype::F32) => Store::Dense,
            (Order::Table, Dtype::Bf16) => Store::Halves,
            _ if format.by_hand => Store::Panels,
            _ => Store::Dense,
        };
        let mut packed = Self { format, order, outputs, inputs, store, words: Words::default() };
        packed.words = match store {
            Store::Panels => packed.panels(&rows)?,
            Store::Dense => packed.dense(&rows)?,
            Store::Halves => packed.halves(&rows)?,
        };
        Ok(packed)
    }

    /// `O`.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// `I`.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// In which numbers, by which kernels.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Bytes that the numbers take.
    pub fn bytes(&self) -> usize {
        size_of_val(self.words.as_slice())
    }

    /// Places of outputs, those that hold none included: a multiple of [`PANEL`] in panels.
    pub(super) fn places(&self) -> usize {
        match (self.order, self.store) {
            (Order::Gated, _) => (self.outputs / 2).div_ceil(TILE / 2) * TILE,
            (_, Store::Panels) => self.outputs.next_multiple_of(PANEL),
            (_, Store::Dense | Store::Halves) => self.outputs,
        }
    }

    /// Rows of the matrix that stand at the first of the [`PANEL`] places from `panel * PANEL` on;
    /// the others hold none.
    fn sources(&self, panel: usize) -> Range<usize> {
        const HALF_TILE: usize = TILE / 2;
        const _: () = assert!(HALF_TILE.is_multiple_of(PANEL), "a panel of gate and up");
        let place = panel * PANEL;
        match self.order {
            Order::Plain | Order::Table | Order::Head => {
                place.min(self.outputs)..(place + PANEL).min(self.outputs)
            }
            Order::Gated => {
                let half = self.outputs / 2;
                let (tile, within) = (place / TILE, place % TILE);
                let at = tile * HALF_TILE + within % HALF_TILE;
                let side = if within < HALF_TILE { 0 } else { half };
                side + at.min(half)..side + (at + PANEL).min(half)
            }
        }
    }

    fn dense<E: Send>(&self, rows: &Rows<'_, E>) -> Result<Words, E> {
        let mut places = self.places();
        if self.order == Order::Head && !places.is_multiple_of(TILE) && places % TILE < MIN_ROWS {
            // The last tile must be large enough for `gemm` to sum as it does in `aimed`.
            places += MIN_ROWS - places % TILE;
        }
        let mut words = Words::zeros(places * self.inputs);
        let numbers: &mut [f32] = bytemuck::cast_slice_mut(words.as_mut_slice());
        numbers.par_chunks_mut((PANEL * self.inputs).max(1)).enumerate().try_for_each(
            |(panel, out)| {
                let sources = self.sources(panel);
                let out = &mut out[..sources.len() * self.inputs];
                rows(sources, out)?;
                if self.format.dtype == Dtype::Bf16 {
                    out.iter_mut().for_each(|v| *v = rounded(*v));
                }
                Ok(())
            },
        )?;
        Ok(words)
    }

    fn halves<E: Send>(&self, rows: &Rows<'_, E>) -> Result<Words, E> {
        let count = self.outputs * self.inputs;
        let mut words = Words::zeros(count.div_ceil(2));
        let halves: &mut [u16] = bytemuck::cast_slice_mut(words.as_mut_slice());
        let panels = halves[..count].par_chunks_mut((PANEL * self.inputs).max(1)).enumerate();
        panels.try_for_each_init(Vec::new, |buffer, (panel, out)| {
            buffer.resize(out.len(), 0.0);
            rows(self.sources(panel), buffer)?;
            out.iter_mut().zip(&*buffer).for_each(|(out, v)| *out = bf16::from_f32(*v).to_bits());
            Ok(())
        })?;
        Ok(words)
    }

    #[cfg(target_arch = "x86_64")]
    fn panels<E: Send>(&self, rows: &Rows<'_, E>) -> Result<Words, E> {
        use super::avx512::{self, NR};
        const _: () = assert!(NR == PANEL);

        let words = self.format.words(self.inputs);
        let mut store = Words::zeros(self.places() * words);
        let pack = avx512::pack(self.format.dtype);
        let nothing: &[f32] = &[];
        let tiles = store.as_mut_slice().par_chunks_mut((TILE * words).max(1)).enumerate();
        tiles.try_for_each_init(Vec::new, |buffer, (tile, out)| {
            let count = out.len() / words / NR;
            for panel in 0..count {
                let sources = self.sources(tile * TILE / NR + panel);
                buffer.resize(sources.len() * self.inputs, 0.0);
                rows(sources, buffer)?;
                let rows: [&[f32]; NR] = std::array::from_fn(|row| {
                    buffer.get(row * self.inputs..(row + 1) * self.inputs).unwrap_or(nothing)
                });
                for first in (0..words).step_by(BLOCK) {
                    let taken = BLOCK.min(words - first);
                    let start = (first * count + panel * taken) * NR;
                    let out = &mut out[start..start + taken * NR];
                    // SAFETY: `Format` makes panels only where the processor has the features;
                    // `out` has the `taken * NR` words that are written.
                    unsafe { pack(&rows, NR, first, taken, out.as_mut_ptr()) };
                }
            }
            Ok(())
        })?;
        Ok(store)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn panels<E: Send>(&self, rows: &Rows<'_, E>) -> Result<Words, E> {
        self.dense(rows)
    }

    /// Where tile, block and panel begin in the words, and how many words of the block there are:
    /// those of panel `p` of the tile begin at `start + p * taken * PANEL`.
    pub(super) fn block(&self, tile: usize, block: usize) -> Block {
        let words = self.format.words(self.inputs);
        let panels = (self.places() - tile * TILE).min(TILE) / PANEL;
        let first = block * BLOCK;
        Block {
            start: tile * TILE * words + first * panels * PANEL,
            first,
            taken: BLOCK.min(words - first),
            panels,
        }
    }

    /// The words of all panels.
    pub(super) fn panel_words(&self) -> &[u32] {
        if self.store == Store::Panels { self.words.as_slice() } else { &[] }
    }

    /// The rows in f32, place by place.
    pub(super) fn dense_places(&self) -> &[f32] {
        if self.store == Store::Dense { bytemuck::cast_slice(self.words.as_slice()) } else { &[] }
    }

    /// Copies one row of the matrix into `out` `[I]`, in f32.
    ///
    /// # Panics
    /// When there is no such row, or the matrix is [`Order::Gated`].
    pub fn row_into(&self, row: usize, out: &mut [f32]) {
        assert!(row < self.outputs && self.order != Order::Gated, "no row {row} to be read");
        let words = self.words.as_slice();
        let there = row * self.inputs..(row + 1) * self.inputs;
        match self.store {
            Store::Dense => out.copy_from_slice(&self.dense_places()[there]),
            Store::Halves => {
                let halves: &[bf16] = bytemuck::cast_slice::<u32, u16>(words).reinterpret_cast();
                out.iter_mut().zip(&halves[there]).for_each(|(out, half)| *out = half.to_f32());
            }
            Store::Panels => {
                self.words_of(row, |at, place| {
                    let word = words[place];
                    match self.format.dtype {
                        Dtype::F32 => out[at] = f32::from_bits(word),
                        Dtype::Bf16 => {
                            out[2 * at] = f32::from_bits(word << 16);
                            if let Some(second) = out.get_mut(2 * at + 1) {
                                *second = f32::from_bits(word & 0xffff_0000);
                            }
                        }
                    }
                });
            }
        }
    }

    /// Calls `each` with the number of every word of a place and where it lies.
    pub(super) fn words_of(&self, place: usize, mut each: impl FnMut(usize, usize)) {
        let (tile, within) = (place / TILE, place % TILE);
        let words = self.format.words(self.inputs);
        for number in 0..words.div_ceil(BLOCK) {
            let block = self.block(tile, number);
            let start = block.start + within / PANEL * block.taken * PANEL + within % PANEL;
            for word in 0..block.taken {
                each(block.first + word, start + word * PANEL);
            }
        }
    }
}

/// One block of the inner dimension of one tile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// First word in the store.
    pub(super) start: usize,
    /// First word of the inner dimension.
    pub(super) first: usize,
    /// Words of the inner dimension.
    pub(super) taken: usize,
    /// Panels of the tile.
    pub(super) panels: usize,
}
