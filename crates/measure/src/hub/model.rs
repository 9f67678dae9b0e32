//! What `--model` means: a local folder, or else a name of the Hub.

use std::path::{Path, PathBuf};

use super::find::Hub;
use super::name::Repository;
use super::wanted::Parts;
use relscale_decoder::checkpoint::gguf;

use crate::error::{Error, Result};

/// A model as it was asked for: `FOLDER`, `OWNER/NAME[@REVISION]`, or one of them behind `NAME=`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequest {
    /// Name shown and recorded.
    pub name: String,
    /// Family within which laws are fitted; the architecture's name if not given.
    pub family: Option<String>,
    /// The folder, or the GGUF file.
    pub folder: PathBuf,
    /// Where its files were fetched from, with the commit; none of a folder that was given.
    pub source: Option<String>,
}

impl ModelRequest {
    /// Reads `FOLDER` or `NAME=FOLDER`, where a GGUF file may stand for a folder; names of the Hub
    /// are refused. Without a name, the folder's own is taken.
    ///
    /// # Errors
    /// [`Error::NoModelFolder`] for what can only be a name of the Hub; [`Error::NoSuchPath`] for a
    /// path where nothing is; [`Error::ModelFile`] for another file; [`Error::NoConfig`] when a
    /// folder holds no `config.json`.
    pub fn parse(argument: &str) -> Result<Self> {
        Self::from_argument(argument, &|place| {
            Err(Error::NoModelFolder { argument: place.to_owned() })
        })
    }

    /// As [`parse`](Self::parse), with names of the Hub: `OWNER/NAME`, `OWNER/NAME@REVISION`. What
    /// is there as a path wins over a name. Without a name of its own, such a model has that of its
    /// repository, with the revision where one was given.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and [`Error::Hub`].
    pub fn find(argument: &str, hub: &Hub, parts: Parts) -> Result<Self> {
        Self::from_argument(argument, &|place| {
            let repository = Repository::model(place)?;
            let found = hub.model(&repository, parts)?;
            check(&found.path)?;
            Ok(Self {
                name: repository.short_name(),
                family: None,
                folder: found.path,
                source: Some(found.source),
            })
        })
    }

    fn from_argument(argument: &str, by_name: &dyn Fn(&str) -> Result<Self>) -> Result<Self> {
        // A path may have `=` in it: what exists wins over the form with a name.
        let (name, place) = match argument.split_once('=') {
            Some((name, place)) if !name.is_empty() && !Path::new(argument).exists() => {
                (Some(name.to_owned()), place)
            }
            _ => (None, argument),
        };
        let path = Path::new(place);
        let model = match path.exists() {
            true => Self::from_folder(path)?,
            false if is_path(place) => return Err(Error::NoSuchPath { path: path.to_owned() }),
            false => by_name(place)?,
        };
        Ok(Self { name: name.unwrap_or(model.name), ..model })
    }

    /// A folder or a GGUF file under its own name.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), where there is no model in it.
    pub fn from_folder(folder: &Path) -> Result<Self> {
        check(folder)?;
        let full = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = full.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
        let name = if folder.is_file() { stem(&name).to_owned() } else { name.into_owned() };
        Ok(Self { name, family: None, folder: folder.to_owned(), source: None })
    }
}

/// Endings of files that hold models, or parts of them.
const MODEL_FILES: [&str; 11] =
    ["gguf", "ggml", "safetensors", "bin", "pt", "pth", "ckpt", "onnx", "h5", "msgpack", "json"];

/// Refuses what is neither a folder with a model nor a GGUF file.
fn check(path: &Path) -> Result<()> {
    // What is wrong with one is for the engine to say.
    if gguf::find(path).map_or(true, |files| files.is_some()) {
        return Ok(());
    }
    if !path.is_dir() {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let holds_model = folder.join("config.json").is_file();
        let folder = holds_model.then(|| folder.to_owned());
        return Err(Error::ModelFile { path: path.to_owned(), folder });
    }
    match path.join("config.json").is_file() {
        true => Ok(()),
        false => Err(Error::NoConfig { folder: path.to_owned() }),
    }
}

