//! Results as JSON, on their way out.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use relscale_records::atomic;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::earlier;
use super::finite::{self, NoNumber};
use super::outlined::Outlined;
use crate::error::LawsError;

/// Version of the layout of every result; a change of meaning of any member of any of them raises
/// it.
pub const RESULT_FORMAT: u32 = 5;

/// A whole result that machines read: `laws.json`, `relative.json`, predictions, fits of tables.
pub trait Saved: Serialize + DeserializeOwned {
    /// The earliest layout version that is read, besides [`RESULT_FORMAT`] and those between.
    const OLDEST: u32;

    /// The command that makes such a file, e.g. `relscale fit`.
    const COMMAND: &'static str;

    /// Turns a file of a layout before 4 into one of today's.
    fn renew(file: &mut Value);

    /// Reads a file that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// [`LawsError::Read`] when it cannot be read, [`LawsError::Format`] when it has another layout
    /// version, [`LawsError::Parse`] when it is no such file. All name the file and the command
    /// that makes it.
    fn load(path: &Path) -> Result<Self, LawsError> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let (path_of, command) = (|| path.to_owned(), Self::COMMAND);
        let text = fs::read_to_string(path).map_err(|source| LawsError::Read {
            path: path_of(),
            source,
            command,
        })?;
        let parse = |source| LawsError::Parse { path: path_of(), source, command };
        // The version first: a file of another layout should be told so, not that a member is
        // missing.
        let Version { format } = serde_json::from_str(&text).map_err(parse)?;
        if !(Self::OLDEST..=RESULT_FORMAT).contains(&format) {
            let (found, expected) = (format, RESULT_FORMAT);
            return Err(LawsError::Format { path: path_of(), found, expected, command });
        }
        if format == RESULT_FORMAT {
            return serde_json::from_str(&text).map_err(parse);
        }
        let mut file: Value = serde_json::from_str(&text).map_err(parse)?;
        // What 5 added to 4 is absent in files of 4, and is read so.
        if format < earlier::TODAYS_NAMES {
            Self::renew(&mut file);
        }
        file["format"] = RESULT_FORMAT.into();
        serde_json::from_value(file).map_err(parse)
    }

    /// Writes the result as JSON, its outline indented, into a study, whole or not at all: a reader
    /// sees the old file or the new one, also where several write at once.
    ///
    /// # Errors
    /// [`LawsError::Write`] with the path, when the folder is missing, full or not writable;
    /// [`LawsError::Place`] when a link lies there; [`LawsError::NoNumber`]: a number of it is
    /// none, so that [`load`](Self::load) would refuse the file.
    fn save(&self, path: &Path) -> Result<(), LawsError> {
        numbers(self, path)?;
        atomic::write_with(path, |out| pretty(self, out)).map_err(|error| failed(path, error))
    }

    /// As [`save`](Self::save), to a file that a user named, who may have meant a link, a device or
    /// a pipe.
    ///
    /// # Errors
    /// [`LawsError::Write`], [`LawsError::NoNumber`].
    fn save_named(&self, path: &Path) -> Result<(), LawsError> {
        numbers(self, path)?;
        atomic::write_named_with(path, |out| pretty(self, out)).map_err(|error| failed(path, error))
    }

    /// The same text as [`save`](Self::save) writes, without the line feed at its end.
    ///
    /// # Errors
    /// [`LawsError::Write`] under the name of standard output, should a result not fit JSON; as
    /// [`save`](Self::save).
    fn to_json(&self) -> Result<String, LawsError> {
        numbers(self, Path::new("standard output"))?;
        let mut text = Vec::new();
        let written = self
            .serialize(&mut serde_json::Serializer::with_formatter(&mut text, Outlined::default()));
        let failed =
            |source: io::Error| LawsError::Write { path: "standard output".into(), source };
        written.map_err(|source| failed(source.into()))?;
        String::from_utf8(text).map_err(|source| failed(io::Error::other(source)))
    }
}

/// Which types are such results: the oldest layout that is read, the command, and how earlier
/// layouts are read.
macro_rules! saved {
    ($($result:ident, $oldest:literal, $command:literal, $renew:expr;)*) => {
        $(impl Saved for super::$result {
            const OLDEST: u32 = $oldest;
            const COMMAND: &'static str = $command;

            fn renew(file: &mut Value) {
                $renew(file);
            }
        })*
    };
}

saved! {
    StudyFit, 2, "relscale fit", earlier::study;
    RankExamples, 5, "relscale fit", earlier::unchanged;
    TableFit, 1, "relscale fit --table", earlier::table;
    Predictions, 1, "relscale predict", earlier::predictions;
    TrainingFit, 5, "relscale training", earlier::unchanged;
    Forecast, 5, "relscale forecast", earlier::unchanged;
    Advice, 5, "relscale next", earlier::unchanged;
    RelativeFit, 1, "relscale relative", earlier::relative;
    StagesFit, 1, "relscale stages", earlier::unchanged;
    SizeTokensFit, 1, "relscale size-tokens", earlier::unchanged;
    ChoicesFit, 1, "relscale choices", earlier::choices;
    IsoflopFit, 2, "relscale sweep fit", earlier::isoflop;
}

/// Refuses a result with a number that JSON does not have.
fn numbers<T: Serialize>(result: &T, path: &Path) -> Result<(), LawsError> {
    finite::check(result)
        .map_err(|NoNumber(place)| LawsError::NoNumber { path: path.to_owned(), place })
}

fn pretty<T: Serialize + ?Sized>(result: &T, out: &mut dyn Write) -> io::Result<()> {
    result
        .serialize(&mut serde_json::Serializer::with_formatter(&mut *out, Outlined::default()))?;
    out.write_all(b"\n")
}

/// Writes a file that a user named, whole or not at all.
///
/// # Errors
/// [`LawsError::Write`] with the path.
pub(crate) fn write_named(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), LawsError> {
    atomic::write_named_with(path, write).map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: relscale_records::Error) -> LawsError {
    match error {
        relscale_records::Error::Write { source, .. } => {
            LawsError::Write { path: path.to_owned(), source }
        }
        other => LawsError::Place(Box::new(other)),
    }
}
