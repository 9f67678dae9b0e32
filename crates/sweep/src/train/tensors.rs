//! The tensors of a model in training, and the sums over them, without a list: no memory is asked
//! for.
//!
//! What [`super::step::check`] lets through has an embedding `[V, C]` that is its head too, blocks
//! of [`OF_BLOCK`] tensors each, and the gain of a last norm. The embedding is cut into pieces of
//! [`PIECE`] numbers, so that its size, most of a small model's, falls on all threads; a block is
//! one piece. Pieces are the same on any number of threads, and so are the bits of what is summed
//! by them.

use super::adamw::AdamW;
use rayon::prelude::*;
use relscale_decoder::weights::{Block, NormWeights, Weights};

/// Tensors of a block.
const OF_BLOCK: usize = 6;

/// Which of them are gains.
const GAINS: [bool; OF_BLOCK] = [true, false, false, true, false, false];

/// Numbers of the embedding that a thread takes at a time.
const PIECE: usize = 1 << 16;

/// The tensors of a block, in the order of [`Weights::tensors`].
fn of_block(block: &Block) -> [&[f32]; OF_BLOCK] {
    [
        gain(&block.attention_norm),
        &block.qkv.weight.data,
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
        &mut block.attention_output.weight.data,
        gain_mut(&mut block.mlp_norm),
        &mut block.up.weight.data,
        &mut block.down.weight.data,
    ]
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
    weights.token_embedding.data.fill(0.0);
    weights.blocks.iter_mut().flat_map(of_block_mut).for_each(|tensor| tensor.fill(0.0));
    gain_mut(&mut weights.final_norm).fill(0.0);
}

/// Pieces of a model: the length of what [`gather`] writes its sums to.
pub(super) fn pieces(weights: &Weights) -> usize {
    weights.token_embedding.data.len().div_ceil(PIECE) + weights.blocks.len() + 1
}

/// Adds the gradients of `rest`, in order, to `sum`; writes each piece's sum of squares to
/// `squares` and returns their sum.
pub(super) fn gather<'a>(
    sum: &mut Weights,
    rest: impl Iterator<Item = &'a Weights> + Clone + Sync,
    squares: &mut [f64],
) -> f64 {
    let (of_embedding, of_rest) =
        squares.split_at_mut(sum.token_embedding.data.len().div_ceil(PIECE));
    let (of_blocks, of_last) = of_rest.split_at_mut(sum.blocks.len());
    let embedding = sum.token_embedding.data.par_chunks_mut(PIECE).enumerate();
    embedding.zip(of_embedding).for_each(|((number, sum), square)| {
        let parts = rest.clone().map(|part| &part.token_embedding.data[number * PIECE..]);
        *square = add(sum, parts);
    });
    sum.blocks.par_iter_mut().enumerate().zip(of_blocks).for_each(|((layer, sum), square)| {
        *square = of_block_mut(sum)
            .into_iter()
            .enumerate()
            .map(|(number, sum)| {
                add(sum, rest.clone().map(|part| of_block(&part.blocks[layer])[number]))
            })
            .sum();
    });
    of_last[0] = add(gain_mut(&mut sum.final_norm), rest.map(|part| gain(&part.final_norm)));
    squares.iter().sum()
}

/// Adds the parts, each from its start on, to `sum` and returns the sum of its squares.
fn add<'a>(sum: &mut [f32], parts: impl Iterator<Item = &'a [f32]>) -> f64 {
    for part in parts {
        sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
    }
    sum.iter().map(|g| f64::from(*g).powi(2)).sum()
}

/// One AdamW step of every tensor, the gradient times `scale`; gains do not decay.
pub(super) fn update(
    adam: AdamW,
    step: u32,
    scale: f32,
    weights: &mut Weights,
    gradient: &Weights,
    [first, second]: &mut [Weights; 2],
) {
    let of_gains = AdamW { weight_decay: 0.0, ..adam };
    let embedding = weights.token_embedding.data.par_chunks_mut(PIECE);
    let moments = first.token_embedding.data.par_chunks_mut(PIECE);
    let moments = moments.zip(second.token_embedding.data.par_chunks_mut(PIECE));
    embedding
        .zip(gradient.token_embedding.data.par_chunks(PIECE))
        .zip(moments)
        .for_each(|((p, g), (m, v))| adam.step(step, scale, p, g, m, v));
    let moments = first.blocks.par_iter_mut().zip(&mut second.blocks);
    weights.blocks.par_iter_mut().zip(&gradient.blocks).zip(moments).for_each(
        |((p, g), (m, v))| {
            let moments = of_block_mut(m).into_iter().zip(of_block_mut(v));
            let tensors = of_block_mut(p).into_iter().zip(of_block(g)).zip(moments);
            for (gain, ((p, g), (m, v))) in GAINS.into_iter().zip(tensors) {
                let adam = if gain { of_gains } else { adam };
                adam.step(step, scale, p, g, m, v);
            }
        },
    );
    let [p, m, v] = [weights, first, second].map(|set| gain_mut(&mut set.final_norm));
    of_gains.step(step, scale, p, gain(&gradient.final_norm), m, v);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipes::Recipe;
    use crate::train::initial::initial_weights;

    /// A model whose embedding has more than one piece, the last of them short.
    fn some(seed: u64) -> Weights {
        let recipe = Recipe::named("small").unwrap();
        let mut spec = recipe.spec(&recipe.sizes[0]);
        spec.vocabulary = PIECE / spec.width + 37;
        initial_weights(&spec, seed)
    }

    /// A tensor that is missed here would never move: the decoder's own list, which the compiler
    /// keeps complete, is the judge.
    #[test]
    fn every_tensor_is_named_once() {
        let mut weights = some(1);
        let mut named = vec![weights.token_embedding.data.as_slice()];
        named.extend(weights.blocks.iter().flat_map(of_block));
        named.push(gain(&weights.final_norm));
        let places =
            |tensors: &[&[f32]]| tensors.iter().map(|t| (t.as_ptr(), t.len())).collect::<Vec<_>>();
        assert_eq!(places(&named), places(&weights.tensors()));
        clear(&mut weights);
        assert!(weights.tensors().iter().all(|tensor| tensor.iter().all(|w| *w == 0.0)));
    }

    #[test]
    fn gradients_are_gathered_in_order() {
        let parts = [some(1), some(2), some(3)];
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

    #[test]
    fn every_tensor_takes_its_step_and_gains_do_not_decay() {
        let adam =
            AdamW { learning_rate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weight_decay: 0.5 };
        let (mut weights, gradient, mut moments) = (some(1), some(2), [some(3), some(4)]);
        moments[1].tensors_mut().into_iter().flatten().for_each(|v| *v = v.abs());
        let (mut want, mut wanted) = (weights.clone(), moments.clone());
        update(adam, 3, 0.5, &mut weights, &gradient, &mut moments);
        let [m, v] = &mut wanted;
        let tensors = want.tensors_mut().into_iter().zip(gradient.tensors());
        for ((p, g), (m, v)) in tensors.zip(m.tensors_mut().into_iter().zip(v.tensors_mut())) {
            let gain = p.len() == gradient.token_embedding.columns;
            AdamW { weight_decay: if gain { 0.0 } else { 0.5 }, ..adam }.step(3, 0.5, p, g, m, v);
        }
        assert_eq!(weights, want);
        assert_eq!(moments, wanted);
    }
}
