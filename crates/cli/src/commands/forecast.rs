//! `relscale forecast`: accuracies from losses and ranks, each way judged on what it has not seen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use relscale_laws::forecast::{Features, ForecastOptions, forecast, forecast_study};
use relscale_laws::tables::{Kind, Select};
use relscale_laws::{Forecast, LawsError};
use relscale_records::{RunTally, Study};
use relscale_report::shown::{self, At};

use super::json::{self, Json};
use super::table::{TableArguments, condition};
use crate::spare::{Input, spare};
use crate::terminal;

/// Forecast accuracies from losses and ranks: which feature of small models tells what large ones
/// will do?
///
/// Features are those of a study's runs (cross entropy, -ln RBP_k at every k, entropy), or columns
/// of --features; accuracies are those of --table. The largest models are held out, then each task;
/// each forecaster's error stands beside that of cross entropy alone, with an interval over tasks
/// and models. With --group (training corpora), the feature is told that orders corpora at small
/// sizes as the largest models do.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("source").args(["study", "features"]).required(true))]
#[command(mut_arg("table", |table| table.required(true).help("The table of accuracies (.csv, .tsv, .jsonl, .parquet): one row a model and task; choices.csv of a study is one")))]
#[command(mut_arg("x", |x| x.requires("features").help("Of --features: what models grow in, a column or a product of columns and numbers; what the table lacks is looked up in --models")))]
#[command(mut_arg("y", |y| y.required(true).help("Columns of accuracies; one where --distribution names the task, else a column a task")))]
#[command(mut_arg("kinds", |kinds| kinds.help("What they are, one for all or one each: accuracy, rbp or wrong [default: accuracy]")))]
#[command(mut_arg("group", |group| group.requires("features").help("Of --features: the column that names the training corpus")))]
#[command(mut_arg("label", |label| label.help("Column that names the model, in both tables [default: model, name or run]")))]
#[command(mut_arg("only", |only| only.help("Take the accuracies of rows that have this value only; may be given again")))]
pub(crate) struct Arguments {
    /// The study folder that `relscale measure` made
    study: Option<PathBuf>,

    /// A table of features in place of a study: one row a model
    #[arg(long, value_name = "FILE", requires = "x", requires = "feature")]
    features: Option<PathBuf>,

    /// Columns of features, losses and ranks
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "features")]
    feature: Vec<String>,

    /// What they are, one for all or one each, as --as has them [default: what the columns' names
    /// say]
    #[arg(long, value_name = "KIND", value_delimiter = ',', requires = "feature", value_parser = str::parse::<Kind>)]
    feature_as: Vec<Kind>,

    /// The column that names a row's task
    #[arg(long, value_name = "COLUMN")]
    distribution: Option<String>,

    /// Accuracy by chance, of all tasks or of one (piqa=0.5) [default: the column chance]
    #[arg(long, value_name = "[TASK=]SHARE", value_delimiter = ',', value_parser = chance)]
    chance: Vec<(Option<String>, f64)>,

    /// Hold out one, two, ... up to N of the largest x [default: 3, or as many as leave five]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    held_out: Option<u32>,

    /// Smallest models that tell the height of a task that is left out
    #[arg(long, value_name = "N", default_value_t = ForecastOptions::default().given, value_parser = clap::value_parser!(u32).range(1..))]
    given: u32,

    /// Of a study: features of these parts of the documents are tried as well
    #[arg(
        long,
        value_name = "SHARE",
        value_delimiter = ',',
        default_value = "0.5,0.25,0.1",
        conflicts_with = "features"
    )]
    parts: Vec<f64>,

    /// Of a study: this family only
    #[arg(long, conflicts_with = "features")]
    family: Option<String>,

    /// Of a study: the features are those on this corpus
    #[arg(long, conflicts_with = "features")]
    corpus: Option<String>,

    /// Times training corpora are drawn again
    #[arg(long, value_name = "N", default_value_t = ForecastOptions::default().resamples)]
    resamples: u32,

    /// Seed of the drawing
    #[arg(long, value_name = "N", default_value_t = ForecastOptions::default().seed)]
    seed: u64,

    #[command(flatten)]
    of: TableArguments,

    /// Write the result as JSON to a file, or to standard output (-); the report shows
    /// STUDY/forecast.json and STUDY/forecast-NAME.json [default of a study: STUDY/forecast.json]
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

