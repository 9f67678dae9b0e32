//! `relscale fit`: the laws of a study.

use relscale_laws::Saved as _;
use std::path::{Path, PathBuf};

use relscale_laws::{FitOptions, StudyFit};
use relscale_records::{SequenceGrid, Study, TallyOptions};
use relscale_report::shown::{self, At};

use super::Threads;
use super::fit_table;
use super::json::{self, Json};
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal::{self, Loudness, Style, quoted, several, some_of};

/// Fit the rank law and the cross-entropy law to a study: laws.json, and a table on the screen.
///
/// For each family on each corpus: -ln RBP_k = C S^-alpha for every k, and the cross entropy, over
/// the models' non-embedding parameters S. Intervals are 95 %, Student t over the models. A slope
/// in brackets is not claimed: the notes below the table say why.
///
/// Tokens right in a row: p is the share of windows of N consecutive tokens that all have rank at
/// most k, beside RBP_k^N (were tokens independent) and a first-order Markov chain of the largest
/// model; "N counts as" so many independent tokens. The last columns tell the size S at which the
/// law gives p = 0.5, and how many decades beyond the measured sizes it lies.
///
/// Where several families were measured on one corpus they stand side by side in what no tokenizer
/// changes: the share of words whose tokens all have rank at most k, of bytes, of spans of 8 words,
/// and bits per byte, by their laws at a size that all of them span.
///
/// With --table or --harness the same power law is fitted to numbers that others measured, one
/// point a row.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
#[command(mut_arg("table", |table| table.requires("y")))]
#[command(mut_arg("y", |y| y.requires("table")))]
#[command(mut_arg("x", |x| x.help("Column of sizes, or a product of columns and numbers as \"6*params*tokens\"; what the table lacks is looked up in --models [default: S]")))]
pub(crate) struct Arguments {
    /// The study folder that `relscale measure` made
    #[arg(required_unless_present_any = ["table", "harness"], conflicts_with_all = fit_table::OPTIONS)]
    study: Option<PathBuf>,

    /// Resamples of the documents behind each standard error
    #[arg(long, value_name = "N", default_value_t = FitOptions::default().resamples, conflicts_with_all = ["table", "harness"])]
    resamples: u32,

    /// Seed of the resampling
    #[arg(long, value_name = "N", default_value_t = FitOptions::default().seed, conflicts_with_all = ["table", "harness"])]
    seed: u64,

    /// Ranks k at which tokens right in a row are counted, with commas between them; shows their
    /// table [default: 1,10,100]
    #[arg(long, value_name = "K,...", value_delimiter = ',', conflicts_with_all = ["table", "harness"])]
    emergence_k: Vec<u32>,

    /// How many tokens in a row, with commas between them; shows their table
    /// [default: 1,2,5,10,20,50,100]
    #[arg(long, value_name = "N,...", value_delimiter = ',', conflicts_with_all = ["table", "harness"])]
    emergence_n: Vec<u32>,

    /// Write the laws as JSON to a file, or to standard output (-) and nothing else there; those of
    /// a study go to STUDY/laws.json as well
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    table: fit_table::Table,
}

const EXAMPLES: &str = "\
Examples:
  relscale fit study --resamples 5000
  relscale fit study --emergence-k 1,10 --emergence-n 5,20,100
  relscale fit --table points.csv --x S --y rbp1,rbp10 --group family
  relscale fit --table results.tsv --where task=lambada_openai --where metric=acc --y value --as accuracy --sizes sizes.csv
  relscale fit --table points.csv --models models.toml --x flops --y loss
  relscale fit --harness results/ --task lambada_openai --sizes sizes.csv --json laws.json";

/// File of a study that holds its laws.
pub(super) const LAWS: &str = "laws.json";

/// File of a study that holds positions which show what a rank is.
const RANK_EXAMPLES: &str = "rank-examples.json";

