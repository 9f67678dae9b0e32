//! A model's name becomes a local folder: here and nowhere else.
//!
//! For now a model *is* a local folder. Anything else is refused with what to do; this module opens no socket.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A model as it was asked for: `FOLDER` or `NAME=FOLDER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequest {
    /// Name shown and recorded.
    pub name: String,
    /// Family within which laws are fitted; the architecture's name if not given.
    pub family: Option<String>,
    /// The folder.
    pub folder: PathBuf,
}

impl ModelRequest {
    /// Reads `FOLDER` or `NAME=FOLDER`. Without a name, the folder's own is taken.
    ///
    /// # Errors
    /// As [`resolve`].
    pub fn parse(argument: &str) -> Result<Self> {
        // A folder may have `=` in its path: an existing folder wins over the form with a name.
        let (name, place) = match argument.split_once('=') {
            Some((name, place)) if !name.is_empty() && !Path::new(argument).is_dir() => {
                (Some(name.to_owned()), place)
            }
            _ => (None, argument),
        };
        let folder = resolve(place)?;
        let own_name = || {
            let full = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            full.file_name().map_or_else(|| place.to_owned(), |n| n.to_string_lossy().into_owned())
        };
        let name = name.unwrap_or_else(own_name);
        Ok(Self { name, family: None, folder })
    }
}

/// Turns what the user gave into a folder with a model.
///
/// # Errors
/// [`Error::NoModelFolder`] when there is no such folder; [`Error::NoConfig`] when it holds no `config.json`.
pub fn resolve(argument: &str) -> Result<PathBuf> {
    let folder = PathBuf::from(argument);
    if !folder.is_dir() {
        let last = argument.rsplit('/').find(|part| !part.is_empty()).unwrap_or("model");
        return Err(Error::NoModelFolder { argument: argument.to_owned(), folder: last.into() });
    }
    if !folder.join("config.json").is_file() {
        return Err(Error::NoConfig { folder });
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_argument_or_the_folder() {
        let root = tempfile::tempdir().unwrap();
        for name in ["pythia-70m", "odd=name"] {
            let folder = root.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("config.json"), "{}").unwrap();
            let request = ModelRequest::parse(&folder.to_string_lossy()).unwrap();
            assert_eq!((request.name.as_str(), request.folder), (name, folder));
        }
        let folder = root.path().join("pythia-70m");
        let request = ModelRequest::parse(&format!("small={}", folder.display())).unwrap();
        assert_eq!((request.name.as_str(), request.folder), ("small", folder));
    }

    #[test]
    fn a_hub_name_is_refused_with_what_to_do() {
        let message = ModelRequest::parse("EleutherAI/pythia-70m").unwrap_err().to_string();
        assert!(message.contains("hf download EleutherAI/pythia-70m --local-dir pythia-70m"), "{message}");
    }

    #[test]
    fn a_folder_without_a_config_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let error = ModelRequest::parse(&root.path().to_string_lossy()).unwrap_err();
        assert!(matches!(error, Error::NoConfig { .. }));
    }
}
