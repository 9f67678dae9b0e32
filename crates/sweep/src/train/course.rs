//! One model from the first step to the last: the loop that families and plans share.

use super::batches::Batches;
use super::divergence::Watch;
use super::settings::Settings;
use super::trainer::{State, Taken, Trainer};
use crate::error::Result;
use relscale_records::parquet::CurvePoint;
use serde::{Deserialize, Serialize};

/// What a run has come to beside its weights.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The curve so far.
    pub curve: Vec<CurvePoint>,
    /// Sum of the losses of the steps since its last point, and how many they are.
    pub since: (f64, u32),
    /// Sum of the losses of the last tenth of the steps, and how many they are.
    pub tail: (f64, u32),
    /// What has been seen of the losses.
    pub watch: Watch,
}

/// A model on its way over a text.
#[derive(Debug)]
pub struct Course<'a> {
    /// The model.
    pub trainer: Trainer,
    /// What it has come to.
    pub progress: Progress,
    batches: Batches<'a>,
    steps: u32,
    /// Steps between two points of the curve.
    every: u32,
    /// Tokens of a step.
    tokens: u64,
}

impl<'a> Course<'a> {
    /// A course over the steps of the settings' schedule, from the first or from where `from`
    /// stands, with a point of the curve every so many steps.
    ///
    /// # Errors
    /// [`crate::Error::Untrainable`].
    pub fn new(
        settings: Settings,
        mut batches: Batches<'a>,
        every: u32,
        seed: u64,
        from: Option<(State, Progress)>,
    ) -> Result<Self> {
        let (steps, length) = (settings.schedule.steps, settings.spec.context);
        let (trainer, progress) = match from {
            Some((state, progress)) => (Trainer::resume(settings, length, state)?, progress),
            None => (Trainer::new(settings, length, seed)?, Progress::default()),
        };
        batches.skip(trainer.taken());
        let tokens = batches.tokens() as u64;
        Ok(Self { trainer, progress, batches, steps, every, tokens })
    }

    /// Takes the steps that are left, each followed by `after`, which takes note of it; a sentence
    /// from there ends the course. `None` after the last step.
    ///
    /// # Errors
    /// Those of `after`.
    pub fn run(
        &mut self,
        mut after: impl FnMut(&mut Self, u32, &Taken) -> Result<Option<String>>,
    ) -> Result<Option<(u32, String)>> {
        for step in self.trainer.taken() + 1..=self.steps {
            let taken = self.trainer.step(self.batches.next_batch());
            if let Some(end) = after(self, step, &taken)? {
                return Ok(Some((step, end)));
            }
        }
        Ok(None)
    }

    /// Takes note of a step in the sums, and in the curve where it has a point.
    pub fn note(&mut self, step: u32, taken: &Taken, held_out_loss: Option<f64>) {
        let progress = &mut self.progress;
        progress.since = (progress.since.0 + taken.loss, progress.since.1 + 1);
        if step > self.steps - self.steps.div_ceil(10) {
            progress.tail = (progress.tail.0 + taken.loss, progress.tail.1 + 1);
        }
        let due = step == 1 || step == self.steps || step.is_multiple_of(self.every);
        if due || held_out_loss.is_some() {
            progress.curve.push(CurvePoint {
                step,
                tokens: u64::from(step) * self.tokens,
                loss: progress.since.0 / f64::from(progress.since.1),
                learning_rate: taken.learning_rate,
                held_out_loss,
            });
            progress.since = (0.0, 0);
        }
    }

    /// Mean loss over the last tenth of the steps, nats a token.
    pub fn final_loss(&self) -> f64 {
        self.progress.tail.0 / f64::from(self.progress.tail.1)
    }

    /// Passes over the text that `steps` steps make.
    pub fn passes(&self, steps: u32) -> f64 {
        self.batches.passes(steps)
    }
}
