//! Softmax cross entropy over a head, forward and backward at once, for training.
//!
//! Shapes: hidden rows `x` `[N, E]`, head `W` `[V, E]`, targets `[N]`. Logits exist for [`LOGIT_ROWS`] rows at a time; the
//! backward uses them where they lie: `dlogits = (softmax - onehot) * weight`.

use super::lanes::{exp, max, sum, vectorised};
use crate::kernels::{View, product};
use crate::weights::Matrix;

/// Rows whose logits are held together.
pub const LOGIT_ROWS: usize = 256;

/// Sum of the negative log-likelihoods, in nats. Adds `weight * d(sum)/dW` to `dhead` and writes `weight * d(sum)/dx` to `dx`.
pub fn forward_backward(
    head: &Matrix,
    x: &[f32],
    targets: &[u32],
    weight: f32,
    dx: &mut [f32],
    dhead: &mut Matrix,
    logits: &mut Vec<f32>,
) -> f64 {
    let Matrix { rows: vocabulary, columns: width, data } = head;
    let mut total = 0.0;
    let blocks = x.chunks(LOGIT_ROWS * width).zip(dx.chunks_mut(LOGIT_ROWS * width));
    for ((x, dx), targets) in blocks.zip(targets.chunks(LOGIT_ROWS)) {
        let rows = targets.len();
        logits.resize(rows * vocabulary, 0.0);
        let (x, w) = (View::dense(x, rows, *width), View::dense(data, *vocabulary, *width));
        product(logits, *vocabulary, x, w.transposed(), false);
        total += rows_in_place(logits, *vocabulary, targets, weight);
        let dlogits = View::dense(logits, rows, *vocabulary);
        product(dx, *width, dlogits, w, false);
        product(&mut dhead.data, *width, dlogits.transposed(), x, true);
    }
    total
}

/// Logits become their gradient; returns the sum of the negative log-likelihoods.
fn rows_in_place(logits: &mut [f32], vocabulary: usize, targets: &[u32], weight: f32) -> f64 {
    vectorised(
        #[inline(always)]
        || {
            let mut total = 0.0;
            for (z, &target) in logits.chunks_exact_mut(vocabulary).zip(targets) {
                let top = max(z);
                let aimed = z[target as usize];
                z.iter_mut().for_each(
                    #[inline(always)]
                    |z| *z = exp(*z - top),
                );
                let mass = sum(z);
                total += f64::from(mass.ln() + top - aimed);
                let scale = weight / mass;
                z.iter_mut().for_each(|z| *z *= scale);
                z[target as usize] -= weight;
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
        let targets = [3_u32, 0, 10, 3];
        let loss = |x: &[f32], w: &[f32]| -> f64 {
            x.chunks(width)
                .zip(targets)
                .map(|(x, target)| {
                    let z: Vec<f64> = w
                        .chunks(width)
                        .map(|w| w.iter().zip(x).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum())
                        .collect();
                    z.iter().map(|z| z.exp()).sum::<f64>().ln() - z[target as usize]
                })
                .sum()
        };
        let (mut dx, mut dhead) = (vec![0.0; x.len()], Matrix::zeros(vocabulary, width));
        let total = forward_backward(&head, &x, &targets, 0.5, &mut dx, &mut dhead, &mut Vec::new());
        assert!((total - loss(&x, &head.data)).abs() < 1e-5);
        check_gradient("x", &x, &dx, |x| 0.5 * loss(x, &head.data));
        check_gradient("head", &head.data, &dhead.data, |w| 0.5 * loss(&x, w));
    }
}
