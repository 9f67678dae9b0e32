//! What the trainer needs to know of a model: of a family's size or of a planned run.

use super::schedule::Schedule;
use super::step::check;
use crate::error::Result;
use crate::plan::Architecture;
use crate::plan::recipe::OptimiserKind;
use crate::plan::run::Optimiser;
use relscale_decoder::spec::Spec;

/// What a step needs to know.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The model.
    pub spec: Spec,
    /// The learning rate by step.
    pub schedule: Schedule,
    /// Who takes the steps.
    pub optimiser: OptimiserKind,
    /// Decay of the first and second moments.
    pub betas: [f32; 2],
    /// Added to the root of the second moment.
    pub epsilon: f32,
    /// Decoupled weight decay of what takes part in products: not of gains, nor of an embedding
    /// beside a head of its own.
    pub weight_decay: f32,
    /// Largest norm of a step's gradient.
    pub clip: f64,
    /// Factor of the z-loss; 0: none. Losses are told without it.
    pub z_loss: f32,
}

impl Settings {
    /// Those of a model that is trained for so many steps.
    ///
    /// # Errors
    /// [`crate::Error::Untrainable`] for what this trainer does not do; [`crate::Error::Decoder`]
    /// for sizes at odds.
    pub fn new(model: &Architecture, optimiser: &Optimiser, steps: u32) -> Result<Self> {
        let spec = model.spec();
        check(&spec)?;
        Ok(Self {
            spec,
            schedule: Schedule {
                peak: optimiser.learning_rate,
                steps,
                warm_up: optimiser.warm_up,
                decay: optimiser.decay,
            },
            optimiser: optimiser.kind,
            betas: [optimiser.beta1 as f32, optimiser.beta2 as f32],
            epsilon: optimiser.epsilon as f32,
            weight_decay: optimiser.weight_decay as f32,
            clip: optimiser.clip,
            z_loss: optimiser.z_loss as f32,
        })
    }
}
