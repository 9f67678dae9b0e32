//! `relscale size-tokens`: errors and gaps along size at fixed tokens, and along tokens at fixed
//! size.

use std::path::{Path, PathBuf};

use relscale_laws::manifest::Manifest;
use relscale_laws::size_tokens::{SizeTokensTable, fit_size_tokens, split_measured};
use relscale_laws::tables::Select;
use relscale_laws::{FitOptions, LawsError, SizeTokens, SizeTokensFit};
use relscale_report::shown::{self, At};

use super::json::{self, Json};
use super::measured::{self, Choice};
use super::table::{OF_A_TABLE, TableArguments};
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal;

/// Tell what moves a gap: the size of the models, or the tokens they have seen?
///
/// From a study of checkpoints whose tokens a manifest tells, or from a table of checkpoints:
/// slopes of ln E and of ln G = ln E / E_baseline along ln size, for each number of tokens that at
/// least three sizes share (within 2 %), and along ln tokens, for each size; their means, with 95 %
/// intervals by leaving out whole sizes, since the checkpoints of a run are not independent. Where
/// no two runs have as many tokens, a plane over both tells the slopes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("values").args(["y", "error"]))]
#[command(mut_arg("table", |table| table.requires("values").help("The table (.csv, .tsv, .jsonl, .parquet, .toml): one row a checkpoint (and distribution)")))]
#[command(mut_arg("x", |x| x.requires("table").conflicts_with_all(["params", "tokens"]).help("The columns of sizes and of tokens, in this order: --x N --x D")))]
#[command(mut_arg("y", |y| y.help("Column of errors; without --distribution several, each a distribution of its own")))]
#[command(mut_arg("label", |label| label.help("Column that names a run [default: model, name or run, where there is one]")))]
#[command(mut_arg("only", |only| only.help("Take the rows (of a study: the documents with this tag) that have this value only; may be given again")))]
#[command(mut_arg("models", |models| models.help("A manifest of the models (.toml, .csv, .tsv, .jsonl, .parquet): model, tokens, and for a table params, what it lacks of them")))]
pub(crate) struct Arguments {
    /// The study folder that `relscale measure` made, of checkpoints that --models lists
    #[arg(required_unless_present = "table", conflicts_with_all = OF_A_TABLE, requires = "models")]
    study: Option<PathBuf>,

    /// The error: bpb, ce, or rbp and a rank (rbp10: -ln RBP_10), the same of bytes, words and
    /// spans of words (byte10, word10, span8:10) [default: bpb]; with --table the same as --y
    #[arg(long, value_name = "ERROR", value_delimiter = ',')]
    error: Vec<String>,

    /// The distribution that all others are compared with
    #[arg(long, value_name = "NAME")]
    baseline: String,

    /// Of a study: this family only
    #[arg(long, conflicts_with = "table")]
    family: Option<String>,

    /// Of a study: the tag whose values are the distributions, e.g. tag:domain
    /// [default: each corpus is one]
    #[arg(long, value_name = "TAG", conflicts_with = "table", value_parser = measured::tag)]
    by: Option<String>,

    /// Column of sizes, or a product of columns and numbers; with --tokens in the place of two --x
    #[arg(long, value_name = "COLUMN", default_value = "params", help_heading = TABLE)]
    params: String,

    /// Column of tokens seen, or a product as "2097152*step"
    #[arg(long, value_name = "COLUMN", default_value = "tokens", help_heading = TABLE)]
    tokens: String,

    /// The column that names a row's distribution
    #[arg(long, value_name = "COLUMN", requires = "table", help_heading = TABLE)]
    distribution: Option<String>,

    #[command(flatten)]
    of_table: TableArguments,

    /// Write the result as JSON to a file, or to standard output (-); the report shows
    /// STUDY/size-tokens-NAME.json as well [default of a study: STUDY/size-tokens.json]
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

/// Where the help shows what is of a table.
const TABLE: &str = "A table";

const EXAMPLES: &str = "\
Examples:
  relscale size-tokens study --models models.toml --baseline wiki
  relscale size-tokens study --models models.toml --by tag:domain --where gold=true --baseline stem
  relscale size-tokens --table checkpoints.csv --error loss --distribution domain --baseline STEM
  relscale size-tokens --table final.tsv --error loss_c4_en,loss_ice,loss_dolma_stack --baseline loss_c4_en";

/// Carries the command out.
///
/// # Errors
/// What the table is refused for; no slope could be had.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut inputs = Input::paths(arguments.of_table.files());
    inputs.extend(arguments.study.clone().map(Input::Study));
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    let fit = match (&arguments.of_table.table, &arguments.study) {
        (Some(table), _) => arguments.in_table(table)?,
        (None, Some(study)) => arguments.in_study(study)?,
        (None, None) => return Ok(()),
    };
    let default = arguments.study.as_ref().map(|study| Json::Own(study.join("size-tokens.json")));
    json::deliver(&fit, arguments.json.as_ref().or(default.as_ref()), || {
        terminal::print_result(&shown::size_tokens(&At::file("size-tokens.json", &fit)))
    })?;
    refuse_if_empty(&fit)
}

/// Nominal coverage of every interval.
const LEVEL: f64 = 0.95;

impl Arguments {
    fn in_table(&self, table: &Path) -> Result<SizeTokensFit, LawsError> {
        let errors: Vec<&str> = self.error.iter().map(String::as_str).collect();
        let options = SizeTokensTable {
            select: Select {
                distribution: self.distribution.clone(),
                ..self.of_table.select(&[&self.params, &self.tokens], &errors)
            },
            baseline: self.baseline.clone(),
            level: LEVEL,
        };
        fit_size_tokens(table, &options)
    }

    fn in_study(&self, path: &Path) -> anyhow::Result<SizeTokensFit> {
        let manifest = self.of_table.models.as_deref().map(Manifest::read).transpose()?;
        let FitOptions { resamples, seed, .. } = FitOptions::default();
        let only = measured::tags(&self.of_table.only);
        let choice = Choice {
            error: measured::error(&self.error)?,
            x: Some("params"),
            manifest: manifest.as_ref(),
            family: self.family.as_deref(),
            by: self.by.as_deref(),
            only: &only,
            resamples,
            seed,
        };
        let measured = choice.read(path)?;
        let Some(tokens) = choice.axis(&measured.runs, Some("tokens"))? else {
            return Err(
                Refusal::new("a study knows no tokens of its models", "give --models").into()
            );
        };
        let file = path.display().to_string();
        Ok(split_measured(&choice.errors(&measured)?, &tokens, &self.baseline, LEVEL, &file)?)
    }
}

/// Refuses when there is not one slope.
fn refuse_if_empty(fit: &SizeTokensFit) -> anyhow::Result<()> {
    let has_slope = |found: &SizeTokens| {
        let split = &found.absolute;
        split.along_size.slope.is_some()
            || split.along_tokens.slope.is_some()
            || split.plane.fit().is_some()
    };
    if fit.distributions.iter().any(has_slope) {
        return Ok(());
    }
    let hint =
        "give at least three sizes with as many tokens, or three numbers of tokens for a size";
    Err(Refusal::new("no slope along size or tokens could be had", hint).into())
}
