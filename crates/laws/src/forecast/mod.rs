//! Forecasts: from what small models lose and how they rank to an accuracy, and to the order of
//! training corpora; each way judged on what it has not seen, beside cross entropy alone.
//!
//! ```text
//! by size    accuracy = lower + (upper - lower) / (1 + exp(rate (feature - midpoint)))     a curve a task, through the smaller models
//! by task    accuracy = lower + height_t / (1 + exp(rate (feature - midpoint)))             one shape through the other tasks, height_t by the task's smallest models
//! ```
//!
//! The feature is the loss, `-ln RBP_k`, or `-ln x`, as it was measured of the model to be forecast
//! (which takes no question) or as a power law with a floor gives it at its x (which takes no
//! model). Where there are several features of a kind, the one is taken whose curve forecasts what
//! is seen best, each point left out: one for all tasks.
//!
//! | file | what |
//! |---|---|
//! | [`ForecastOptions`] | what is held out, what chance is |
//! | `features` | losses, ranks and entropies of models, from runs or a table |
//! | `targets` | accuracies from a table, joined with the features |
//! | `panel` | models, features and tasks side by side |
//! | `by_size`, `by_task` | the forecasters, fitted to what is seen |
//! | `exchange` | whether two features differ by more than their errors at single models |
//! | `errors` | how far each is off, and how far from the loss |
//! | `ranking` | pairs of training corpora ordered by small models |
//! | `verdicts` | sentences with their numbers |
//!
//! Invariants: no accuracy that is forecast has a part in the fit, the choice of a feature or of a
//! penalty. A difference is claimed over tasks and over models both, adjusted for all comparisons.

mod by_size;
mod by_task;
mod errors;
mod exchange;
mod features;
mod panel;
mod ranking;
mod targets;
mod verdicts;

use std::collections::BTreeMap;
use std::path::Path;

use relscale_records::RunTally;

use crate::error::LawsError;
use crate::result::{FewTokens, FewTokensError, Flag, FlagCode, Forecast, LeaveOut, RESULT_FORMAT};
use crate::tables::Select;

pub use features::Features;
use panel::Panel;

/// What a user may choose.
#[derive(Debug, Clone, PartialEq)]
pub struct ForecastOptions {
    /// Rows and columns of the table of accuracies: one column of values and one that names the
    /// task, or a column a task.
    pub select: Select,
    /// Accuracy by chance of every task that neither [`chances`](Self::chances) nor a column
    /// `chance` tells.
    pub chance: Option<f64>,
    /// Accuracy by chance, by task.
    pub chances: BTreeMap<String, f64>,
    /// Up to how many of the largest x are held out; `None`: three, or as many as leave five.
    pub held_out: Option<u32>,
    /// How many of the smallest models tell the height of a task that is left out.
    pub given: u32,
    /// Parts of the documents that are tried, in place of all; of a study alone.
    pub parts: Vec<f64>,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// The most ways that are tried to exchange two features at some of the models.
    pub exchanges: u32,
    /// Resamples of training corpora.
    pub resamples: u32,
    /// Seed of the drawing.
    pub seed: u64,
}

impl Default for ForecastOptions {
    fn default() -> Self {
        Self {
            select: Select::default(),
            chance: None,
            chances: BTreeMap::new(),
            held_out: None,
            given: 3,
            parts: vec![0.5, 0.25, 0.1],
            level: 0.95,
            exchanges: 256,
            resamples: 1000,
            seed: 0,
        }
    }
}

impl ForecastOptions {
    fn validate(&self) -> Result<(), LawsError> {
        let refuse =
            |option, value: String, expected| Err(LawsError::Option { option, value, expected });
        let shares = self.chance.iter().chain(self.chances.values());
        if let Some(chance) = shares.into_iter().find(|chance| !(0.0..1.0).contains(*chance)) {
            return refuse("chance", chance.to_string(), "from 0 to below 1");
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return refuse("level", self.level.to_string(), "above 0 and below 1");
        }
        if self.held_out == Some(0) || self.given == 0 {
            let option = if self.given == 0 { "given" } else { "held-out" };
            return refuse(option, "0".to_owned(), "1 or more");
        }
        if let Some(part) = self.parts.iter().find(|part| !(**part > 0.0 && **part < 1.0)) {
            return refuse("part", part.to_string(), "above 0 and below 1");
        }
        Ok(())
    }
}

/// Forecasts the accuracies of a table from features of another.
///
/// # Errors
/// [`LawsError::Table`] for the table of accuracies; [`LawsError::Option`]: an option that cannot
/// be, a task whose accuracy by chance nothing tells; fewer than five models with features and
/// accuracies, no feature that is a loss.
pub fn forecast(
    features: &Features,
    accuracies: &Path,
    options: &ForecastOptions,
) -> Result<Forecast, LawsError> {
    options.validate()?;
    let targets = targets::read(accuracies, options)?;
    let (panel, mut flags) = Panel::new(features, &targets)?;
    let mut by_size = by_size::all(&panel, options);
    let mut by_task = by_task::all(&panel, options);
    errors::adjust(by_size.iter_mut().chain(&mut by_task), options.level);
    if by_task.is_none() {
        let message = format!(
            "no task is left out: that takes three tasks, and a model beyond the {} smallest of each",
            options.given
        );
        flags.push(Flag::new(FlagCode::TooFewPoints, message));
    }
    flags.extend(panel.flags());
    let ranking = ranking::ranking(&panel, options);
    let mut found = Forecast {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        features_from: features.from.clone(),
        accuracies_from: accuracies.display().to_string(),
        x: features.x.clone(),
        level: options.level,
        features: panel.features.clone(),
        models: panel.models.clone(),
        tasks: panel.tasks.clone(),
        by_size,
        by_task,
        few_tokens: Vec::new(),
        ranking,
        flags,
        verdict: String::new(),
    };
    found.verdict = verdicts::forecast(&found);
    Ok(found)
}

/// [`forecast`] from the runs of a study, those of one corpus and family; and again from the first
/// part of their documents.
///
/// # Errors
/// As [`forecast`] and [`Features::from_runs`].
pub fn forecast_study(
    runs: &[RunTally],
    accuracies: &Path,
    options: &ForecastOptions,
) -> Result<Forecast, LawsError> {
    let mut found = forecast(&Features::from_runs(runs, 1.0)?, accuracies, options)?;
    for &part in &options.parts {
        // Too few documents for a part are no reason to have no forecast of all.
        let Ok(features) = Features::from_runs(runs, part) else { continue };
        let Ok(partly) = forecast(&features, accuracies, options) else { continue };
        let pairs = found.by_size.last().zip(partly.by_size.last());
        let pairs = pairs.into_iter().chain(found.by_task.as_ref().zip(partly.by_task.as_ref()));
        let told: Vec<FewTokens> = pairs
            .map(|(whole, partly)| FewTokens {
                part,
                documents: features.documents,
                tokens: features.tokens,
                which: whole.which.clone(),
                errors: both(whole, partly),
            })
            .collect();
        found.few_tokens.extend(told);
    }
    Ok(found)
}

/// The errors of the forecasters that both have.
fn both(whole: &LeaveOut, partly: &LeaveOut) -> Vec<FewTokensError> {
    let pairs = whole.forecasters.iter().filter_map(|all| Some((all, partly.of(all.forecaster)?)));
    pairs
        .map(|(all, partly)| FewTokensError {
            forecaster: all.forecaster,
            mean_absolute: partly.mean_absolute,
            with_all: all.mean_absolute,
        })
        .collect()
}
