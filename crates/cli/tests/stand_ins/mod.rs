//! Stand-ins for what a study names: models and texts of the Hub, and what a user brings.
//!
//! * [`models`]: checkpoints of a family's architecture.
//! * [`tokens`]: their tokenizer, and how likely each of its tokens is to them.
//! * [`texts`]: texts, questions, tables.

mod models;
mod texts;
mod tokens;

use std::fs;
use std::path::{Path, PathBuf};

use relscale_records::provenance::sha256_bytes;
use toml::{Table, Value};

use crate::common::Place;
use tokens::Tokens;

/// Where the stand-ins of a study go.
pub(crate) struct StandIns<'a> {
    place: &'a Place,
    study: &'a Table,
}

impl<'a> StandIns<'a> {
    pub(crate) fn new(place: &'a Place, study: &'a Table) -> Self {
        Self { place, study }
    }

    /// Puts all that the study names where it is looked for.
    pub(crate) fn put(&self) {
        let tokens = Tokens::up_to(self.largest_k());
        for table in self.tables("models") {
            for (number, name) in strings(table.get("model")).iter().enumerate() {
                let Some((_, repository)) = split_name(name) else { continue };
                let (repository, revision) =
                    repository.split_once('@').unwrap_or((repository, "main"));
                if repository.starts_with("..") {
                    continue;
                }
                let folder = self.snapshot("models", repository, revision);
                models::put(&folder, repository, number + 1, &tokens);
            }
        }
        let measure = self.study.get("measure").and_then(Value::as_table);
        for corpus in strings(measure.and_then(|table| table.get("corpus"))) {
            self.corpus(&corpus);
        }
        let studies = self.place.path("repository/studies");
        for (table, key) in [("sweep-fit", "table"), ("relative", "covariates")] {
            for path in self.tables(table).iter().flat_map(|table| strings(table.get(key))) {
                if path.starts_with("data/") {
                    texts::table(&studies.join(path));
                }
            }
        }
    }

    fn corpus(&self, corpus: &str) {
        let Some((_, place)) = split_name(corpus) else { return };
        let (place, keys) = place.split_once('?').unwrap_or((place, ""));
        match place.strip_prefix("hf://datasets/") {
            Some(place) => {
                let parts: Vec<&str> = place.splitn(3, '/').collect();
                let [owner, name, file] = parts[..] else {
                    panic!("{place}: no file of a data set")
                };
                let (name, revision) = name.split_once('@').unwrap_or((name, "main"));
                let folder = self.snapshot("datasets", &format!("{owner}/{name}"), revision);
                texts::put(&folder.join(file), keys);
            }
            None if place.starts_with("data/") => {
                texts::put(&self.place.path("repository/studies").join(place), keys);
            }
            // Built in.
            None => assert!(place.starts_with("crates:"), "{place}: no stand-in for it"),
        }
    }

    /// A snapshot in the Hub's cache of this place.
    fn snapshot(&self, kind: &str, repository: &str, revision: &str) -> PathBuf {
        let name = format!("{kind}--{}", repository.replace('/', "--"));
        let folder = self.place.path("hf/hub").join(name);
        let is_commit =
            revision.len() == 40 && revision.chars().all(|digit| digit.is_ascii_hexdigit());
        let commit = match is_commit {
            true => revision.to_owned(),
            false => {
                let commit =
                    sha256_bytes(format!("{repository} {revision}").as_bytes())[..40].to_owned();
                write(&folder.join("refs").join(revision), commit.as_bytes());
                commit
            }
        };
        folder.join("snapshots").join(commit)
    }

    fn tables(&self, key: &str) -> Vec<&Table> {
        let values = self.study.get(key).and_then(Value::as_array);
        values.into_iter().flatten().filter_map(Value::as_table).collect()
    }

    /// The largest k of which something is expected.
    fn largest_k(&self) -> usize {
        let places = self.tables("expect");
        let places = places.iter().filter_map(|expected| expected.get("at")?.as_str());
        let ks = places.filter_map(|place| {
            let behind = place.split_once("quantity.k=")?.1;
            behind.split(']').next()?.parse().ok()
        });
        ks.max().unwrap_or(0)
    }
}

/// `name=rest`, or the whole of it.
fn split_name(text: &str) -> Option<(&str, &str)> {
    let before_keys = text.split('?').next()?;
    Some(match before_keys.split_once('=') {
        Some((name, _)) => (name, &text[name.len() + 1..]),
        None => ("", text),
    })
}

/// A string or a list of them.
fn strings(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(values)) => {
            values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}

/// Writes a file and the folders above it.
fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
