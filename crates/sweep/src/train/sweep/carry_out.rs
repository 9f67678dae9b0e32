//! One run: from its checkpoint, or from the first step, to the end or to its divergence.

use super::checkpoint::{self, Progress};
use super::evaluate::HeldOut;
use super::record::{RUN_FORMAT, RunRecord, Status};
use super::text::SweepText;
use crate::error::{Error, Result};
use crate::export::huggingface;
use crate::plan::{Plan, PlannedRun};
use crate::train::batches::Batches;
use crate::train::planned;
use crate::train::trainer::{Settings, Taken, Trainer};
use relscale_records::atomic;
use relscale_records::parquet::{CurvePoint, write_curve};
use std::path::Path;
use std::time::{Duration, Instant};

/// Points of a loss curve, beside those of evaluations.
const POINTS: u32 = 100;

/// What a run needs beside the plan.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The text.
    pub text: &'a SweepText,
    /// The run's key.
    pub key: &'a str,
    /// Its folder.
    pub folder: &'a Path,
    /// Evaluations over the run.
    pub evaluations: u32,
    /// Its held-out sequences.
    pub held_out: HeldOut<'a>,
    /// Time between two checkpoints.
    pub checkpoint_every: Duration,
}

/// What a caller is told of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Told {
    /// It goes on after so many steps of an earlier process.
    Resumed(u32),
    /// A step was taken, with this training loss.
    Step(u32, f64),
    /// After a step, the held-out loss is this.
    Evaluated(u32, f64),
}

/// Trains `run`. `watch` returns `false` to stop; a checkpoint is written then.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::Untrainable`], [`Error::TooLittleText`]; what checkpoints and files refuse. A divergence is
/// no error: it is in the record.
pub fn carry_out(
    run: &PlannedRun,
    given: &Given<'_>,
    mut watch: impl FnMut(Told) -> bool,
) -> Result<RunRecord> {
    let settings = planned::settings(run)?;
    let length = run.architecture.sequence;
    let mut batches = Batches::new(&given.text.stream, length, run.batch, run.seed)?;
    let passes = |steps| batches.passes(steps);
    let passes = [passes(run.steps), passes(1)];
    atomic::inner_folder(given.folder)?;
    atomic::remove_leftovers(given.folder)?;
    let mut going = match checkpoint::read(given.folder, given.key, &settings.spec)? {
        Some((state, progress)) => {
            watch(Told::Resumed(state.taken));
            Going { trainer: Trainer::resume(settings.clone(), length, state)?, progress }
        }
        None => Going {
            trainer: Trainer::new(settings.clone(), length, run.seed)?,
            progress: Progress::default(),
        },
    };
    batches.skip(going.trainer.taken());
    let mut saved = Instant::now();
    let mut held_out_loss = None;
    for step in going.trainer.taken() + 1..=run.steps {
        let taken = going.trainer.step(batches.next_batch());
        if let Some(note) = going.progress.watch.note(step, &taken) {
            return going.give_up(run, given, step, note, f64::from(step) * passes[1]);
        }
        if evaluates(step, run.steps, given.evaluations) {
            held_out_loss = given.held_out.loss(&settings.spec, going.trainer.weights())?;
            let Some(loss) = held_out_loss else {
                let note = format!("the held-out loss was no number after step {step}");
                return going.give_up(run, given, step, note, f64::from(step) * passes[1]);
            };
            going.note(run, step, &taken, Some(loss));
            watch(Told::Evaluated(step, loss));
        } else {
            going.note(run, step, &taken, None);
        }
        if step == run.steps {
            break;
        }
        let stop = !watch(Told::Step(step, taken.loss));
        if stop || saved.elapsed() >= given.checkpoint_every {
            going.save(given)?;
            saved = Instant::now();
        }
        if stop {
            return Err(Error::Cancelled { model: run.name.clone(), step });
        }
    }
    watch(Told::Step(run.steps, going.progress.curve.last().map_or(f64::NAN, |point| point.loss)));
    going.finish(run, given, &settings, held_out_loss, passes[0])
}

