//! Levanter's `tracker_metrics.jsonl`: one record, `config` and `summary`.

use std::path::Path;

use relscale_records::written::json;

use super::logged::Logged;
use super::metrics::{folder_name, text_of};
use crate::error::{Error, Result};

/// Name of the file.
pub(super) const FILE: &str = "tracker_metrics.jsonl";

/// Reads the run, which is called as its folder. Members of `config` are named with dots
/// (`optimizer.learning_rate`), those of `summary` as they stand (`throughput/total_tokens`).
///
/// # Errors
/// [`Error::Metrics`] with the line: no record, no JSON, no `summary`.
pub(super) fn read(path: &Path) -> Result<Logged> {
    let refuse = |line: usize, reason: String| Error::Metrics {
        path: path.to_owned(),
        place: format!("line {line}"),
        reason,
    };
    let text = text_of(path)?;
    let records: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
    let Some((at, line)) = records.last().copied() else {
        return Err(refuse(1, "no record; the run has not ended".to_owned()));
    };
    let record = json::parse(line).map_err(|error| refuse(at + 1, format!("no JSON: {error}")))?;
    let Some(summary) = record.get("summary") else {
        return Err(refuse(at + 1, "no member `summary`".to_owned()));
    };
    let mut logged = Logged::new(folder_name(path));
    logged.add_object(&record["config"], "", ".", None);
    logged.add_object(summary, "", "/", None);
    if records.len() > 1 {
        logged.notes.push(format!("{} records, of which the last counts", records.len()));
    }
    Ok(logged)
}
