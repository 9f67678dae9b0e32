//! A matrix of plain f32.

/// A matrix `[rows, columns]`, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Outputs.
    pub rows: usize,
    /// Inputs.
    pub columns: usize,
    /// `rows * columns` numbers.
    pub data: Vec<f32>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, data: vec![0.0; rows * columns] }
    }

    /// One row.
    ///
    /// # Panics
    /// When `row` is not below `rows`.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.data[row * self.columns..(row + 1) * self.columns]
    }
}
