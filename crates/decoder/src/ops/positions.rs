//! Rotary positions (Su et al. 2021), in the half-split layout of Hugging Face.
//!
//! Channel pair `(i, i + R/2)` of the first `R` channels of a head turns by
//! `angle[t, i] = t * frequency[i]`, and grows by a factor where the scaling has one. Shapes:
//! tables `[T, R/2]`; rows `[N, W]`, of which the first `heads * D` channels are heads to be
//! turned.

use crate::lanes::vectorised;
use crate::spec::{Rotary, RotaryScaling};

/// Cosines and sines for positions `0..T`.
#[derive(Debug, Clone)]
pub struct Tables {
    half: usize,
    usual: Table,
    /// Of sequences longer than this, where they turn otherwise (LongRoPE).
    longer: Option<(usize, Table)>,
}

#[derive(Debug, Clone)]
struct Table {
    cos: Vec<f32>,
    sin: Vec<f32>,
}

impl Tables {
    /// Tables for positions `0..positions`.
    pub fn new(rotary: &Rotary, positions: usize) -> Self {
        let factor = rotary.attention_factor();
        let table = |long, positions| Table::new(&frequencies(rotary, long), factor, positions);
        let longer = match rotary.scaling {
            Some(RotaryScaling::Long { original_context, .. }) if positions > original_context => {
                Some((original_context, table(true, positions)))
            }
            _ => None,
        };
        let usual = longer.as_ref().map_or(positions, |(beyond, _)| *beyond);
        Self { half: rotary.width / 2, usual: table(false, usual), longer }
    }

