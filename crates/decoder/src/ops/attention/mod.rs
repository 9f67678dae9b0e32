//! Causal attention with grouped key/value heads.
//!
//! Shapes: `qkv` `[T, W]` with `W = (H + 2 G) D` (queries, keys, values, heads in order), `out`
//! `[T, H D]`.
//! `out[t, h] = sum over s <= t of softmax(scale q[t, h] . k[s, h G / H]) v[s, h G / H]`; with a
//! window of `W` tokens the sum runs over the last `W` of them, `t` itself included. A key or value
//! that is not finite makes every query of its block so, earlier ones too (0 times NaN is NaN), as
//! in any implementation by products; the head then flags them all. Scores live for one head and
//! one block of queries at a time: never `[T, T]` for a whole sequence.
//!
//! * `blocks`: by products of strided views, forward and backward; what training uses, and every
//!   processor for which there are no kernels by hand.
//! * `strips`: by small products over keys and values that are laid out once a head; what scoring
//!   uses where it can.

use crate::kernels::Format;
use crate::lanes::soft_cap;
use half::bf16;

mod blocks;
mod strips;

pub use blocks::{QUERY_BLOCK, backward, forward};

/// Sizes of one attention.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// `H`.
    pub heads: usize,
    /// `G`.
    pub kv_heads: usize,
    /// `D`.
    pub head_width: usize,
    /// Factor of the scores; positive.
    pub scale: f32,
    /// Tokens that a query sees at most, itself included; `None`: all before it.
    pub window: Option<usize>,
    /// `c` of a scaled score `s`, which becomes `c tanh(s / c)` before the softmax; forward only.
    pub cap: Option<f32>,
    /// What a score loses with the distance between key and query, once scaled and capped; forward
    /// of [`one_head`] only.
    pub slope: Option<Slope>,
}

/// How scores fall with the distance (ALiBi).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slope {
    /// By so much for each token.
    Even(f32),
    /// By the difference of what [`Slope::rounded`] makes of the two positions, times a factor.
    Rounded {
        /// A number of bfloat16.
        slope: f32,
        /// The factor.
        factor: f32,
    },
}

impl Slope {
    /// `slope position` as it is in bfloat16: the position is rounded, and the product again.
    pub fn rounded(slope: f32, position: usize) -> f32 {
        let kept = |number: f32| bf16::from_f32(number).to_f32();
        kept(slope * kept(position as f32))
    }
}

impl Shape {
    /// `W`: channels of a row of `qkv`.
    pub fn row(&self) -> usize {
        (self.heads + 2 * self.kv_heads) * self.head_width
    }

    /// Scores as products leave them become what the softmax, whose factor is still to come, is
    /// taken of. `scores[key][query]` lies at `at(key, query)` for keys from `from` on and queries
    /// from `first` on.
    fn alter(
        &self,
        scores: &mut [f32],
        [keys, from]: [usize; 2],
        [queries, first]: [usize; 2],
        at: impl Fn(usize, usize) -> usize,
    ) {
        if let Some(cap) = self.cap {
            soft_cap(cap / self.scale, scores);
        }
        match self.slope {
            None => {}
            Some(Slope::Even(slope)) => {
                let slope = slope / self.scale;
                for key in 0..keys {
                    for query in 0..queries {
                        scores[at(key, query)] +=
                            slope * ((from + key) as f32 - (first + query) as f32);
                    }
                }
            }
            Some(Slope::Rounded { slope, factor }) => {
                let factor = factor / self.scale;
                let mut own = [0.0; QUERY_BLOCK];
                for (query, own) in own[..queries].iter_mut().enumerate() {
                    *own = Slope::rounded(slope, first + query);
                }
                for key in 0..keys {
                    let other = Slope::rounded(slope, from + key);
                    for query in 0..queries {
                        scores[at(key, query)] += factor * (other - own[query]);
                    }
                }
            }
        }
    }

