//! Attention by products of strided views, a block of queries at a time; see the room's door for
//! shapes and formulas.

use super::Shape;
use crate::kernels::{View, product};
use crate::lanes::{dot, exp, max, reduce, vectorised};

/// Queries taken together.
pub const QUERY_BLOCK: usize = 128;

/// Attention of the queries `first..first + rows` of one sequence; `qkv` is the whole sequence,
/// `out` `[rows, H D]` those queries' rows. `scores` is scratch.
pub fn forward(shape: Shape, qkv: &[f32], first: usize, out: &mut [f32], scores: &mut Vec<f32>) {
    let (d, w, out_row) = (shape.head_width, shape.row(), shape.heads * shape.head_width);
    let rows = out.len() / out_row;
    let from = shape.first_key(first);
    let keys = first + rows - from;
    scores.resize(rows * keys, 0.0);
    for head in 0..shape.heads {
        let [q, k, v] = shape.starts(head);
        probabilities(shape, [&qkv[q..], &qkv[k..]], w, first, rows, scores);
        let values = View::rows(&qkv[from * w + v..], keys, d, w);
        product(&mut out[head * d..], out_row, View::dense(scores, rows, keys), values, false);
    }
}

/// Attention of one head over one whole sequence into `out` `[T, D]`.
pub(super) fn one_head(
    shape: Shape,
    [q, k, v]: [&[f32]; 3],
    out: &mut [f32],
    scores: &mut Vec<f32>,
) {
    let d = shape.head_width;
    for (block, out) in out.chunks_mut(QUERY_BLOCK * d).enumerate() {
        let (first, rows) = (block * QUERY_BLOCK, out.len() / d);
        let from = shape.first_key(first);
        let keys = first + rows - from;
        scores.resize(rows * keys, 0.0);
        probabilities(shape, [q, k], d, first, rows, scores);
        let values = View::dense(&v[from * d..], keys, d);
        product(out, d, View::dense(scores, rows, keys), values, false);
    }
}

/// Softmax of the scores of one head: `p` `[rows, keys]` over the keys that any of the rows sees, 0
/// where a row sees none. Rows of queries and keys lie `stride` apart.
fn probabilities(
    shape: Shape,
    [q, k]: [&[f32]; 2],
    stride: usize,
    first: usize,
    rows: usize,
    p: &mut [f32],
) {
    let (d, from) = (shape.head_width, shape.first_key(first));
    let keys = first + rows - from;
    let queries = View::rows(&q[first * stride..], rows, d, stride);
    product(p, keys, queries, View::rows(&k[from * stride..], keys, d, stride).transposed(), false);
    shape
        .alter(&mut p[..rows * keys], [keys, from], [rows, first], |key, query| query * keys + key);
    vectorised(
        #[inline(always)]
        || {
            for (i, p) in p.chunks_exact_mut(keys).take(rows).enumerate() {
                let (past, later) = p.split_at_mut(first + i + 1 - from);
                let (before, seen) = past.split_at_mut(shape.first_key(first + i) - from);
                let top = max(seen);
                seen.iter_mut().for_each(
                    #[inline(always)]
                    |s| *s = exp((*s - top) * shape.scale),
                );
                let total = 1.0 / reduce(seen, 0.0, |s, v| s + v, |a, b| a + b);
                seen.iter_mut().for_each(|s| *s *= total);
                before.fill(0.0);
                later.fill(0.0);
            }
        },
    );
}

/// Backward of one whole sequence: adds to nothing, writes `dqkv` `[T, W]` from `dout` `[T, H D]`.
///
/// Probabilities are computed again rather than kept: `dp = dout v^T`,
/// `ds = p (dp - sum(p dp)) scale`, `dq = ds k`, `dk = ds^T q`, `dv = p^T dout`.
pub fn backward(
    shape: Shape,
    qkv: &[f32],
    dout: &[f32],
    dqkv: &mut [f32],
    scratch: &mut [Vec<f32>; 2],
) {
    let (d, w, out_row) = (shape.head_width, shape.row(), shape.heads * shape.head_width);
    let length = qkv.len() / w;
    dqkv.fill(0.0);
    let [p, ds] = scratch;
    for first in (0..length).step_by(QUERY_BLOCK) {
        let rows = QUERY_BLOCK.min(length - first);
        let from = shape.first_key(first);
        let keys = first + rows - from;
        p.resize(rows * keys, 0.0);
        ds.resize(rows * keys, 0.0);
        for head in 0..shape.heads {
            let [q, k, v] = shape.starts(head);
            probabilities(shape, [&qkv[q..], &qkv[k..]], w, first, rows, p);
            let dhead = View::rows(&dout[first * out_row + head * d..], rows, d, out_row);
            product(
                ds,
                keys,
                dhead,
                View::rows(&qkv[from * w + v..], keys, d, w).transposed(),
                false,
            );
            vectorised(
                #[inline(always)]
                || {
                    for (p, ds) in p.chunks_exact(keys).zip(ds.chunks_exact_mut(keys)) {
                        let mean = dot(p, ds);
                        for (p, ds) in p.iter().zip(ds) {
                            *ds = p * (*ds - mean) * shape.scale;
                        }
                    }
                },
            );
            let (p, ds) = (View::dense(p, rows, keys), View::dense(ds, rows, keys));
            product(&mut dqkv[from * w + v..], w, p.transposed(), dhead, true);
            product(
                &mut dqkv[first * w + q..],
                w,
                ds,
                View::rows(&qkv[from * w + k..], keys, d, w),
                true,
            );
            let queries = View::rows(&qkv[first * w + q..], rows, d, w);
            product(&mut dqkv[from * w + k..], w, ds.transposed(), queries, true);
        }
    }
}

