//! `relscale size-tokens`: errors and gaps along size at fixed tokens, and along tokens at fixed size.

use std::path::{Path, PathBuf};

use relscale_laws::manifest::Manifest;
use relscale_laws::size_tokens::{SizeTokensTable, fit_size_tokens, split_measured};
use relscale_laws::user_table::{Kind, TableError};
use relscale_laws::{FitOptions, LawsError, SizeTokens, SizeTokensFit};
use relscale_report::shown::{self, At};

use super::json::{self, Json};
use super::measured::{self, Choice};
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal;

/// Tell what moves a gap: the size of the models, or the tokens they have seen?
///
/// From a study of checkpoints whose tokens a manifest tells, or from a table of checkpoints: slopes of ln E and of ln G = ln E / E_baseline along ln size, for each number of tokens that at least three sizes share
/// (within 2 %), and along ln tokens, for each size; their means, with 95 % intervals by leaving out whole sizes, since the checkpoints of a run are
/// not independent. Where no two runs have as many tokens, a plane over both tells the slopes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The study folder that `relscale measure` made, of checkpoints that --models lists
    #[arg(required_unless_present = "table", conflicts_with = "table", requires = "models")]
    study: Option<PathBuf>,

    /// A manifest of the models (.toml, .csv, .tsv, .jsonl, .parquet): model, tokens, and for a table params, what it lacks of them
    #[arg(long, value_name = "FILE")]
    models: Option<PathBuf>,

    /// The error: bpb, ce, or rbp and a rank (rbp10: -ln RBP_10) [default: bpb]; with --table a column, without --distribution several, each a
    /// distribution of its own
    #[arg(long, value_name = "ERROR", value_delimiter = ',')]
    error: Vec<String>,

    /// The distribution that all others are compared with
    #[arg(long, value_name = "NAME")]
    baseline: String,

    /// Condition on a tag of the documents, or on a column of the table; may be given again
    #[arg(long = "where", value_name = "NAME=VALUE", value_parser = measured::condition)]
    only: Vec<(String, String)>,

    /// Of a study: this family only
    #[arg(long, conflicts_with = "table")]
    family: Option<String>,

    /// Of a study: the tag whose values are the distributions, e.g. tag:domain [default: each corpus is one]
    #[arg(long, value_name = "TAG", conflicts_with = "table", value_parser = measured::tag)]
    by: Option<String>,

    #[command(flatten)]
    of_table: OfTable,

    /// Write the result as JSON to a file, or to standard output (-); the report shows STUDY/size-tokens-NAME.json as well [default of a study:
    /// STUDY/size-tokens.json]
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

/// What of a table.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A table instead of a study")]
struct OfTable {
    /// The table (.csv, .tsv, .jsonl, .parquet): one row a checkpoint (and distribution)
    #[arg(long, value_name = "FILE", requires = "error")]
    table: Option<PathBuf>,

    /// Column of sizes, or a product of columns and numbers
    #[arg(long, value_name = "COLUMN", default_value = "params")]
    params: String,

    /// Column of tokens seen, or a product as "2097152*step"
    #[arg(long, value_name = "COLUMN", default_value = "tokens")]
    tokens: String,

    /// The column that names a row's distribution
    #[arg(long, value_name = "COLUMN", requires = "table")]
    distribution: Option<String>,

    /// Column that names a run [default: model, name or run, where there is one]
    #[arg(long, value_name = "COLUMN", requires = "table")]
    label: Option<String>,

    /// What the errors are, one for all or one each: rbp or accuracy (E is -ln of it), wrong (1 - accuracy), perplexity (ln), ce, bpb or loss (as given) [default: what the
    /// columns' names say]
    #[arg(long = "as", value_name = "KIND", value_delimiter = ',', value_parser = kind, requires = "table")]
    kinds: Vec<Kind>,
}

const EXAMPLES: &str = "\
Examples:
  relscale size-tokens study --models models.toml --baseline wiki
  relscale size-tokens study --models models.toml --by tag:domain --where gold=true --baseline stem
  relscale size-tokens --table checkpoints.csv --error loss --distribution domain --baseline STEM
  relscale size-tokens --table final.tsv --error loss_c4_en,loss_ice,loss_dolma_stack --baseline loss_c4_en";

fn kind(text: &str) -> Result<Kind, String> {
    text.parse().map_err(|error: TableError| error.to_string())
}

/// Carries the command out.
///
/// # Errors
/// What the table is refused for; no slope could be had.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut inputs = Input::paths(arguments.of_table.table.iter().chain(&arguments.models));
    inputs.extend(arguments.study.clone().map(Input::Study));
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    let fit = match (&arguments.of_table.table, &arguments.study) {
        (Some(table), _) => arguments.in_table(table)?,
        (None, Some(study)) => arguments.in_study(study)?,
        (None, None) => return Ok(()),
    };
    let default = arguments.study.as_ref().map(|study| Json::Own(study.join("size-tokens.json")));
    json::deliver(&fit, arguments.json.as_ref().or(default.as_ref()), || {
        terminal::print(&terminal::shown(&shown::size_tokens(&At::file("size-tokens.json", &fit))))
    })?;
    refuse_if_empty(&fit)
}

/// Nominal coverage of every interval.
const LEVEL: f64 = 0.95;

impl Arguments {
    fn in_table(&self, table: &Path) -> Result<SizeTokensFit, LawsError> {
        let of = &self.of_table;
        let options = SizeTokensTable {
            params: of.params.clone(),
            tokens: of.tokens.clone(),
            errors: self.error.clone(),
            kinds: of.kinds.clone(),
            distribution: of.distribution.clone(),
            baseline: self.baseline.clone(),
            label: of.label.clone(),
            only: self.only.clone(),
            models: self.models.clone(),
            level: LEVEL,
        };
        fit_size_tokens(table, &options)
    }

    fn in_study(&self, path: &Path) -> anyhow::Result<SizeTokensFit> {
        let manifest = self.models.as_deref().map(Manifest::read).transpose()?;
        let FitOptions { resamples, seed, .. } = FitOptions::default();
        let choice = Choice {
            error: measured::error(&self.error)?,
            x: Some("params"),
            manifest: manifest.as_ref(),
            family: self.family.as_deref(),
            by: self.by.as_deref(),
            only: &self.only,
            resamples,
            seed,
        };
        let measured = choice.read(path)?;
        let Some(tokens) = choice.axis(&measured.runs, Some("tokens"))? else {
            return Err(Refusal::new("a study knows no tokens of its models", "give --models").into());
        };
        let file = path.display().to_string();
        Ok(split_measured(&choice.errors(&measured)?, &tokens, &self.baseline, LEVEL, &file)?)
    }
}

/// Refuses when there is not one slope.
fn refuse_if_empty(fit: &SizeTokensFit) -> anyhow::Result<()> {
    let has_slope = |found: &SizeTokens| {
        let split = &found.absolute;
        split.along_size.slope.is_some() || split.along_tokens.slope.is_some() || split.plane.fit().is_some()
    };
    if fit.distributions.iter().any(has_slope) {
        return Ok(());
    }
    let hint = "give at least three sizes with as many tokens, or three numbers of tokens for a size";
    Err(Refusal::new("no slope along size or tokens could be had", hint).into())
}
