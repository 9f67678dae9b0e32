//! A weight matrix, laid out for products.

use std::convert::Infallible;
use std::ops::Range;

use half::bf16;
use half::slice::HalfBitsSliceExt;
use rayon::prelude::*;

use super::words::Words;
use super::{Dtype, Format, MIN_ROWS, rounded};
use crate::matrix::Matrix;

/// Outputs of a tile: panels whose weights, with the block of the inner dimension, stay in the
/// second-level cache while all rows pass by. 96 and 256 do as well within noise, 1536 loses 3 to 7
/// %.
pub const TILE: usize = 192;

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
    /// `[tile][block of words][panel of the tile]`, and in a panel as `shape` says.
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
    /// threads ask `rows` for a panel of rows (32 or fewer) at a time, in f32 one after another,
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
            _ if format.by_hand() => Store::Panels,
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

    /// Places of outputs, those that hold none included: whole panels where there are panels.
    pub(super) fn places(&self) -> usize {
        match (self.order, self.store) {
            (Order::Gated, _) => (self.outputs / 2).div_ceil(TILE / 2) * TILE,
            (_, Store::Panels) => self.outputs.next_multiple_of(self.format.panel()),
            (_, Store::Dense | Store::Halves) => self.outputs,
        }
    }

    /// Rows of the matrix that stand at the first places of a panel; the others hold none.
    fn sources(&self, panel: usize) -> Range<usize> {
        const HALF_TILE: usize = TILE / 2;
        let size = self.format.panel();
        debug_assert!(HALF_TILE.is_multiple_of(size), "a panel of gate and up");
        let place = panel * size;
        match self.order {
            Order::Plain | Order::Table | Order::Head => {
                place.min(self.outputs)..(place + size).min(self.outputs)
            }
            Order::Gated => {
                let half = self.outputs / 2;
                let (tile, within) = (place / TILE, place % TILE);
                let at = tile * HALF_TILE + within % HALF_TILE;
                let side = if within < HALF_TILE { 0 } else { half };
                side + at.min(half)..side + (at + size).min(half)
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
        numbers
            .par_chunks_mut((self.format.panel() * self.inputs).max(1))
            .enumerate()
            .try_for_each(|(panel, out)| {
                let sources = self.sources(panel);
                let out = &mut out[..sources.len() * self.inputs];
                rows(sources, out)?;
                if self.format.dtype == Dtype::Bf16 {
                    out.iter_mut().for_each(|v| *v = rounded(*v));
                }
                Ok(())
            })?;
        Ok(words)
    }

    fn halves<E: Send>(&self, rows: &Rows<'_, E>) -> Result<Words, E> {
        let count = self.outputs * self.inputs;
        let mut words = Words::zeros(count.div_ceil(2));
        let halves: &mut [u16] = bytemuck::cast_slice_mut(words.as_mut_slice());
        let panels =
            halves[..count].par_chunks_mut((self.format.panel() * self.inputs).max(1)).enumerate();
        panels.try_for_each_init(Vec::new, |buffer, (panel, out)| {
            buffer.resize(out.len(), 0.0);
            rows(self.sources(panel), buffer)?;
            out.iter_mut().zip(&*buffer).for_each(|(out, v)| *out = bf16::from_f32(*v).to_bits());
            Ok(())
        })?;
        Ok(words)
    }

    fn panels<E: Send>(&self, rows: &Rows<'_, E>) -> Result<Words, E> {
        let format = self.format;
        let (size, words) = (format.panel(), format.words(self.inputs));
        let mut store = Words::zeros(self.places() / size * format.weight_size(words));
        let pack = format.pack_weights();
        let tile_size = TILE / size * format.weight_size(words);
        let tiles = store.as_mut_slice().par_chunks_mut(tile_size.max(1)).enumerate();
        tiles.try_for_each_init(Vec::new, |buffer, (tile, out)| {
            let count = out.len() / format.weight_size(words);
            for panel in 0..count {
                let sources = self.sources(tile * (TILE / size) + panel);
                buffer.resize(sources.len() * self.inputs, 0.0);
                rows(sources, buffer)?;
                let rows: Vec<&[f32]> = buffer.chunks_exact(self.inputs.max(1)).collect();
                for first in (0..words).step_by(format.block()) {
                    let taken = format.block().min(words - first);
                    let start =
                        count * format.weight_size(first) + panel * format.weight_size(taken);
                    let out = &mut out[start..start + format.weight_size(taken)];
                    // SAFETY: `Format` makes panels only where the processor has what they need.
                    unsafe { pack(&rows, first, taken, out) };
                }
            }
            Ok(())
        })?;
        Ok(store)
    }

    /// Where block and tile begin in the words, and how many words of the block there are; the
    /// panels of the tile lie one after another.
    pub(super) fn block(&self, tile: usize, block: usize) -> Block {
        let format = self.format;
        let words = format.words(self.inputs);
        let panels = (self.places() - tile * TILE).min(TILE) / format.panel();
        let first = block * format.block();
        let taken = format.block().min(words - first);
        Block {
            start: tile * (TILE / format.panel()) * format.weight_size(words)
                + panels * format.weight_size(first),
            first,
            taken,
            panels,
            size: format.weight_size(taken),
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
                let (per_word, format) = (self.format.per_word(), self.format);
                for number in 0..format.words(self.inputs).div_ceil(format.block()) {
                    let block = self.block(row / TILE, number);
                    for word in 0..block.taken {
                        let place = block.place(format, row % TILE, word);
                        let numbers = out.iter_mut().skip((block.first + word) * per_word);
                        for (number, second) in numbers.zip([false, true]).take(per_word) {
                            *number = format
                                .weight(second, |part| words[place + part * format.part_step()]);
                        }
                    }
                }
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
    /// Numbers of 32 bits from one panel to the next.
    pub(super) size: usize,
}

impl Block {
    /// Where in the store the first part of a word, counted from the first of the block, of an
    /// output, counted from the first of the tile, lies.
    pub(super) fn place(&self, format: Format, output: usize, word: usize) -> usize {
        let panel = format.panel();
        self.start + output / panel * self.size + format.weight_at(word, output % panel)
    }
}
