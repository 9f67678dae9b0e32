//! Errors of a study as checkpoints of runs.

use crate::error::LawsError;
use crate::manifest::{Manifest, ModelAxis};
use crate::relative::{Series, SeriesPoint};
use crate::size_tokens::split::Point;

/// One model after so many tokens.
#[derive(Debug, Clone)]
pub(super) struct Checkpoint<'a> {
    pub(super) measured: &'a SeriesPoint,
    /// The run's name; the model's own where the manifest names none.
    pub(super) run: String,
    pub(super) size: f64,
    pub(super) tokens: f64,
}

impl<'a> Checkpoint<'a> {
    /// The checkpoints of a series, by size, tokens and name.
    ///
    /// # Errors
    /// [`LawsError::Point`]: a model without a number of tokens.
    pub(super) fn of(
        series: &'a Series,
        tokens: &ModelAxis,
        manifest: &Manifest,
    ) -> Result<Vec<Self>, LawsError> {
        let one = |measured: &'a SeriesPoint| {
            let seen = tokens.of(&measured.model).ok_or_else(|| LawsError::Point {
                model: measured.model.clone(),
                distribution: series.distribution.clone(),
                reason: "it has no number of tokens".to_owned(),
            })?;
            let run = manifest.model(&measured.model).and_then(|model| model.run.clone());
            let run = run.unwrap_or_else(|| measured.model.clone());
            Ok(Self { measured, run, size: measured.x, tokens: seen })
        };
        let mut all = series.points.iter().map(one).collect::<Result<Vec<_>, LawsError>>()?;
        all.sort_by(|a, b| {
            a.size
                .total_cmp(&b.size)
                .then(a.tokens.total_cmp(&b.tokens))
                .then_with(|| a.measured.model.cmp(&b.measured.model))
        });
        Ok(all)
    }

    pub(super) fn error(&self) -> f64 {
        self.measured.error
    }

    /// As the slopes want it.
    pub(super) fn point(&self) -> Point {
        Point { size: self.size, tokens: self.tokens, log_value: self.error().ln() }
    }
}

/// How far apart, as a ratio, numbers of tokens that count as equal may lie.
pub(super) use crate::size_tokens::split::SAME_TOKENS;

/// The numbers of tokens that there are, ascending, those within 2 % as one: the least of them.
pub(super) fn levels(checkpoints: &[Checkpoint<'_>]) -> Vec<f64> {
    let mut tokens: Vec<f64> = checkpoints.iter().map(|one| one.tokens).collect();
    tokens.sort_by(f64::total_cmp);
    let mut levels: Vec<f64> = Vec::new();
    for tokens in tokens {
        if levels.last().is_none_or(|last| tokens > last * SAME_TOKENS) {
            levels.push(tokens);
        }
    }
    levels
}

/// Whether a checkpoint stands at a level.
pub(super) fn at(checkpoint: &Checkpoint<'_>, level: f64) -> bool {
    checkpoint.tokens >= level && checkpoint.tokens <= level * SAME_TOKENS
}
