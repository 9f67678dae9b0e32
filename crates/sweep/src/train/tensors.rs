//! The tensors of a model in training, and the sums over them, without a list: no memory is asked
//! for.
//!
//! What [`super::step::check`] lets through has an embedding `[V, C]`, a head of its own or none,
//! blocks of at most [`OF_BLOCK`] tensors each, and the gain of a last norm. Embedding and head are
//! cut into pieces of [`PIECE`] numbers, so that their size, most of a small model's, falls on all
//! threads; a block is one piece. Pieces are the same on any number of threads, and so are the bits
//! of what is summed by them. A tensor that a model lacks is an empty one.

use super::adamw::AdamW;
use super::cautious::CautiousAdamC;
use rayon::prelude::*;
use relscale_decoder::weights::{Block, NormWeights, Weights};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tensors of a block.
const OF_BLOCK: usize = 8;

/// The same, queries, keys, values, gate and up each by itself.
const APART: usize = 11;

/// Which of those decay: the matrices, and no gain.
const DECAY: [bool; APART] = [false, true, true, true, false, false, true, false, true, true, true];

/// Kinds of tensors: embedding, head, last gain, and those of a block, which are of one kind in all
/// blocks.
const KINDS: usize = 3 + APART;
const EMBEDDING: usize = 0;
const HEAD: usize = 1;
const LAST: usize = 2;

/// Numbers of the embedding that a thread takes at a time.
const PIECE: usize = 1 << 16;

/// The tensors of a block, in the order of [`Weights::tensors`].
fn of_block(block: &Block) -> [&[f32]; OF_BLOCK] {
    [
        gain(&block.attention_norm),
        &block.qkv.weight.data,
        gain(&block.query_norm),
        gain(&block.key_norm),
        &block.attention_output.weight.data,
        gain(&block.mlp_norm),
        &block.up.weight.data,
        &block.down.weight.data,
    ]
}

fn of_block_mut(block: &mut Block) -> [&mut [f32]; OF_BLOCK] {
    [
        gain_mut(&mut block.attention_norm),
        &mut block.qkv.weight.data,
        gain_mut(&mut block.query_norm),
        gain_mut(&mut block.key_norm),
        &mut block.attention_output.weight.data,
        gain_mut(&mut block.mlp_norm),
        &mut block.up.weight.data,
        &mut block.down.weight.data,
    ]
}

/// The tensors of a block as checkpoints name them, in the order of [`DECAY`].
fn apart(block: &Block) -> [&[f32]; APART] {
    let queries = queries(block);
    let [first, qkv, query, key, output, second, up, down] = of_block(block);
    let (q, kv) = qkv.split_at(queries);
    let (k, v) = kv.split_at(kv.len() / 2);
    let (gate, up) = up.split_at(up.len() / 2);
    [first, q, k, v, query, key, output, second, gate, up, down]
}

fn apart_mut(block: &mut Block) -> [&mut [f32]; APART] {
    let queries = queries(block);
    let [first, qkv, query, key, output, second, up, down] = of_block_mut(block);
    let (q, kv) = qkv.split_at_mut(queries);
    let (k, v) = kv.split_at_mut(kv.len() / 2);
    let (gate, up) = up.split_at_mut(up.len() / 2);
    [first, q, k, v, query, key, output, second, gate, up, down]
}

/// Numbers of a block's queries.
fn queries(block: &Block) -> usize {
    block.attention_output.weight.columns * block.qkv.weight.columns
}

/// Embedding, and the head where it is another.
fn tables(weights: &Weights) -> [&[f32]; 2] {
    let head = weights.head.as_ref().map(|head| head.data.as_slice());
    [&weights.token_embedding.data, head.unwrap_or_default()]
}

fn tables_mut(weights: &mut Weights) -> [&mut [f32]; 2] {
    let head = weights.head.as_mut().map(|head| head.data.as_mut_slice());
    [&mut weights.token_embedding.data, head.unwrap_or_default()]
}

/// The gain of a norm; every norm that is trained has one.
pub(super) fn gain(norm: &Option<NormWeights>) -> &[f32] {
    norm.as_ref().and_then(|norm| norm.gain.as_deref()).unwrap_or_default()
}

pub(super) fn gain_mut(norm: &mut Option<NormWeights>) -> &mut [f32] {
    norm.as_mut().and_then(|norm| norm.gain.as_deref_mut()).unwrap_or_default()
}

/// Every number becomes 0.
pub(super) fn clear(weights: &mut Weights) {
    tables_mut(weights).into_iter().for_each(|table| table.fill(0.0));
    weights.blocks.iter_mut().flat_map(of_block_mut).for_each(|tensor| tensor.fill(0.0));
    gain_mut(&mut weights.final_norm).fill(0.0);
}

