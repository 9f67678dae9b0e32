//! A manifest: what a person knows of models that neither a study nor a table of results says of
//! them.
//!
//! One row a model, in a table (.csv, .tsv, .jsonl, .parquet) or as `[[model]]` of a TOML file:
//! parameters N and tokens D, each with what is counted, compute with its convention, family, and
//! of which training run the model is a checkpoint.
//!
//! | file | what |
//! |---|---|
//! | [`Manifest`] | the file, checked when it is read |
//! | [`ManifestModel`] | one model; `model` reads it from a row |
//! | [`ModelNumbers`] | numbers of the models of one fit, each column in one convention |
//! | [`ModelAxis`] | the x of the models of a study |
//!
//! Invariants: no convention is guessed. Numbers of one fit are in one convention: parameters of
//! two are refused, FLOPs of two are converted (backward is taken as twice the forward), and a flag
//! says so. What a study has counted from weights is not overruled.

mod axis;
mod model;
mod numbers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use relscale_records::RunTally;

use crate::error::TableError;
use crate::result::{Flag, FlagCode};
use crate::tables::formats;
use crate::tables::rows::Rows;
pub use axis::ModelAxis;
pub use model::{Compute, ManifestModel, Params};
pub(crate) use model::{FLOPS, PARAMS};
pub(crate) use numbers::Asked;
pub use numbers::ModelNumbers;

/// Models with their sizes, tokens, compute, families and runs.
#[derive(Debug)]
pub struct Manifest {
    rows: Rows,
    models: Vec<ManifestModel>,
    /// Name -> model. A name with an owner (`EleutherAI/pythia-70m`) is there without it as well,
    /// where only one has it.
    by_name: BTreeMap<String, usize>,
}

impl Manifest {
    /// Reads a manifest. Its columns are `model` (or `name`), `params` (or `S`, or `non_embedding`)
    /// with `params_convention`, `tokens` (or `D`), `flops` with `flops_convention`, `family`,
    /// `run`; any other may be named as an x. All but the first may be absent or empty.
    ///
    /// # Errors
    /// [`TableError`], each with file and line: a file that cannot be read; a number that is not
    /// above zero; a convention that is none; a model that is there twice; checkpoints of one run
    /// that differ in size or family, or have as many tokens.
    pub fn read(path: &Path) -> Result<Self, TableError> {
        let rows = formats::read(path, |_| true)?;
        let models = model::read(&rows)?;
        let mut by_name = BTreeMap::new();
        for (at, model) in models.iter().enumerate() {
            if let Some(first) = by_name.insert(model.name.clone(), at) {
                let reason =
                    format!("model `{}` is there already, {}", model.name, models[first].place);
                return Err(refuse(path, &model.place, reason));
            }
        }
        let mut without_owner: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, model) in models.iter().enumerate() {
            without_owner.entry(bare(&model.name)).or_default().push(at);
        }
        for (name, found) in without_owner {
            if let [only] = found.as_slice() {
                by_name.entry(name.to_owned()).or_insert(*only);
            }
        }
        Ok(Self { rows, models, by_name })
    }

    /// The file, as it was named.
    pub fn path(&self) -> &Path {
        &self.rows.path
    }

    /// Its models, in its order.
    pub fn models(&self) -> &[ManifestModel] {
        &self.models
    }

    /// A model by its name, with or without its owner.
    pub fn model(&self, name: &str) -> Option<&ManifestModel> {
        let at = self.by_name.get(name).or_else(|| self.by_name.get(bare(name)))?;
        self.models.get(*at)
    }

    /// Whether it has a column.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.rows.has(column)
    }

    /// What a column says of a model.
    ///
    /// # Errors
    /// No such model, no value.
    pub(crate) fn text(&self, model: &str, column: &str) -> Result<String, TableError> {
        let at = self.by_name.get(model).or_else(|| self.by_name.get(bare(model)));
        // A row a model, in one order.
        let row = at.and_then(|at| self.rows.rows.get(*at)).ok_or_else(|| self.unknown(model))?;
        self.rows.name(row, self.rows.column(column)?)
    }

    /// Gives runs the families that the manifest names; others keep theirs.
    pub fn set_families(&self, runs: &mut [RunTally]) {
        for run in runs {
            if let Some(family) = self.model(&run.model).and_then(|model| model.family.as_ref()) {
                run.family.clone_from(family);
            }
        }
    }

    /// A flag that names the models which none of these is; none where all are used.
    pub fn unused<'a>(&self, used: impl Iterator<Item = &'a str>) -> Option<Flag> {
        let used: Vec<&str> =
            used.filter_map(|name| Some(self.model(name)?.name.as_str())).collect();
        let unused: Vec<String> = self
            .models
            .iter()
            .filter(|model| !used.contains(&model.name.as_str()))
            .map(|model| format!("{} ({})", model.name, model.place))
            .collect();
        let file = self.rows.path.display();
        let message = || {
            let (count, names) = (unused.len(), listed(&unused));
            format!("{file} lists {count} models of which there is no measurement: {names}")
        };
        (!unused.is_empty()).then(|| Flag::new(FlagCode::NotMeasured, message()))
    }

    /// The refusal of a model that it lacks.
    fn unknown(&self, model: &str) -> TableError {
        let there: Vec<&str> = self.models.iter().map(|model| model.name.as_str()).collect();
        TableError::NoModel {
            path: self.rows.path.clone(),
            model: model.to_owned(),
            there: listed(&there),
        }
    }
}

fn refuse(path: &Path, place: &str, reason: String) -> TableError {
    TableError::Manifest { path: PathBuf::from(path), place: place.to_owned(), reason }
}

fn bare(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}

/// How many names a sentence holds.
const LISTED: usize = 6;

/// The first names, and how many more there are.
fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let first: Vec<&str> = names.iter().take(LISTED).map(T::as_ref).collect();
    match names.len().saturating_sub(LISTED) {
        0 => first.join(", "),
        more => format!("{}, and {more} more", first.join(", ")),
    }
}
