//! `relscale relative`: how the gap between two distributions changes as models grow.

use relscale_laws::Saved as _;
use std::path::{Path, PathBuf};

use relscale_laws::manifest::Manifest;
use relscale_laws::relative::{
    Covariates, ErrorMeasure, Means, Measurements, RelativeOptions, RelativeTable, fit_relative,
    read_table,
};
use relscale_laws::tables::Select;
use relscale_laws::{FitOptions, LawsError, RelativeFit};
use relscale_report::shown::{self, At, Shown};

use super::json::{self, Json};
use super::means::means;
use super::measured::{self, Choice};
use super::table::{OF_A_TABLE, TableArguments};
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal::{self, Loudness};

/// Fit the relative law: does the gap between two distributions close, widen or stay as models
/// grow?
///
/// G(F) = E / E_baseline = gamma F^delta_beta for each distribution, over models of growing F:
/// below 0 the gap closes, above 0 it widens; where G goes through 1 inside the data, beyond doubt
/// at both ends, it is crossed. The interval is 95 %, Student t from the residuals of ln G.
/// "Parallel" is a finding of its own (delta_beta inside ±margin), and the claims are adjusted for
/// their number; q is the share of false claims among those at least as sure.
///
/// The models come from a study (a distribution is a corpus, or the value of a tag: --by), or from
/// a table, long (--distribution names the column) or wide (each column of --y is a distribution).
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("values").args(["y", "error"]))]
#[command(mut_arg("table", |table| table.requires_all(["x", "values"])))]
#[command(mut_arg("x", |x| x.help("What models grow in: params (S, not the embeddings), tokens or flops of --models, a column of it or of --table, or a product of columns and numbers as \"6*params*tokens\" [default: params]")))]
#[command(mut_arg("y", |y| y.help("Column of errors; without --distribution several, each a distribution of its own")))]
#[command(mut_arg("group", |group| group.help("Columns that name a model's family, where --models does not")))]
#[command(mut_arg("label", |label| label.help("Column that names a model [default: model, name or run, where there is one; else rows of one x are one model]")))]
#[command(mut_arg("only", |only| only.help("Take the rows (of a study: the documents with this tag) that have this value only; may be given again")))]
pub(crate) struct Arguments {
    /// The study folder that `relscale measure` made
    #[arg(required_unless_present = "table", conflicts_with_all = OF_A_TABLE)]
    study: Option<PathBuf>,

    /// The distribution that all others are compared with
    #[arg(long, value_name = "NAME")]
    baseline: String,

    /// The error: bpb, ce, rbp and a rank (rbp10: -ln RBP_10), the same of bytes, words and spans
    /// of 8 words (byte10, word10, span8:10), or of questions with options gold-bpb, gold-nll,
    /// choice-nll, choice-nll-bytes, accuracy, accuracy-bytes, accuracy-tokens (-ln of it)
    /// [default: bpb]; with --table the same as --y
    #[arg(long, value_name = "ERROR", value_delimiter = ',')]
    error: Vec<String>,

    /// Slopes inside ±MARGIN count as parallel; the default changes a gap by half a per cent over a
    /// tenfold x
    #[arg(long, default_value_t = 0.002)]
    margin: f64,

    /// Largest share of false claims
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    false_discovery: f64,

    /// Tell where G reaches these values
    #[arg(long, value_name = "G", value_delimiter = ',', default_value = "1")]
    reaches: Vec<f64>,

    /// Predict G at these x [default: ten times the largest]
    #[arg(long, value_name = "X", value_delimiter = ',')]
    at: Vec<f64>,

    /// Of models of one x (an IsoFLOP budget) take the one with the least error on the baseline
    #[arg(long)]
    best: bool,

    /// Of each budget take the errors at the baseline's optimum, between the models: cubics in the
    /// logarithm of this column of --table (params or tokens)
    #[arg(long, value_name = "COLUMN", requires = "table", conflicts_with = "best")]
    optimum: Option<String>,

    #[command(flatten)]
    of_study: OfStudy,