/// The name of a file without its ending, and without what numbers it among its fellows.
fn stem(name: &str) -> &str {
    let Some(stem) = name.strip_suffix(".gguf").or_else(|| name.strip_suffix(".GGUF")) else {
        return name;
    };
    match stem.split_once("-00001-of-") {
        Some((stem, count)) if count.len() == 5 && !stem.is_empty() => stem,
        _ => stem,
    }
}

/// Whether something that is not there was meant as a path, and not as a name of the Hub (`NAME` or
/// `OWNER/NAME`, with or without a revision).
fn is_path(argument: &str) -> bool {
    let argument = match argument.split_once('@') {
        Some((name, _)) if !name.is_empty() => name,
        _ => argument,
    };
    let path = Path::new(argument);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let file = path
        .extension()
        .is_some_and(|ending| MODEL_FILES.iter().any(|one| ending.eq_ignore_ascii_case(one)));
    let below =
        path.parent().is_some_and(|parent| !parent.as_os_str().is_empty() && parent.exists());
    argument.is_empty()
        || argument.starts_with(['/', '.', '~'])
        || argument.ends_with('/')
        || argument.matches('/').count() > 1
        || !argument.chars().all(plain)
        || file
        || below
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

    /// What looks like a path is answered as one, what is a file by what it is.
    #[test]
    fn paths_and_files_are_not_taken_for_names() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name).to_string_lossy().into_owned();
        std::fs::create_dir(at("m")).unwrap();
        for name in ["m/config.json", "m/model.safetensors", "plain.txt"] {
            std::fs::write(at(name), "{}").unwrap();
        }
        std::fs::write(at("q8.gguf"), "x").unwrap();
        std::fs::write(at("renamed"), "GGUF\u{3}\0\0\0").unwrap();
        std::fs::create_dir(at("quantised")).unwrap();
        std::fs::write(at("quantised/x.Q4_K_M.GGUF"), "GGUF").unwrap();
        let m = at("m");
        for (given, words) in [
            ("/nope", vec!["/nope: there is nothing", "check the path"]),
            ("./nope", vec!["there is nothing"]),
            ("~/models/x", vec!["there is nothing", "~"]),
            ("models/a/b", vec!["there is nothing"]),
            ("gpt2.gguf", vec!["there is nothing"]),
            ("a b", vec!["there is nothing"]),
            ("", vec!["there is nothing"]),
            (&at("none"), vec!["there is nothing"]),
            (&at("m/model.safetensors"), vec!["is a file", "give its folder", &m]),
            (&at("m/config.json"), vec!["is a file", "give its folder", &m]),
            (&at("plain.txt"), vec!["is a file", "folder with config.json"]),
        ] {
            let message = ModelRequest::parse(given).unwrap_err().to_string();
            assert!(!message.contains("no such folder"), "{given}: {message}");
            words.iter().for_each(|word| {
                assert!(message.contains(word), "{given}: `{word}` not in {message}")
            });
        }
        ModelRequest::parse(&m).unwrap();
        std::fs::write(at("big-00001-of-00002.gguf"), "GGUF").unwrap();
        for (given, name) in [
            (at("q8.gguf"), "q8"),
            (at("big-00001-of-00002.gguf"), "big"),
            (format!("name={}", at("renamed")), "name"),
            (at("renamed"), "renamed"),
            (at("quantised"), "quantised"),
        ] {
            assert_eq!(ModelRequest::parse(&given).unwrap().name, name);
        }
        for name in ["gpt2", "EleutherAI/pythia-70m", "Qwen/Qwen2.5-0.5B", "a/b@refs/pr/1"] {
            let error = ModelRequest::parse(name).unwrap_err();
            assert!(matches!(&error, Error::NoModelFolder { argument } if argument == name));
        }
    }

    #[test]
    fn a_folder_without_a_config_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let error = ModelRequest::parse(&root.path().to_string_lossy()).unwrap_err();
        assert!(matches!(error, Error::NoConfig { .. }));
    }
}
