//! The *crate sources* corpus: text that every machine which can build a Rust program has, or can
//! have from cargo.
//!
//! The sources of published crates give three distributions of real text: Rust code, the prose of
//! its doc comments, and Markdown. Which crates is a list that the program carries
//! (`assets/crates.txt`: name, version and hash of each), so that every byte is fixed and two
//! machines measure the same corpus, whatever either has in its `Cargo.lock`. `manifest=` takes the
//! crates that another workspace is locked to in their place.
//!
//! The actors, in the order in which a file meets them:
//!
//! | file | what it decides |
//! |---|---|
//! | [`mod@pinned`] | which crates there are: the list, or a lock file |
//! | [`mod@find`] | where their sources are: the registry's folder, or where cargo says, which fetches them |
//! | [`mod@licence`] | whether a crate's licence allows its use (MIT, Apache-2.0 and kin) |
//! | [`mod@held_out`] | which crates are kept for measuring and never trained on |
//! | [`mod@distribution`] | which text of a crate is meant |
//! | [`mod@select`] | which files are text that people wrote, how much of one crate is taken, what is a duplicate |
//! | [`mod@code`] | code without any comment |
//! | [`mod@prose`] | doc comments without any code |
//! | [`mod@sources`] | the documents, and what the user should be told besides |
//!
//! Invariants: documents come in the order of the SHA-256 of their ids, so that any prefix is a
//! fair sample over all crates and the order is the same on every machine; a file belongs to one
//! split only, by the name of its crate; no document occurs twice, and none of the training split
//! equals one of the held-out split; only one version of a crate takes part, the newest.

pub mod code;
pub mod distribution;
pub mod find;
pub mod held_out;
pub mod licence;
pub mod pinned;
pub mod prose;
pub mod select;
pub mod sources;

use std::path::PathBuf;

use super::keys::Keys;
use super::loader::{Kind, Loader, Place};
use super::reading::Reading;
use super::stream::Documents;
use super::walk::walk;
use crate::error::Result;
pub use distribution::{Distribution, Split};
pub use sources::CrateSources;

/// The kind.
pub(super) static CRATES: Kind = Kind {
    described: "crate sources",
    help: "  crates   (crates:...) split=held-out|train  manifest=PATH",
    built_in: Some(PREFIX),
    reads_paths: false,
    ..Kind::named("crates", |place, keys| Ok(Box::new(Crates::read(place, keys)?)))
};

/// What the place begins with.
const PREFIX: &str = "crates:";

/// One kind of text on one side.
#[derive(Debug)]
struct Crates {
    distribution: Distribution,
    split: Split,
    /// A workspace whose locked crates are meant; `None`: those of the list.
    manifest: Option<PathBuf>,
}

impl Crates {
    fn read(place: Place<'_>, keys: &mut Keys) -> std::result::Result<Self, super::keys::Refusal> {
        let distribution = place.text.trim_start_matches(PREFIX).parse()?;
        let split = match keys.one("split")?.as_deref() {
            None | Some("held-out") => Split::HeldOut,
            Some("train") => Split::Train,
            Some(other) => return Err(format!("split={other} is not held-out or train").into()),
        };
        Ok(Self { distribution, split, manifest: keys.one("manifest")?.map(PathBuf::from) })
    }

    fn sources(&self) -> Result<CrateSources> {
        match &self.manifest {
            Some(manifest) => CrateSources::locked(manifest, self.split),
            None => CrateSources::shipped(self.split),
        }
    }
}

impl Loader for Crates {
    fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for one in self.sources()?.crates() {
            files.extend(walk(&one.root)?.files);
        }
        Ok(files)
    }

    /// Nothing before the crates are looked for, which may ask cargo.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn open(&self, _: &Reading) -> Result<Documents> {
        Ok(Box::new(self.sources()?.documents(self.distribution)?.into_iter().map(Ok)))
    }

    /// By the hash of their ids.
    fn drawn(&self) -> bool {
        true
    }

    fn notices(&self) -> Result<Vec<String>> {
        Ok(self.sources()?.notices())
    }
}
