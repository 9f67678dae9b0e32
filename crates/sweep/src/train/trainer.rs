//! Weights, moments and the step that moves them: gradients summed over shards, clipped, and handed to AdamW.

use super::initial::initial_weights;
use super::schedule::Schedule;
use super::step::Workspace;
use crate::error::Result;
use rayon::prelude::*;
use relscale_decoder::ops::adamw::AdamW;
use relscale_decoder::spec::Spec;
use relscale_decoder::weights::Weights;

/// Parts of a batch whose gradients are computed apart and summed in this order. A constant, not the number of threads,
/// so that a run gives the same bits however many there are.
const SHARDS: usize = 4;

/// What a step needs to know.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The model.
    pub spec: Spec,
    /// The learning rate by step.
    pub schedule: Schedule,
    /// AdamW's decay of the first and second moments.
    pub betas: [f32; 2],
    /// AdamW's epsilon.
    pub epsilon: f32,
    /// Decoupled weight decay of the matrices (not of gains).
    pub weight_decay: f32,
    /// Largest norm of a step's gradient.
    pub clip: f64,
    /// Factor of the z-loss; 0: none. Losses are told without it.
    pub z_loss: f32,
}

/// A model in training.
#[derive(Debug)]
pub struct Trainer {
    settings: Settings,
    weights: Weights,
    moments: [Weights; 2],
    shards: Vec<(Workspace, Weights)>,
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
                let workspace = Workspace::new(&settings.spec, length)?.with_z_loss(settings.z_loss);
                Ok((workspace, Weights::zeros(&settings.spec)))
            })
            .collect::<Result<Vec<_>>>()?;
        let State { weights, moments, taken } = state;
        Ok(Self { settings, weights, moments, shards, taken })
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

    /// One step on a batch of sequences, each one token longer than the length.
    pub fn step(&mut self, batch: &[&[u32]]) -> Taken {
        let step = self.taken + 1;
        let learning_rate = self.settings.schedule.at(step);
        let loss = gradient(&self.settings.spec, &self.weights, batch, &mut self.shards);
        let gradient = self.shards[0].1.tensors();
        let square = |t: &&[f32]| t.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>();
        // Summed tensor by tensor, in order: the same bits on any number of threads.
        let norm = gradient.par_iter().map(square).collect::<Vec<_>>().iter().sum::<f64>().sqrt();
        let moved = loss.is_finite() && norm.is_finite();
        if moved {
            update(
                &self.settings,
                step,
                learning_rate,
                norm,
                &mut self.weights,
                &gradient,
                &mut self.moments,
            );
            self.taken = step;
        }
        Taken { loss, norm, learning_rate, moved }
    }
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

/// Clips the gradient of that norm and takes one AdamW step; gains do not decay.
fn update(
    settings: &Settings,
    step: u32,
    learning_rate: f64,
    norm: f64,
    weights: &mut Weights,
    gradient: &[&[f32]],
    moments: &mut [Weights; 2],
) {
    let scale = (settings.clip / norm).min(1.0) as f32;
    let width = weights.token_embedding.columns;
    let [first, second] = moments;
    let parameters = weights.tensors_mut().into_par_iter().zip(gradient);
    let moments = first.tensors_mut().into_par_iter().zip(second.tensors_mut());
    parameters.zip(moments).for_each(|((p, g), (m, v))| {
        let adam = AdamW {
            learning_rate: learning_rate as f32,
            beta1: settings.betas[0],
            beta2: settings.betas[1],
            epsilon: settings.epsilon,
            weight_decay: if p.len() == width { 0.0 } else { settings.weight_decay },
        };
        adam.step(step, scale, p, g, m, v);
    });
}
