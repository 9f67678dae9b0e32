//! Names of the Hub: what they are made of, and how arguments spell them.

use std::fmt;

use crate::error::HubError;

/// What a repository holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A model.
    Model,
    /// A data set.
    Dataset,
}

impl Kind {
    /// The word of the cache's folders and the API: `models`, `datasets`.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Model => "models",
            Self::Dataset => "datasets",
        }
    }

    /// The beginning of its URLs.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Model => "",
            Self::Dataset => "datasets/",
        }
    }

    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Dataset => "data set",
        }
    }
}

/// A repository at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// What it holds.
    pub kind: Kind,
    /// `OWNER/NAME`, or `NAME` of the oldest.
    pub id: String,
    /// A branch, tag, commit or `refs/pr/N`, where one was given.
    pub revision: Option<String>,
}

/// The branch that is meant where none is given.
pub const MAIN: &str = "main";

impl Repository {
    /// Reads `OWNER/NAME` or `OWNER/NAME@REVISION`.
    ///
    /// # Errors
    /// [`HubError::BadName`].
    pub fn model(given: &str) -> Result<Self, HubError> {
        let (id, revision) = match given.split_once('@') {
            Some((id, revision)) => (id, Some(revision)),
            None => (given, None),
        };
        Self::new(Kind::Model, id, revision).map_err(|reason| bad(given, reason, ""))
    }

    fn new(kind: Kind, id: &str, revision: Option<&str>) -> Result<Self, String> {
        check_id(id)?;
        if let Some(revision) = revision {
            check_revision(revision)?;
        }
        Ok(Self { kind, id: id.to_owned(), revision: revision.map(str::to_owned) })
    }

    /// The revision that is asked for.
    pub fn wanted(&self) -> &str {
        self.revision.as_deref().unwrap_or(MAIN)
    }

    /// The last part of its name, and the revision where one was given: what a model is called
    /// where nobody says. Commits are shortened.
    pub fn short_name(&self) -> String {
        let name = self.id.rsplit('/').next().unwrap_or(&self.id);
        match &self.revision {
            Some(commit) if is_commit(commit) => format!("{name}@{}", &commit[..8]),
            Some(revision) => format!("{name}@{revision}"),
            None => name.to_owned(),
        }
    }

    /// As records name it: `hf:OWNER/NAME@COMMIT`, `hf:datasets/OWNER/NAME@COMMIT`.
    pub(super) fn pinned(&self, commit: &str) -> String {
        format!("hf:{}{}@{commit}", self.kind.prefix(), self.id)
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}@{}", self.kind.prefix(), self.id, self.wanted())
    }
}

/// What `hf://datasets/...` names: files of a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetFiles {
    /// The data set.
    pub repository: Repository,
    /// A file, a folder or a pattern in it.
    pub path: String,
}

/// How such a place begins.
pub const SCHEME: &str = "hf://";

/// The form of a data set's file.
const FORM: &str =
    ", of a data set's file hf://datasets/OWNER/NAME@REVISION/FILE (a @ in a file's name is %40)";

impl DatasetFiles {
    /// Reads `hf://datasets/OWNER/NAME/FILE`, with `@REVISION` behind the name or at the end, and
    /// `/` of a revision as `%2F` (but of `refs/pr/N` and `refs/convert/X`); none where it does not
    /// begin with `hf://`.
    ///
    /// # Errors
    /// [`HubError::BadName`].
    pub fn parse(given: &str) -> Option<Result<Self, HubError>> {
        let rest = given.strip_prefix(SCHEME)?;
        Some(Self::parse_files(rest).map_err(|reason| bad(given, reason, FORM)))
    }

    fn parse_files(rest: &str) -> Result<Self, String> {
        let rest = rest.strip_prefix("datasets/").ok_or("texts are files of data sets")?;
        let (place, last) = behind_the_name(rest)?;
        let (id, revision, path) = place;
        // The revision at the end, where none stands behind the name.
        let (path, revision) = match (revision, last) {
            (None, Some((path, revision))) => (path, Some(revision)),
            (revision, _) => (path, revision),
        };
        let path = decoded(path)?;
        check_path(&path)?;
        let revision = revision.map(|revision| decoded(&revision)).transpose()?;
        let repository = Repository::new(Kind::Dataset, id, revision.as_deref())?;
        Ok(Self { repository, path })
    }
}

/// Name, revision and path, and the path and revision if the revision stands at the end.
type Cut<'a> = ((&'a str, Option<String>, &'a str), Option<(&'a str, String)>);

fn behind_the_name(rest: &str) -> Result<Cut<'_>, String> {
    const FEW: &str = "it names no file in it; name a file, a folder or a pattern";
    // A `@` within the first two parts ends the name.
    let slashes: Vec<usize> = rest.match_indices('/').map(|(at, _)| at).collect();
    let at = rest.find('@').filter(|at| slashes.get(1).is_none_or(|second| at < second));
    if let Some(at) = at {
        let (id, behind) = (&rest[..at], &rest[at + 1..]);
        if slashes.first().is_some_and(|first| *first < at) || behind.contains('/') {
            // `refs/pr/1` has slashes of its own.
            let parts = if behind.starts_with("refs/") { 3 } else { 1 };
            let end = behind.match_indices('/').nth(parts - 1).map(|(end, _)| end);
            if let Some(end) = end {
                let revision = behind[..end].to_owned();
                return Ok(((id, Some(revision), &behind[end + 1..]), None));
            }
        }
        // `NAME/FILE@REVISION`.
    }
    let cut = match slashes.as_slice() {
        [] => return Err(FEW.into()),
        [only] => *only,
        [_, second, ..] => *second,
    };
    let (id, path) = (&rest[..cut], &rest[cut + 1..]);
    let last = path.rsplit_once('@').map(|(path, revision)| (path, revision.to_owned()));
    Ok(((id, None, path), last))
}