    /// Turns `heads` heads of `head_width` channels at the start of each row; `positions[n]` is the
    /// position of row `n`, and the last of them that of the sequence's last token. `back` turns
    /// the other way, by the same factor: the backward pass, since a rotation's transpose is its
    /// inverse.
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
        let length = positions.last().map_or(0, |last| *last as usize + 1);
        let table = match &self.longer {
            Some((beyond, table)) if length > *beyond => table,
            _ => &self.usual,
        };
        vectorised(
            #[inline(always)]
            || {
                for (row, &position) in rows.chunks_exact_mut(row_width).zip(positions) {
                    let at = position as usize * half;
                    let (cos, sin) = (&table.cos[at..at + half], &table.sin[at..at + half]);
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

impl Table {
    /// Frequencies and angles are rounded to f32 as the reference implementation rounds them, since
    /// at position 2000 that rounding alone is 1e-4 of a turn's radian; the cosine itself is taken
    /// in f64.
    fn new(frequencies: &[f32], factor: f64, positions: usize) -> Self {
        let angle = |t: usize, f: f32| f64::from(t as f32 * f);
        let table = |of: fn(f64) -> f64| -> Vec<f32> {
            (0..positions)
                .flat_map(|t| frequencies.iter().map(move |f| (of(angle(t, *f)) * factor) as f32))
                .collect()
        };
        Self { cos: table(f64::cos), sin: table(f64::sin) }
    }
}

/// Turns a position by, for each channel pair: `base^(-2i/R)`, changed by the scaling; `long`: in a
/// sequence beyond the original context.
fn frequencies(rotary: &Rotary, long: bool) -> Vec<f32> {
    let power = |i: usize| {
        let exponent = (2 * i) as f32 / rotary.width as f32;
        (rotary.base as f32).powf(exponent)
    };
    let base = |i: usize| 1.0 / power(i);
    let pairs = 0..rotary.width / 2;
    match &rotary.scaling {
        None => pairs.map(base).collect(),
        Some(RotaryScaling::Linear { factor }) => pairs.map(|i| base(i) / *factor as f32).collect(),
        Some(RotaryScaling::Divided { divisors }) => {
            pairs.map(|i| base(i) / divisors[i] as f32).collect()
        }
        Some(RotaryScaling::Llama3 {
            factor,
            low_frequency_factor,
            high_frequency_factor,
            original_context,
        }) => pairs
            .map(|i| {
                let frequency = f64::from(base(i));
                let wavelength = 2.0 * std::f64::consts::PI / frequency;
                let original = *original_context as f64;
                let blend = (original / wavelength - low_frequency_factor)
                    / (high_frequency_factor - low_frequency_factor);
                let blend = blend.clamp(0.0, 1.0);
                ((1.0 - blend) * frequency / factor + blend * frequency) as f32
            })
            .collect(),
        Some(RotaryScaling::Yarn {
            factor,
            beta_fast,
            beta_slow,
            truncate,
            original_context,
            ..
        }) => {
            let (first, over) =
                blended(rotary, *original_context, [*beta_fast, *beta_slow], *truncate);
            pairs
                .map(|i| {
                    let divided = ((i as f32 - first) / over).clamp(0.0, 1.0);
                    let kept = 1.0 - divided;
                    1.0 / (*factor as f32 * power(i)) * (1.0 - kept) + base(i) * kept
                })
                .collect()
        }
        Some(RotaryScaling::Long { short, long: divisors, .. }) => {
            let divisors = if long { divisors } else { short };
            pairs.map(|i| 1.0 / (divisors[i] as f32 * power(i))).collect()
        }
    }
}

/// From which channel pair on YaRN blends, and over how many: before it frequencies are kept,
/// behind these divided. A pair `i` turns `original / (2 pi base^(2i/R))` times within the original
/// context, and the blend is from the one that turns `betas[0]` times to the one that turns
/// `betas[1]` times.
fn blended(rotary: &Rotary, original: usize, betas: [f64; 2], truncate: bool) -> (f32, f32) {
    let width = rotary.width as f64;
    let pair = |turns: f64| {
        let power = original as f64 / (turns * 2.0 * std::f64::consts::PI);
        width * power.ln() / (2.0 * rotary.base.ln())
    };
    let [mut first, mut last] = betas.map(pair);
    if truncate {
        (first, last) = (first.floor(), last.ceil());
    }
    (first, last) = (first.max(0.0), last.min(width - 1.0));
    if first == last {
        // As the reference does it.
        last += 0.001;
    }
    (first as f32, (last - first) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use relscale_testkit::numbers::numbers;

    /// `modeling_rope_utils.py` of transformers 4.57, in float32.
    #[test]
    fn frequencies_of_yarn_and_longrope() {
        let same = |found: f32, expected: f32| {
            assert!((found - expected).abs() <= 3e-7 * expected, "{found} for {expected}");
        };
        // OLMo 3: the pairs from 18 to 35 are blended.
        let scaling = Some(RotaryScaling::Yarn {
            factor: 8.0,
            beta_fast: 32.0,
            beta_slow: 1.0,
            truncate: true,
            original_context: 8192,
            attention_factor: 1.2079441541679836,
        });
        let yarn = frequencies(&Rotary { width: 128, base: 5e5, scaling }, false);
        for (pair, expected) in [
            (0, 1.0),
            (17, 0.03063452),
            (18, 0.024955409),
            (25, 0.0038003202),
            (30, 0.0008148398),
            (34, 0.00016561303),
            (35, 9.556212e-05),
            (63, 3.068926e-07),
        ] {
            same(yarn[pair], expected);
        }
        let scaling = Some(RotaryScaling::Long {
            short: vec![1.0, 1.05, 1.1, 1.2],
            long: vec![1.0, 2.0, 16.0, 61.5],
            original_context: 4096,
            attention_factor: 1.1902380714238083,
        });
        let rotary = Rotary { width: 8, base: 1e4, scaling };
        for (long, expected) in [
            (false, [1.0, 0.0952381, 0.009090909, 0.00083333335]),
            (true, [1.0, 0.05, 0.000625, 1.6260163e-05]),
        ] {
            frequencies(&rotary, long).into_iter().zip(expected).for_each(|(a, b)| same(a, b));
        }
    }

    /// Pairs that turn less than once: nothing is left to be kept, and the blend has no length.
    #[test]
    fn yarn_within_one_turn() {
        let scaling = Some(RotaryScaling::Yarn {
            factor: 4.0,
            beta_fast: 32.0,
            beta_slow: 1.0,
            truncate: true,
            original_context: 6,
            attention_factor: 1.0,
        });
        let rotary = Rotary { width: 4, base: 100.0, scaling };
        // As the reference has it: the first pair is kept all the same.
        assert_eq!(frequencies(&rotary, false), [1.0, 0.025]);
    }

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
