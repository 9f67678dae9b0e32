//! One run of a plan on this machine.

use super::schedule::Schedule;
use super::trainer::Settings;
use crate::error::{Error, Result};
use crate::plan::PlannedRun;
use crate::plan::recipe::OptimiserKind;

/// What the trainer needs of a run.
///
/// # Errors
/// [`Error::Untrainable`] for what this trainer does not do: QK-norm, an untied head, another optimiser than AdamW.
pub fn settings(run: &PlannedRun) -> Result<Settings> {
    let optimiser = &run.optimiser;
    let spec = run.architecture.spec()?;
    super::step::check(&spec)?;
    if optimiser.kind != OptimiserKind::AdamW {
        return Err(Error::Untrainable {
            family: spec.family,
            reason: "its optimiser is not AdamW; export the plan to an engine that has it".to_owned(),
        });
    }
    Ok(Settings {
        spec,
        schedule: Schedule {
            peak: optimiser.learning_rate,
            steps: run.steps,
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
