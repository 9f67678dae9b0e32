//! `run.json`: how a run ended, and everything that decided it.

use super::text::TextIdentity;
use crate::error::{Error, Result};
use crate::plan::PlannedRun;
pub use relscale_records::Status;
use relscale_records::atomic;
use relscale_records::units::FlopsConvention;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Name of the file in a run's folder.
pub const FILE: &str = "run.json";

/// Version of the file.
pub const RUN_FORMAT: u32 = 1;

/// A run that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`RUN_FORMAT`].
    pub format: u32,
    /// Finished or diverged.
    pub status: Status,
    /// Why it diverged.
    pub note: Option<String>,
    /// Hash of everything below up to `held_out_tokens`: two runs with the same key give the same
    /// bytes.
    pub key: String,
    /// The run as planned, without its time.
    pub run: PlannedRun,
    /// What its budget counts.
    pub flops_convention: FlopsConvention,
    /// How FLOPs are counted.
    pub flops_formula: String,
    /// The text.
    pub text: TextIdentity,
    /// Evaluations over the run.
    pub evaluations: u32,
    /// Held-out tokens that each scores.
    pub held_out_tokens: u64,
    /// Steps taken.
    pub steps_taken: u32,
    /// Times the text was passed over.
    pub passes: f64,
    /// Mean training loss over the last tenth of the steps, nats a token; `None` unless finished.
    pub train_loss: Option<f64>,
    /// Loss on the held-out tokens after the last step, nats a token; `None` unless finished.
    pub held_out_loss: Option<f64>,
}

impl RunRecord {
    /// Reads the record of a run's folder; `None` when there is none.
    ///
    /// # Errors
    /// [`Error::Checkpoint`], naming the file.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        let problem = |reason: String| Error::Checkpoint { path: path.clone(), reason };
        match std::fs::read(&path) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map(Some).map_err(|error| problem(error.to_string()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(problem(error.to_string())),
        }
    }

    /// Writes it; after all other files of the run, since its presence says that they are whole.
    ///
    /// # Errors
    /// [`Error::Records`] when it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::Checkpoint { path: path.clone(), reason: error.to_string() })?;
        text.push('\n');
        Ok(atomic::write_whole(&path, text.as_bytes())?)
    }
}

/// The key of a run: SHA-256 over what decides its numbers.
///
/// # Errors
/// [`Error::Plan`] should a number not fit JSON.
pub fn key(
    run: &PlannedRun,
    text: &TextIdentity,
    evaluations: u32,
    held_out_tokens: u64,
) -> Result<String> {
    let run = PlannedRun { seconds: None, ..run.clone() };
    let decides = serde_json::to_string(&(RUN_FORMAT, &run, text, evaluations, held_out_tokens))
        .map_err(|error| Error::Plan { path: "the plan".into(), reason: error.to_string() })?;
    Ok(Sha256::digest(decides.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect())
}
