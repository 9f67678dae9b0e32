//! `y = x W^T + b`.
//!
//! Shapes: `x` `[N, I]`, `W` `[O, I]`, `b` `[O]`, `y` `[N, O]`.

use crate::kernels::{MIN_ROWS, View, product};
use crate::weights::{Linear, Matrix};
use rayon::prelude::*;

/// `y = x W^T + b` over all rows on this thread.
pub fn forward(linear: &Linear, x: &[f32], y: &mut [f32], rows: usize) {
    let Matrix { rows: outputs, columns: inputs, data } = &linear.weight;
    let (x, w) = (View::dense(x, rows, *inputs), View::dense(data, *outputs, *inputs));
    product(y, *outputs, x, w.transposed(), false);
    if let Some(bias) = &linear.bias {
        for y in y[..rows * outputs].chunks_exact_mut(*outputs) {
            y.iter_mut().zip(bias).for_each(|(y, b)| *y += b);
        }
    }
}

/// As [`forward`], rows split over threads.
///
/// The number of rows must be a multiple of [`ROW_BLOCK`] (pad with zeros), so that every thread's share is large
/// enough for its bits not to depend on the share's size.
pub fn forward_parallel(linear: &Linear, x: &[f32], y: &mut [f32], rows: usize) {
    debug_assert_eq!(rows % ROW_BLOCK, 0, "rows are not padded");
    let (inputs, outputs) = (linear.weight.columns, linear.weight.rows);
    let share = rows.div_ceil(rayon::current_num_threads()).next_multiple_of(ROW_BLOCK).max(ROW_BLOCK);
    y[..rows * outputs]
        .par_chunks_mut(share * outputs)
        .zip(x[..rows * inputs].par_chunks(share * inputs))
        .for_each(|(y, x)| forward(linear, x, y, x.len() / inputs));
}

/// Rows come in multiples of this where bits must not depend on their number.
pub const ROW_BLOCK: usize = 128;
const _: () = assert!(ROW_BLOCK >= MIN_ROWS);

/// Backward without bias: `dW += dy^T x`, `dx = dy W` (or `dx += dy W`).
pub fn backward(
    weight: &Matrix,
    x: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    add: bool,
    dweight: &mut Matrix,
    rows: usize,
) {
    let Matrix { rows: outputs, columns: inputs, data } = weight;
    let (x, dy) = (View::dense(x, rows, *inputs), View::dense(dy, rows, *outputs));
    product(dx, *inputs, dy, View::dense(data, *outputs, *inputs), add);
    product(&mut dweight.data, *inputs, dy.transposed(), x, true);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::{check_gradient, numbers};

    fn naive(w: &[f32], bias: Option<&[f32]>, x: &[f32], inputs: usize) -> Vec<f64> {
        let outputs = w.len() / inputs;
        let mut y = Vec::new();
        for x in x.chunks(inputs) {
            for o in 0..outputs {
                let row = &w[o * inputs..(o + 1) * inputs];
                let start = bias.map_or(0.0, |b| f64::from(b[o]));
                y.push(start + row.iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum::<f64>());
            }
        }
        y
    }

    #[test]
    fn forward_agrees_with_the_definition_on_one_and_many_threads() {
        let (inputs, outputs, rows) = (24, 10, 3 * ROW_BLOCK);
        let weight = Matrix { rows: outputs, columns: inputs, data: numbers(outputs * inputs, 1) };
        let linear = Linear { weight, bias: Some(numbers(outputs, 2)) };
        let x = numbers(rows * inputs, 3);
        let (mut one, mut many) = (vec![0.0; rows * outputs], vec![0.0; rows * outputs]);
        forward(&linear, &x, &mut one, rows);
        forward_parallel(&linear, &x, &mut many, rows);
        assert_eq!(one, many);
        for (a, b) in naive(&linear.weight.data, linear.bias.as_deref(), &x, inputs).iter().zip(&one) {
            assert!((a - f64::from(*b)).abs() < 1e-5);
        }
    }

    #[test]
    fn backward_agrees_with_finite_differences() {
        let (inputs, outputs, rows) = (5, 4, 3);
        let weight = Matrix { rows: outputs, columns: inputs, data: numbers(outputs * inputs, 1) };
        let (x, dy) = (numbers(rows * inputs, 2), numbers(rows * outputs, 3));
        let loss = |w: &[f32], x: &[f32]| -> f64 {
            naive(w, None, x, inputs).iter().zip(&dy).map(|(y, d)| y * f64::from(*d)).sum()
        };
        let (mut dx, mut dw) = (vec![0.0; x.len()], Matrix::zeros(outputs, inputs));
        backward(&weight, &x, &dy, &mut dx, false, &mut dw, rows);
        check_gradient("x", &x, &dx, |x| loss(&weight.data, x));
        check_gradient("weight", &weight.data, &dw.data, |w| loss(w, &x));
    }
}
