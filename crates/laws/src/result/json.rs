//! Results as JSON, on their way out.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use crate::error::LawsError;

/// Writes a result as indented JSON: aside first (`<name>.tmp` in the same folder), then renamed, so that a reader sees the old
/// file or the new one, never half of one.
///
/// # Errors
/// [`LawsError::Write`] with the path, when the folder is missing, full or not writable.
pub(super) fn save(result: &impl Serialize, path: &Path) -> Result<(), LawsError> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".tmp");
    let aside = Path::new(&aside);
    write_aside(result, aside).and_then(|()| fs::rename(aside, path)).map_err(|source| {
        // The half-written file is of no use to anyone; that it could not be removed either would add nothing to the
        // message.
        let _ = fs::remove_file(aside);
        LawsError::Write { path: path.to_owned(), source }
    })
}

/// The same text as [`save`] writes, without the line feed at its end.
///
/// # Errors
/// [`LawsError::Write`] under the name of standard output, should a result not fit JSON.
pub(super) fn text(result: &impl Serialize) -> Result<String, LawsError> {
    serde_json::to_string_pretty(result)
        .map_err(|source| LawsError::Write { path: "standard output".into(), source: source.into() })
}

fn write_aside(result: &impl Serialize, aside: &Path) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(aside)?);
    serde_json::to_writer_pretty(&mut out, result)?;
    out.write_all(b"\n")?;
    out.into_inner()?.sync_all()
}
