//! How long the runs of a plan take: measured on this machine, or by a rate that the user states.
//! Never guessed.

use super::settings::Settings;
use super::trainer::Trainer;
use crate::error::{Error, Result};
use crate::plan::time::TimeBasis;
use crate::plan::{Plan, PlannedRun};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::time::{Duration, Instant};

/// Steps of a run are taken until they have lasted this long, at least [`LEAST_STEPS`].
const LONG_ENOUGH: Duration = Duration::from_millis(300);

/// Steps timed at least, after one that is not.
const LEAST_STEPS: usize = 3;

/// Training FLOPs of the largest step that is timed: a machine that does 1e11 a second takes 20
/// seconds for it.
const MOST_A_STEP: f64 = 2e12;

/// Puts a time on every run.
///
/// `watch(done)` is called before each measured run; measuring stops when it returns `false`.
///
/// # Errors
/// [`Error::Untrainable`] when a run is to be measured that this trainer does not train;
/// [`Error::PlanRequest`] for a rate that is none, and for steps too large to be timed;
/// [`Error::Stopped`].
pub fn estimate(
    plan: &mut Plan,
    basis: TimeBasis,
    mut watch: impl FnMut(usize) -> bool,
) -> Result<()> {
    if let TimeBasis::TokensPerSecond { rate } | TimeBasis::TrainFlopsPerSecond { rate } = basis
        && !(rate.is_finite() && rate > 0.0)
    {
        return Err(Error::PlanRequest {
            what: format!("a rate of {rate}"),
            hint: "give a number above 0".to_owned(),
        });
    }
    let of_a_step = |run: &PlannedRun| run.flops.train / f64::from(run.steps);
    let large = plan.runs.iter().find(|run| of_a_step(run) > MOST_A_STEP);
    if let (TimeBasis::Measured { .. }, Some(run)) = (basis, large) {
        return Err(Error::PlanRequest {
            what: format!(
                "a step of {} takes {:.1e} training FLOPs, and steps of at most {MOST_A_STEP:e} are timed",
                run.name,
                of_a_step(run)
            ),
            hint: "state a rate: --flops-per-second, or --tokens-per-second".to_owned(),
        });
    }
    for (done, run) in plan.runs.iter_mut().enumerate() {
        run.seconds = Some(match basis {
            TimeBasis::Measured { .. } => {
                if !watch(done) {
                    return Err(Error::Stopped);
                }
                seconds_a_step(run)? * f64::from(run.steps)
            }
            TimeBasis::TokensPerSecond { rate } => run.tokens as f64 / rate,
            TimeBasis::TrainFlopsPerSecond { rate } => run.flops.train / rate,
        });
    }
    plan.time = Some(basis);
    Ok(())
}

/// Median seconds of a step of `run`, on random tokens: what they are makes no difference to the
/// work.
fn seconds_a_step(run: &PlannedRun) -> Result<f64> {
    let model = &run.architecture;
    let mut trainer =
        Trainer::new(Settings::new(model, &run.optimiser, run.steps)?, model.sequence, run.seed)?;
    let mut random = ChaCha8Rng::seed_from_u64(run.seed);
    let mut token = || (random.next_u64() % model.vocabulary as u64) as u32;
    let length = model.sequence + 1;
    let ids: Vec<u32> = (0..run.batch * length).map(|_| token()).collect();
    let batch: Vec<&[u32]> = ids.chunks_exact(length).collect();
    // The first step grows the buffers.
    trainer.step(&batch);
    let mut spans = Vec::new();
    let begun = Instant::now();
    while spans.len() < LEAST_STEPS || begun.elapsed() < LONG_ENOUGH {
        let started = Instant::now();
        trainer.step(&batch);
        spans.push(started.elapsed().as_secs_f64());
    }
    spans.sort_by(f64::total_cmp);
    Ok(spans[spans.len() / 2])
}
