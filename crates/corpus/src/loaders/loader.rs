//! What a kind of corpus is: a [`Kind`], which `--corpus` knows it by, and a [`Loader`], which is
//! one value of `--corpus` read.

use std::fmt;
use std::path::PathBuf;

use relscale_records::content::Content;

use super::keys::{Keys, Refusal};
use super::reading::Reading;
use super::stream::Documents;
use crate::error::Result;

/// A corpus that was asked for, with its options.
pub(crate) trait Loader: fmt::Debug + Send + Sync {
    /// Every file on which the documents depend, in any order; of folders all files below them,
    /// also those that are passed over.
    ///
    /// # Errors
    /// A file or folder that is not there or cannot be listed.
    fn files(&self) -> Result<Vec<PathBuf>>;

    /// Refuses, before any work, what could not be opened.
    ///
    /// # Errors
    /// It is not there; it is a pipe or a device; it has no file of its kind.
    fn check(&self) -> Result<()> {
        self.files().map(drop)
    }

    /// The stream of documents.
    ///
    /// # Errors
    /// What shows before the first document is read.
    fn open(&self, reading: &Reading) -> Result<Documents>;

    /// Whether the documents are options of questions, as far as the value says.
    fn questions(&self) -> bool {
        false
    }

    /// Whether the documents come in a drawn order already, so that any prefix is a sample of all.
    fn drawn(&self) -> bool {
        false
    }

    /// What a user should know before the documents are read.
    ///
    /// # Errors
    /// What it takes to know it cannot be read.
    fn notices(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// What was asked for, or why it is refused.
pub(crate) type Asked = std::result::Result<Box<dyn Loader>, Refusal>;

/// A kind of corpus: how a `--corpus` value asks for it, and its lines of the help.
pub(crate) struct Kind {
    /// Its name in `kind=`.
    pub(crate) name: &'static str,
    /// Its word in records.
    pub(crate) described: &'static str,
    /// Its lines of `--help`, which name every key that it knows.
    pub(crate) help: &'static str,
    /// Extensions, in lower case, of its files; those of compressed files are looked through. None:
    /// `kind=` must be said.
    pub(crate) extensions: &'static [&'static str],
    /// How its files begin, where that is known.
    pub(crate) content: Option<Content>,
    /// What a place begins with that the program has or finds itself.
    pub(crate) built_in: Option<&'static str>,
    /// Whether it reads files, folders and patterns.
    pub(crate) reads_paths: bool,
    /// Its keys whose values are lists of names with commas between them.
    pub(crate) lists: &'static [&'static str],
    /// Why its documents cannot be joined to one by `concat=`.
    pub(crate) not_joined: Option<&'static str>,
    /// Reads the keys.
    pub(crate) loader: fn(Place<'_>, &mut Keys) -> Asked,
}

impl Kind {
    /// A kind of which nothing but its name is said; the rest is filled in by `..`.
    pub(crate) const fn named(
        name: &'static str,
        loader: fn(Place<'_>, &mut Keys) -> Asked,
    ) -> Self {
        Self {
            name,
            described: name,
            help: "",
            extensions: &[],
            content: None,
            built_in: None,
            reads_paths: true,
            lists: &[],
            not_joined: None,
            loader,
        }
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Why options of questions are not joined.
pub(crate) const OPTIONS_STAY_APART: &str =
    "concat= would join options that are scored each by itself";

/// All kinds, and the two that stand for a file whose name says nothing.
#[derive(Debug)]
pub(crate) struct Kinds {
    /// In the order of the help.
    pub(crate) all: &'static [&'static Kind],
    /// A file of JSON objects, one a line.
    pub(crate) rows_of_json: &'static Kind,
    /// Any other.
    pub(crate) any_text: &'static Kind,
}

/// What a `--corpus` value names before its `?`.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// A path, or a place that begins as [`Kind::built_in`] says.
    pub(crate) text: &'a str,
    /// Whether `kind=` was given.
    pub(crate) kind_said: bool,
    /// All kinds.
    pub(crate) kinds: &'static Kinds,
}

impl Place<'_> {
    /// The place as a path.
    pub(crate) fn path(self) -> PathBuf {
        PathBuf::from(self.text)
    }
}
