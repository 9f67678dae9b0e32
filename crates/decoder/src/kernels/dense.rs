//! Matrix products. The only unsafe code of the workspace stands here, behind checked views.
//!
//! The product itself is the `gemm` crate's (AVX-512, AVX2, NEON, chosen at run time), on one
//! thread: callers split rows over threads themselves, so that a row's bits never depend on how
//! many threads there are.
//!
//! A row's bits do not depend on the number of rows either, as long as there are at least
//! [`MIN_ROWS`]: below that the crate switches to other kernels, which sum in another order.
//! Callers pad to it (see `ops::linear`).
#![allow(unsafe_code)]

/// Fewest rows (and columns) of a product whose bits must not depend on its size; see the module's
/// text.
pub const MIN_ROWS: usize = 80;

/// A read-only matrix over a slice, with any strides.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> View<'a> {
    /// Rows of `columns` numbers each, `row_stride` apart.
    ///
    /// # Panics
    /// When the slice is too short for that.
    pub fn rows(data: &'a [f32], rows: usize, columns: usize, row_stride: usize) -> Self {
        let view = Self { data, rows, columns, row_stride, column_stride: 1 };
        assert!(view.extent() <= data.len(), "view of {rows} x {columns} exceeds its slice");
        view
    }

    /// Rows of `columns` numbers each, without gaps.
    ///
    /// # Panics
    /// When the slice is too short for that.
    pub fn dense(data: &'a [f32], rows: usize, columns: usize) -> Self {
        Self::rows(data, rows, columns, columns)
    }

    /// The transposed matrix; nothing moves.
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    fn extent(&self) -> usize {
        extent(self.rows, self.columns, self.row_stride, self.column_stride)
    }
}

/// Numbers that a strided matrix spans in its slice.
fn extent(rows: usize, columns: usize, row_stride: usize, column_stride: usize) -> usize {
    match (rows, columns) {
        (0, _) | (_, 0) => 0,
        _ => (rows - 1)
            .checked_mul(row_stride)
            .zip((columns - 1).checked_mul(column_stride))
            .and_then(|(down, across)| down.checked_add(across)?.checked_add(1))
            .unwrap_or(usize::MAX),
    }
}

/// `out = a b` (or `out += a b`), `out` `[a.rows, b.columns]` with rows `row_stride` apart.
///
/// # Panics
/// When the inner sizes differ or a slice is too short.
pub fn product(out: &mut [f32], row_stride: usize, a: View<'_>, b: View<'_>, add: bool) {
    assert_eq!(a.columns, b.rows, "inner sizes of a product differ");
    let (m, n, k) = (a.rows, b.columns, a.columns);
    assert!(n <= row_stride || m <= 1, "rows of a product's result overlap");
    assert!(extent(m, n, row_stride, 1) <= out.len(), "result of {m} x {n} exceeds its slice");
    if m == 0 || n == 0 {
        return;
    }
    // The kernels want a result whose columns are contiguous: with contiguous rows, the product of
    // the transposes, which is what the `gemm` crate does before it looks for the type of the
    // elements.
    let out = out.as_mut_ptr();
    let (a, b) = (Operand::from_view(a), Operand::from_view(b));
    let (rows, columns, lhs, rhs, steps) = match row_stride {
        0 | 1 => (m, n, a, b, (row_stride as isize, 1)),
        _ => (n, m, b.transposed(), a.transposed(), (1, row_stride as isize)),
    };
    // SAFETY: the kernel touches `out[i * row_stride + j]`, `a[i, l]` and `b[l, j]` for i < m, j <
    // n, l < k and nothing else. The extents of all three were checked against their slices (here
    // and when the views were made; strides below 2^63 by `extent`), `out` is borrowed mutably so
    // it aliases neither input, and its elements are distinct since n <= row_stride.
    unsafe {
        gemm_f32::gemm::f32::get_gemm_fn()(
            rows,
            columns,
            k,
            out,
            steps.1,
            steps.0,
            add,
            lhs.data,
            lhs.column_stride,
            lhs.row_stride,
            rhs.data,
            rhs.column_stride,
            rhs.row_stride,
            1.0,
            1.0,
            false,
            false,
            false,
            gemm_common::Parallelism::None,
        );
    }
}

/// A matrix as the kernels take it.
#[derive(Clone, Copy)]
struct Operand {
    data: *const f32,
    row_stride: isize,
    column_stride: isize,
}

impl Operand {
    fn from_view(view: View<'_>) -> Self {
        Self {
            data: view.data.as_ptr(),
            row_stride: view.row_stride as isize,
            column_stride: view.column_stride as isize,
        }
    }

    fn transposed(self) -> Self {
        Self { row_stride: self.column_stride, column_stride: self.row_stride, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(len: usize, seed: u32) -> Vec<f32> {
        let mut state = seed.wrapping_mul(2_654_435_761) | 1;
        std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as f32 / u32::MAX as f32 - 0.5
        })
        .take(len)
        .collect()
    }

    proptest! {
        #[test]
        fn product_agrees_with_the_definition(m in 1usize..40, n in 1usize..40, k in 0usize..40, add: bool, ta: bool, tb: bool) {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            let va = if ta { View::dense(&a, k, m).transposed() } else { View::dense(&a, m, k) };
            let vb = if tb { View::dense(&b, n, k).transposed() } else { View::dense(&b, k, n) };
            let mut out = numbers(m * (n + 3), 3);
            let before = out.clone();
            product(&mut out, n + 3, va, vb, add);
            for i in 0..m {
                for j in 0..n + 3 {
                    let old = before[i * (n + 3) + j];
                    let want = if j >= n { f64::from(old) } else {
                        let start = if add { f64::from(old) } else { 0.0 };
                        start + (0..k).map(|l| {
                            let x = if ta { a[l * m + i] } else { a[i * k + l] };
                            let y = if tb { b[j * k + l] } else { b[l * n + j] };
                            f64::from(x) * f64::from(y)
                        }).sum::<f64>()
                    };
                    prop_assert!((f64::from(out[i * (n + 3) + j]) - want).abs() < 1e-5);
                }
            }
        }
    }

    /// What the batch invariance of the forward pass and the rank head stand on: an element is one
    /// chain of additions that depends on its row, its column and k alone.
    #[test]
    fn bits_depend_on_neither_neighbours_nor_place() {
        for k in [16, 64, 96, 192, 768, 1500, 3072] {
            let (a, b) = (numbers(400 * k, 5), numbers(700 * k, 6));
            let mut whole = vec![0.0; 400 * 700];
            product(
                &mut whole,
                700,
                View::dense(&a, 400, k),
                View::dense(&b, 700, k).transposed(),
                false,
            );
            for (row, column, m, n) in
                [(0, 0, 80, 80), (37, 11, 80, 128), (100, 300, 300, 81), (319, 619, 81, 81)]
            {
                let mut part = vec![0.0; m * n];
                let (va, vb) =
                    (View::dense(&a[row * k..], m, k), View::dense(&b[column * k..], n, k));
                product(&mut part, n, va, vb.transposed(), false);
                for i in 0..m {
                    for j in 0..n {
                        let (x, y) = (part[i * n + j], whole[(row + i) * 700 + column + j]);
                        assert_eq!(x.to_bits(), y.to_bits(), "k {k}, row {i}, column {j}");
                    }
                }
            }
        }
    }
}
