//! The documents of the crates of one side.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use super::distribution::{Distribution, Split};
use super::find::{self, Found, Missing, SourceCrate};
use super::held_out::HeldOut;
use super::pinned::{Pinned, manifest_at};
use super::select;
use crate::document::Document;
use crate::error::CorpusError;

/// The crates whose files decide the documents of one side: of [`Split::HeldOut`] the held-out
/// crates alone; of [`Split::Train`] all of them, since the training text leaves out what the
/// held-out text has.
#[derive(Debug, Clone)]
pub struct CrateSources {
    split: Split,
    crates: Vec<SourceCrate>,
    set_aside: BTreeMap<String, String>,
    missing: Option<Missing>,
    held_out: HeldOut,
}

impl CrateSources {
    /// Those on whose text the shipped family was trained, or those that were held out, as the
    /// lists that ship with the program have them (`assets/crates.txt`, `assets/held-out.toml`). No
    /// lock file has a say in it. Cargo is asked for what is missing, once a process.
    ///
    /// # Errors
    /// Not one crate is on this machine.
    pub fn shipped(split: Split) -> Result<Self, CorpusError> {
        static FOUND: [OnceLock<Found>; 2] = [const { OnceLock::new() }; 2];
        let held_out = HeldOut::shipped()?;
        let found = FOUND[usize::from(split == Split::Train)].get_or_init(|| {
            let mut pinned = Pinned::shipped();
            pinned.retain(|one| split == Split::Train || held_out.contains(&one.name));
            find::shipped(&pinned)
        });
        Self::new(found.clone(), held_out, split)
    }

    /// The registry crates that a workspace is locked to. `manifest` is a `Cargo.toml` or the
    /// folder that holds one.
    ///
    /// # Errors
    /// No manifest or lock file is there, the lock file is not TOML, or not one usable crate
    /// remains.
    pub fn locked(manifest: &Path, split: Split) -> Result<Self, CorpusError> {
        let manifest = manifest_at(manifest)?;
        let found = find::locked(&Pinned::locked(&manifest)?, &manifest);
        Self::new(found, HeldOut::shipped()?, split)
    }

    /// The same from given crates and a given held-out list.
    ///
    /// # Errors
    /// Not one usable crate remains.
    pub fn new(found: Found, held_out: HeldOut, split: Split) -> Result<Self, CorpusError> {
        let Found { crates, missing } = found;
        let (mut crates, set_aside) = select::usable_crates(crates);
        crates.retain(|one| split == Split::Train || held_out.contains(&one.name));
        if crates.is_empty() {
            let because =
                missing.map_or_else(|| "there is none to look for".to_owned(), |some| some.because);
            return Err(CorpusError::NoCrates { because });
        }
        Ok(Self { split, crates, set_aside, missing, held_out })
    }

    /// The crates that are read, sorted by name.
    pub fn crates(&self) -> &[SourceCrate] {
        &self.crates
    }

    /// `name-version` of each crate that takes no part, with the reason.
    pub fn set_aside(&self) -> &BTreeMap<String, String> {
        &self.set_aside
    }

    /// The crates that are not to be had.
    pub fn missing(&self) -> Option<&Missing> {
        self.missing.as_ref()
    }

    /// Which split a crate's text belongs to.
    pub fn split_of(&self, crate_name: &str) -> Split {
        if self.held_out.contains(crate_name) { Split::HeldOut } else { Split::Train }
    }

    /// Names on the held-out list that are not among the crates (or were set aside); their absence
    /// makes the held-out text smaller, never dirty.
    pub fn absent_held_out(&self) -> Vec<&str> {
        let present: HashSet<&str> = self.crates.iter().map(|c| c.name.as_str()).collect();
        self.held_out.names().filter(|name| !present.contains(name)).collect()
    }

    /// What the user should be told before trusting the text to be the same as elsewhere; usually
    /// nothing.
    pub fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if let Some(Missing { because, crates }) = &self.missing {
            notices.push(format!(
                "{} of the crates are not on this machine ({}, ...), so the crate sources are a smaller text than \
                 elsewhere; cargo could not fetch them: {because}",
                crates.len(),
                crates.first().map_or("", String::as_str),
            ));
        }
        let names = self.absent_held_out();
        if !names.is_empty() && self.missing.is_none() {
            notices.push(format!(
                "held-out crates that this lock file does not have: {}",
                names.join(", ")
            ));
        }
        notices
    }

    /// The documents of one distribution, in the order of the SHA-256 of their ids: the first n
    /// documents are a sample over all crates.
    ///
    /// One file is one document: id `name-version/path`, tags `crate`, `version`, `kind`.
    ///
    /// # Errors
    /// A source folder or file cannot be read, or nothing remains after the filters.
    pub fn documents(&self, distribution: Distribution) -> Result<Vec<Document>, CorpusError> {
        let mut seen = HashSet::new();
        let mut documents = Vec::new();
        // Held-out crates come first, so that of two equal texts the held-out one stays and the
        // training one goes.
        for side in [Split::HeldOut, Split::Train] {
            for one in self.crates.iter().filter(|one| self.split_of(&one.name) == side) {
                let of_crate = select::documents_of(one, distribution, &mut seen)?;
                if side == self.split {
                    documents.extend(of_crate);
                }
            }
        }
        if documents.is_empty() {
            let corpus = format!("crates:{distribution}?split={}", self.split);
            return Err(CorpusError::EmptyCorpus { corpus });
        }
        documents.sort_by_cached_key(|document| -> [u8; 32] {
            Sha256::digest(document.id.as_bytes()).into()
        });
        Ok(documents)
    }
}