fn bad(given: &str, reason: String, form: &'static str) -> HubError {
    HubError::BadName { given: given.to_owned(), reason, form }
}

/// The rules of the Hub for names of repositories.
fn check_id(id: &str) -> Result<(), String> {
    let parts: Vec<&str> = id.split('/').collect();
    if parts.len() > 2 || parts.iter().any(|part| part.is_empty()) {
        return Err("it is not OWNER/NAME".into());
    }
    for part in parts {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if let Some(odd) = part.chars().find(|c| !c.is_ascii() || !plain(*c as u8)) {
            return Err(format!("`{odd}` cannot stand in one"));
        }
        if part.len() > 96 || part.starts_with(['-', '.']) || part.ends_with(['-', '.']) {
            return Err("a name has at most 96 letters, and - and . only inside".into());
        }
        if part.contains("--") || part.contains("..") {
            return Err("-- and .. cannot stand in one".into());
        }
    }
    Ok(())
}

/// A revision becomes a path below `refs`: it must stay there.
fn check_revision(revision: &str) -> Result<(), String> {
    if revision.is_empty() {
        return Err("there is no revision behind the @".into());
    }
    check_path(revision).map_err(|_| format!("`{revision}` cannot be a revision"))
}

/// A path that stays below its folder, on any system.
pub(super) fn check_path(path: &str) -> Result<(), String> {
    let part = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && !part.chars().any(|c| c.is_control() || matches!(c, '\\' | ':'))
    };
    match path.trim_end_matches('/').split('/').all(part) {
        true => Ok(()),
        false => Err(format!("`{path}` is no path in a repository")),
    }
}

/// Whether a revision is a commit already.
pub fn is_commit(revision: &str) -> bool {
    revision.len() == 40
        && revision.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// `%40` and `%2F` in the parts of such a place.
fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let hex = |at: usize| behind.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        match (byte, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(byte);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| format!("`{text}` is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn models_have_a_name_and_perhaps_a_revision() {
        for (given, id, revision, short) in [
            ("EleutherAI/pythia-160m", "EleutherAI/pythia-160m", None, "pythia-160m"),
            ("gpt2", "gpt2", None, "gpt2"),
            ("gpt2@main", "gpt2", Some("main"), "gpt2@main"),
            ("a/b@step1000", "a/b", Some("step1000"), "b@step1000"),
            ("a/b@refs/pr/3", "a/b", Some("refs/pr/3"), "b@refs/pr/3"),
            (&format!("a/b@{COMMIT}"), "a/b", Some(COMMIT), "b@01234567"),
        ] {
            let found = Repository::model(given).unwrap();
            assert_eq!((found.id.as_str(), found.revision.as_deref()), (id, revision), "{given}");
            assert_eq!(found.short_name(), short);
        }
        for given in [
            "a/b/c", "/a", "a/", "", "-a/b", "a/b.", "a--b/c", "a..b", "a/b@", "a/b@../x",
            "a/b@x//y", "a b/c", "ä/b", "a/b@x\\y", "a/b@c:d",
        ] {
            let error = Repository::model(given).unwrap_err();
            assert!(error.to_string().contains("OWNER/NAME@REVISION"), "{given}: {error}");
        }
    }

    #[test]
    fn files_of_data_sets_are_read_in_both_spellings() {
        let deep = "https-like/x.txt";
        for (given, id, revision, path) in [
            ("hf://datasets/o/n/test.jsonl", "o/n", None, "test.jsonl"),
            ("hf://datasets/o/n/data/train-*.parquet", "o/n", None, "data/train-*.parquet"),
            ("hf://datasets/o/n@v1/test.jsonl", "o/n", Some("v1"), "test.jsonl"),
            ("hf://datasets/o/n/a/test.jsonl@v1", "o/n", Some("v1"), "a/test.jsonl"),
            (
                "hf://datasets/o/n@refs/convert/parquet/d/0.parquet",
                "o/n",
                Some("refs/convert/parquet"),
                "d/0.parquet",
            ),
            ("hf://datasets/o/n@my%2Fbranch/x", "o/n", Some("my/branch"), "x"),
            ("hf://datasets/o/n/x@refs/pr/1", "o/n", Some("refs/pr/1"), "x"),
            ("hf://datasets/o/n/mail%40home.txt", "o/n", None, "mail@home.txt"),
            ("hf://datasets/o/n/folder/", "o/n", None, "folder/"),
            ("hf://datasets/squad/x.json", "squad", None, "x.json"),
            ("hf://datasets/squad@v2/x.json", "squad", Some("v2"), "x.json"),
            (&format!("hf://datasets/o/n/{deep}"), "o/n", None, deep),
        ] {
            let found =
                DatasetFiles::parse(given).unwrap().unwrap_or_else(|e| panic!("{given}: {e}"));
            let repository = &found.repository;
            let read =
                (repository.id.as_str(), repository.revision.as_deref(), found.path.as_str());
            assert_eq!(read, (id, revision, path), "{given}");
        }
        for given in [
            "hf://datasets/o",
            "hf://o/n/x",
            "hf://models/o/n/x",
            "hf://datasets/o/n@v/../x",
            "hf://datasets/o/n/",
            "hf://datasets/o/n/../../x",
            "hf://datasets/o/n/%2e%2e/x",
            "hf://datasets/o/n/C:\\x",
        ] {
            let error = DatasetFiles::parse(given).unwrap().unwrap_err();
            assert!(error.to_string().contains("hf://datasets/OWNER"), "{given}: {error}");
        }
        assert!(DatasetFiles::parse("data/x.txt").is_none());
    }
}
