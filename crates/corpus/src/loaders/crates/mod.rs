//! The *crate sources* corpus: text that every machine which can build this program already has.
//!
//! The sources of the registry crates that a `Cargo.lock` pins give three distributions of real text without a
//! download: Rust code, the prose of its doc comments, and Markdown. The lock file fixes every byte, so two machines
//! measure the same corpus.
//!
//! The actors, in the order in which a file meets them:
//!
//! | file | what it decides |
//! |---|---|
//! | [`mod@find`] | which crates there are: the lock file and the registry folder, or `cargo metadata` |
//! | [`mod@licence`] | whether a crate's licence allows its use (MIT, Apache-2.0 and kin) |
//! | [`mod@held_out`] | which crates are kept for measuring and never trained on, and which came too late for both |
//! | [`mod@select`] | which files are text that people wrote, how much of one crate is taken, what is a duplicate |
//! | [`mod@code`] | code without any comment |
//! | [`mod@prose`] | doc comments without any code |
//! | [`mod@notice`] | what the user should be told besides |
//!
//! Invariants: documents come in the order of the SHA-256 of their ids, so that any prefix is a fair sample over all
//! crates and the order is the same on every machine; a file belongs to one split only, by the name of its
//! crate; no document occurs twice, and none of the training split equals one of the held-out split; only one version
//! of a crate takes part, the newest.

pub mod code;
pub mod find;
pub mod held_out;
pub mod licence;
pub mod notice;
pub mod prose;
pub mod select;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::document::Document;
use crate::error::CorpusError;
use find::{FoundBy, SourceCrate};
use held_out::HeldOut;
pub use notice::CrateNotice;

/// One of the three kinds of text in the sources of a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distribution {
    /// Rust code without comments (`*.rs`).
    Code,
    /// The prose of doc comments, without their code examples (`*.rs`).
    Docs,
    /// Markdown files (`*.md`), licences and codes of conduct left out.
    Markdown,
}

impl Distribution {
    /// All distributions, in the order in which they are reported.
    pub const ALL: [Self; 3] = [Self::Code, Self::Docs, Self::Markdown];

