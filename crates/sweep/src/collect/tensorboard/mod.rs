//! TensorBoard's event files: scalars.
//!
//! * [`records`]: the framing, a length and its checksum, the bytes and theirs;
//! * [`message`]: the few fields of protocol buffers that a scalar needs.

mod message;
mod records;

use std::path::{Path, PathBuf};

use super::lives::{self, Step, Written};
use super::logged::Logged;
use crate::error::{Error, Result};

/// Whether a file is one of TensorBoard's, by its name.
pub(super) fn is_events(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains("events.out.tfevents"))
}

/// Reads the event files of one run, which is called as `folder`. They are taken in the order of
/// their names, which begin with the time they were made; where two have one step of a tag, the
/// later one counts, as in TensorBoard, where a run was started again. A damaged file is read up to
/// the damage, which is noted.
///
/// # Errors
/// [`Error::Read`]; [`Error::Metrics`], with the byte: all there is is one file, which is damaged
/// before its first number.
pub(super) fn read(folder: &Path, files: &[PathBuf]) -> Result<Logged> {
    let full = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut logged =
        Logged::new(full.file_name().map_or("run".into(), |name| name.to_string_lossy()));
    let mut first: Option<Error> = None;
    for (number, path) in files.iter().enumerate() {
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(source) => {
                logged.notes.push(format!("{name} cannot be read: {source}"));
                logged.broken = true;
                first.get_or_insert(Error::Read { path: path.clone(), source });
                continue;
            }
        };
        let mut reader = records::Records::new(&bytes);
        let mut steps: Vec<Step> = Vec::new();
        let mut damage = None;
        for record in reader.by_ref() {
            let event = record.and_then(|(at, record)| {
                message::event(record)
                    .ok_or((at, "no event in the record; the file is damaged or no event file"))
            });
            match event {
                Ok(event) => add(&mut steps, event),
                Err(found) => {
                    damage = Some(found);
                    break;
                }
            }
        }
        if reader.torn() {
            logged.notes.push(format!(
                "{name} ends inside a record, as of a run that goes on or was killed"
            ));
        }
        // Only what comes after the damage could tell the end; a later file may.
        logged.broken = damage.is_some();
        if let Some((at, reason)) = damage {
            logged.notes.push(format!("{name} is read up to byte {at} only: {reason}"));
            first.get_or_insert(Error::Metrics {
                path: path.clone(),
                place: format!("byte {at}"),
                reason: reason.to_owned(),
            });
        }
        lives::add(&mut logged, steps, Written::Events { again: number > 0 });
    }
    match first {
        Some(error) if logged.numbers.is_empty() => Err(error),
        _ => Ok(logged),
    }
}

/// Adds the scalars of an event to those of its step.
fn add(steps: &mut Vec<Step>, event: message::Event) {
    if event.scalars.is_empty() {
        return;
    }
    let step = Some(event.step as f64);
    match steps.last_mut().filter(|last| last.step == step) {
        Some(last) => last.numbers.extend(event.scalars),
        None => steps.push(Step { step, numbers: event.scalars }),
    }
}