#[cfg(test)]
pub(super) use tests::naive;

#[cfg(test)]
mod tests {
    use super::super::Slope;
    use super::*;
    use relscale_testkit::numbers::{check_gradient, numbers};

    /// The definition, in f64.
    pub(in super::super) fn naive(shape: Shape, qkv: &[f32]) -> Vec<f64> {
        let (d, w) = (shape.head_width, shape.row());
        let length = qkv.len() / w;
        let mut out = vec![0.0; length * shape.heads * d];
        let at = |t: usize, c: usize| f64::from(qkv[t * w + c]);
        for t in 0..length {
            for h in 0..shape.heads {
                let [q, k, v] = shape.starts(h);
                let score = |s: usize| (0..d).map(|c| at(t, q + c) * at(s, k + c)).sum::<f64>();
                let capped = |score: f64| {
                    shape.cap.map_or(score, |cap| f64::from(cap) * (score / f64::from(cap)).tanh())
                };
                let lost = |s: usize| match shape.slope {
                    None => 0.0,
                    Some(Slope::Even(slope)) => f64::from(slope) * (t - s) as f64,
                    Some(Slope::Rounded { slope, factor }) => {
                        let at = |position| f64::from(Slope::rounded(slope, position));
                        f64::from(factor) * (at(t) - at(s))
                    }
                };
                let weight = |s: usize| (capped(score(s) * f64::from(shape.scale)) - lost(s)).exp();
                let seen = || (0..=t).filter(|s| shape.window.is_none_or(|window| s + window > t));
                let total: f64 = seen().map(weight).sum();
                for c in 0..d {
                    let value: f64 = seen().map(|s| weight(s) * at(s, v + c)).sum();
                    out[(t * shape.heads + h) * d + c] = value / total;
                }
            }
        }
        out
    }

    const GROUPED: Shape = Shape {
        heads: 4,
        kv_heads: 2,
        head_width: 3,
        scale: 0.7,
        window: None,
        cap: None,
        slope: None,
    };

    /// No window; shorter than a block of queries; longer than one, so that it reaches into the
    /// block before.
    const WINDOWS: [Option<usize>; 4] = [None, Some(1), Some(5), Some(QUERY_BLOCK + 3)];

    #[test]
    fn forward_agrees_with_the_definition_across_blocks() {
        for window in WINDOWS {
            let shape = Shape { window, ..GROUPED };
            let length = 2 * QUERY_BLOCK + 9;
            let qkv = numbers(length * shape.row(), 1);
            let row = shape.heads * shape.head_width;
            let (mut out, mut scratch) = (vec![0.0; length * row], Vec::new());
            for (block, out) in out.chunks_mut(QUERY_BLOCK * row).enumerate() {
                forward(shape, &qkv, block * QUERY_BLOCK, out, &mut scratch);
            }
            for (a, b) in naive(shape, &qkv).iter().zip(&out) {
                assert!((a - f64::from(*b)).abs() < 1e-5, "window {window:?}");
            }
        }
    }

    #[test]
    fn backward_agrees_with_finite_differences() {
        for window in [None, Some(3)] {
            let shape = Shape { window, ..GROUPED };
            let length = 6;
            let qkv = numbers(length * shape.row(), 1);
            let dout = numbers(length * shape.heads * shape.head_width, 2);
            let mut dqkv = vec![f32::NAN; qkv.len()];
            backward(shape, &qkv, &dout, &mut dqkv, &mut Default::default());
            check_gradient("qkv", &qkv, &dqkv, |qkv| {
                naive(shape, qkv).iter().zip(&dout).map(|(y, d)| y * f64::from(*d)).sum()
            });
        }
    }

    /// More queries than one block: the parts of the gradient from each block must add up.
    #[test]
    fn backward_joins_its_blocks() {
        for window in WINDOWS {
            let shape = Shape {
                heads: 1,
                kv_heads: 1,
                head_width: 2,
                scale: 1.0,
                window,
                cap: None,
                slope: None,
            };
            let length = QUERY_BLOCK + 5;
            let (qkv, dout) = (numbers(length * 6, 1), numbers(length * 2, 2));
            let mut dqkv = vec![0.0; qkv.len()];
            backward(shape, &qkv, &dout, &mut dqkv, &mut Default::default());
            let loss = |qkv: &[f32]| -> f64 {
                naive(shape, qkv).iter().zip(&dout).map(|(y, d)| y * f64::from(*d)).sum()
            };
            for i in (0..qkv.len()).step_by(37) {
                let (mut up, mut down) = (qkv.clone(), qkv.clone());
                up[i] += 1e-3;
                down[i] -= 1e-3;
                let want = (loss(&up) - loss(&down)) / f64::from(up[i] - down[i]);
                assert!(
                    (f64::from(dqkv[i]) - want).abs() < 2e-4,
                    "{window:?} {i}: {} {want}",
                    dqkv[i]
                );
            }
        }
    }
}
