//! Two stages: a loss is predicted from compute, an accuracy from the loss, and the two are
//! chained.
//!
//! ```text
//! loss = a x^-alpha + c                       accuracy = lower + (upper - lower) / (1 + exp(rate (loss - midpoint)))
//! ```
//!
//! The loss changes smoothly where accuracy rests on its floor, which is why one goes by way of it;
//! but each stage adds its error, and work after the paper found fits of accuracy on compute to
//! reach further. So beside the chain stand two that know no loss: `-ln accuracy` as a power law,
//! the transform of the rank law, and a sigmoid of ln x. Which is better is decided on the largest
//! models, held out.
//!
//! | file | what |
//! |---|---|
//! | [`StagesOptions`] | columns, groups, what is held out |
//! | `read` | a table's rows as points |
//! | `chain` | the four curves through a set of points, and what they say of an accuracy |
//! | `forms` | whether the direct power law is the wrong form, and intervals over both direct forms |
//! | `group` | one group: predictability, curves, held-out points |
//! | `verdicts` | sentences with their numbers |
//!
//! Invariants: no held-out point has a part in the curves that predict it. All errors of accuracy
//! are differences of shares, not ratios.

mod chain;
mod forms;
mod group;
mod read;
mod verdicts;

use std::path::Path;

use crate::error::LawsError;
use crate::result::{RESULT_FORMAT, StagesFit, StagesPoint};
use crate::tables::Select;
use crate::tables::manifest::ModelNumbers;

/// What a user may choose.
#[derive(Debug, Clone, PartialEq)]
pub struct StagesOptions {
    /// Columns and rows: one x, as `6*params*tokens`; two columns of values, a loss (any above
    /// zero) and an accuracy (a share from 0 to 1); groups are tasks, or formats of a prompt.
    pub select: Select,
    /// What is predicted from the rest.
    pub held_out: HeldOut,
    /// Accuracy by chance; the sigmoids' lower limit is fitted where it is not given.
    pub chance: Option<f64>,
    /// Predict the accuracy at these x.
    pub at: Vec<f64>,
    /// Nominal coverage of every interval.
    pub level: f64,
}

/// Which points are predicted from the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldOut {
    /// Those with the so many largest x; points of one x go together.
    Largest(u32),
    /// Those with this value in this column.
    Where(String, String),
}

impl Default for StagesOptions {
    fn default() -> Self {
        Self {
            select: Select::default(),
            held_out: HeldOut::Largest(1),
            chance: None,
            at: Vec::new(),
            level: 0.95,
        }
    }
}

impl StagesOptions {
    /// What x is, as it was named.
    pub(crate) fn x(&self) -> &str {
        self.select.x.first().map_or("", String::as_str)
    }

    /// The three columns, no groups, the largest x held out, intervals of 95 %.
    pub fn new(x: &str, loss: &str, accuracy: &str) -> Self {
        Self { select: Select::new(&[x], &[loss, accuracy]), ..Self::default() }
    }
}

/// Fits both stages to each group of a table's rows (.csv, .tsv, .jsonl, .parquet).
///
/// # Errors
/// [`LawsError::Table`]: a file that cannot be read, a column that is not there, a number that is
/// missing or impossible, with file and line. [`LawsError::Option`]: a level that is no
/// probability, a chance that no accuracy can have, an x to predict at that is not above zero. Too
/// few points are no error: the curve says why it is not there.
pub fn fit_stages(path: &Path, options: &StagesOptions) -> Result<StagesFit, LawsError> {
    let refuse = |option, value: f64, expected| LawsError::Option {
        option,
        value: value.to_string(),
        expected,
    };
    if !(options.level > 0.0 && options.level < 1.0) {
        return Err(refuse("level", options.level, "above 0 and below 1"));
    }
    if let Some(chance) = options.chance.filter(|chance| !(0.0..1.0).contains(chance)) {
        return Err(refuse("chance", chance, "from 0 to below 1"));
    }
    if let Some(x) = options.at.iter().find(|x| !(**x > 0.0 && x.is_finite())) {
        return Err(refuse("at", *x, "above 0"));
    }
    let mut read = read::groups(path, options)?;
    let models = read.models.as_ref();
    let told = models.map(ModelNumbers::flags).unwrap_or_default();
    let fit = |(name, points): (String, Vec<StagesPoint>)| {
        let of_rows = read.flags.remove(&name).unwrap_or_default();
        let mut group = group::fit(name, points, options);
        group.flags.extend(of_rows);
        group.flags.extend(told.iter().cloned());
        group
    };
    Ok(StagesFit {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        file: path.display().to_string(),
        x: models.map_or_else(|| options.x().to_owned(), |models| models.in_words(options.x())),
        models: models.map(ModelNumbers::file),
        loss: read.loss,
        accuracy: read.accuracy,
        chance: options.chance,
        level: options.level,
        groups: read.groups.into_iter().map(fit).collect(),
    })
}