/// Whether the held-out text is scored after a step: `times` times, evenly, and after the last.
fn evaluates(step: u32, steps: u32, times: u32) -> bool {
    let share = |step: u32| u64::from(step) * u64::from(times) / u64::from(steps);
    step == steps || share(step) > share(step - 1)
}

struct Going {
    trainer: Trainer,
    progress: Progress,
}

impl Going {
    /// Takes note of a step in the sums, and in the curve where it has a point.
    fn note(&mut self, run: &PlannedRun, step: u32, taken: &Taken, held_out_loss: Option<f64>) {
        let progress = &mut self.progress;
        progress.since = (progress.since.0 + taken.loss, progress.since.1 + 1);
        if step > run.steps - run.steps.div_ceil(10) {
            progress.tail = (progress.tail.0 + taken.loss, progress.tail.1 + 1);
        }
        if held_out_loss.is_some() || step == 1 || step.is_multiple_of(run.steps.div_ceil(POINTS)) {
            progress.curve.push(CurvePoint {
                step,
                tokens: u64::from(step) * (run.batch * run.architecture.sequence) as u64,
                loss: progress.since.0 / f64::from(progress.since.1),
                learning_rate: taken.learning_rate,
                held_out_loss,
            });
            progress.since = (0.0, 0);
        }
    }

    fn save(&self, given: &Given<'_>) -> Result<()> {
        let [first, second] = self.trainer.moments();
        let sets = [self.trainer.weights(), first, second];
        checkpoint::write(given.folder, given.key, sets, self.trainer.taken(), &self.progress)
    }

    fn record(&self, run: &PlannedRun, given: &Given<'_>) -> RunRecord {
        RunRecord {
            format: RUN_FORMAT,
            status: Status::Finished,
            note: None,
            key: given.key.to_owned(),
            run: PlannedRun { seconds: None, ..run.clone() },
            flops_convention: given.plan.recipe.flops,
            flops_formula: given.plan.flops_formula.clone(),
            text: given.text.identity.clone(),
            evaluations: given.evaluations,
            held_out_tokens: given.held_out.tokens() as u64,
            steps_taken: self.trainer.taken(),
            passes: 0.0,
            train_loss: None,
            held_out_loss: None,
        }
    }

    fn give_up(
        self,
        run: &PlannedRun,
        given: &Given<'_>,
        step: u32,
        note: String,
        passes: f64,
    ) -> Result<RunRecord> {
        let record = RunRecord {
            status: Status::Diverged,
            note: Some(note),
            steps_taken: step,
            passes,
            ..self.record(run, given)
        };
        write_curve(&given.folder.join("curve.parquet"), &run.name, &self.progress.curve)?;
        record.write(given.folder)?;
        checkpoint::remove(given.folder)?;
        Ok(record)
    }

    fn finish(
        self,
        run: &PlannedRun,
        given: &Given<'_>,
        settings: &Settings,
        held_out_loss: Option<f64>,
        passes: f64,
    ) -> Result<RunRecord> {
        let (sum, steps) = self.progress.tail;
        let record = RunRecord {
            passes,
            train_loss: Some(sum / f64::from(steps)),
            held_out_loss,
            ..self.record(run, given)
        };
        write_curve(&given.folder.join("curve.parquet"), &run.name, &self.progress.curve)?;
        let config = huggingface::tokenizer_config(&settings.spec);
        atomic::write_whole(&given.folder.join("tokenizer_config.json"), &config)?;
        let files = huggingface::files(&settings.spec, self.trainer.weights(), &given.text.tokenizer)?;
        for (name, bytes) in files {
            atomic::write_whole(&given.folder.join(name), &bytes)?;
        }
        record.write(given.folder)?;
        checkpoint::remove(given.folder)?;
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::evaluates;

    #[test]
    fn evaluations_are_even_and_the_last_step_has_one() {
        let at =
            |steps, times| (1..=steps).filter(|step| evaluates(*step, steps, times)).collect::<Vec<u32>>();
        assert_eq!(at(100, 4), [25, 50, 75, 100]);
        assert_eq!(at(7, 3), [3, 5, 7]);
        assert_eq!(at(3, 9), [1, 2, 3]);
        assert_eq!(at(10, 1), [10]);
    }
}
