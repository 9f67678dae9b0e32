//! The version of the formats on disk.
//!
//! One number for the study folder and everything in it. It rises when an older program would
//! misread a newer folder, not with every release. Newer formats are refused with words, never
//! guessed at.

use std::path::Path;

use crate::error::{Error, Result};

/// The format this program writes, and the newest that it reads.
///
/// * 1: every row with a score has rank, ties, nll, entropy and argmax.
/// * 2: ties, entropy and argmax are null where the engine does not tell them, and so are a
///   document's count of ties and its sum of entropy.
pub const FORMAT: u32 = 2;

/// Name of this program in files.
pub const TOOL: &str = "relscale";

/// Version of this program in files.
pub const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Refuses a format newer than [`FORMAT`].
///
/// # Errors
/// [`Error::NewerFormat`], naming the file and both versions.
pub fn check(path: &Path, found: u32) -> Result<()> {
    if found > FORMAT {
        return Err(Error::NewerFormat { path: path.to_path_buf(), found, known: FORMAT });
    }
    Ok(())
}
