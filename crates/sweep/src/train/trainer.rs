//! Weights, moments and the step that moves them: gradients summed over shards, clipped, and handed
//! to AdamW or its cautious kin.

use super::adamw::AdamW;
use super::cautious::CautiousAdamC;
use super::initial::initial_weights;
use super::settings::Settings;
use super::step::Workspace;
use super::tensors;
use crate::error::Result;
use crate::plan::recipe::OptimiserKind;
use rayon::prelude::*;
use relscale_decoder::spec::Spec;
use relscale_decoder::weights::Weights;

/// Parts of a batch whose gradients are computed apart and summed in this order. A constant, not
/// the number of threads, so that a run gives the same bits however many there are.
const SHARDS: usize = 4;

/// A model in training.
#[derive(Debug)]
pub struct Trainer {
    settings: Settings,
    weights: Weights,
    moments: [Weights; 2],
    shards: Vec<(Workspace, Weights)>,
    /// Where the gradient's squares are summed.
    squares: Vec<f64>,
    taken: u32,
}

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// Mean loss of the batch before the step, nats a token.
    pub loss: f64,
    /// Norm of its gradient before clipping.
    pub norm: f64,
    /// Learning rate.
    pub learning_rate: f64,
    /// Whether the weights moved; not when loss or gradient is no finite number.
    pub moved: bool,
}

/// All that a later process needs to go on to the bit: weights, both moments, steps taken.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The weights.
    pub weights: Weights,
    /// First and second moments, in the shapes of the weights.
    pub moments: [Weights; 2],
    /// Steps taken.
    pub taken: u32,
}

impl Trainer {
    /// A fresh model for sequences of `length` inputs.
    ///
    /// # Errors
    /// [`crate::Error::Untrainable`].
    pub fn new(settings: Settings, length: usize, seed: u64) -> Result<Self> {
        let state = State {
            weights: initial_weights(&settings.spec, seed),
            moments: [Weights::zeros(&settings.spec), Weights::zeros(&settings.spec)],
            taken: 0,
        };
        Self::resume(settings, length, state)
    }

    /// A model that has taken some steps.
    ///
    /// # Errors
    /// [`crate::Error::Untrainable`].
    pub fn resume(settings: Settings, length: usize, state: State) -> Result<Self> {
        let shards = (0..SHARDS)
            .map(|_| {
                let workspace =
                    Workspace::new(&settings.spec, length)?.with_z_loss(settings.z_loss);
                Ok((workspace, Weights::zeros(&settings.spec)))
            })
            .collect::<Result<Vec<_>>>()?;
        let State { weights, moments, taken } = state;
        let squares = vec![0.0; tensors::pieces(&weights)];
        Ok(Self { settings, weights, moments, shards, squares, taken })
    }

    /// Steps taken.
    pub fn taken(&self) -> u32 {
        self.taken
    }

    /// The weights as they are.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// First and second moments as they are.
    pub fn moments(&self) -> &[Weights; 2] {
        &self.moments
    }

    /// The weights, at the end.
    pub fn into_weights(self) -> Weights {
        self.weights
    }

    /// One step on a batch of sequences, each one token longer than the length. Asks for no memory
    /// after the first (the `gemm` crate does, in its products; `tests/allocation.rs` counts both).
    pub fn step(&mut self, batch: &[&[u32]]) -> Taken {
        let Self { settings, weights, moments, shards, squares, taken } = self;
        let step = *taken + 1;
        let learning_rate = settings.schedule.at(step);
        let loss = gradient(&settings.spec, weights, batch, shards);
        let (sum, rest) = shards.split_at_mut(1);
        let gradient = &mut sum[0].1;
        let norm = tensors::gather(gradient, rest.iter().map(|(_, part)| part), squares).sqrt();
        let moved = loss.is_finite() && norm.is_finite();
        if moved {
            let clip = (settings.clip / norm).min(1.0) as f32;
            let &mut Settings { betas: [beta1, beta2], epsilon, weight_decay, .. } = settings;
            let (peak, learning_rate) = (settings.schedule.peak as f32, learning_rate as f32);
            match settings.optimiser {
                OptimiserKind::AdamW => {
                    let adam = AdamW { learning_rate, beta1, beta2, epsilon, weight_decay };
                    tensors::update(adam, step, clip, weights, gradient, moments);
                }
                OptimiserKind::CautiousAdamC => {
                    let adam =
                        CautiousAdamC { learning_rate, peak, beta1, beta2, epsilon, weight_decay };
                    tensors::update_cautiously(adam, step, clip, weights, gradient, moments);
                }
            }
            *taken = step;
        }
        Taken { loss, norm, learning_rate, moved }
    }
}

/// Mean loss of a batch, nats a token; each shard is left with the gradient of its part.
fn gradient(
    spec: &Spec,
    weights: &Weights,
    batch: &[&[u32]],
    shards: &mut [(Workspace, Weights)],
) -> f64 {
    let tokens: usize = batch.iter().map(|s| s.len() - 1).sum();
    let weight = 1.0 / tokens as f32;
    let share = batch.len().div_ceil(SHARDS);
    let mut losses = [0.0; SHARDS];
    shards.par_iter_mut().zip(&mut losses).enumerate().for_each(
        |(shard, ((workspace, gradient), loss))| {
            tensors::clear(gradient);
            let first = (shard * share).min(batch.len());
            let part = &batch[first..(first + share).min(batch.len())];
            if !part.is_empty() {
                *loss = workspace.forward_backward(spec, weights, part, weight, gradient);
            }
        },
    );
    losses.iter().sum::<f64>() / tokens as f64
}
