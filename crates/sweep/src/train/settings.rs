//! What the trainer needs to know of a model: of a family's size or of a planned run.

use super::schedule::Schedule;
use super::step::check;
use crate::error::{Error, Result};
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

impl Settings {
    /// Those of a model that is trained for so many steps.
    ///
    /// # Errors
    /// [`Error::Untrainable`] for what this trainer does not do: QK-norm, an untied head, another
    /// optimiser than AdamW; [`Error::Decoder`] for sizes at odds.
    pub fn new(model: &Architecture, optimiser: &Optimiser, steps: u32) -> Result<Self> {
        let spec = model.spec();
        check(&spec)?;
        if optimiser.kind != OptimiserKind::AdamW {
            return Err(Error::Untrainable {
                family: spec.family,
                reason: "its optimiser is not AdamW; export the plan to an engine that has it"
                    .to_owned(),
            });
        }
        Ok(Self {
            spec,
            schedule: Schedule {
                peak: optimiser.learning_rate,
                steps,
                warm_up: optimiser.warm_up,
                decay: optimiser.decay,
            },
            betas: [optimiser.beta1 as f32, optimiser.beta2 as f32],
            epsilon: optimiser.epsilon as f32,
            weight_decay: optimiser.weight_decay as f32,
            clip: optimiser.clip,
            z_loss: optimiser.z_loss as f32,
        })
    }
}
