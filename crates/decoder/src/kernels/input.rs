//! Activations, laid out for a product.

use super::shape::SIDE;
use super::words::Words;
use super::{Dtype, Format, MIN_ROWS, rounded};
use rayon::prelude::*;

/// Panels that are filled in one go.
const PORTION: usize = 4;

/// Rows of activations `[N, I]` for products with a [`Packed`](super::Packed) of the same format. A
/// buffer: fill it again and again.
#[derive(Debug, Clone)]
pub struct Input {
    format: Format,
    rows: usize,
    columns: usize,
    store: Store,
}

/// Where the numbers lie.
#[derive(Debug, Clone)]
enum Store {
    /// Panel after panel, each as `shape` says; rows beyond the last are 0.
    Panels(Words),
    /// `[N, I]`, padded with zeros to at least [`MIN_ROWS`] rows in each portion that is
    /// multiplied.
    Dense(Vec<f32>),
}

impl Input {
    /// Nothing yet.
    pub fn new(format: Format) -> Self {
        let store = if format.by_hand() {
            Store::Panels(Words::default())
        } else {
            Store::Dense(Vec::new())
        };
        Self { format, rows: 0, columns: 0, store }
    }

    /// In which numbers, for which kernels.
    pub fn format(&self) -> Format {
        self.format
    }

    /// `N`.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// `I`.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Panels of rows.
    pub(super) fn panels(&self) -> usize {
        self.rows.div_ceil(self.format.rows())
    }

    /// The words of all panels; empty on the portable path.
    pub(super) fn words(&self) -> &[u32] {
        match &self.store {
            Store::Panels(words) => words.as_slice(),
            Store::Dense(_) => &[],
        }
    }

    /// The rows in f32, padded; empty where there are panels.
    pub(super) fn dense(&self) -> &[f32] {
        match &self.store {
            Store::Panels(_) => &[],
            Store::Dense(data) => data,
        }
    }

    pub(super) fn words_mut(&mut self) -> &mut [u32] {
        match &mut self.store {
            Store::Panels(words) => words.as_mut_slice(),
            Store::Dense(_) => &mut [],
        }
    }

    pub(super) fn dense_mut(&mut self) -> &mut [f32] {
        match &mut self.store {
            Store::Panels(_) => &mut [],
            Store::Dense(data) => data,
        }
    }

    /// Takes the shape; the numbers are left open.
    pub(super) fn shape(&mut self, rows: usize, columns: usize) {
        (self.rows, self.columns) = (rows, columns);
        let panels = self.panels();
        match &mut self.store {
            Store::Panels(words) => {
                words.resize(panels * self.format.input_size(self.format.words(columns)));
            }
            Store::Dense(data) => {
                // Portions are whole panels, and the last may need to be padded to the least that
                // `gemm` sums alike.
                let padded = (panels * self.format.rows()).max(1) + MIN_ROWS;
                data.truncate(rows * columns);
                data.resize(rows * columns, 0.0);
                data.resize(padded * columns, 0.0);
                data[rows * columns..].fill(0.0);
            }
        }
    }

    /// The numbers read back, `[N, I]` in f32, as the format keeps them. For tests and tools:
    /// products need no such copy.
    pub fn numbers(&self) -> Vec<f32> {
        let (rows, columns) = (self.rows, self.columns);
        match &self.store {
            Store::Dense(data) => data[..rows * columns].to_vec(),
            Store::Panels(words) => {
                let (format, height) = (self.format, self.format.rows());
                let size = format.input_size(format.words(columns));
                let panels = words.as_slice().chunks_exact(size.max(1));
                let number = |row: usize, column: usize| {
                    let panel = panels.clone().nth(row / height).unwrap_or_default();
                    format.activation(panel, row % height, column)
                };
                (0..rows)
                    .flat_map(|row| (0..columns).map(move |column| (row, column)))
                    .map(|(row, column)| number(row, column))
                    .collect()
            }
        }
    }

    /// Fills the buffer with `rows` rows of `columns` numbers: `row(i, out)` writes row `i`.
    pub fn fill(&mut self, rows: usize, columns: usize, row: impl Fn(usize, &mut [f32]) + Sync) {
        self.shape(rows, columns);
        if columns == 0 {
            return;
        }
        match &mut self.store {
            Store::Dense(data) => {
                let bf16 = self.format.dtype == Dtype::Bf16;
                data[..rows * columns].par_chunks_exact_mut(columns).enumerate().for_each(
                    |(i, out)| {
                        row(i, out);
                        if bf16 {
                            out.iter_mut().for_each(|v| *v = rounded(*v));
                        }
                    },
                );
            }
            Store::Panels(words) => {
                let (format, height) = (self.format, self.format.rows());
                let size = format.input_size(format.words(columns));
                words.as_mut_slice().par_chunks_mut(PORTION * size).enumerate().for_each_init(
                    || vec![0.0; height * columns],
                    |buffer, (portion, out)| {
                        for (panel, out) in out.chunks_exact_mut(size).enumerate() {
                            let first = (portion * PORTION + panel) * height;
                            let count = height.min(rows - first);
                            for (i, line) in
                                buffer.chunks_exact_mut(columns).enumerate().take(count)
                            {
                                row(first + i, line);
                            }
                            pack(format, &buffer[..count * columns], columns, columns, out);
                        }
                    },
                );
            }
        }
    }
}

/// One panel from some rows that lie `stride` apart, `columns` numbers of each.
pub(super) fn pack(format: Format, rows: &[f32], stride: usize, columns: usize, out: &mut [u32]) {
    let words = format.words(columns);
    assert!(format.by_hand() && out.len() >= format.input_size(words), "no room for a panel");
    // The most rows that a panel has.
    let mut lines: [&[f32]; 2 * SIDE] = [&[]; 2 * SIDE];
    let mut count = 0;
    for (line, row) in lines.iter_mut().zip(rows.chunks(stride)) {
        *line = &row[..columns];
        count += 1;
    }
    // SAFETY: the format says that the processor has what the kernels need.
    unsafe { (format.pack_input())(&lines[..count], 0, words, out) };
}
