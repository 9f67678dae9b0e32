//! Laws of a user's own numbers: a table of points, or the result files of lm-evaluation-harness.
//!
//! Nothing of a measurement is known here but the value of each point, so there is no error from
//! the text sample: what a law says of its uncertainty comes from the scatter of the points alone.
//! The fit is that of the study's laws, least squares of `ln value` on `ln x`, with the same
//! predictions of points it has not seen.
//!
//! [`tables`](crate::tables) reads the points; `fit` makes laws of them.

mod fit;

use std::path::{Path, PathBuf};

use crate::error::LawsError;
use crate::result::{RESULT_FORMAT, TableFit};
use crate::tables::manifest::ModelNumbers;
use crate::tables::{Observation, Select, Wanted, each, harness, read, small};

/// What a user may choose about the fit of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableOptions {
    /// Columns and rows: one x, not used where there is a table of sizes, and one law a column of
    /// values.
    pub select: Select,
    /// Nominal coverage of every interval.
    pub level: f64,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { select: Select::new(&["S"], &[]), level: 0.95 }
    }
}

/// What a user may choose about the fit of results.
#[derive(Debug, Clone, PartialEq)]
pub struct HarnessOptions {
    /// Tasks to fit; empty = all.
    pub tasks: Vec<String>,
    /// In the place of columns of values, metrics (`acc`, `perplexity`, with or without the filter
    /// behind a comma; empty = all whose kind is known) with their kinds; columns of the table of
    /// sizes, or of the manifest, to group by.
    pub select: Select,
    /// Nominal coverage of every interval.
    pub level: f64,
}

impl Default for HarnessOptions {
    fn default() -> Self {
        let TableOptions { select, level } = TableOptions::default();
        Self { tasks: Vec::new(), select, level }
    }
}

/// Fits a power law to each column of values in each group of a table's rows.
///
/// The file is CSV (or with semicolons or tabs; a header line), JSONL, TOML or Parquet, by the
/// ending of its name.
///
/// # Errors
/// [`LawsError::Table`]: a file that cannot be read, a column that is not there, a number that is
/// impossible, with file and line; a column whose name does not say what it is, when
/// `Select::kinds` does not either. [`LawsError::Option`] for a level that is no probability. A
/// group too small for a law is no error: its law says why there is none.
pub fn fit_table(path: &Path, options: &TableOptions) -> Result<TableFit, LawsError> {
    let TableOptions { select, level } = options;
    check_level(*level)?;
    let x = match select.sizes {
        Some(_) => "S",
        None => each::<1>(&select.x, "x", "one column, or a product of columns and numbers")?[0],
    };
    let read = read(path, select, &Wanted::default())?;
    let files = [Some(path), select.sizes.as_deref(), select.models.as_deref()];
    let files = files.into_iter().flatten().map(Path::to_owned).collect();
    let mut fit = laws(read.observations, files, x, read.models.as_ref(), *level);
    for law in fit.groups.iter_mut().flat_map(|group| &mut group.laws) {
        law.flags.extend(small(x, law.points.iter().map(|point| point.x)));
    }
    Ok(fit)
}

/// Fits a power law to each metric of each task over the models of several result files.
///
/// A folder stands for all `*.json` files below it whose name begins with `results`.
///
/// # Errors
/// [`LawsError::Table`]: no result file, a model without a size, the same model twice for one task,
/// a value that cannot be; nothing that was asked for. [`LawsError::Option`] for a level that is no
/// probability.
pub fn fit_harness(paths: &[PathBuf], options: &HarnessOptions) -> Result<TableFit, LawsError> {
    let HarnessOptions { tasks, select, level } = options;
    check_level(*level)?;
    let read = harness::read(paths, tasks, select)?;
    let x = match (&select.models, select.x.first()) {
        (Some(_), Some(x)) => x.as_str(),
        _ => "S",
    };
    let files = read.files.into_iter().chain(select.sizes.clone()).chain(select.models.clone());
    Ok(laws(read.observations, files.collect(), x, read.models.as_ref(), *level))
}

/// The laws of all groups, with what a manifest has told.
fn laws(
    observations: Vec<Observation>,
    files: Vec<PathBuf>,
    x: &str,
    models: Option<&ModelNumbers>,
    level: f64,
) -> TableFit {
    let x = models.map_or_else(|| x.to_owned(), |models| models.in_words(x));
    let mut groups = fit::groups(observations, &x, level);
    for law in groups.iter_mut().flat_map(|group| &mut group.laws) {
        law.flags.extend(models.into_iter().flat_map(ModelNumbers::flags).cloned());
    }
    TableFit {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        files: files.into_iter().map(|path| path.display().to_string()).collect(),
        x,
        level,
        groups,
    }
}

/// Refuses a level that is no probability.
fn check_level(level: f64) -> Result<(), LawsError> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    Err(LawsError::Option {
        option: "level",
        value: level.to_string(),
        expected: "above 0 and below 1",
    })
}
