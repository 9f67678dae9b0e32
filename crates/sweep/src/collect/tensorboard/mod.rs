//! TensorBoard's event files: scalars.
//!
//! * [`records`]: the framing, a length and its checksum, the bytes and theirs;
//! * [`message`]: the few fields of protocol buffers that a scalar needs.

mod message;
mod records;

use std::path::{Path, PathBuf};

use super::logged::{Entry, Logged};
use crate::error::{Error, Result};

/// Whether a file is one of TensorBoard's, by its name.
pub(super) fn is_events(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains("events.out.tfevents"))
}

/// Reads the event files of one run, which is called as `folder`. They are taken in the order of their names, which begin with the time they were
/// made; where two have one step of a tag, the later one counts, as in TensorBoard, where a run was started again.
///
/// # Errors
/// [`Error::Read`]; [`Error::Metrics`], with the byte: a checksum that is wrong, a message that is none.
pub(super) fn read(folder: &Path, files: &[PathBuf]) -> Result<Logged> {
    let full = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut logged = Logged::new(full.file_name().map_or("run".into(), |name| name.to_string_lossy()));
    for path in files {
        let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.clone(), source })?;
        let refuse = |at: usize, reason: &str| Error::Metrics {
            path: path.clone(),
            place: format!("byte {at}"),
            reason: reason.to_owned(),
        };
        let mut reader = records::Records::new(&bytes);
        for record in reader.by_ref() {
            let (at, record) = record.map_err(|(at, reason)| refuse(at, reason))?;
            let event = message::event(record).ok_or_else(|| refuse(at, "no event in the record"))?;
            for (tag, value) in event.scalars {
                let step = event.step as f64;
                let series = logged.numbers.entry(tag).or_default();
                // Started again from an earlier step: what was logged beyond it belongs to the life that was given up.
                if series.last().is_some_and(|last| last.step >= Some(step)) {
                    series.retain(|entry| entry.step < Some(step));
                }
                series.push(Entry { step: Some(step), value });
            }
        }
        if reader.torn() {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            logged.notes.push(format!("{name} ends inside a record, as of a run that goes on or was killed"));
        }
    }
    Ok(logged)
}
