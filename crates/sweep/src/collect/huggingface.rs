//! Folders of the Hugging Face trainer: `trainer_state.json`, in the run's folder or in its
//! `checkpoint-N`.

use std::path::{Path, PathBuf};

use relscale_records::written::json;
use serde_json::Value;

use super::lives;
use super::logged::Logged;
use super::metrics::text_of;
use crate::error::{Error, Result};

/// Name of the file.
pub(super) const STATE: &str = "trainer_state.json";

/// The state that counts: the folder's own, else that of the checkpoint with the most steps.
pub(super) fn state(folder: &Path) -> Option<PathBuf> {
    let own = folder.join(STATE);
    if own.is_file() {
        return Some(own);
    }
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let steps = |path: &PathBuf| -> Option<u64> {
        path.file_name()?.to_str()?.strip_prefix("checkpoint-")?.parse().ok()
    };
    let checkpoints = entries.map(|entry| entry.path()).filter(|path| path.join(STATE).is_file());
    checkpoints.filter(|path| steps(path).is_some()).max_by_key(steps).map(|path| path.join(STATE))
}

/// Reads the run, which is called as `folder`.
///
/// # Errors
/// [`Error::Metrics`]: no JSON, no `log_history`.
pub(super) fn read(folder: &Path, state: &Path) -> Result<Logged> {
    let refuse = |reason: String| Error::Metrics {
        path: state.to_owned(),
        place: "the file".to_owned(),
        reason,
    };
    let value =
        json::parse(&text_of(state)?).map_err(|error| refuse(format!("no JSON: {error}")))?;
    let Some(Value::Array(history)) = value.get("log_history") else {
        return Err(refuse("no member `log_history`".to_owned()));
    };
    let mut logged =
        Logged::new(folder.file_name().map_or("run".into(), |name| name.to_string_lossy()));
    let steps = history.iter().map(|record| {
        let mut of_step = Logged::new("");
        of_step.add_object(record, "", ".", None);
        let numbers = of_step
            .numbers
            .iter()
            .filter_map(|(name, series)| Some((name.clone(), series.last()?.value)));
        let step = lives::Step {
            step: record.get("step").and_then(json::number),
            numbers: numbers.collect(),
        };
        logged.add_texts(of_step);
        step
    });
    let steps = steps.collect();
    lives::add(&mut logged, steps, lives::Written::Rows);
    // Its `train_batch_size` is that of one device, not of a step, so it is none of these.
    for name in ["global_step", "max_steps", "num_input_tokens_seen", "total_flos"] {
        if let Some(number) = value.get(name).and_then(json::number).filter(|number| *number > 0.0)
        {
            logged.add(name, None, number);
        }
    }
    let beside = [folder, state.parent().unwrap_or(folder)];
    logged.config =
        beside.map(|folder| folder.join("config.json")).into_iter().find(|path| path.is_file());
    Ok(logged)
}
