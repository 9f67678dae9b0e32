//! Rotary positions (Su et al. 2021), in the half-split layout of Hugging Face.
//!
//! Channel pair `(i, i + R/2)` of the first `R` channels of a head turns by
//! `angle[t, i] = t * frequency[i]`. Shapes: tables `[T, R/2]`; rows `[N, W]`, of which the first
//! `heads * D` channels are heads to be turned.

use crate::lanes::vectorised;
use crate::spec::{Rotary, RotaryScaling};

/// Cosines and sines for positions `0..T`.
#[derive(Debug, Clone)]
pub struct Tables {
    half: usize,
    cos: Vec<f32>,
    sin: Vec<f32>,
}

impl Tables {
    /// Tables for positions `0..positions`.
    ///
    /// Frequencies and angles are rounded to f32 as the reference implementation rounds them, since
    /// at position 2000 that rounding alone is 1e-4 of a turn's radian; the cosine itself is taken
    /// in f64.
    pub fn new(rotary: &Rotary, positions: usize) -> Self {
        let frequencies = frequencies(rotary);
        let half = frequencies.len();
        let angle = |t: usize, f: f32| f64::from(t as f32 * f);
        let table = |of: fn(f64) -> f64| -> Vec<f32> {
            (0..positions)
                .flat_map(|t| frequencies.iter().map(move |f| of(angle(t, *f)) as f32))
                .collect()
        };
        Self { half, cos: table(f64::cos), sin: table(f64::sin) }
    }

    /// Turns `heads` heads of `head_width` channels at the start of each row; `positions[n]` is the
    /// position of row `n`. `back` turns the other way: the backward pass, since a rotation's
    /// transpose is its inverse.
    pub fn rotate(
        &self,
        positions: &[u32],
        rows: &mut [f32],
        row_width: usize,
        heads: usize,
        head_width: usize,
        back: bool,
    ) {
        let half = self.half;
        vectorised(
            #[inline(always)]
            || {
                for (row, &position) in rows.chunks_exact_mut(row_width).zip(positions) {
                    let at = position as usize * half;
                    let (cos, sin) = (&self.cos[at..at + half], &self.sin[at..at + half]);
                    for head in row[..heads * head_width].chunks_exact_mut(head_width) {
                        let (low, rest) = head.split_at_mut(half);
                        for i in 0..half {
                            let (a, b) = (low[i], rest[i]);
                            let s = if back { -sin[i] } else { sin[i] };
                            low[i] = a * cos[i] - b * s;
                            rest[i] = b * cos[i] + a * s;
                        }
                    }
                }
            },
        );
    }
}

/// Turns a position by, for each channel pair: `base^(-2i/R)`, changed by the scaling.
fn frequencies(rotary: &Rotary) -> Vec<f32> {
    let base = |i: usize| {
        let exponent = (2 * i) as f32 / rotary.width as f32;
        1.0 / (rotary.base as f32).powf(exponent)
    };
    (0..rotary.width / 2)
        .map(|i| match &rotary.scaling {
            None => base(i),
            Some(RotaryScaling::Linear { factor }) => base(i) / *factor as f32,
            Some(RotaryScaling::Llama3 {
                factor,
                low_frequency_factor,
                high_frequency_factor,
                original_context,
            }) => {
                let frequency = f64::from(base(i));
                let wavelength = 2.0 * std::f64::consts::PI / frequency;
                let original = *original_context as f64;
                let blend = (original / wavelength - low_frequency_factor)
                    / (high_frequency_factor - low_frequency_factor);
                let blend = blend.clamp(0.0, 1.0);
                ((1.0 - blend) * frequency / factor + blend * frequency) as f32
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use relscale_testkit::numbers::numbers;

    #[test]
    fn a_turn_is_a_complex_product_and_can_be_undone() {
        let rotary = Rotary { width: 6, base: 100.0, scaling: None };
        let tables = Tables::new(&rotary, 40);
        let (heads, width, row) = (2, 8, 20);
        let x = numbers(2 * row, 1);
        let mut y = x.clone();
        tables.rotate(&[3, 39], &mut y, row, heads, width, false);
        for (n, t) in [(0, 3.0), (1, 39.0)] {
            for h in 0..heads {
                for i in 0..3 {
                    let angle = t * 100f64.powf(-2.0 * i as f64 / 6.0);
                    let at = n * row + h * width + i;
                    let (a, b) = (f64::from(x[at]), f64::from(x[at + 3]));
                    assert!((f64::from(y[at]) - (a * angle.cos() - b * angle.sin())).abs() < 1e-5);
                    assert!(
                        (f64::from(y[at + 3]) - (b * angle.cos() + a * angle.sin())).abs() < 1e-5
                    );
                }
                for i in 6..8 {
                    assert_eq!(
                        x[n * row + h * width + i],
                        y[n * row + h * width + i],
                        "not rotated"
                    );
                }
            }
            assert_eq!(
                x[n * row + 16..(n + 1) * row],
                y[n * row + 16..(n + 1) * row],
                "values stay"
            );
        }
        tables.rotate(&[3, 39], &mut y, row, heads, width, true);
        for (a, b) in x.iter().zip(&y) {
            assert!((a - b).abs() < 1e-6);
        }
    }
}
