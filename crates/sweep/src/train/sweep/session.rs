//! All runs of a plan, in its order; those that ended are kept.

use super::carry_out::{Given, RunEvent, carry_out};
use super::evaluate::HeldOut;
use super::record::{RunRecord, key};
use super::table;
use super::text::SweepText;
use crate::error::{Error, Result};
use crate::plan::{Plan, PlannedRun};
use crate::train::batches::Batches;
use crate::train::keep::{Keep, Of};
use crate::train::settings::Settings;
use relscale_records::atomic;
use relscale_records::lock::Lock;
use std::path::Path;
use std::time::Duration;

/// How a plan is trained, beside what the plan says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Evaluations over a run, the last step's included; at least 1.
    pub evaluations: u32,
    /// Held-out tokens that each scores, about.
    pub held_out_tokens: usize,
    /// Time between two checkpoints of a run; it does not change what comes out.
    pub checkpoint_every: Duration,
    /// How many models of each run are kept on the way.
    pub keep: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            evaluations: 5,
            held_out_tokens: 65_536,
            checkpoint_every: Duration::from_secs(30),
            keep: 0,
        }
    }
}

/// What a caller is told while a plan is trained.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A run ended in an earlier process, and is kept.
    Kept(&'a PlannedRun, &'a RunRecord),
    /// A run is on its way.
    Run(&'a PlannedRun, RunEvent),
    /// A run ended.
    Ended(&'a PlannedRun, &'a RunRecord),
}

/// Trains the runs of `plan` into `out`, one after another. `watch` returns `false` to stop.
/// Returns the records, in the plan's order.
///
/// # Errors
/// Before any training: [`Error::Untrainable`], [`Error::TooLittleText`],
/// [`Error::TooLittleHeldOut`] for the first run that they are true of; [`Error::Occupied`] for a
/// folder that was made by another plan, text or setting; [`Error::Records`] when another process
/// works here. Then those of [`carry_out`].
pub fn train(
    plan: &Plan,
    text: &SweepText,
    out: &Path,
    options: &Options,
    mut watch: impl FnMut(Event<'_>) -> bool,
) -> Result<Vec<RunRecord>> {
    let length = plan.recipe.sequence;
    let held_out = HeldOut::new(&text.held_out, length, options.held_out_tokens)?;
    for run in &plan.runs {
        Settings::new(&run.architecture, &run.optimiser, run.steps)?;
        Batches::new(&text.stream, length, run.batch, run.seed)?;
    }
    atomic::folder(out)?;
    let _lock = Lock::take(out)?;
    atomic::remove_leftovers(out)?;
    let evaluations = options.evaluations.max(1);
    let keys: Vec<String> = plan
        .runs
        .iter()
        .map(|run| key(run, &text.identity, evaluations, held_out.tokens() as u64))
        .collect::<Result<_>>()?;
    let mut ended = plan
        .runs
        .iter()
        .zip(&keys)
        .map(|(run, key)| known(&out.join(&run.name), key))
        .collect::<Result<Vec<_>>>()?;
    atomic::write_whole(&out.join("plan.json"), plan.to_json()?.as_bytes())?;
    let group = &text.identity.corpora;
    table::write(out, plan, group, &ended)?;
    for (number, run) in plan.runs.iter().enumerate() {
        let of = Of {
            run: &run.name,
            key: &keys[number],
            seed: run.seed,
            steps: run.steps,
            tokens_a_step: (run.batch * run.architecture.sequence) as u64,
            tokenizer: &text.tokenizer,
        };
        if let Some(record) = &ended[number] {
            Keep::new(out, options.keep, of, record.steps_taken)?;
            watch(Event::Kept(run, record));
            continue;
        }
        let folder = out.join(&run.name);
        let given = Given {
            plan,
            text,
            key: &keys[number],
            folder: &folder,
            evaluations,
            held_out,
            checkpoint_every: options.checkpoint_every,
        };
        let keep = |from| Keep::new(out, options.keep, of, from);
        let record = carry_out(run, &given, keep, |told| watch(Event::Run(run, told)))?;
        let go_on = watch(Event::Ended(run, &record));
        ended[number] = Some(record);
        table::write(out, plan, group, &ended)?;
        if !go_on && number + 1 < plan.runs.len() {
            return Err(Error::Cancelled { model: run.name.clone(), step: run.steps });
        }
    }
    Ok(ended.into_iter().flatten().collect())
}

/// The record of a run that ended here by this key.
fn known(folder: &Path, key: &str) -> Result<Option<RunRecord>> {
    atomic::refuse_link(folder)?;
    match RunRecord::read(folder)? {
        Some(record) if record.key != key => Err(Error::Occupied {
            path: folder.to_owned(),
            differs: "another plan, text or setting".to_owned(),
        }),
        record => {
            if record.is_some() {
                // A process may have died between the record and this.
                super::checkpoint::remove(folder)?;
            }
            Ok(record)
        }
    }
}