/// Pieces of a model: the length of what [`gather`] writes its sums to.
pub(super) fn pieces(weights: &Weights) -> usize {
    tables(weights).map(|table| table.len().div_ceil(PIECE)).iter().sum::<usize>()
        + weights.blocks.len()
        + 1
}

/// Adds the gradients of `rest`, in order, to `sum`; writes each piece's sum of squares to
/// `squares` and returns their sum.
pub(super) fn gather<'a>(
    sum: &mut Weights,
    rest: impl Iterator<Item = &'a Weights> + Clone + Sync,
    squares: &mut [f64],
) -> f64 {
    let mut left = &mut *squares;
    let mut some = |count: usize| {
        let (some, others) = std::mem::take(&mut left).split_at_mut(count);
        left = others;
        some
    };
    for (which, table) in tables_mut(sum).into_iter().enumerate() {
        let of_table = some(table.len().div_ceil(PIECE));
        let pieces = table.par_chunks_mut(PIECE).enumerate();
        pieces.zip(of_table).for_each(|((number, sum), square)| {
            let parts = rest.clone().map(|part| &tables(part)[which][number * PIECE..]);
            *square = add(sum, parts);
        });
    }
    let of_blocks = some(sum.blocks.len());
    sum.blocks.par_iter_mut().enumerate().zip(of_blocks).for_each(|((layer, sum), square)| {
        *square = of_block_mut(sum)
            .into_iter()
            .enumerate()
            .map(|(number, sum)| {
                add(sum, rest.clone().map(|part| of_block(&part.blocks[layer])[number]))
            })
            .sum();
    });
    some(1)[0] = add(gain_mut(&mut sum.final_norm), rest.map(|part| gain(&part.final_norm)));
    squares.iter().sum()
}

/// Adds the parts, each from its start on, to `sum` and returns the sum of its squares.
fn add<'a>(sum: &mut [f32], parts: impl Iterator<Item = &'a [f32]>) -> f64 {
    for part in parts {
        sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
    }
    sum.iter().map(|g| f64::from(*g).powi(2)).sum()
}

/// One AdamW step of every tensor, the gradient times `scale`. What takes part in products decays:
/// no gain, and no embedding beside a head of its own.
pub(super) fn update(
    adam: AdamW,
    step: u32,
    scale: f32,
    weights: &mut Weights,
    gradient: &Weights,
    moments: &mut [Weights; 2],
) {
    let tied = weights.head.is_none();
    let still = AdamW { weight_decay: 0.0, ..adam };
    each(weights, gradient, moments, |kind, p, g, m, v| {
        let adam = if decays(kind, tied) { adam } else { still };
        adam.step(step, scale, p, g, m, v);
    });
}

/// The same by [`CautiousAdamC`]. Tensors of one kind count as one in all blocks together, as those
/// of Levanter, which lie in one array.
pub(super) fn update_cautiously(
    adam: CautiousAdamC,
    step: u32,
    scale: f32,
    weights: &mut Weights,
    gradient: &Weights,
    moments: &mut [Weights; 2],
) {
    let tied = weights.head.is_none();
    let still = CautiousAdamC { weight_decay: 0.0, ..adam };
    // Whole numbers: their sums are the same in any order.
    let [moving, all] = [(); 2].map(|()| [(); KINDS].map(|()| AtomicUsize::new(0)));
    each(weights, gradient, moments, |kind, p, g, m, v| {
        moving[kind].fetch_add(adam.moments(scale, g, m, v), Ordering::Relaxed);
        all[kind].fetch_add(p.len(), Ordering::Relaxed);
    });
    let [moving, all] = [moving, all].map(|counts| counts.map(|count| count.into_inner() as f64));
    each(weights, gradient, moments, |kind, p, g, m, v| {
        let adam = if decays(kind, tied) { adam } else { still };
        adam.step(step, moving[kind] / all[kind], p, g, [m, v]);
    });
}

fn decays(kind: usize, tied: bool) -> bool {
    match kind {
        EMBEDDING => tied,
        HEAD => true,
        LAST => false,
        _ => DECAY[kind - LAST - 1],
    }
}