    /// The name used in `crates:NAME` and in tags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Docs => "docs",
            Self::Markdown => "markdown",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Code | Self::Docs => "rs",
            Self::Markdown => "md",
        }
    }

    fn extract(self, source: &str) -> String {
        match self {
            Self::Code => code::without_comments(source),
            Self::Docs => prose::of_doc_comments(source),
            Self::Markdown => source.to_owned(),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Distribution {
    type Err = CorpusError;

    fn from_str(name: &str) -> Result<Self, CorpusError> {
        Self::ALL
            .into_iter()
            .find(|d| d.name() == name)
            .ok_or_else(|| CorpusError::UnknownDistribution { name: name.to_owned() })
    }
}

/// Which side of the train / measure wall a crate is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Split {
    /// Crates whose text a model of the shipped family may have been trained on.
    Train,
    /// Crates kept for measuring.
    HeldOut,
}

impl Split {
    /// The name used in `crates:code?split=NAME`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::HeldOut => "held-out",
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The crates of one lock file, ready to be read as documents.
#[derive(Debug, Clone)]
pub struct CrateSources {
    crates: Vec<SourceCrate>,
    set_aside: BTreeMap<String, String>,
    found_by: FoundBy,
    held_out: HeldOut,
}

impl CrateSources {
    /// Finds the sources of the crates that a workspace is locked to, and splits them by the list that ships with this
    /// program (`assets/held-out.toml`).
    ///
    /// `manifest` is a `Cargo.toml` or the folder that holds one; without it, the current directory and its parents
    /// are searched. The lock file is read and looked up in the registry's source folder; where something is missing there, `cargo
    /// metadata --locked` is asked; where that fails (no cargo, or no network), crates that are not there are listed in
    /// [`FoundBy::LockFile`].
    ///
    /// # Errors
    /// No manifest or lock file is found, the lock file is not TOML, or not one usable crate remains.
    pub fn find(manifest: Option<&Path>) -> Result<Self, CorpusError> {
        let (found, found_by) = find::find(manifest)?;
        Self::from_crates(found, found_by, HeldOut::shipped()?)
    }

    /// The same from a given list of crates and a given held-out list; [`CrateSources::find`] for the usual way.
    ///
    /// # Errors
    /// Not one usable crate remains.
    pub fn from_crates(
        found: Vec<SourceCrate>,
        found_by: FoundBy,
        held_out: HeldOut,
    ) -> Result<Self, CorpusError> {
        let (mut crates, mut set_aside) = select::usable_crates(found);
        for late in crates.extract_if(.., |one| held_out.is_later(&one.name)) {
            let name = format!("{}-{}", late.name, late.version);
            set_aside.insert(name, "it came after the shipped models were trained".to_owned());
        }
        if crates.is_empty() {
            return Err(CorpusError::NoCrates { found_by: found_by.to_string() });
        }
        Ok(Self { crates, set_aside, found_by, held_out })
    }

    /// How the crates were found.
    pub fn found_by(&self) -> &FoundBy {
        &self.found_by
    }

    /// The crates that take part, sorted by name.
    pub fn crates(&self) -> &[SourceCrate] {
        &self.crates
    }

    /// `name-version` of each crate that takes no part, with the reason.
    pub fn set_aside(&self) -> &BTreeMap<String, String> {
        &self.set_aside
    }

    /// The crates whose files decide the documents of a split: the held-out text comes from held-out crates alone, while the training text
    /// depends on all of them, since it leaves out what the held-out text has.
    pub fn read_for(&self, split: Split) -> impl Iterator<Item = &SourceCrate> {
        let all = split == Split::Train;
        self.crates.iter().filter(move |one| all || self.held_out.contains(&one.name))
    }

    /// Which split a crate's text belongs to.
    pub fn split_of(&self, crate_name: &str) -> Split {
        if self.held_out.contains(crate_name) { Split::HeldOut } else { Split::Train }
    }

    /// Names on the held-out list that this lock file does not have (or that were set aside); their absence makes the
    /// held-out text smaller, never dirty.
    pub fn absent_held_out(&self) -> Vec<&str> {
        let present: HashSet<&str> = self.crates.iter().map(|c| c.name.as_str()).collect();
        self.held_out.names().filter(|name| !present.contains(name)).collect()
    }

    /// What the user should be told before trusting the text to be the same as elsewhere; usually nothing.
    pub fn notices(&self) -> Vec<CrateNotice> {
        let mut notices = Vec::new();
        if let FoundBy::LockFile { because, missing } = &self.found_by {
            let (because, missing) = (because.clone(), missing.clone());
            notices.push(CrateNotice::SourcesMissing { because, missing });
        }
        let names: Vec<String> = self.absent_held_out().into_iter().map(str::to_owned).collect();
        if !names.is_empty() {
            notices.push(CrateNotice::HeldOutAbsent { names });
        }
        notices
    }

    /// The documents of one distribution and split, in the order of the SHA-256 of their ids: the first n documents are
    /// a sample over all crates.
    ///
    /// One file is one document: id `name-version/path`, tags `crate`, `version`, `kind`.
    ///
    /// # Errors
    /// A source folder or file cannot be read, or nothing remains after the filters.
    pub fn documents(&self, distribution: Distribution, split: Split) -> Result<Vec<Document>, CorpusError> {
        let mut seen = HashSet::new();
        let mut documents = Vec::new();
        // Held-out crates come first, so that of two equal texts the held-out one stays and the training one goes.
        let held_out = self.crates.iter().filter(|c| self.held_out.contains(&c.name));
        let train = self.crates.iter().filter(|c| !self.held_out.contains(&c.name));
        for one in held_out {
            let of_crate = select::documents_of(one, distribution, &mut seen)?;
            if split == Split::HeldOut {
                documents.extend(of_crate);
            }
        }
        if split == Split::Train {
            for one in train {
                documents.extend(select::documents_of(one, distribution, &mut seen)?);
            }
        }
        if documents.is_empty() {
            return Err(CorpusError::EmptyCorpus { corpus: format!("crates:{distribution}?split={split}") });
        }
        documents
            .sort_by_cached_key(|document| -> [u8; 32] { Sha256::digest(document.id.as_bytes()).into() });
        Ok(documents)
    }
}
