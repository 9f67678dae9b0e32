//! What stands between the two products of the MLP.
//!
//! Shapes: `[N, F]`; the gated form reads `[N, 2 F]` (gate, then up) and writes `[N, F]`. GELU:
//! Hendrycks & Gimpel 2016, exact and by tanh (`x/2 (1 + tanh u) = x sigmoid(2 u)`); SwiGLU:
//! Shazeer 2020.

use crate::lanes::{erf, sigmoid, vectorised};
use crate::spec::Activation;

/// `sqrt(8 / pi)`: twice the factor of the tanh form, since `tanh` is written as a sigmoid.
const TWO_ROOT_TWO_OVER_PI: f32 = 1.595_769_2;

/// Applies an activation in place.
pub fn in_place(activation: Activation, x: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || match activation {
            Activation::Relu => x.iter_mut().for_each(|v| *v = if *v < 0.0 { 0.0 } else { *v }),
            Activation::Gelu => x.iter_mut().for_each(
                #[inline(always)]
                |v| *v *= 0.5 + 0.5 * erf(*v * std::f32::consts::FRAC_1_SQRT_2),
            ),
            Activation::GeluTanh => x.iter_mut().for_each(
                #[inline(always)]
                |v| *v *= sigmoid(TWO_ROOT_TWO_OVER_PI * *v * (0.044_715 * *v * *v + 1.0)),
            ),
            Activation::Silu => x.iter_mut().for_each(
                #[inline(always)]
                |v| *v *= sigmoid(*v),
            ),
        },
    );
}

/// Adds the bias and applies an activation, in place.
pub fn biased(activation: Activation, bias: Option<&[f32]>, x: &mut [f32]) {
    if let Some(bias) = bias {
        vectorised(
            #[inline(always)]
            || x.iter_mut().zip(bias).for_each(|(v, b)| *v += b),
        );
    }
    in_place(activation, x);
}

/// `gate = activation(gate) up`, after their biases have been added.
pub fn gate(
    activation: Activation,
    biases: Option<(&[f32], &[f32])>,
    gate: &mut [f32],
    up: &mut [f32],
) {
    if let Some((of_gate, of_up)) = biases {
        vectorised(
            #[inline(always)]
            || {
                gate.iter_mut().zip(of_gate).for_each(|(v, b)| *v += b);
                up.iter_mut().zip(of_up).for_each(|(v, b)| *v += b);
            },
        );
    }
    if activation == Activation::Silu {
        vectorised(
            #[inline(always)]
            || {
                gate.iter_mut().zip(&*up).for_each(
                    #[inline(always)]
                    |(g, u)| *g *= sigmoid(*g) * u,
                );
            },
        );
        return;
    }
    in_place(activation, gate);
    gate.iter_mut().zip(&*up).for_each(|(g, u)| *g *= u);
}

/// `y = gate sigmoid(gate) up`; `x` `[N, 2 F]`, `y` `[N, F]`.
pub fn swiglu(x: &[f32], y: &mut [f32], hidden: usize) {
    vectorised(
        #[inline(always)]
        || {
            for (x, y) in x.chunks_exact(2 * hidden).zip(y.chunks_exact_mut(hidden)) {
                let (gate, up) = x.split_at(hidden);
                for i in 0..hidden {
                    y[i] = gate[i] * sigmoid(gate[i]) * up[i];
                }
            }
        },
    );
}

/// Backward of [`swiglu`]: writes `dx` `[N, 2 F]` from `dy` `[N, F]`.
///
/// With `s = sigmoid(gate)`: `dgate = dy up s (1 + gate (1 - s))`, `dup = dy gate s`.
pub fn swiglu_backward(x: &[f32], dy: &[f32], dx: &mut [f32], hidden: usize) {
    vectorised(
        #[inline(always)]
        || {
            let rows = x.chunks_exact(2 * hidden).zip(dy.chunks_exact(hidden));
            for ((x, dy), dx) in rows.zip(dx.chunks_exact_mut(2 * hidden)) {
                let (gate, up) = x.split_at(hidden);
                let (dgate, dup) = dx.split_at_mut(hidden);
                for i in 0..hidden {
                    let s = sigmoid(gate[i]);
                    dgate[i] = dy[i] * up[i] * s * (1.0 + gate[i] * (1.0 - s));
                    dup[i] = dy[i] * gate[i] * s;
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use relscale_testkit::numbers::{check_gradient, numbers};

    #[test]
    fn activations_agree_with_published_values() {
        // torch.nn.functional.gelu(x), approximate "none" and "tanh", in f64.
        let x = [-3.0_f32, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0];
        let exact = [
            -0.004_049_694,
            -0.158_655_25,
            -0.154_268_77,
            0.0,
            0.345_731_23,
            0.841_344_75,
            2.995_950_3,
        ];
        let tanh = [
            -0.003_637_392,
            -0.158_808_01,
            -0.154_285_99,
            0.0,
            0.345_714_01,
            0.841_191_99,
            2.996_362_6,
        ];
        for (activation, want) in [(Activation::Gelu, exact), (Activation::GeluTanh, tanh)] {
            let mut y = x;
            in_place(activation, &mut y);
            for (a, b) in y.iter().zip(want) {
                assert!((f64::from(*a) - b).abs() < 4e-7, "{activation:?}: {a} {b}");
            }
        }
        let mut y = [-2.0, 0.0, 2.0, f32::NAN];
        in_place(Activation::Relu, &mut y);
        assert_eq!(y[..3], [0.0, 0.0, 2.0]);
        assert!(y[3].is_nan(), "a NaN must not be hidden");
    }

    #[test]
    fn swiglu_backward_agrees_with_finite_differences() {
        let hidden = 7;
        let (x, dy) = (numbers(3 * 2 * hidden, 1), numbers(3 * hidden, 2));
        let loss = |x: &[f32]| -> f64 {
            let rows = x.chunks(2 * hidden).zip(dy.chunks(hidden));
            rows.map(|(x, dy)| {
                let gate = |i: usize| f64::from(x[i]);
                (0..hidden)
                    .map(|i| {
                        gate(i) / (1.0 + (-gate(i)).exp())
                            * f64::from(x[hidden + i])
                            * f64::from(dy[i])
                    })
                    .sum::<f64>()
            })
            .sum()
        };
        let mut y = vec![0.0; 3 * hidden];
        swiglu(&x, &mut y, hidden);
        let ours: f64 = y.iter().zip(&dy).map(|(y, d)| f64::from(*y) * f64::from(*d)).sum();
        assert!((ours - loss(&x)).abs() < 1e-5);
        let mut dx = vec![0.0; x.len()];
        swiglu_backward(&x, &dy, &mut dx, hidden);
        check_gradient("x", &x, &dx, loss);
    }
}