    #[command(flatten)]
    of_table: OfTable,

    /// A table with a number for each distribution, to be correlated with the slopes
    #[arg(long, value_name = "FILE", requires = "value")]
    covariates: Option<PathBuf>,

    /// Its column of distributions
    #[arg(long, value_name = "COLUMN", default_value = "distribution", requires = "covariates")]
    key: String,

    /// Its column of numbers
    #[arg(long, value_name = "COLUMN", requires = "covariates")]
    value: Option<String>,

    /// Write the result as JSON to a file, or to standard output (-); the report shows
    /// STUDY/relative-NAME.json as well [default: STUDY/relative.json]
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

const EXAMPLES: &str = "\
Examples:
  relscale relative study --baseline wiki
  relscale relative study --baseline stem --by tag:domain --where gold=true --error bpb --models models.toml --x flops
  relscale relative study --baseline wiki --error rbp10
  relscale relative study --baseline wiki --error word1 --json study/relative-words.json
  relscale relative study --baseline self-improvement --by tag:cluster --error choice-nll --json study/relative-risk.json
  relscale relative --table points.csv --x flops --error loss --distribution corpus --baseline c4_en
  relscale relative --table final.tsv --x \"6*params*tokens\" --error loss_c4_en,loss_ice --baseline loss_c4_en
  relscale relative --table evals.tsv --distribution task --error value --as accuracy --where metric=acc --means-by lm-eval \\
      --models pythia.toml --x params --baseline stem
  relscale relative study --baseline usa --covariates regions.csv --key variety --value users_1995";

/// What of a study.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Of a study")]
struct OfStudy {
    /// This family only
    #[arg(long, conflicts_with = "table")]
    family: Option<String>,

    /// The tag whose values are the distributions, e.g. tag:domain [default: each corpus is one]
    #[arg(long, value_name = "TAG", conflicts_with = "table", value_parser = measured::tag)]
    by: Option<String>,

    /// Resamples of the documents behind each standard error
    #[arg(long, value_name = "N", default_value_t = FitOptions::default().resamples, conflicts_with = "table")]
    resamples: u32,

    /// Seed of the resampling
    #[arg(long, value_name = "N", default_value_t = FitOptions::default().seed, conflicts_with = "table")]
    seed: u64,
}

/// What of a table.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A table")]
struct OfTable {
    #[command(flatten)]
    table: TableArguments,

    /// The column that names a row's distribution
    #[arg(long, value_name = "COLUMN", requires = "table")]
    distribution: Option<String>,

    /// Average rows into distributions: the subjects of MMLU into its domains by the map of lm-eval
    /// or of hendrycks (accuracies weighted by questions, losses unweighted), or by a table
    /// FILE:COLUMN (or FILE) of members and their groups, with a column of weights
    #[arg(long, value_name = "MAP", requires_all = ["table", "distribution"], value_parser = means)]
    means_by: Option<Means>,
}

/// File of a study that holds its gaps.
pub(super) const RELATIVE: &str = "relative.json";

/// Carries the command out.
///
/// # Errors
/// A study or table that cannot be read or compared; no gap could be fitted.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let options = RelativeOptions {
        margin: arguments.margin,
        false_discovery: arguments.false_discovery,
        reaches: arguments.reaches.clone(),
        at: arguments.at.clone(),
        ..RelativeOptions::new(&arguments.baseline)
    };
    options.validate()?;
    let mut inputs = Input::paths(arguments.of_table.table.files().chain(&arguments.covariates));
    inputs.extend(arguments.study.clone().map(Input::Study));
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    let covariates = match (&arguments.covariates, &arguments.value) {
        (Some(path), Some(value)) => Some(Covariates::read(path, &arguments.key, value)?),
        _ => None,
    };
    let (mut found, mut ranks) = match (&arguments.of_table.table.table, &arguments.study) {
        (Some(table), _) => (arguments.measured_in_table(table)?, Vec::new()),
        (None, Some(study)) => arguments.measured_in_study(study)?,
        (None, None) => return Ok(()),
    };
    if arguments.best {
        found.keep_best(&arguments.baseline);
        ranks.iter_mut().for_each(|(_, found)| found.keep_best(&arguments.baseline));
    }
    if arguments.optimum.is_some() {
        found.at_optimum(&arguments.baseline);
    }
    let mut fit = fit_relative(&found, &options, covariates.as_ref())?;
    fit.add_ranks(&ranks)?;
    let default = arguments.study.as_ref().map(|study| Json::Own(study.join(RELATIVE)));
    json::deliver(&fit, arguments.json.as_ref().or(default.as_ref()), || {
        terminal::print_result(&shown::relative(&At::file(RELATIVE, &fit)))
    })?;
    refuse_if_empty(&fit)
}

