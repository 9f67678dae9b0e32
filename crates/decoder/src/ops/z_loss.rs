//! The z-loss: a pull of the softmax's normaliser towards 1, `sum over rows of (ln sum_v exp z[v])²` (Chowdhery et al. 2022).
//!
//! Shapes as in [`super::cross_entropy`]. Few runs use it, so it goes over the head by itself, after the cross entropy, and
//! costs nothing where it is off.

use super::cross_entropy::LOGIT_ROWS;
use super::lanes::{exp, max, sum, vectorised};
use crate::kernels::{View, product};
use crate::weights::Matrix;

/// The sum of the squared normalisers' logarithms. Adds `weight * d(sum)/dW` to `dhead` and `weight * d(sum)/dx` to `dx`:
/// `dlogits = 2 ln(sum) softmax weight`.
pub fn forward_backward(
    head: &Matrix,
    x: &[f32],
    weight: f32,
    dx: &mut [f32],
    dhead: &mut Matrix,
    logits: &mut Vec<f32>,
) -> f64 {
    let Matrix { rows: vocabulary, columns: width, data } = head;
    let mut total = 0.0;
    for (x, dx) in x.chunks(LOGIT_ROWS * width).zip(dx.chunks_mut(LOGIT_ROWS * width)) {
        let rows = x.len() / width;
        logits.resize(rows * vocabulary, 0.0);
        let (x, w) = (View::dense(x, rows, *width), View::dense(data, *vocabulary, *width));
        product(logits, *vocabulary, x, w.transposed(), false);
        total += rows_in_place(logits, *vocabulary, weight);
        let dlogits = View::dense(logits, rows, *vocabulary);
        product(dx, *width, dlogits, w, true);
        product(&mut dhead.data, *width, dlogits.transposed(), x, true);
    }
    total
}

/// Logits become their gradient; returns the sum of squares.
fn rows_in_place(logits: &mut [f32], vocabulary: usize, weight: f32) -> f64 {
    vectorised(
        #[inline(always)]
        || {
            let mut total = 0.0;
            for z in logits.chunks_exact_mut(vocabulary) {
                let top = max(z);
                z.iter_mut().for_each(
                    #[inline(always)]
                    |z| *z = exp(*z - top),
                );
                let mass = sum(z);
                let normaliser = mass.ln() + top;
                total += f64::from(normaliser).powi(2);
                let scale = 2.0 * normaliser * weight / mass;
                z.iter_mut().for_each(|z| *z *= scale);
            }
            total
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::{check_gradient, numbers};

    #[test]
    fn value_and_gradient_agree_with_the_definition() {
        let (rows, width, vocabulary) = (4, 5, 11);
        let head = Matrix { rows: vocabulary, columns: width, data: numbers(vocabulary * width, 1) };
        let x = numbers(rows * width, 2);
        let loss = |x: &[f32], w: &[f32]| -> f64 {
            x.chunks(width)
                .map(|x| {
                    let z = |w: &[f32]| -> f64 {
                        w.iter().zip(x).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
                    };
                    w.chunks(width).map(|w| z(w).exp()).sum::<f64>().ln().powi(2)
                })
                .sum()
        };
        // What stands in the gradients stays there.
        let (mut dx, mut dhead) = (vec![1.0; x.len()], Matrix::zeros(vocabulary, width));
        let total = forward_backward(&head, &x, 0.5, &mut dx, &mut dhead, &mut Vec::new());
        assert!((total - loss(&x, &head.data)).abs() < 1e-4);
        dx.iter_mut().for_each(|d| *d -= 1.0);
        check_gradient("x", &x, &dx, |x| 0.5 * loss(x, &head.data));
        check_gradient("head", &head.data, &dhead.data, |w| 0.5 * loss(&x, w));
    }
}
