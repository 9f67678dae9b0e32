//! The loop: batches through [`super::step`], gradients summed over shards, clipped, and handed to AdamW.

use super::batches::Batches;
use super::curve::Point;
use super::schedule::Schedule;
use super::step::Workspace;
use crate::error::{Error, Result};
use crate::recipes::{Recipe, Size};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use relscale_decoder::ops::adamw::AdamW;
use relscale_decoder::spec::Spec;
use relscale_decoder::weights::Weights;

/// Parts of a batch whose gradients are computed apart and summed in this order. A constant, not the number of threads,
/// so that a run gives the same bits however many there are.
const SHARDS: usize = 4;

/// Steps between two points of the loss curve.
const POINT_STEPS: u32 = 25;

/// A finished run.
#[derive(Debug)]
pub struct Trained {
    /// The weights.
    pub weights: Weights,
    /// The loss curve.
    pub curve: Vec<Point>,
    /// Mean loss over the last tenth of the steps, nats a token.
    pub final_loss: f64,
    /// Times the text was passed over.
    pub passes: f64,
}

/// Trains one size on `stream`. `progress(step, loss)` is called after each step; training stops when it returns `false`.
///
/// # Errors
/// [`Error::TooLittleText`], [`Error::Untrainable`], [`Error::Diverged`], or [`Error::Cancelled`].
pub fn train(
    recipe: &Recipe,
    size: &Size,
    stream: &[u32],
    mut progress: impl FnMut(u32, f64) -> bool,
) -> Result<Trained> {
    let spec = recipe.spec(size);
    let mut batches = Batches::new(stream, recipe.context, recipe.batch, recipe.seed)?;
    let schedule = Schedule {
        peak: recipe.peak_learning_rate(size),
        steps: recipe.steps,
        warm_up: recipe.warm_up,
        decay: recipe.decay,
    };
    let mut weights = initial_weights(&spec, recipe.seed);
    let mut shards = (0..SHARDS)
        .map(|_| Ok((Workspace::new(&spec, recipe.context)?, Weights::zeros(&spec))))
        .collect::<Result<Vec<_>>>()?;
    let mut moments = [Weights::zeros(&spec), Weights::zeros(&spec)];
    let (mut curve, mut since, mut tail) = (Vec::new(), Vec::new(), Vec::new());
    for step in 1..=recipe.steps {
        let batch = batches.next_batch();
        let loss = gradient(&spec, &weights, &batch, &mut shards);
        if !loss.is_finite() {
            return Err(Error::Diverged { model: size.name.to_owned(), step, loss });
        }
        let learning_rate = schedule.at(step);
        update(recipe, step, learning_rate, &mut weights, &shards[0].1, &mut moments);
        since.push(loss);
        if step % POINT_STEPS == 0 || step == recipe.steps || step == 1 {
            curve.push(Point { step, loss: mean(&since), learning_rate });
            since.clear();
        }
        if step > recipe.steps - recipe.steps.div_ceil(10) {
            tail.push(loss);
        }
        if !progress(step, loss) {
            return Err(Error::Cancelled { model: size.name.to_owned(), step });
        }
    }
    Ok(Trained { weights, curve, final_loss: mean(&tail), passes: batches.passes(recipe.steps) })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean loss of a batch, nats a token; its gradient is left in the first shard.
fn gradient(spec: &Spec, weights: &Weights, batch: &[&[u32]], shards: &mut [(Workspace, Weights)]) -> f64 {
    let tokens: usize = batch.iter().map(|s| s.len() - 1).sum();
    let weight = 1.0 / tokens as f32;
    let share = batch.len().div_ceil(SHARDS);
    let losses: Vec<f64> = shards
        .par_iter_mut()
        .enumerate()
        .map(|(shard, (workspace, gradient))| {
            gradient.tensors_mut().into_iter().for_each(|t| t.fill(0.0));
            let first = (shard * share).min(batch.len());
            let part = &batch[first..(first + share).min(batch.len())];
            match part {
                [] => 0.0,
                part => workspace.forward_backward(spec, weights, part, weight, gradient),
            }
        })
        .collect();
    let (first, rest) = shards.split_at_mut(1);
    let rest: Vec<Vec<&[f32]>> = rest.iter().map(|(_, gradient)| gradient.tensors()).collect();
    first[0].1.tensors_mut().into_par_iter().enumerate().for_each(|(number, sum)| {
        for part in &rest {
            sum.iter_mut().zip(part[number]).for_each(|(s, p)| *s += p);
        }
    });
    losses.iter().sum::<f64>() / tokens as f64
}

/// Clips the gradient to the recipe's norm and takes one AdamW step; gains do not decay.
fn update(
    recipe: &Recipe,
    step: u32,
    learning_rate: f64,
    weights: &mut Weights,
    gradient: &Weights,
    moments: &mut [Weights; 2],
) {
    let gradient = gradient.tensors();
    let square = |t: &&[f32]| t.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>();
    // Summed tensor by tensor, in order: the same bits on any number of threads.
    let norm = gradient.par_iter().map(square).collect::<Vec<_>>().iter().sum::<f64>().sqrt();
    let scale = (recipe.clip / norm).min(1.0) as f32;
    let width = weights.token_embedding.columns;
    let [first, second] = moments;
    let parameters = weights.tensors_mut().into_par_iter().zip(gradient);
    let moments = first.tensors_mut().into_par_iter().zip(second.tensors_mut());
    parameters.zip(moments).for_each(|((p, g), (m, v))| {
        let adam = AdamW {
            learning_rate: learning_rate as f32,
            beta1: recipe.betas[0],
            beta2: recipe.betas[1],
            epsilon: recipe.epsilon,
            weight_decay: if p.len() == width { 0.0 } else { recipe.weight_decay },
        };
        if scale < 1.0 {
            let clipped: Vec<f32> = g.iter().map(|g| g * scale).collect();
            adam.step(step, p, &clipped, m, v);
        } else {
            adam.step(step, p, g, m, v);
        }
    });
}

/// Fresh weights: gains 1, matrices normal with deviation `1 / sqrt(inputs)`, the last matrix of each residual branch
/// divided by `sqrt(2 layers)` besides, so that the stream's size does not grow with depth. The embedding, which is also
/// the head, has `1 / sqrt(C)`: fresh logits then have deviation 1.
pub fn initial_weights(spec: &Spec, seed: u64) -> Weights {
    let mut weights = Weights::zeros(spec);
    let mut random = Normal { source: ChaCha8Rng::seed_from_u64(seed), spare: None };
    let mut fill = |data: &mut [f32], deviation: f64| {
        data.iter_mut().for_each(|w| *w = (random.next() * deviation) as f32);
    };
    let by_inputs = |inputs: usize| 1.0 / (inputs as f64).sqrt();
    let branch = 1.0 / (2.0 * spec.layers as f64).sqrt();
    fill(&mut weights.token_embedding.data, by_inputs(spec.width));
    for block in &mut weights.blocks {
        fill(&mut block.qkv.weight.data, by_inputs(spec.width));
        fill(&mut block.attention_output.weight.data, by_inputs(spec.attention_width()) * branch);
        fill(&mut block.up.weight.data, by_inputs(spec.width));
        fill(&mut block.down.weight.data, by_inputs(spec.hidden) * branch);
        for norm in [&mut block.attention_norm, &mut block.mlp_norm] {
            norm.gain.iter_mut().for_each(|gain| gain.fill(1.0));
        }
    }
    weights.final_norm.iter_mut().flat_map(|norm| &mut norm.gain).for_each(|gain| gain.fill(1.0));
    weights
}

/// Standard normal numbers by Box and Muller.
struct Normal {
    source: ChaCha8Rng,
    spare: Option<f64>,
}

impl Normal {
    fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let mut uniform = || (self.source.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let radius = (-2.0 * (1.0 - uniform()).ln()).sqrt();
        let angle = 2.0 * std::f64::consts::PI * uniform();
        self.spare = Some(radius * angle.sin());
        radius * angle.cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick() -> Recipe {
        let mut recipe = Recipe::named("small").unwrap();
        recipe.vocabulary = 32;
        recipe.context = 16;
        recipe.batch = 6;
        recipe.steps = 60;
        recipe
    }

    #[test]
    fn a_repeating_text_is_learnt_and_a_run_is_repeatable_on_any_number_of_threads() {
        let recipe = quick();
        let stream: Vec<u32> = (0..4000).map(|i| (i * i + i / 3) % 31).collect();
        let run = || train(&recipe, &recipe.sizes[2], &stream, |_, _| true).unwrap();
        let one = run();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let two = pool.install(run);
        assert_eq!(one.weights, two.weights);
        assert_eq!(one.curve, two.curve);
        let (first, last) = (one.curve[0].loss, one.final_loss);
        assert!((first - 32f64.ln()).abs() < 1.0, "{first}");
        assert!(last < 0.5 * first, "{first} -> {last}");
    }

    #[test]
    fn a_run_stops_when_asked() {
        let recipe = quick();
        let stream: Vec<u32> = (0..4000).map(|i| i % 31).collect();
        let error = train(&recipe, &recipe.sizes[0], &stream, |step, _| step < 3).unwrap_err();
        assert!(matches!(error, Error::Cancelled { step: 3, .. }), "{error}");
    }
}
