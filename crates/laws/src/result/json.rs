//! Results as JSON, on their way out.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use crate::error::LawsError;

/// A whole result that machines read: `laws.json`, `relative.json`, predictions, fits of tables.
pub trait Saved: Serialize + Sized {
    /// Writes the result as indented JSON: aside first (`<name>.tmp` in the same folder), then renamed, so that a reader sees
    /// the old file or the new one, never half of one.
    ///
    /// # Errors
    /// [`LawsError::Write`] with the path, when the folder is missing, full or not writable.
    fn save(&self, path: &Path) -> Result<(), LawsError> {
        write_whole(path, |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })
    }

    /// The same text as [`save`](Self::save) writes, without the line feed at its end.
    ///
    /// # Errors
    /// [`LawsError::Write`] under the name of standard output, should a result not fit JSON.
    fn to_json(&self) -> Result<String, LawsError> {
        serde_json::to_string_pretty(self)
            .map_err(|source| LawsError::Write { path: "standard output".into(), source: source.into() })
    }
}

impl Saved for super::StudyFit {}
impl Saved for super::TableFit {}
impl Saved for super::Predictions {}
impl Saved for super::RelativeFit {}
impl Saved for super::StagesFit {}
impl Saved for super::SizeTokensFit {}
impl Saved for super::ChoicesFit {}
impl Saved for super::IsoflopFit {}

/// Writes a file aside and renames it when it is whole.
///
/// # Errors
/// [`LawsError::Write`] with the path.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), LawsError> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".tmp");
    let aside = Path::new(&aside);
    let written = (|| {
        let mut out = BufWriter::new(File::create(aside)?);
        write(&mut out)?;
        out.into_inner()?.sync_all()?;
        fs::rename(aside, path)
    })();
    written.map_err(|source| {
        // The half-written file is of no use to anyone; that it could not be removed either would add nothing to
        // the message.
        let _ = fs::remove_file(aside);
        LawsError::Write { path: path.to_owned(), source }
    })
}
