//! LayerNorm and RMSNorm over the channels of each row.
//!
//! Shapes: `x`, `y` `[N, C]`; gain and bias `[C]`. LayerNorm:
//! `y = (x - mean) / sqrt(var + eps) * gain + bias` (Ba et al. 2016); RMSNorm:
//! `y = x / sqrt(mean(x²) + eps) * gain` (Zhang & Sennrich 2019).

use crate::lanes::{dot, sum, vectorised};
use crate::spec::NormKind;
use crate::weights::NormWeights;

/// Normalises each row of `x` into `y`.
pub fn forward(
    kind: NormKind,
    epsilon: f32,
    weights: &NormWeights,
    x: &[f32],
    y: &mut [f32],
    width: usize,
) {
    vectorised(
        #[inline(always)]
        || {
            for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
                let mean = mean(kind, x);
                y.iter_mut().zip(x).for_each(|(y, x)| *y = x - mean);
                scale(epsilon, weights, y);
            }
        },
    );
}

/// Normalises each row of `y` in place.
pub fn in_place(kind: NormKind, epsilon: f32, weights: &NormWeights, y: &mut [f32], width: usize) {
    vectorised(
        #[inline(always)]
        || {
            for y in y.chunks_exact_mut(width) {
                let mean = mean(kind, y);
                y.iter_mut().for_each(|v| *v -= mean);
                scale(epsilon, weights, y);
            }
        },
    );
}

/// RMSNorm of one row, a group of `width` channels at a time, under one gain for all.
pub fn in_groups(epsilon: f32, gain: &[f32], y: &mut [f32], width: usize) {
    vectorised(
        #[inline(always)]
        || {
            for (y, gain) in y.chunks_exact_mut(width).zip(gain.chunks_exact(width)) {
                let scale = 1.0 / (dot(y, y) / width as f32 + epsilon).sqrt();
                y.iter_mut().zip(gain).for_each(|(v, g)| *v = *v * scale * g);
            }
        },
    );
}

/// What is taken off a row.
#[inline(always)]
fn mean(kind: NormKind, x: &[f32]) -> f32 {
    match kind {
        NormKind::Layer => sum(x) / x.len() as f32,
        NormKind::Rms => 0.0,
    }
}

/// Brings a row whose mean has been taken off to its size.
#[inline(always)]
fn scale(epsilon: f32, weights: &NormWeights, y: &mut [f32]) {
    let scale = 1.0 / (dot(y, y) / y.len() as f32 + epsilon).sqrt();
    match (&weights.gain, &weights.bias) {
        (Some(gain), Some(bias)) => {
            y.iter_mut().zip(gain).zip(bias).for_each(|((v, g), b)| *v = *v * scale * g + b);
        }
        (Some(gain), None) => y.iter_mut().zip(gain).for_each(|(v, g)| *v = *v * scale * g),
        (None, Some(bias)) => y.iter_mut().zip(bias).for_each(|(v, b)| *v = *v * scale + b),
        (None, None) => y.iter_mut().for_each(|v| *v *= scale),
    }
}

/// Backward of RMSNorm: adds to `dx` `[N, C]` and `dgain` `[C]`.
///
/// With `r = 1 / sqrt(mean(x²) + eps)`: `dx = r (dy gain - x r² mean(dy gain x))`,
/// `dgain = sum over rows of dy x r`.
pub fn rms_backward(
    epsilon: f32,
    gain: &[f32],
    x: &[f32],
    dy: &[f32],
    dx: &mut [f32],
    dgain: &mut [f32],
) {
    let width = gain.len();
    vectorised(
        #[inline(always)]
        || {
            let rows = x.chunks_exact(width).zip(dy.chunks_exact(width));
            for ((x, dy), dx) in rows.zip(dx.chunks_exact_mut(width)) {
                let n = width as f32;
                let r = 1.0 / (dot(x, x) / n + epsilon).sqrt();
                let mut lanes = [0.0_f32; crate::lanes::LANES];
                for (i, ((x, dy), g)) in x.iter().zip(dy).zip(gain).enumerate() {
                    lanes[i % crate::lanes::LANES] += x * dy * g;
                }
                let mean = crate::lanes::fold(lanes, |a, b| a + b) / n;
                let pull = r * r * mean;
                for i in 0..width {
                    dx[i] += r * (dy[i] * gain[i] - x[i] * pull);
                    dgain[i] += dy[i] * x[i] * r;
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use relscale_testkit::numbers::{check_gradient, numbers};

    /// The definition, in f64.
    fn naive(kind: NormKind, epsilon: f64, weights: &NormWeights, x: &[f32]) -> Vec<f64> {
        let x: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
        let n = x.len() as f64;
        let mean = if kind == NormKind::Layer { x.iter().sum::<f64>() / n } else { 0.0 };
        let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        (0..x.len())
            .map(|i| {
                let gain = weights.gain.as_ref().map_or(1.0, |g| f64::from(g[i]));
                let bias = weights.bias.as_ref().map_or(0.0, |b| f64::from(b[i]));
                (x[i] - mean) / (variance + epsilon).sqrt() * gain + bias
            })
            .collect()
    }

    #[test]
    fn forward_agrees_with_the_definition() {
        for width in [1, 7, 16, 50] {
            let x = numbers(width * 3, 1);
            for kind in [NormKind::Layer, NormKind::Rms] {
                for affine in [false, true] {
                    let weights = NormWeights {
                        gain: affine.then(|| numbers(width, 2)),
                        bias: affine.then(|| numbers(width, 3)),
                    };
                    let mut y = vec![0.0; x.len()];
                    forward(kind, 1e-5, &weights, &x, &mut y, width);
                    for (x, y) in x.chunks(width).zip(y.chunks(width)) {
                        for (a, b) in naive(kind, 1e-5, &weights, x).iter().zip(y) {
                            assert!((a - f64::from(*b)).abs() < 1e-5, "{a} {b}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rms_backward_agrees_with_finite_differences() {
        let width = 10;
        let (x, gain, dy) = (numbers(3 * width, 1), numbers(width, 2), numbers(3 * width, 3));
        let loss = |x: &[f32], gain: &[f32]| -> f64 {
            let weights = NormWeights { gain: Some(gain.to_vec()), bias: None };
            let y = x.chunks(width).flat_map(|x| naive(NormKind::Rms, 1e-5, &weights, x));
            y.zip(&dy).map(|(y, d)| y * f64::from(*d)).sum()
        };
        let (mut dx, mut dgain) = (vec![0.0; x.len()], vec![0.0; width]);
        rms_backward(1e-5, &gain, &x, &dy, &mut dx, &mut dgain);
        check_gradient("x", &x, &dx, |x| loss(x, &gain));
        check_gradient("gain", &gain, &dgain, |gain| loss(&x, gain));
    }
}
