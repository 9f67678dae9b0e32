//! One run: from its checkpoint, or from the first step, to the end or to its divergence.

use super::checkpoint;
use super::evaluate::HeldOut;
use super::record::{RUN_FORMAT, RunRecord, Status};
use super::text::SweepText;
use crate::error::{Error, Result};
use crate::export::huggingface;
use crate::plan::{Plan, PlannedRun};
use crate::train::batches::Batches;
use crate::train::course::Course;
use crate::train::keep::Keep;
use crate::train::settings::Settings;
use relscale_records::atomic;
use relscale_records::parquet::write_curve;
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
pub enum RunEvent {
    /// It goes on after so many steps of an earlier process.
    Resumed(u32),
    /// A step was taken, with this training loss.
    Step(u32, f64),
    /// After a step, the held-out loss is this.
    Evaluated(u32, f64),
}

/// Trains `run`; `keep`, told after which step it goes on, keeps models on the way. `watch` returns
/// `false` to stop; a checkpoint is written then.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::Untrainable`], [`Error::TooLittleText`]; what checkpoints and
/// files refuse. A divergence is no error: it is in the record.
pub fn carry_out<'a>(
    run: &PlannedRun,
    given: &Given<'_>,
    keep: impl FnOnce(u32) -> Result<Keep<'a>>,
    mut watch: impl FnMut(RunEvent) -> bool,
) -> Result<RunRecord> {
    let settings = Settings::new(&run.architecture, &run.optimiser, run.steps)?;
    let spec = settings.spec.clone();
    let length = run.architecture.sequence;
    let batches = Batches::new(&given.text.stream, length, run.batch, run.seed)?;
    atomic::inner_folder(given.folder)?;
    atomic::remove_leftovers(given.folder)?;
    let from = checkpoint::read(given.folder, given.key, &spec)?;
    let keep = keep(from.as_ref().map_or(0, |(state, _)| state.taken))?;
    if let Some((state, _)) = &from {
        watch(RunEvent::Resumed(state.taken));
    }
    let mut course = Course::new(settings, batches, run.steps.div_ceil(POINTS), run.seed, from)?;
    let mut saved = Instant::now();
    let mut last = None;
    let end = course.run(|course, step, taken| {
        if let Some(note) = course.progress.watch.note(step, taken) {
            return Ok(Some(note));
        }
        let mut held_out_loss = None;
        if evaluates(step, run.steps, given.evaluations) {
            held_out_loss = given.held_out.loss(&spec, course.trainer.weights())?;
            if held_out_loss.is_none() {
                return Ok(Some(format!("the held-out loss was no number after step {step}")));
            }
        }
        course.note(step, taken, held_out_loss);
        keep.note(step, &spec, course.trainer.weights())?;
        if let Some(loss) = held_out_loss {
            watch(RunEvent::Evaluated(step, loss));
            last = held_out_loss;
        }
        if step < run.steps {
            let stop = !watch(RunEvent::Step(step, taken.loss));
            if stop || saved.elapsed() >= given.checkpoint_every {
                let [first, second] = course.trainer.moments();
                let sets = [course.trainer.weights(), first, second];
                checkpoint::write(
                    given.folder,
                    given.key,
                    sets,
                    course.trainer.taken(),
                    &course.progress,
                )?;
                saved = Instant::now();
            }
            if stop {
                return Err(Error::Cancelled { model: run.name.clone(), step });
            }
        }
        Ok(None)
    })?;
    let record = match end {
        Some((step, note)) => RunRecord {
            status: Status::Diverged,
            note: Some(note),
            steps_taken: step,
            // As one pass a step at a time makes them, to the last bit.
            passes: f64::from(step) * course.passes(1),
            ..record(run, given, &course)
        },
        None => {
            let loss = course.progress.curve.last().map_or(f64::NAN, |point| point.loss);
            watch(RunEvent::Step(run.steps, loss));
            RunRecord {
                passes: course.passes(run.steps),
                train_loss: Some(course.final_loss()),
                held_out_loss: last,
                ..record(run, given, &course)
            }
        }
    };
    write_curve(&given.folder.join("curve.parquet"), &run.name, &course.progress.curve)?;
    if record.status == Status::Finished {
        let config = huggingface::tokenizer_config(&spec);
        atomic::write_whole(&given.folder.join("tokenizer_config.json"), &config)?;
        for (name, bytes) in
            huggingface::files(&spec, course.trainer.weights(), &given.text.tokenizer)?
        {
            atomic::write_whole(&given.folder.join(name), &bytes)?;
        }
    }
    record.write(given.folder)?;
    checkpoint::remove(given.folder)?;
    Ok(record)
}

/// What is said of a run however it ended.
fn record(run: &PlannedRun, given: &Given<'_>, course: &Course<'_>) -> RunRecord {
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
        steps_taken: course.trainer.taken(),
        passes: 0.0,
        train_loss: None,
        held_out_loss: None,
    }
}

/// Whether the held-out text is scored after a step: `times` times, evenly, and after the last.
fn evaluates(step: u32, steps: u32, times: u32) -> bool {
    let share = |step: u32| u64::from(step) * u64::from(times) / u64::from(steps);
    step == steps || share(step) > share(step - 1)
}

#[cfg(test)]
mod tests {
    use super::evaluates;

    #[test]
    fn evaluations_are_even_and_the_last_step_has_one() {
        let at = |steps, times| {
            (1..=steps).filter(|step| evaluates(*step, steps, times)).collect::<Vec<u32>>()
        };
        assert_eq!(at(100, 4), [25, 50, 75, 100]);
        assert_eq!(at(7, 3), [3, 5, 7]);
        assert_eq!(at(3, 9), [1, 2, 3]);
        assert_eq!(at(10, 1), [10]);
    }
}
