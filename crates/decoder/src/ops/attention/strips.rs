//! Attention by small products: keys and values of a head are laid out once, then strips of queries pass over them.
//!
//! A strip of 14 queries takes its scores over all keys that any of them sees, in panels of 32 keys; their exponentials go on
//! as the left factor of the product with the values, and the division by their sum comes last. Beyond the products this
//! costs one pass of exponentials and one that lays them out.

#![allow(
    clippy::needless_range_loop,
    reason = "see `ops::lanes`: with indices the loops over lanes become vectors"
)]

use super::Shape;
use crate::kernels::{Columns, Format, PANEL_WIDTH, STRIP, Strip};
use crate::ops::lanes::{LANES, exp, fold, max, vectorised};

/// What one head needs.
#[derive(Debug)]
pub(super) struct Buffers {
    keys: Columns,
    values: Columns,
    queries: Strip,
    weights: Strip,
    out: Vec<f32>,
}

impl Buffers {
    pub(super) fn new(format: Format) -> Self {
        Self {
            keys: Columns::new(format),
            values: Columns::new(format),
            queries: Strip::new(format),
            weights: Strip::new(format),
            out: Vec::new(),
        }
    }
}

/// Attention of one head over one whole sequence into `out` `[T, D]`.
pub(super) fn one_head(
    shape: Shape,
    [q, k, v]: [&[f32]; 3],
    out: &mut [f32],
    scores: &mut Vec<f32>,
    buffers: &mut Buffers,
) {
    let d = shape.head_width;
    let length = q.len() / d;
    let Buffers { keys, values, queries, weights, out: sums } = buffers;
    keys.fill_outputs(k, length, d, d);
    // Whole panels of keys meet the values, so these are padded to as many.
    let padded = length.next_multiple_of(PANEL_WIDTH);
    values.fill_inner(v, padded, length, d, d);
    let sums_row = d.next_multiple_of(PANEL_WIDTH);
    sums.resize(STRIP * sums_row, 0.0);
    for (strip, out) in out.chunks_mut(STRIP * d).enumerate() {
        let (first, rows) = (strip * STRIP, out.len() / d);
        let panels = shape.first_key(first) / PANEL_WIDTH..(first + rows).div_ceil(PANEL_WIDTH);
        let (from, width) = (panels.start * PANEL_WIDTH, panels.len() * PANEL_WIDTH);
        // A cache line more than a power of two could be: rows must not fall on the same lines of the cache.
        let stride = width + LANES;
        queries.fill(&q[first * d..], rows, d, d);
        scores.resize(STRIP * stride, 0.0);
        queries.times(keys, 0, panels, scores, stride);
        let mut totals = [1.0; STRIP];
        vectorised(
            #[inline(always)]
            || {
                for (i, (row, total)) in
                    scores.chunks_exact_mut(stride).zip(&mut totals).take(rows).enumerate()
                {
                    let row = &mut row[..width];
                    let (seen_from, seen_to) = (shape.first_key(first + i) - from, first + i + 1 - from);
                    let (past, later) = row.split_at_mut(seen_to);
                    let (before, seen) = past.split_at_mut(seen_from);
                    let top = max(seen);
                    // What is not seen is scored so low that it adds nothing to a sum that is at least 1: whole chunks
                    // are faster than exact ones.
                    before.fill(f32::MIN);
                    later.fill(f32::MIN);
                    let mut sum = [0.0; LANES];
                    for chunk in row.as_chunks_mut::<LANES>().0 {
                        for l in 0..LANES {
                            chunk[l] = exp((chunk[l] - top) * shape.scale);
                            sum[l] += chunk[l];
                        }
                    }
                    *total = 1.0 / fold(sum, |a, b| a + b);
                    let (past, later) = row.split_at_mut(seen_to);
                    past[..seen_from].fill(0.0);
                    later.fill(0.0);
                }
            },
        );
        weights.fill(scores, rows, stride, width);
        weights.times(values, from / values.per_word(), 0..d.div_ceil(PANEL_WIDTH), sums, sums_row);
        for ((out, sums), total) in out.chunks_exact_mut(d).zip(sums.chunks_exact(sums_row)).zip(totals) {
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum * total);
        }
    }
}
