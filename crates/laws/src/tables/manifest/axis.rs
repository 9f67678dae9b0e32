//! The x of the models of a study.

use std::collections::{BTreeMap, BTreeSet};

use relscale_records::RunTally;

use super::{Asked, Manifest};
use crate::error::TableError;
use crate::result::Flag;
use crate::tables::product::Product;

/// An x with its value for each model of a study.
#[derive(Debug, Clone)]
pub struct ModelAxis {
    values: BTreeMap<String, f64>,
    file: String,
    in_words: String,
    flags: Vec<Flag>,
}

impl ModelAxis {
    /// `x` is `params`, `tokens`, `flops`, a column of the manifest, or a product of columns and
    /// numbers as `6*params*tokens`.
    ///
    /// # Errors
    /// [`TableError`], with file and line: a model that the manifest lacks, a number that it lacks
    /// or that cannot be, two conventions where one fit needs one.
    pub fn from_runs(manifest: &Manifest, x: &str, runs: &[RunTally]) -> Result<Self, TableError> {
        let product = Product::parse(x);
        let models: BTreeMap<&str, u64> =
            runs.iter().map(|run| (run.model.as_str(), run.non_embedding)).collect();
        let asked: Vec<Asked<'_>> =
            models.iter().map(|(&name, &counted)| Asked { name, counted: Some(counted) }).collect();
        let columns: BTreeSet<&str> = product.columns().collect();
        let numbers = manifest.numbers(&columns, &asked)?;
        let mut values = BTreeMap::new();
        for &name in models.keys() {
            let value = product.value(|column| numbers.of(name, column))?;
            if !(value > 0.0 && value.is_finite()) {
                let path = manifest.path().to_owned();
                return Err(TableError::Factors { path, product: value });
            }
            values.insert(name.to_owned(), value);
        }
        let mut flags = numbers.flags().to_vec();
        flags.extend(manifest.unused(models.into_keys()));
        Ok(Self { values, file: numbers.file(), in_words: numbers.in_words(x), flags })
    }

    /// What x is, with the conventions of its columns.
    pub fn in_words(&self) -> &str {
        &self.in_words
    }

    /// The manifest, as it was named.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The x of a model, where it is one of the study.
    pub fn of(&self, model: &str) -> Option<f64> {
        self.values.get(model).copied()
    }

    /// What was computed, converted or not said, and what the manifest has beyond the study.
    pub fn flags(&self) -> &[Flag] {
        &self.flags
    }
}