    /// First key that the query at `position` sees.
    fn first_key(&self, position: usize) -> usize {
        self.window.map_or(0, |window| (position + 1).saturating_sub(window))
    }

    /// The heads, counted through queries, keys and values, that query head `head` reads.
    pub fn parts(&self, head: usize) -> [usize; 3] {
        let group = head * self.kv_heads / self.heads;
        [head, self.heads + group, self.heads + self.kv_heads + group]
    }

    /// Where in a row the query, key and value of query head `head` start.
    fn starts(&self, head: usize) -> [usize; 3] {
        self.parts(head).map(|part| part * self.head_width)
    }
}

/// Buffers of [`one_head`], for any number of calls.
#[derive(Debug)]
pub struct Scratch {
    scores: Vec<f32>,
    strips: Option<strips::Buffers>,
}

impl Scratch {
    /// For products in `format`.
    pub fn new(format: Format) -> Self {
        let format = format.of_attention();
        Self { scores: Vec::new(), strips: format.by_hand().then(|| strips::Buffers::new(format)) }
    }
}

/// Attention of one head over one whole sequence: queries, keys, values and `out` are `[T, D]`
/// each. Products are taken in the scratch's format, the softmax in f32.
///
/// # Panics
/// When the four have different sizes.
pub fn one_head(shape: Shape, [q, k, v]: [&[f32]; 3], out: &mut [f32], scratch: &mut Scratch) {
    assert!(
        [q, k, v].iter().all(|rows| rows.len() == out.len()),
        "one row of a head for every token"
    );
    match &mut scratch.strips {
        Some(buffers) => strips::one_head(shape, [q, k, v], out, buffers),
        None => blocks::one_head(shape, [q, k, v], out, &mut scratch.scores),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Dtype;
    use relscale_testkit::numbers::numbers;

    /// Queries, keys and values of one head, `[T, D]` each.
    fn parts(shape: Shape, qkv: &[f32], head: usize) -> [Vec<f32>; 3] {
        shape.starts(head).map(|start| {
            qkv.chunks_exact(shape.row())
                .flat_map(|row| &row[start..start + shape.head_width])
                .copied()
                .collect()
        })
    }

    /// Every format against the definition, over lengths that are no multiple of anything, grouped
    /// heads, windows.
    #[test]
    fn one_head_agrees_with_the_definition() {
        let formats = [Dtype::F32, Dtype::Bf16].into_iter().flat_map(Format::all);
        for format in formats {
            let mut scratch = Scratch::new(format);
            let by_bf16 = format.of_attention().dtype() == Dtype::Bf16;
            for (length, d) in [(1, 8), (13, 5), (15, 32), (64, 64), (200, 40)] {
                for (window, cap, slope) in [
                    (None, None, None),
                    (Some(1), None, None),
                    (Some(7), None, Some(Slope::Even(0.25))),
                    (Some(50), Some(0.3), None),
                    (None, Some(2.0), Some(Slope::Even(0.01))),
                    (None, None, Some(Slope::Rounded { slope: 0.353_515_6, factor: 0.2 })),
                ] {
                    let shape = Shape {
                        heads: 4,
                        kv_heads: 2,
                        head_width: d,
                        scale: 0.4,
                        window,
                        cap,
                        slope,
                    };
                    let qkv = numbers(length * shape.row(), 1);
                    let want = blocks::naive(shape, &qkv);
                    for head in 0..shape.heads {
                        let mut out = vec![f32::NAN; length * d];
                        let [q, k, v] = parts(shape, &qkv, head);
                        one_head(shape, [&q, &k, &v], &mut out, &mut scratch);
                        for (t, row) in out.chunks_exact(d).enumerate() {
                            for (c, got) in row.iter().enumerate() {
                                let want = want[(t * shape.heads + head) * d + c];
                                let error = (f64::from(*got) - want).abs();
                                // bf16 keeps 8 bits of each score's factors and of each weight.
                                let most = if by_bf16 { 0.05 } else { 1e-5 };
                                assert!(
                                    error < most,
                                    "{format:?} T {length} D {d} {window:?}: {got} {want}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    /// What torch 2.8 gives for slopes in bfloat16 times 2048 positions in int64: both factors are
    /// rounded, and the product.
    #[test]
    fn rounded_slopes_are_those_of_bfloat16() {
        for (slope, known) in [
            (0.707_031_25, [2.125, 180.0, 181.0, 182.0, 708.0, 1448.0]),
            (0.353_515_63, [1.0625, 90.0, 90.5, 91.0, 354.0, 724.0]),
            (0.0625, [0.1875, 15.9375, 16.0, 16.125, 62.5, 128.0]),
        ] {
            let found = [3, 255, 257, 258, 1000, 2047].map(|at| Slope::rounded(slope, at));
            assert_eq!(found, known);
        }
    }

    /// Scores that rise from block to block of keys, and fall: sums taken so far are scaled to the
    /// largest.
    #[test]
    fn sums_follow_the_largest_score() {
        let shape = Shape {
            heads: 1,
            kv_heads: 1,
            head_width: 8,
            scale: 1.0,
            window: None,
            cap: None,
            slope: None,
        };
        for format in [Dtype::F32, Dtype::Bf16].into_iter().flat_map(Format::all) {
            let by_bf16 = format.of_attention().dtype() == Dtype::Bf16;
            let most = if by_bf16 { 0.05 } else { 1e-5 };
            let mut scratch = Scratch::new(format);
            for slope in [0.5_f32, 0.02, -0.02, -0.5] {
                let mut qkv = numbers(600 * shape.row(), 3);
                for (t, row) in qkv.chunks_exact_mut(shape.row()).enumerate() {
                    // A query of ones meets a key of one number: the score is that number, and
                    // exact in either type.
                    row[..16].fill(0.0);
                    row[0] = 1.0;
                    row[8] = bf16::from_f32(slope * t as f32).to_f32();
                }
                let want = blocks::naive(shape, &qkv);
                let mut out = vec![f32::NAN; 600 * 8];
                let [q, k, v] = parts(shape, &qkv, 0);
                one_head(shape, [&q, &k, &v], &mut out, &mut scratch);
                for (at, (got, want)) in out.iter().zip(&want).enumerate() {
                    let error = (f64::from(*got) - want).abs();
                    assert!(
                        error < most,
                        "{format:?} slope {slope}, query {}: {got} {want}",
                        at / 8
                    );
                }
            }
        }
    }

    /// A query's row depends on the tokens before it alone, bit for bit: by strips. (By `gemm` it
    /// depends on the length of its sequence, whose last block may be summed by another kernel.)
    #[test]
    fn later_tokens_leave_no_trace() {
        let formats = [Dtype::F32, Dtype::Bf16].into_iter().flat_map(Format::all);
        for format in formats.filter(|format| format.of_attention().by_hand()) {
            let mut scratch = Scratch::new(format);
            for window in [None, Some(9)] {
                let shape = Shape {
                    heads: 2,
                    kv_heads: 1,
                    head_width: 16,
                    scale: 1.0,
                    window,
                    cap: None,
                    slope: None,
                };
                let qkv = numbers(90 * shape.row(), 4);
                let mut run = |length: usize| {
                    let mut out = vec![0.0; length * 16];
                    let [q, k, v] = parts(shape, &qkv[..length * shape.row()], 1);
                    one_head(shape, [&q, &k, &v], &mut out, &mut scratch);
                    out
                };
                let whole = run(90);
                for length in [1, 14, 33, 71] {
                    assert_eq!(
                        run(length)[..],
                        whole[..length * 16],
                        "{format:?} {window:?} {length}"
                    );
                }
            }
        }
    }
}