impl Arguments {
    fn measured_in_table(&self, table: &Path) -> Result<Measurements, LawsError> {
        let of = &self.of_table;
        let errors: Vec<&str> = self.error.iter().map(String::as_str).collect();
        let options = RelativeTable {
            select: Select {
                distribution: of.distribution.clone(),
                ..of.table.select(&[], &errors)
            },
            means: of.means_by.clone(),
            optimum: self.optimum.clone(),
        };
        read_table(table, &options)
    }

    /// The errors asked for, and those of the ranks at every k.
    fn measured_in_study(
        &self,
        study: &Path,
    ) -> anyhow::Result<(Measurements, Vec<(u32, Measurements)>)> {
        let table = &self.of_table.table;
        let manifest = table.models.as_deref().map(Manifest::read).transpose()?;
        let of = &self.of_study;
        let only = measured::tags(&table.only);
        let x = match table.x.as_slice() {
            [] => None,
            [one] => Some(one.as_str()),
            several => {
                let hint = "give one --x, a column or a product";
                let what = format!("models grow in one x, not {}", several.join(" and "));
                return Err(Refusal::new(what, hint).into());
            }
        };
        let choice = Choice {
            error: measured::error(&self.error)?,
            x,
            manifest: manifest.as_ref(),
            family: of.family.as_deref(),
            by: of.by.as_deref(),
            only: &only,
            resamples: of.resamples,
            seed: of.seed,
        };
        let measured = choice.read(study)?;
        Ok((choice.errors(&measured)?, choice.ranks(&measured)?))
    }
}

/// The gaps of a study in bits per byte, saved beside its laws, as a table with a sentence; for
/// `demo`.
///
/// # Errors
/// The study cannot be read, its corpora cannot be compared, the file cannot be written.
pub(super) fn summary(study: &Path, baseline: &str) -> anyhow::Result<Shown> {
    let FitOptions { resamples, seed, .. } = FitOptions::default();
    let error = ErrorMeasure::BitsPerByte;
    let choice = Choice {
        error,
        x: None,
        manifest: None,
        family: None,
        by: None,
        only: &[],
        resamples,
        seed,
    };
    let measured = choice.read(study)?;
    let mut fit = fit_relative(&choice.errors(&measured)?, &RelativeOptions::new(baseline), None)?;
    fit.add_ranks(&choice.ranks(&measured)?)?;
    fit.save(&study.join(RELATIVE))?;
    let fit = At::file(RELATIVE, &fit);
    Ok(match terminal::loudness() {
        Loudness::Verbose => shown::relative_summary(&fit),
        _ => shown::relative_verdicts(&fit),
    })
}

/// Refuses when there is not one gap.
fn refuse_if_empty(fit: &RelativeFit) -> anyhow::Result<()> {
    let mut gaps = fit.families.iter().flat_map(|family| &family.gaps);
    if gaps.clone().any(|gap| gap.fit().is_some()) {
        return Ok(());
    }
    let reason = gaps.next().map_or("", |gap| gap.verdict.trim_end_matches('.'));
    let hint = "measure at least three models of different sizes on the baseline and on another distribution";
    Err(Refusal::new(format!("no gap could be fitted: {reason}"), hint).into())
}
