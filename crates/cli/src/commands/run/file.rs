//! A study as a file: what is measured, what is fitted, what is expected of it.

use std::path::{Path, PathBuf};

use relscale_report::expected::Expectation;
use serde::Deserialize;
use toml::Table;

use crate::exit::Refusal;

/// The name under which a study keeps the file it was made by.
pub(in crate::commands) const KEPT: &str = "study.toml";

/// A study file. Tables named after commands hold their options, under the names of the flags.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::commands) struct StudyFile {
    /// Name of the study, and of its folder where none is given.
    pub(in crate::commands) name: String,
    /// The question that it answers, in a sentence.
    pub(in crate::commands) question: String,
    /// Where models, texts and protocol are from.
    #[serde(default)]
    pub(in crate::commands) sources: Vec<String>,
    /// What a user has to bring, and where to put it.
    #[serde(default)]
    pub(in crate::commands) needs: Vec<String>,
    /// What it costs, reckoned on paper.
    #[serde(default)]
    pub(in crate::commands) cost: Option<Cost>,
    /// Options of `measure` that all models share.
    #[serde(default)]
    pub(in crate::commands) measure: Table,
    /// Models, with options of `measure` of their own: a command each.
    #[serde(default)]
    pub(in crate::commands) models: Vec<Table>,
    /// Options of `fit`.
    pub(in crate::commands) fit: Option<Table>,
    /// Options of `choices`.
    #[serde(default)]
    pub(in crate::commands) choices: Vec<Table>,
    /// Options of `relative`.
    #[serde(default)]
    pub(in crate::commands) relative: Vec<Table>,
    /// Options of `size-tokens`.
    #[serde(default)]
    pub(in crate::commands) size_tokens: Vec<Table>,
    /// Options of `training`.
    #[serde(default)]
    pub(in crate::commands) training: Vec<Table>,
    /// Options of `stages`.
    #[serde(default)]
    pub(in crate::commands) stages: Vec<Table>,
    /// Options of `forecast`.
    #[serde(default)]
    pub(in crate::commands) forecast: Vec<Table>,
    /// Options of `sweep fit`.
    #[serde(default)]
    pub(in crate::commands) sweep_fit: Vec<Table>,
    /// Options of `report`.
    pub(in crate::commands) report: Option<Table>,
    /// What is expected to come out.
    #[serde(default)]
    pub(in crate::commands) expect: Vec<Expectation>,
}

/// What a study costs, reckoned on paper.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::commands) struct Cost {
    /// Hours of one accelerator.
    pub(in crate::commands) gpu_hours: f64,
    /// Bytes that are fetched.
    pub(in crate::commands) bytes: f64,
    /// How that was reckoned.
    pub(in crate::commands) how: String,
}

impl StudyFile {
    /// Reads a study file.
    ///
    /// # Errors
    /// It is not there, is no TOML, has unknown keys, expects what cannot be judged.
    pub(in crate::commands) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let hint = "give a study file, such as studies/shipped.toml";
            Refusal::new(format!("{}: cannot be read: {error}", path.display()), hint)
        })?;
        Self::parse(&text, path)
    }

    /// Reads the text of a study file; `path` is for errors.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(in crate::commands) fn parse(text: &str, path: &Path) -> anyhow::Result<Self> {
        let wrong = |what: String| {
            let hint = "docs/formats.md says what a study file holds";
            Refusal::new(format!("{}: {what}", path.display()), hint)
        };
        let file: Self = toml::from_str(text).map_err(|error| {
            // The line in which it begins: line breaks before it, and one.
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            wrong(format!("line {line}: {}", error.message()))
        })?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if file.name.is_empty() || file.name.starts_with('.') || !file.name.chars().all(is_plain) {
            return Err(wrong(format!(
                "name = \"{}\" would name a folder: letters, digits, - and _",
                file.name
            ))
            .into());
        }
        if let Some(cost) = &file.cost
            && ![cost.gpu_hours, cost.bytes].iter().all(|part| part.is_finite() && *part >= 0.0)
        {
            return Err(
                wrong("[cost]: hours and bytes are finite, and not below zero".into()).into()
            );
        }
        for (number, one) in file.expect.iter().enumerate() {
            one.validate().map_err(|what| {
                wrong(format!("[[expect]] number {} ({}): {what}", number + 1, one.what))
            })?;
        }
        if file.models.is_empty() && !file.measure.is_empty() {
            return Err(wrong("[measure] without [[models]]: nothing is measured".into()).into());
        }
        Ok(file)
    }

    /// The file that a study was made by.
    pub(in crate::commands) fn of(study: &Path) -> PathBuf {
        study.join(KEPT)
    }
}
