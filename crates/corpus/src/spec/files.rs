//! The files that a corpus is read from: what must be looked at to know that the text is what it was.

use std::path::{Path, PathBuf};

use super::{CorpusSource, CorpusSpec};
use crate::error::Result;
use crate::loaders::crates::CrateSources;
use crate::loaders::listing::{Listing, everything};
use crate::loaders::mmlu::Domains;
use crate::loaders::reading::Reading;

impl CorpusSpec {
    /// Every file on which the documents depend, sorted; of folders all files below them, also those that the loader passes over, so
    /// that a file that comes or goes is seen. While none of them changes (and the program does not), [`CorpusSpec::open`] gives the same
    /// documents. Empty for the texts that the program carries.
    ///
    /// # Errors
    /// A file or folder that is not there or cannot be listed; the crates cannot be found.
    pub fn files(&self, manifest: Option<&Path>) -> Result<Vec<PathBuf>> {
        let mut files = self.source().path().map_or(Ok(Vec::new()), everything)?;
        match self.source() {
            CorpusSource::Mmlu { options, .. } => {
                if let Domains::File(table) = &options.domains {
                    files.push(table.clone());
                }
            }
            CorpusSource::Anthropic { options, .. } => files.extend(options.clusters.clone()),
            CorpusSource::Crates { split, manifest: own, .. } => {
                let sources = CrateSources::find(own.as_deref().or(manifest))?;
                for one in sources.read_for(*split) {
                    files.extend(everything(&one.root)?);
                }
            }
            _ => {}
        }
        files.sort();
        Ok(files)
    }

    /// Refuses, before any work, a file, folder or pattern that names nothing that could be read.
    ///
    /// # Errors
    /// It is not there; it is a pipe or a device; it has no file of its kind.
    pub fn check(&self) -> Result<()> {
        let Some(path) = self.source().path() else { return Ok(()) };
        match self.source().file_kind() {
            Some(kind) => Listing::of_kind(path, kind, &Reading::default()).map(|_| ()),
            None => everything(path).map(|_| ()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(spec: &str) -> Result<Vec<PathBuf>> {
        spec.parse::<CorpusSpec>().unwrap().files(None)
    }

    #[test]
    fn a_file_is_itself_and_a_folder_all_below_it() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::create_dir(at("deep")).unwrap();
        for name in ["b.txt", "a.md", "deep/c.txt", "deep/other.rs", "map.csv"] {
            std::fs::write(at(name), "x").unwrap();
        }
        let spelled = |rest: &str| format!("{}{rest}", root.path().display());
        assert_eq!(files(&spelled("/b.txt")).unwrap(), [at("b.txt")]);
        assert_eq!(files(&spelled("/deep")).unwrap(), [at("deep/c.txt"), at("deep/other.rs")]);
        let mmlu = format!("{}?kind=mmlu&domains={}", spelled("/deep"), at("map.csv").display());
        assert_eq!(files(&mmlu).unwrap(), [at("deep/c.txt"), at("deep/other.rs"), at("map.csv")]);
        let behaviours = format!("{}?kind=anthropic&clusters={}", spelled("/deep"), at("map.csv").display());
        assert_eq!(files(&behaviours).unwrap().len(), 3);
        assert!(files("ice:sample").unwrap().is_empty());
        assert!(files(&spelled("/none.txt")).unwrap_err().to_string().contains("none.txt"));
    }

    /// A document of the crate sources comes from a listed file.
    #[test]
    #[allow(clippy::print_stdout, reason = "says that the test was skipped")]
    fn the_crate_sources_are_all_there() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let Ok(sources) = CrateSources::find(Some(&manifest)) else {
            println!("skipped: the locked crates are not on this machine");
            return;
        };
        let spec: CorpusSpec = "crates:markdown".parse().unwrap();
        let listed = spec.files(Some(&manifest)).unwrap();
        let crates = sources.crates();
        for document in spec.open(Some(&manifest)).unwrap() {
            let document = document.unwrap();
            let one = crates.iter().find(|one| one.name == document.tags["crate"]).unwrap();
            let path = document.id.split_once('/').unwrap().1;
            assert!(listed.binary_search(&one.root.join(path)).is_ok(), "{}", document.id);
        }
    }
}
