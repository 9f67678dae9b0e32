//! Attention by small products: keys and values of a head are laid out once, then strips of queries
//! pass over them.
//!
//! Scores are taken the other way round, a row a key and a column a query: the largest of a query
//! and the sum of its weights are then taken row by row, without folding vectors, and the weights
//! lie as the product with the values reads them. A strip of 32 queries goes over the keys in
//! blocks whose scores stay in the first-level cache ([`Softmax`]). Blocks begin at fixed keys, and
//! a key that a query does not see weighs exactly 0: its sums depend on nothing but what it sees.

use super::Shape;
use crate::kernels::{Format, Left, Right, Softmax, WIDTH, fetch, turn};

/// Keys of a block, about: their scores for a strip take 21 KB.
const BLOCK: usize = 168;

/// What one head needs.
#[derive(Debug)]
pub(super) struct Buffers {
    /// `[T, D]`.
    keys: Left,
    /// `[D, T]`.
    values: Left,
    /// `[D, WIDTH]`.
    queries: Right,
    /// Scores, then weights, of one block: `[key, WIDTH]`.
    weights: Right,
    /// `[D, WIDTH]`.
    sums: Vec<f32>,
}

impl Buffers {
    pub(super) fn new(format: Format) -> Self {
        Self {
            keys: Left::tall(format),
            values: Left::low(format),
            queries: Right::new(format),
            weights: Right::new(format),
            sums: Vec::new(),
        }
    }
}

/// Attention of one head over one whole sequence into `out` `[T, D]`.
pub(super) fn one_head(
    shape: Shape,
    [q, k, v]: [&[f32]; 3],
    out: &mut [f32],
    buffers: &mut Buffers,
) {
    let d = shape.head_width;
    let length = q.len() / d;
    let Buffers { keys, values, queries, weights, sums } = buffers;
    let tall = keys.height();
    let block = BLOCK / tall * tall;
    keys.fill_rows(k, length, d);
    // Whole panels of keys meet the values, so these are padded to as many.
    values.fill_columns(v, length, length.next_multiple_of(tall), d);
    sums.resize(values.panels() * values.height() * WIDTH, 0.0);
    for (strip, out) in out.chunks_mut(WIDTH * d).enumerate() {
        let (first, rows) = (strip * WIDTH, out.len() / d);
        queries.fill_rows(&q[first * d..], rows, d);
        fetch(&q[(first + rows) * d..], WIDTH * d);
        let mut softmax = Softmax::new(first, shape.window, shape.scale);
        let begin = shape.first_key(first) / block * block;
        for from in (begin..first + rows).step_by(block) {
            let panels = from / tall..(from + block).min(first + rows).div_ceil(tall);
            let (count, resume) = (panels.len() * tall, from > begin);
            let scores = weights.numbers_mut(count);
            keys.times(panels, 0, queries, scores, false);
            shape.alter(scores, [count, from], [WIDTH, first], |key, query| key * WIDTH + query);
            softmax.weigh(from, weights, resume.then_some(&mut *sums));
            values.times(0..values.panels(), from / weights.per_word(), weights, sums, resume);
        }
        softmax.divide(sums);
        turn(sums, d, out);
    }
}
