//! Files that a user names: `--json FILE`, `--out FILE`.
//!
//! A user's own link is followed, and its target replaced whole. A device or a pipe (`/dev/null`,
//! `/dev/stdout`, a shell's `>(command)`) is written into: renaming would put a file in its place.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::write_with;
use crate::error::{Error, Result};

/// Links that are followed one after another, as systems do.
const LINKS: usize = 40;

/// Writes bytes to a file that a user named; an existing file that holds them already is left
/// alone.
///
/// # Errors
/// [`Error::Write`]; the old file stays then.
pub fn write_named(target: &Path, bytes: &[u8]) -> Result<()> {
    let place = place(target);
    if fs::metadata(&place).is_ok_and(|there| there.is_file()) {
        return super::write_whole(&place, bytes);
    }
    write_named_with(target, |out| out.write_all(bytes))
}

/// As [`write_named`], piece by piece.
///
/// # Errors
/// As [`write_named`].
pub fn write_named_with(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let place = place(target);
    match fs::metadata(&place) {
        Ok(there) if !there.is_file() && !there.is_dir() => {
            let opened = OpenOptions::new().write(true).open(&place);
            let written = opened.and_then(|file| {
                let mut out = BufWriter::new(file);
                write(&mut out)?;
                out.flush()
            });
            written.map_err(Error::write(target))
        }
        _ => write_with(&place, write),
    }
}

/// Where a path that a user named leads, link by link, whether there is something or not.
pub fn place(target: &Path) -> PathBuf {
    let mut place = target.to_path_buf();
    for _ in 0..LINKS {
        // What a link of `/proc` reads as (`pipe:[7]`) is no path; opening the link itself is right
        // there.
        let Ok(next) = fs::read_link(&place) else { break };
        let next = place.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
        if place.exists() && !next.exists() {
            break;
        }
        place = next;
    }
    place
}
