//! `y = x W^T + b`.
//!
//! Shapes: `x` `[N, I]`, `W` `[O, I]`, `b` `[O]`, `y` `[N, O]`.

use crate::kernels::{Input, Packed, View, product};
use crate::lanes::vectorised;
use crate::weights::{Linear, Matrix};

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

/// `y = x W^T + b`, tiles over threads; `y` `[N, O]`.
pub fn write(linear: &Linear<Packed>, x: &Input, y: &mut [f32]) {
    linear.weight.multiply(x, y, |first, sums, y| biased(linear, first, sums, y));
}

/// As [`write()`], head by head: see [`Packed::multiply_heads`].
pub fn write_heads(linear: &Linear<Packed>, x: &Input, lengths: &[usize], d: usize, y: &mut [f32]) {
    linear.weight.multiply_heads(x, lengths, d, y, |first, sums| {
        if let Some(bias) = &linear.bias {
            vectorised(
                #[inline(always)]
                || sums.iter_mut().zip(&bias[first..]).for_each(|(s, b)| *s += b),
            );
        }
    });
}

/// Outputs `first..` of one row.
fn biased(linear: &Linear<Packed>, first: usize, sums: &[f32], y: &mut [f32]) {
    match &linear.bias {
        None => y.copy_from_slice(sums),
        Some(bias) => vectorised(
            #[inline(always)]
            || y.iter_mut().zip(sums).zip(&bias[first..]).for_each(|((y, s), b)| *y = s + b),
        ),
    }
}

/// `y += scale (x W^T + b)`, tiles over threads; `y` `[N, O]`.
pub fn add(linear: &Linear<Packed>, x: &Input, scale: f32, y: &mut [f32]) {
    linear.weight.multiply(x, y, |first, sums, y| {
        vectorised(
            #[inline(always)]
            || match &linear.bias {
                // Nothing is multiplied where there is no factor.
                None if scale != 1.0 => y.iter_mut().zip(&*sums).for_each(|(y, s)| *y += scale * s),
                Some(bias) if scale != 1.0 => y
                    .iter_mut()
                    .zip(&*sums)
                    .zip(&bias[first..])
                    .for_each(|((y, s), b)| *y += scale * (s + b)),
                None => y.iter_mut().zip(&*sums).for_each(|(y, s)| *y += s),
                Some(bias) => {
                    y.iter_mut().zip(&*sums).zip(&bias[first..]).for_each(|((y, s), b)| *y += s + b)
                }
            },
        );
    });
}

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
    use crate::kernels::{Dtype, Format, Order};
    use relscale_testkit::numbers::{check_gradient, numbers};

    fn naive(w: &[f32], bias: Option<&[f32]>, x: &[f32], inputs: usize) -> Vec<f64> {
        let outputs = w.len() / inputs;
        let mut y = Vec::new();
        for x in x.chunks(inputs) {
            for o in 0..outputs {
                let row = &w[o * inputs..(o + 1) * inputs];
                let start = bias.map_or(0.0, |b| f64::from(b[o]));
                y.push(
                    start
                        + row
                            .iter()
                            .zip(x)
                            .map(|(w, x)| f64::from(*w) * f64::from(*x))
                            .sum::<f64>(),
                );
            }
        }
        y
    }

    #[test]
    fn forms_agree_with_the_definition() {
        let (inputs, outputs, rows) = (24, 10, 37);
        let weight = Matrix { rows: outputs, columns: inputs, data: numbers(outputs * inputs, 1) };
        let x = numbers(rows * inputs, 3);
        for bias in [None, Some(numbers(outputs, 2))] {
            let linear = Linear { weight: weight.clone(), bias };
            let want = naive(&weight.data, linear.bias.as_deref(), &x, inputs);
            let mut plain = vec![0.0; rows * outputs];
            forward(&linear, &x, &mut plain, rows);
            for format in Format::all(Dtype::F32) {
                let weight = Packed::new(&weight, format, Order::Plain);
                let linear = Linear { weight, bias: linear.bias.clone() };
                let mut input = Input::new(format);
                input.fill(rows, inputs, |i, out| {
                    out.copy_from_slice(&x[i * inputs..(i + 1) * inputs])
                });
                let (mut written, mut added) =
                    (vec![f32::NAN; plain.len()], vec![1.0; plain.len()]);
                let mut halved = added.clone();
                write(&linear, &input, &mut written);
                add(&linear, &input, 1.0, &mut added);
                add(&linear, &input, 0.5, &mut halved);
                for ((((plain, written), added), halved), want) in
                    plain.iter().zip(&written).zip(&added).zip(&halved).zip(&want)
                {
                    for got in [*plain, *written, added - 1.0, 2.0 * (halved - 1.0)] {
                        assert!((want - f64::from(got)).abs() < 1e-5);
                    }
                }
            }
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