/// Carries the command out.
///
/// # Errors
/// A study that cannot be read or fitted, and one in which no law could be fitted (its laws.json
/// says why).
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.threads.set()?;
    let mut inputs = arguments.table.inputs();
    inputs.extend(arguments.study.clone().map(Input::Study));
    spare(&[Json::file(arguments.json.as_ref())], &inputs)?;
    if let Some(done) = arguments.table.run(arguments.json.as_ref()) {
        return done;
    }
    let Some(study) = &arguments.study else { return Ok(()) };
    let ascending = |values: &[u32]| {
        let values: std::collections::BTreeSet<u32> = values.iter().copied().collect();
        values.into_iter().collect()
    };
    let options = FitOptions {
        resamples: arguments.resamples,
        seed: arguments.seed,
        emergence_k: ascending(&arguments.emergence_k),
        emergence_n: ascending(&arguments.emergence_n),
        ..FitOptions::default()
    };
    let laws = fit(study, &options)?;
    super::remember(study, true);
    json::deliver(&laws, arguments.json.as_ref(), || {
        let in_a_row = !(options.emergence_k.is_empty() && options.emergence_n.is_empty());
        let more = format!("relscale fit {} --verbose", quoted(study));
        print_laws(&laws, in_a_row, &more)
    })?;
    terminal::message(&format!("wrote {}", study.join(LAWS).display()));
    refuse_if_empty(&laws)?;
    terminal::next(&format!("report {}", quoted(study)));
    Ok(())
}

/// The laws on the screen: in short, with the command that shows `more`, or all of them; for `demo`
/// as well.
///
/// # Errors
/// Standard output is closed.
pub(super) fn print_laws(laws: &StudyFit, in_a_row: bool, more: &str) -> anyhow::Result<()> {
    let laws = At::file(LAWS, laws);
    let all = shown::laws(&laws, in_a_row);
    if terminal::loudness() == Loudness::Verbose {
        return terminal::print_result(&all);
    }
    terminal::print_result(&shown::glance(&laws, in_a_row))?;
    let cautions = several(all.notes() as u64, "caution");
    let rest = format!("{cautions}, and every k and finding: {more}");
    terminal::print(&format!("\n{}", terminal::paragraph("", &rest)))
}

/// Fits a study and writes its laws; for `demo` as well.
///
/// # Errors
/// The study cannot be read, its runs do not belong together, the file cannot be written.
pub(super) fn fit(study: &Path, options: &FitOptions) -> anyhow::Result<StudyFit> {
    let records = Study::open(study)?;
    let unfinished: Vec<String> = records
        .runs()?
        .into_iter()
        .filter(|run| run.done.is_none())
        .map(|run| run.folder)
        .collect();
    if !unfinished.is_empty() {
        let names = some_of(&unfinished, 3);
        let text = format!("runs that are not finished take no part: {names}");
        terminal::titled("warning:", Style::Warning, &text);
    }
    options.validate()?;
    let laws = relscale_laws::fit_study(&records.tallies_with(&counted(options))?, options)?;
    laws.save(&study.join(LAWS))?;
    show_ranks(&records, &laws)?;
    Ok(laws)
}

/// Writes the positions that show what a rank is, for the page. Where there is none to be had, a
/// file of other rows goes, and one of rows that have since gone stays.
///
/// # Errors
/// The file cannot be written.
fn show_ranks(records: &Study, laws: &StudyFit) -> anyhow::Result<()> {
    let path = records.path().join(RANK_EXAMPLES);
    let examples = relscale_laws::examples(records, laws);
    if !examples.examples.is_empty() {
        return Ok(examples.save(&path)?);
    }
    let gone = records
        .current()?
        .iter()
        .all(|run| run.done().ok().flatten().is_none_or(|done| run.without_rows(&done)));
    if path.is_file() && !gone {
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

/// What must be counted in the rows for these options.
fn counted(options: &FitOptions) -> TallyOptions {
    let mut sequences = SequenceGrid::default();
    if !options.emergence_k.is_empty() {
        sequences.k.clone_from(&options.emergence_k);
    }
    if !options.emergence_n.is_empty() {
        sequences.lengths.clone_from(&options.emergence_n);
    }
    TallyOptions { sequences }
}

/// Refuses when there is not one law.
///
/// # Errors
/// [`Refusal`] with the first law's reason.
pub(super) fn refuse_if_empty(laws: &StudyFit) -> anyhow::Result<()> {
    let mut all = laws.groups.iter().flat_map(|g| g.laws());
    if all.any(|law| law.fit().is_some()) {
        return Ok(());
    }
    let reason =
        laws.groups.first().map_or_else(String::new, |g| g.cross_entropy_law.verdict.clone());
    let hint = "measure at least three models of one family, of different sizes";
    Err(Refusal::new(format!("no law could be fitted: {}", reason.trim_end_matches('.')), hint)
        .into())
}
