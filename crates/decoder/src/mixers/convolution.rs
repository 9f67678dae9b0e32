//! The causal convolution of each channel with its own taps, and its SiLU:
//! `y[t] = silu(bias + sum over k of taps[k] x[t + k - (K - 1)])`, with zeros before the sequence.

#![allow(
    clippy::needless_range_loop,
    reason = "see `lanes`: with indices the loops over lanes become vectors"
)]

use crate::lanes::{sigmoid, vectorised};

/// Taps and bias of a piece of channels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taps<'a> {
    /// `[d, K]`.
    pub(super) taps: &'a [f32],
    /// `[d]`.
    pub(super) bias: Option<&'a [f32]>,
}

/// Convolves a piece `[T, d]` in place; `d` is a power of two up to 16.
pub(super) fn in_place(taps: Taps<'_>, x: &mut [f32], d: usize) {
    vectorised(
        #[inline(always)]
        || match d {
            16 => of_width::<16>(taps, x),
            8 => of_width::<8>(taps, x),
            4 => of_width::<4>(taps, x),
            2 => of_width::<2>(taps, x),
            _ => of_width::<1>(taps, x),
        },
    );
}

#[inline(always)]
fn of_width<const D: usize>(Taps { taps, bias }: Taps<'_>, x: &mut [f32]) {
    let count = taps.len() / D;
    let mut by_tap = vec![[0.0; D]; count];
    for (i, taps) in taps.chunks_exact(count).enumerate() {
        for k in 0..count {
            by_tap[k][i] = taps[k];
        }
    }
    let mut start = [0.0; D];
    if let Some(bias) = bias {
        start.copy_from_slice(bias);
    }
    let x = x.as_chunks_mut::<D>().0;
    // From the last on, since a token needs those before it as they were.
    for t in (0..x.len()).rev() {
        let mut sum = start;
        for k in (count - 1).saturating_sub(t)..count {
            let from = &x[t + k + 1 - count];
            for i in 0..D {
                sum[i] = by_tap[k][i].mul_add(from[i], sum[i]);
            }
        }
        for i in 0..D {
            x[t][i] = sum[i] * sigmoid(sum[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use relscale_testkit::numbers::numbers;

    #[test]
    fn agrees_with_the_definition_in_every_width() {
        let (length, count) = (23, 4);
        for d in [1, 2, 4, 8, 16] {
            let (x, taps, bias) = (numbers(length * d, 1), numbers(d * count, 2), numbers(d, 3));
            for bias in [None, Some(&bias[..])] {
                let mut found = x.clone();
                in_place(Taps { taps: &taps, bias }, &mut found, d);
                for t in 0..length {
                    for i in 0..d {
                        let mut sum = bias.map_or(0.0, |bias| f64::from(bias[i]));
                        for k in 0..count {
                            if let Some(at) = (t + k + 1).checked_sub(count) {
                                sum += f64::from(taps[i * count + k]) * f64::from(x[at * d + i]);
                            }
                        }
                        let want = sum / (1.0 + (-sum).exp());
                        assert!((f64::from(found[t * d + i]) - want).abs() < 1e-6, "{d} {t} {i}");
                    }
                }
            }
        }
    }
}
