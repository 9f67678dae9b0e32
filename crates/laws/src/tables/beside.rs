//! What a table does not say of its models, and another file does: a manifest, or a table of sizes.

use std::collections::BTreeSet;
use std::path::Path;

use super::manifest::{Asked, Manifest, ModelNumbers};
use super::select::Select;
use super::sizes::Sizes;
use crate::error::TableError;

/// The file beside a table, where there is one.
pub(super) enum Beside {
    Nothing,
    Sizes(Sizes),
    Models { manifest: Manifest, numbers: ModelNumbers },
}

impl Beside {
    /// Reads the file that is named. A manifest must have these models, with these columns.
    ///
    /// # Errors
    /// A file that cannot be read; those of a manifest's numbers.
    pub(super) fn read<'a>(
        select: &Select,
        mut models: Vec<String>,
        columns: impl Iterator<Item = &'a str>,
    ) -> Result<Self, TableError> {
        if let Some(sizes) = &select.sizes {
            return Ok(Self::Sizes(Sizes::read(sizes)?));
        }
        let Some(path) = &select.models else { return Ok(Self::Nothing) };
        let manifest = Manifest::read(path)?;
        models.sort();
        models.dedup();
        let asked: Vec<Asked<'_>> =
            models.iter().map(|name| Asked { name, counted: None }).collect();
        let numbers = manifest.numbers(&columns.collect::<BTreeSet<&str>>(), &asked)?;
        Ok(Self::Models { manifest, numbers })
    }

    /// What a manifest has told.
    pub(super) fn numbers(&self) -> Option<&ModelNumbers> {
        match self {
            Self::Models { numbers, .. } => Some(numbers),
            Self::Nothing | Self::Sizes(_) => None,
        }
    }

    /// Whether it has a column to group by.
    pub(super) fn has(&self, column: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Sizes(sizes) => sizes.has(column),
            Self::Models { manifest, .. } => manifest.has(column),
        }
    }

    /// The size of a model of the table `path`; none where there is no table of sizes.
    ///
    /// # Errors
    /// [`TableError::NoSize`].
    pub(super) fn size(&self, path: &Path, model: &str) -> Result<Option<f64>, TableError> {
        match self {
            Self::Sizes(sizes) => {
                sizes.of(model).map(Some).ok_or_else(|| sizes.unknown(path, model))
            }
            Self::Nothing | Self::Models { .. } => Ok(None),
        }
    }

    /// A number that the table lacks.
    ///
    /// # Errors
    /// The manifest does not know it.
    pub(super) fn number(&self, model: &str, column: &str) -> Result<f64, TableError> {
        match self {
            Self::Models { numbers, .. } => numbers.of(model, column),
            Self::Nothing | Self::Sizes(_) => Ok(f64::NAN),
        }
    }

    /// The family that a manifest gives a model.
    pub(super) fn family(&self, model: &str) -> Option<String> {
        match self {
            Self::Models { numbers, .. } => numbers.family(model).map(str::to_owned),
            Self::Nothing | Self::Sizes(_) => None,
        }
    }

    /// What a column says of a model.
    ///
    /// # Errors
    /// No such model, no value.
    pub(super) fn text(
        &self,
        path: &Path,
        model: &str,
        column: &str,
    ) -> Result<String, TableError> {
        match self {
            Self::Nothing => Ok(String::new()),
            Self::Sizes(sizes) if sizes.of(model).is_none() => Err(sizes.unknown(path, model)),
            Self::Sizes(sizes) => sizes.name(model, column),
            Self::Models { manifest, .. } => manifest.text(model, column),
        }
    }
}