/// Calls `visit` for each piece of every tensor: its kind, weights, gradient and both moments.
fn each(
    weights: &mut Weights,
    gradient: &Weights,
    [first, second]: &mut [Weights; 2],
    visit: impl Fn(usize, &mut [f32], &[f32], &mut [f32], &mut [f32]) + Sync,
) {
    let moments = tables_mut(first).into_iter().zip(tables_mut(second));
    let all = tables_mut(weights).into_iter().zip(tables(gradient)).zip(moments);
    for (kind, ((p, g), (m, v))) in [EMBEDDING, HEAD].into_iter().zip(all) {
        let moments = m.par_chunks_mut(PIECE).zip(v.par_chunks_mut(PIECE));
        let pieces = p.par_chunks_mut(PIECE).zip(g.par_chunks(PIECE)).zip(moments);
        pieces.for_each(|((p, g), (m, v))| visit(kind, p, g, m, v));
    }
    let moments = first.blocks.par_iter_mut().zip(&mut second.blocks);
    weights.blocks.par_iter_mut().zip(&gradient.blocks).zip(moments).for_each(
        |((p, g), (m, v))| {
            let moments = apart_mut(m).into_iter().zip(apart_mut(v));
            let tensors = apart_mut(p).into_iter().zip(apart(g)).zip(moments);
            for (number, ((p, g), (m, v))) in tensors.enumerate() {
                visit(LAST + 1 + number, p, g, m, v);
            }
        },
    );
    let [p, m, v] = [weights, first, second].map(|set| gain_mut(&mut set.final_norm));
    visit(LAST, p, gain(&gradient.final_norm), m, v);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipes::Recipe;
    use crate::train::initial::initial_weights;
    use relscale_decoder::spec::NormSpan;

    /// A model whose embedding has more than one piece, the last of them short; with a head of its
    /// own and norms of queries and keys, or without either.
    fn some(qwen3: bool, seed: u64) -> Weights {
        let recipe = Recipe::named("small").unwrap();
        let mut spec = recipe.spec(&recipe.sizes[2]);
        spec.vocabulary = PIECE / spec.width + 37;
        spec.query_key_norm = qwen3.then_some(NormSpan::Head);
        spec.tied = !qwen3;
        initial_weights(&spec, seed)
    }

    /// A tensor that is missed here would never move: the decoder's own list, which the compiler
    /// keeps complete, is the judge.
    #[test]
    fn every_tensor_is_named_once() {
        for qwen3 in [false, true] {
            let mut weights = some(qwen3, 1);
            let [embedding, head] = tables(&weights);
            let mut named = vec![embedding];
            named.extend(weights.blocks.iter().flat_map(of_block));
            named.extend([gain(&weights.final_norm), head]);
            named.retain(|tensor| !tensor.is_empty());
            let places = |tensors: &[&[f32]]| {
                tensors.iter().map(|t| (t.as_ptr(), t.len())).collect::<Vec<_>>()
            };
            assert_eq!(places(&named), places(&weights.tensors()));
            let numbers = |tensors: &mut dyn Iterator<Item = &[f32]>| {
                tensors.flatten().copied().collect::<Vec<f32>>()
            };
            for block in &weights.blocks {
                let apart = numbers(&mut apart(block).into_iter());
                assert_eq!(apart, numbers(&mut of_block(block).into_iter()));
            }
            clear(&mut weights);
            assert!(weights.tensors().iter().all(|tensor| tensor.iter().all(|w| *w == 0.0)));
        }
    }

    #[test]
    fn gradients_are_gathered_in_order() {
        let parts = [1, 2, 3].map(|seed| some(true, seed));
        let mut squares = vec![f64::NAN; pieces(&parts[0])];
        let mut sum = parts[0].clone();
        let square = gather(&mut sum, parts[1..].iter(), &mut squares);
        let lists = parts.each_ref().map(Weights::tensors);
        let mut want = 0.0;
        for (number, tensor) in sum.tensors().iter().enumerate() {
            for (i, got) in tensor.iter().enumerate() {
                assert_eq!(*got, lists[0][number][i] + lists[1][number][i] + lists[2][number][i]);
                want += f64::from(*got).powi(2);
            }
        }
        assert!((square / want - 1.0).abs() < 1e-12, "{square} for {want}");
    }

    /// Gains do not decay, nor an embedding that is no head.
    #[test]
    fn every_tensor_takes_its_step() {
        let adam =
            AdamW { learning_rate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weight_decay: 0.5 };
        for qwen3 in [false, true] {
            let [mut weights, gradient, first, second] = [1, 2, 3, 4].map(|seed| some(qwen3, seed));
            let mut moments = [first, second];
            moments[1].tensors_mut().into_iter().flatten().for_each(|v| *v = v.abs());
            let (mut want, mut wanted) = (weights.clone(), moments.clone());
            update(adam, 3, 0.5, &mut weights, &gradient, &mut moments);
            let [m, v] = &mut wanted;
            let tensors = want.tensors_mut().into_iter().zip(gradient.tensors());
            let moments_of = m.tensors_mut().into_iter().zip(v.tensors_mut());
            for (number, ((p, g), (m, v))) in tensors.zip(moments_of).enumerate() {
                let decays = p.len() > gradient.token_embedding.columns && (number > 0 || !qwen3);
                let weight_decay = if decays { 0.5 } else { 0.0 };
                AdamW { weight_decay, ..adam }.step(3, 0.5, p, g, m, v);
            }
            assert_eq!(weights, want);
            assert_eq!(moments, wanted);
        }
    }
}