const EXAMPLES: &str = "\
Examples:
  relscale forecast study --corpus wiki --table study/choices.csv --where level=distribution --y accuracy --distribution distribution
  relscale forecast study --table harness.csv --y acc --distribution task --chance 0.25,piqa=0.5
  relscale forecast --features small.tsv --x S --feature lambada_ppl,lambada_acc --table tasks.tsv --y accuracy --distribution task
  relscale forecast --features runs.csv --x params --feature ce,rbp1,rbp10 --group recipe --table evals.csv --y acc --distribution task --chance 0.25";

/// `SHARE`, or `TASK=SHARE`.
fn chance(text: &str) -> Result<(Option<String>, f64), String> {
    let (task, share) = match text.contains('=') {
        true => condition(text).map(|(task, share)| (Some(task), share))?,
        false => (None, text.to_owned()),
    };
    share.parse().map(|share| (task, share)).map_err(|_| "expected a share, or TASK=SHARE".into())
}

/// Carries the command out.
///
/// # Errors
/// What the tables are refused for; runs that do not compare; too few models or no loss.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Some(table) = &arguments.of.table else { return Ok(()) };
    let mut inputs = Input::paths(arguments.of.files().chain(&arguments.features));
    inputs.extend(arguments.study.clone().map(Input::Study));
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    let options = arguments.options();
    let found = match (&arguments.features, &arguments.study) {
        (Some(features), _) => {
            forecast(&Features::from_table(features, &arguments.select())?, table, &options)?
        }
        (None, Some(study)) => arguments.of_study(study, table, &options)?,
        (None, None) => return Ok(()),
    };
    let default = arguments.study.as_ref().map(|study| Json::Own(study.join("forecast.json")));
    json::deliver(&found, arguments.json.as_ref().or(default.as_ref()), || {
        terminal::print_result(&shown::forecast(&At::file("forecast.json", &found)))
    })
}

impl Arguments {
    fn options(&self) -> ForecastOptions {
        let of_all = self.chance.iter().filter(|(task, _)| task.is_none());
        let chances: BTreeMap<String, f64> =
            self.chance.iter().filter_map(|(task, share)| Some((task.clone()?, *share))).collect();
        ForecastOptions {
            select: Select { distribution: self.distribution.clone(), ..self.of.select(&[], &[]) },
            chance: of_all.map(|(_, share)| *share).next_back(),
            chances,
            held_out: self.held_out,
            given: self.given,
            parts: self.parts.clone(),
            resamples: self.resamples,
            seed: self.seed,
            ..ForecastOptions::default()
        }
    }

    /// What is taken of the table of features.
    fn select(&self) -> Select {
        Select {
            y: self.feature.clone(),
            kinds: self.feature_as.clone(),
            only: Vec::new(),
            ..self.of.select(&[], &[])
        }
    }

    fn of_study(
        &self,
        study: &Path,
        table: &Path,
        options: &ForecastOptions,
    ) -> anyhow::Result<Forecast> {
        let mut runs = Study::open(study)?.tallies()?;
        for (what, wanted) in [("family", &self.family), ("corpus", &self.corpus)] {
            let Some(wanted) = wanted else { continue };
            let name = |run: &RunTally| match what {
                "family" => run.family.clone(),
                _ => run.corpus.clone(),
            };
            let mut there: Vec<String> = runs.iter().map(name).collect();
            there.sort();
            there.dedup();
            runs.retain(|run| name(run) == *wanted);
            if runs.is_empty() && !there.is_empty() {
                let wanted = vec![format!("{what} {wanted}")];
                return Err(LawsError::NoGroup { wanted, there }.into());
            }
        }
        Ok(forecast_study(&runs, table, options)?)
    }
}
