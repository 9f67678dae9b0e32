//! What earlier starts learned of the inputs, so that a finished study returns at once.
//!
//! **Purpose.** A run's key holds hashes of the weights and of the text. To compute them anew is to
//! read everything again, which for a finished run is all the work there is. So the study remembers
//! what a set of files was found to be, and believes it as long as not one of them was touched.
//!
//! **Actors.** A [`Stamp`] says whether files were touched: path, device, inode, size, time of the
//! last change of the bytes and of the inode, of every one of them, together with the options by
//! which they are read and the version of the program. [`Known`] is the memory, kept by stamp:
//! [`Learned`] of models, [`TextFacts`] of corpora; and by a run's key what is told again when
//! it was finished before, [`RunFacts`].
//!
//! **File on disk.** `.known.json` in the study folder. It belongs to this machine, unlike
//! everything beside it, and may be deleted: then everything is read once more. A file that cannot
//! be read, is of another version or damaged counts as empty; one that cannot be written is no
//! error, since nothing depends on it.
//!
//! **Invariants.**
//! * What enters a key is the same with and without this memory; only the reading is spared. A
//!   stamp is never part of a key or a result.
//! * A stamp is taken before the files are read and must be the same afterwards, or what was read
//!   is not remembered.
//! * A file that was touched within the last [`SETTLING`] is not believed: a later write in the
//!   same tick of the file system's clock could leave its times as they are (git calls this racily
//!   clean).
//! * On systems without inode times nothing is remembered.

mod learned;
mod stamp;

use std::collections::BTreeMap;
use std::path::PathBuf;

use relscale_records::Study;
use relscale_records::atomic::write_whole;
use relscale_records::provenance::ToolProvenance;
use serde::{Deserialize, Serialize};

use crate::layout::CutPrompts;
use crate::text::TextFacts;
pub use learned::Learned;
pub use stamp::{Files, SETTLING, Stamp};

/// Name of the file in the study folder.
pub const FILE: &str = ".known.json";

/// Rises when the members below change their meaning.
const VERSION: u32 = 2;

/// What there is to tell of a finished run besides its totals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Whether there was no limit, or the corpus reached it.
    pub reached_limit: bool,
    /// Options whose prompt does not fit into the window.
    pub cut_prompts: CutPrompts,
    /// The run in three numbers.
    pub summary: Summary,
}

/// A finished run in three numbers; `None` where there is nothing to divide by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Share of positions whose token is ranked first.
    pub rbp_1: Option<f64>,
    /// Mean nll in nats a token.
    pub cross_entropy: Option<f64>,
    /// Bits per byte of the scored tokens' source bytes.
    pub bits_per_byte: Option<f64>,
}

/// The memory of a study.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Known {
    version: u32,
    /// The program that learned it: another version may read the same files otherwise.
    program: String,
    models: BTreeMap<Stamp, Learned>,
    /// By stamp of the files, then by the tokenizer's hash.
    corpora: BTreeMap<Stamp, BTreeMap<String, TextFacts>>,
    /// By key.
    runs: BTreeMap<String, RunFacts>,
    #[serde(skip)]
    path: PathBuf,
}

impl Known {
    /// What the study remembers; nothing, when it remembers nothing that this program can use.
    pub fn read(study: &Study) -> Self {
        let path = study.path().join(FILE);
        let read = || serde_json::from_slice::<Self>(&std::fs::read(&path).ok()?).ok();
        match read().filter(|there| there.version == VERSION && there.program == program()) {
            Some(there) => Self { path, ..there },
            None => Self { version: VERSION, program: program(), path, ..Self::default() },
        }
    }

    /// What the weights behind a stamp are.
    pub fn weights(&self, stamp: Option<&Stamp>) -> Option<&Learned> {
        self.models.get(stamp?)
    }

    /// What the text behind a stamp is under a tokenizer.
    pub fn text(&self, stamp: Option<&Stamp>, tokenizer_sha256: &str) -> Option<&TextFacts> {
        self.corpora.get(stamp?)?.get(tokenizer_sha256)
    }

    /// What there is to tell of the finished run with this key.
    pub fn run(&self, key: &str) -> Option<RunFacts> {
        self.runs.get(key).copied()
    }

    /// Remembers weights that were read after `stamp` was taken, if their files are still as they
    /// were then.
    pub fn keep_weights(
        &mut self,
        files: Option<&Files<'_>>,
        stamp: Option<Stamp>,
        facts: Learned,
    ) {
        if let Some(stamp) = unchanged(files, stamp) {
            self.models.insert(stamp, facts);
        }
    }

    /// Remembers a text that was read after `stamp` was taken, if its files are still as they were
    /// then.
    pub fn keep_text(
        &mut self,
        files: Option<&Files<'_>>,
        stamp: Option<Stamp>,
        tokenizer_sha256: &str,
        facts: TextFacts,
    ) {
        if let Some(stamp) = unchanged(files, stamp) {
            self.corpora.entry(stamp).or_default().insert(tokenizer_sha256.to_owned(), facts);
        }
    }

    /// Remembers what there is to tell of a finished run.
    pub fn keep_run(&mut self, key: &str, facts: RunFacts) {
        self.runs.insert(key.to_owned(), facts);
    }

    /// Writes the memory into the study; to be called by the study's writer. That it cannot be
    /// written is no error.
    pub fn save(&self) {
        if let Ok(text) = serde_json::to_vec(self) {
            let _ = write_whole(&self.path, &text);
        }
    }
}

fn unchanged(files: Option<&Files<'_>>, stamp: Option<Stamp>) -> Option<Stamp> {
    let stamp = stamp?;
    (files?.stamp().as_ref() == Some(&stamp)).then_some(stamp)
}

fn program() -> String {
    let tool = ToolProvenance::this();
    format!("{} {}", tool.name, tool.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(sha256: &str) -> Learned {
        Learned::new(&serde_json::json!({ "sha256": sha256 })).unwrap()
    }

    #[test]
    fn another_version_or_a_damaged_file_is_nothing_known() {
        let folder = tempfile::tempdir().unwrap();
        let study = Study::create_or_open(folder.path()).unwrap();
        let mut known = Known::read(&study);
        known.models.insert(Stamp::made_up("a"), facts("f"));
        known.save();
        let path = folder.path().join(FILE);
        assert_eq!(Known::read(&study).models.len(), 1);
        let text = std::fs::read_to_string(&path).unwrap();
        for spoilt in [
            text.replace("\"version\":2", "\"version\":1"),
            text.replace("relscale", "other"),
            text[1..].into(),
        ] {
            assert_ne!(spoilt, text);
            std::fs::write(&path, spoilt).unwrap();
            assert!(Known::read(&study).models.is_empty());
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_changed_while_it_was_read_is_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "one").unwrap();
        let listed = path.clone();
        let mut files = Files::new("test", move || Some(vec![listed.clone()]));
        files.settle_after(std::time::Duration::ZERO);
        let before = files.stamp();
        assert!(before.is_some());
        assert_eq!(unchanged(Some(&files), before.clone()), before);
        std::fs::write(&path, "longer").unwrap();
        assert_eq!(unchanged(Some(&files), before), None);
        assert_eq!(unchanged(None, files.stamp()), None);
    }
}
