//! A weight matrix, laid out for products.

use super::words::Words;
use super::{Dtype, Format, MIN_ROWS, rounded};
use crate::weights::Matrix;

/// Outputs of a tile: six panels of 32 whose weights, with the block of the inner dimension, stay in the second-level
/// cache while all rows pass by. 96 and 256 do as well within noise, 1536 loses 3 to 7 %.
pub const TILE: usize = 192;

/// Words of the inner dimension that are taken at once: a panel of activations then fits the first-level cache.
pub(super) const BLOCK: usize = 512;

/// Rows of weights in a panel; on every path, so that layouts have one arithmetic.
pub(super) const PANEL: usize = 32;

/// Which output stands where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As in the matrix.
    Plain,
    /// The matrix is two halves, gate and up: each tile of [`TILE`] holds as many of the one as of the other, the
    /// gate's first, so that they meet while both are at hand.
    Gated,
    /// As in the matrix, which takes part in no product: only its rows are read ([`Packed::row_into`]).
    Table,
    /// As in the matrix; the products of some of its rows are also asked for alone ([`Packed::aimed`]), with the same bits.
    Head,
}

/// A weight matrix `[O, I]`, laid out once. The numbers of the matrix are nowhere else: drop it.
#[derive(Debug, Clone)]
pub struct Packed {
    pub(super) format: Format,
    pub(super) order: Order,
    /// `O`.
    pub(super) outputs: usize,
    /// `I`.
    pub(super) inputs: usize,
    pub(super) store: Store,
}

/// Where the numbers lie.
#[derive(Debug, Clone)]
pub(super) enum Store {
    /// `[tile][block of words][panel of the tile][word][row of the panel]`.
    Panels(Words),
    /// `[place][input]`, in f32; places beyond the outputs are 0.
    Dense(Vec<f32>),
    /// `[row][input]`, bf16; tables only.
    Halves(Vec<half::bf16>),
}

impl Packed {
    /// Lays `matrix` out.
    ///
    /// # Panics
    /// [`Order::Gated`] with an odd number of rows.
    pub fn new(matrix: &Matrix, format: Format, order: Order) -> Self {
        assert!(order != Order::Gated || matrix.rows.is_multiple_of(2), "gate and up have different sizes");
        let mut packed = Self {
            format,
            order,
            outputs: matrix.rows,
            inputs: matrix.columns,
            store: Store::Dense(Vec::new()),
        };
        packed.store = match (order, format.dtype) {
            (Order::Table, Dtype::F32) => Store::Dense(matrix.data.clone()),
            (Order::Table, Dtype::Bf16) => {
                Store::Halves(matrix.data.iter().map(|v| half::bf16::from_f32(*v)).collect())
            }
            _ if format.by_hand => packed.panels(matrix),
            _ => packed.dense(matrix),
        };
        packed
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
        match &self.store {
            Store::Panels(words) => 4 * words.as_slice().len(),
            Store::Dense(data) => 4 * data.len(),
            Store::Halves(data) => 2 * data.len(),
        }
    }

    /// Places of outputs, those that hold none included: a multiple of [`PANEL`] in panels.
    pub(super) fn places(&self) -> usize {
        match (self.order, &self.store) {
            (Order::Gated, _) => (self.outputs / 2).div_ceil(TILE / 2) * TILE,
            (_, Store::Panels(_)) => self.outputs.next_multiple_of(PANEL),
            (_, Store::Dense(_) | Store::Halves(_)) => self.outputs,
        }
    }

    /// Row of the matrix that stands at `place`.
    fn source(&self, place: usize) -> Option<usize> {
        match self.order {
            Order::Plain | Order::Table | Order::Head => (place < self.outputs).then_some(place),
            Order::Gated => {
                let half = self.outputs / 2;
                let (tile, within) = (place / TILE, place % TILE);
                let at = tile * (TILE / 2) + within % (TILE / 2);
                (at < half).then_some(if within < TILE / 2 { at } else { half + at })
            }
        }
    }

    fn dense(&self, matrix: &Matrix) -> Store {
        let mut places = self.places();
        if self.order == Order::Head && !places.is_multiple_of(TILE) && places % TILE < MIN_ROWS {
            // The last tile must be large enough for `gemm` to sum as it does in `aimed`.
            places += MIN_ROWS - places % TILE;
        }
        let mut data = vec![0.0; places * self.inputs];
        for (place, row) in data.chunks_exact_mut(self.inputs.max(1)).enumerate() {
            if let Some(source) = self.source(place) {
                row.copy_from_slice(matrix.row(source));
                if self.format.dtype == Dtype::Bf16 {
                    row.iter_mut().for_each(|v| *v = rounded(*v));
                }
            }
        }
        Store::Dense(data)
    }

    #[cfg(target_arch = "x86_64")]
    fn panels(&self, matrix: &Matrix) -> Store {
        use super::avx512::{self, NR};
        use rayon::prelude::*;
        const _: () = assert!(NR == PANEL);

        let places = match self.order {
            Order::Gated => (self.outputs / 2).div_ceil(TILE / 2) * TILE,
            _ => self.outputs.next_multiple_of(PANEL),
        };
        let words = self.format.words(self.inputs);
        let mut store = Words::zeros(places * words);
        let pack = avx512::pack(self.format.dtype);
        let nothing: &[f32] = &[];
        let tiles = store.as_mut_slice().par_chunks_mut((TILE * words).max(1));
        tiles.enumerate().for_each(|(tile, out)| {
            let count = out.len() / words / NR;
            for (block, first) in (0..words).step_by(BLOCK).enumerate() {
                let taken = BLOCK.min(words - first);
                for panel in 0..count {
                    let rows: [&[f32]; NR] = std::array::from_fn(|row| {
                        self.source(tile * TILE + panel * NR + row).map_or(nothing, |row| matrix.row(row))
                    });
                    let start = (block * BLOCK * count + panel * taken) * NR;
                    let out = &mut out[start..start + taken * NR];
                    // SAFETY: `Format` makes panels only where the processor has the features; `out` has the
                    // `taken * NR` words that are written.
                    unsafe { pack(&rows, NR, first, taken, out.as_mut_ptr()) };
                }
            }
        });
        Store::Panels(store)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn panels(&self, matrix: &Matrix) -> Store {
        self.dense(matrix)
    }

    /// Where tile, block and panel begin in the words, and how many words of the block there are: those of
    /// panel `p` of the tile begin at `start + p * taken * PANEL`.
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
        match &self.store {
            Store::Panels(words) => words.as_slice(),
            Store::Dense(_) | Store::Halves(_) => &[],
        }
    }

    /// The rows in f32, place by place.
    pub(super) fn dense_places(&self) -> &[f32] {
        match &self.store {
            Store::Panels(_) | Store::Halves(_) => &[],
            Store::Dense(data) => data,
        }
    }

    /// Copies one row of the matrix into `out` `[I]`, in f32.
    ///
    /// # Panics
    /// When there is no such row, or the matrix is [`Order::Gated`].
    pub fn row_into(&self, row: usize, out: &mut [f32]) {
        assert!(row < self.outputs && self.order != Order::Gated, "no row {row} to be read");
        match &self.store {
            Store::Dense(data) => out.copy_from_slice(&data[row * self.inputs..(row + 1) * self.inputs]),
            Store::Halves(data) => {
                let row = &data[row * self.inputs..(row + 1) * self.inputs];
                out.iter_mut().zip(row).for_each(|(out, half)| *out = half.to_f32());
            }
            Store::Panels(words) => {
                let words = words.as_slice();
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
