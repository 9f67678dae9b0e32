//! Texts of the International Corpus of English (ICE), or in its markup: a file a text, the markup
//! stripped.
//!
//! The corpora are licensed, so users bring theirs. One document is one text: a file, or in the
//! files of ICE-East Africa (one a category) what stands between two lines that are text codes.
//! Tags: `variety`, `text_code` (`S1A-001`), `category` (`S1A`), `register` (what the design calls
//! that category and number), `mode` (`spoken`, `written`).
//!
//! * The text code is the file's name if that is one, else that of the first text unit.
//! * The variety is `variety=`, else what the text units say (`<ICE-SIN:...>` gives `SIN`), else
//!   the folder that the file is in.
//! * Bytes that are not UTF-8 are read as ISO-8859-1, a file as a whole; NUL bytes and carriage
//!   returns go.
//!
//! What each mark becomes is a table in [`mod@markup`]. The program carries a few invented texts in
//! that markup (`sample`), so that the loader can be tried without a licence.

pub mod code;
mod entities;
pub mod markup;
mod sample;
mod texts;

use std::path::{Path, PathBuf};

use super::keys::Keys;
use super::listing::Listing;
use super::loader::{Kind, Loader};
use super::open::{Expected, extension, file_name, whole};
use super::place::everything;
use super::reading::Reading;
use super::stream::{Documents, in_turn};
use crate::document::Document;
use crate::error::{CorpusError, Result};
use markup::Stripping;
use texts::{IceOptions, documents};

/// What stands for the texts that the program carries, behind `ice:`.
const SAMPLE: &str = "sample";

/// The kind.
pub(super) static ICE: Kind = Kind {
    help: "  ice      (kind=ice)   file or folder, or ice:sample (invented texts)  variety=NAME  pauses=comma|drop  extra=keep|drop",
    built_in: Some("ice:"),
    ..Kind::named("ice", |place, keys| {
        let path = match place.text.strip_prefix("ice:") {
            Some(SAMPLE) => None,
            Some(other) => {
                let reason = format!(
                    "there is no `ice:{other}`; the texts in ICE's markup that are built in are ice:{SAMPLE}"
                );
                return Err(reason.into());
            }
            None => Some(place.path()),
        };
        Ok(Box::new(Ice { path, options: options(keys)? }))
    })
};

fn options(keys: &mut Keys) -> std::result::Result<IceOptions, String> {
    let mut either = |key: &str, yes: &str| match keys.one(key)?.as_deref() {
        None => Ok(true),
        Some("drop") => Ok(false),
        Some(value) if value == yes => Ok(true),
        Some(other) => Err(format!("{key}={other} is not {yes} or drop")),
    };
    let stripping =
        Stripping { pauses: either("pauses", "comma")?, extra: either("extra", "keep")? };
    Ok(IceOptions { variety: keys.one("variety")?, stripping })
}

/// A file, or all `.txt` files (any case) below a folder, by path; without a path the texts that
/// the program carries.
#[derive(Debug)]
struct Ice {
    path: Option<PathBuf>,
    options: IceOptions,
}

impl Loader for Ice {
    fn files(&self) -> Result<Vec<PathBuf>> {
        self.path.as_deref().map_or(Ok(Vec::new()), everything)
    }

    /// At once: nothing to read. As an item, with the file: no text code in the name or the text,
    /// no variety, nothing left when the markup is gone.
    fn open(&self, reading: &Reading) -> Result<Documents> {
        let Some(path) = &self.path else { return sample::sample(&self.options) };
        let is_text = |path: &&PathBuf| extension(path).as_deref() == Some("txt");
        let takes = |files: &[PathBuf]| files.iter().filter(is_text).cloned().collect();
        let files = match path.is_dir() {
            true => Listing::below(path, "ICE", takes, reading)?.files,
            false => Listing::one(path)?.files,
        };
        if files.is_empty() {
            let reason = "no .txt file; ICE has one a text".to_owned();
            return Err(CorpusError::BadLayout { path: path.clone(), reason });
        }
        let root =
            if path.is_dir() { path.clone() } else { path.parent().unwrap_or(path).to_owned() };
        let (options, reading) = (self.options.clone(), reading.clone());
        Ok(in_turn(files.into_iter(), move |file| {
            texts_of_file(&root, &file.path, &options, &reading)
        }))
    }
}

fn texts_of_file(
    root: &Path,
    path: &Path,
    options: &IceOptions,
    reading: &Reading,
) -> Result<Vec<Document>> {
    let bytes = whole(path, Expected::Text, reading)?;
    let folder = path.parent().filter(|folder| *folder != root).map(file_name);
    documents(path, &bytes, folder.as_deref(), options)
}
