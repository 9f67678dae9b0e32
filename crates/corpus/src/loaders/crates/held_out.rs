//! The list of crates whose text is kept for measuring.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::error::CorpusError;

/// The list that ships with the program.
const SHIPPED: &str = include_str!("../../../../../assets/held-out.toml");

/// A set of crate names. A crate on it is never trained on, whatever its version.
///
/// As TOML: `[families]`, each entry a list of crates that share code (`regex`, `regex-syntax`,
/// ...). Families are listed together because near-duplicates must not straddle the split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldOut {
    names: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    families: BTreeMap<String, Vec<String>>,
}

impl HeldOut {
    /// The list of `assets/held-out.toml`, by which the shipped family of models was trained.
    ///
    /// # Errors
    /// The embedded file is broken, which the test suite excludes.
    pub fn shipped() -> Result<Self, CorpusError> {
        Self::parse(SHIPPED)
    }

    /// Reads a list from TOML text.
    ///
    /// # Errors
    /// Not TOML, or not of the form described at [`HeldOut`].
    pub fn parse(text: &str) -> Result<Self, CorpusError> {
        let file: File = toml::from_str(text)
            .map_err(|source| CorpusError::HeldOutList { source: Box::new(source) })?;
        Ok(Self { names: file.families.into_values().flatten().collect() })
    }

    /// Whether a crate is kept for measuring.
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// All names that are kept for measuring, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::HeldOut;

    #[test]
    fn the_shipped_list_is_read() {
        let list = HeldOut::shipped().unwrap();
        assert!(
            list.contains("regex") && list.contains("regex-automata") && !list.contains("serde")
        );
    }

    #[test]
    fn a_misspelt_table_is_refused() {
        assert!(HeldOut::parse("[familes]\nregex = ['regex']").is_err());
    }
}
