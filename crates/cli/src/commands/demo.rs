//! `relscale demo`: the whole job on what every build machine has.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use relscale_corpus::CorpusError;
use relscale_corpus::loaders::crates::find::Missing;
use relscale_corpus::loaders::crates::{CrateSources, Distribution, Split};
use relscale_laws::FitOptions;
use relscale_measure::engines::{ENGINES, EngineOptions};
use relscale_measure::{Draw, Settings};
use serde::Serialize;

use super::json::{self, AsJson, Json};
use super::run::StudyFile;
use super::{Threads, fit, measure, relative};
use crate::exit::Refusal;
use crate::progress::measuring::Measuring;
use crate::spare::{Input, spare};
use crate::{inputs, terminal};

/// Do the whole job on the shipped family: measure, fit, report.
///
/// Measures the models that the repository ships (trained on the sources of published crates) on
/// held-out crates, in three distributions: Rust code, doc-comment prose, Markdown. It is the study
/// of studies/shipped.toml. Cargo fetches crates that are not on this machine; where it cannot,
/// text of the repository is measured in their place.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  relscale demo\n  relscale demo --tokens 500000 --out demo-full"
)]
pub(crate) struct Arguments {
    /// Tokens to score for each model and distribution; the paper asks for 500000
    #[arg(long, value_name = "N", default_value_t = shipped().tokens, value_parser = clap::value_parser!(u64).range(1..))]
    tokens: u64,

    /// Study folder to write
    #[arg(long, value_name = "STUDY", default_value = "demo")]
    out: PathBuf,

    /// Folder with the family's model folders [default: the repository's assets/family]
    #[arg(long, value_name = "FOLDER")]
    assets: Option<PathBuf>,

    #[command(flatten)]
    json: AsJson,

    #[command(flatten)]
    threads: Threads,
}

/// Where everything is, for machines.
#[derive(Serialize)]
struct Made {
    study: String,
    tokens: u64,
    laws: String,
    relative: String,
    page: String,
    figures: Vec<String>,
}

/// The study file that this command carries out, and what a user may change of it.
const STUDY: &str = include_str!("../../../../studies/shipped.toml");

/// What [`STUDY`] says.
struct Shipped {
    family: String,
    corpora: Vec<String>,
    baseline: String,
    tokens: u64,
}

/// Reads [`STUDY`].
///
/// # Panics
/// It is not what this program was built with.
fn shipped() -> Shipped {
    let file = StudyFile::parse(STUDY, Path::new("studies/shipped.toml"));
    let shipped = file.ok().and_then(|file| {
        let word = |table: &toml::Table, key: &str| Some(table.get(key)?.as_str()?.to_owned());
        let corpora = file.measure.get("corpus")?.as_array()?.iter();
        Some(Shipped {
            family: word(file.models.first()?, "family")?,
            corpora: corpora.map(|one| Some(one.as_str()?.to_owned())).collect::<Option<_>>()?,
            baseline: word(file.relative.first()?, "baseline")?,
            tokens: u64::try_from(file.measure.get("tokens")?.as_integer()?).ok()?,
        })
    });
    shipped.expect("the study file that is built in names a family, texts, a baseline, tokens")
}

/// Carries the command out.
///
/// # Errors
/// The family or the sources are not there, and all that can stop measuring, fitting and reporting.
pub(super) fn run(arguments: &Arguments, cancel: &AtomicBool) -> anyhow::Result<()> {
    arguments.threads.set()?;
    let assets = assets(arguments.assets.as_deref())?;
    let read = [Input::Path(assets.clone()), Input::Study(arguments.out.clone())];
    spare(&[Json::file(arguments.json.destination())], &read)?;
    // All of it ships with the program.
    let hub = measure::hub(true);
    let models = inputs::models(
        &[assets.to_string_lossy().into_owned()],
        Some(&shipped().family),
        &ENGINES[0],
        &hub,
    )?;
    let texts = texts(&assets)?;
    let corpora = inputs::corpora(&inputs::texts(&texts.corpora, &hub)?)?;
    // All texts of the demo come in a drawn order.
    let tokens = Some(arguments.tokens);
    let settings = Settings { tokens, draw: Draw::First, ..Settings::default() };
    let out = &arguments.out;
    let sources = inputs::sources(&models, &ENGINES[0], &EngineOptions::default())?;
    let mut progress = Measuring::new(&models, corpora.len());
    measure::measure(out, &sources, &corpora, &settings, &mut progress, cancel)?;
    drop(progress);

    let laws = fit::fit(out, &FitOptions::default())?;
    fit::refuse_if_empty(&laws)?;
    let gaps = relative::summary(out, &texts.baseline)?;
    super::remember(out, true);
    let results = relscale_report::Results::read(out)?;
    let report = relscale_report::render(&results, out, &relscale_report::Options::default())?;
    let made = Made {
        study: json::text(out),
        tokens: arguments.tokens,
        laws: json::text(&out.join(fit::LAWS)),
        relative: json::text(&out.join(relative::RELATIVE)),
        page: json::text(&report.page),
        figures: report.figures.iter().map(|figure| json::text(figure)).collect(),
    };
    json::hand_over(&made, arguments.json.destination(), || {
        let more = format!("relscale fit {} --verbose", terminal::quoted(out));
        fit::print_laws(&laws, false, &more)?;
        terminal::print("")?;
        terminal::print_result(&gaps)?;
        terminal::print(&epilogue(arguments))
    })
}

/// The folder with the family.
fn assets(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let folder = match given {
        Some(folder) => folder.to_path_buf(),
        None => inputs::assets().join("family"),
    };
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Refusal::new(
        format!("{}: the shipped family is not there", folder.display()),
        "run from a checkout of the repository, or give the folder with --assets",
    )
    .into())
}

/// What is measured.
struct Texts {
    /// Values of `--corpus`.
    corpora: Vec<String>,
    /// The name of the one that the others are compared with: the code.
    baseline: String,
}

/// The held-out crates; where they are not to be had the repository's own text, which says so.
fn texts(family: &Path) -> anyhow::Result<Texts> {
    let because = match CrateSources::shipped(Split::HeldOut) {
        Ok(sources) => match sources.missing() {
            None => {
                let Shipped { corpora, baseline, .. } = shipped();
                return Ok(Texts { corpora, baseline });
            }
            Some(Missing { because, crates }) => {
                format!(
                    "{} are not on this machine ({}, ...), and cargo could not fetch them: {because}",
                    crates.len(),
                    crates[0]
                )
            }
        },
        Err(CorpusError::NoCrates { because }) => format!("cargo could not fetch them: {because}"),
        Err(error) => return Err(error.into()),
    };
    let beside = family.with_file_name(OWN_TEXT);
    let folder = if beside.is_dir() { beside } else { inputs::assets().join(OWN_TEXT) };
    if !folder.is_dir() {
        let what = format!(
            "the held-out crates are not to be had ({because}), and the repository's text is not there"
        );
        return Err(Refusal::new(
            what,
            "run from a checkout of the repository, or where cargo has a network",
        )
        .into());
    }
    inputs::warn(&[format!(
        "the held-out crates are not to be had: {because}; measured is text of this repository in their place, as own-code, own-docs \
         and own-markdown, whose numbers do not compare with those of the crates"
    )]);
    let corpus = |one| {
        format!("own-{one}={}?id=id&tag=crate", folder.join(format!("{one}.jsonl")).display())
    };
    Ok(Texts {
        corpora: Distribution::ALL.map(corpus).to_vec(),
        baseline: format!("own-{}", Distribution::Code),
    })
}

/// The folder with the repository's own text, beside that of the family.
const OWN_TEXT: &str = "own-text";

/// Where the files are, and how to go on.
fn epilogue(arguments: &Arguments) -> String {
    let (out, word) = (arguments.out.display(), terminal::quoted(&arguments.out));
    let more = match arguments.tokens {
        ..500_000 => {
            format!("the paper's count a point:  relscale demo --tokens 500000 --out {word}\n")
        }
        _ => String::new(),
    };
    format!(
        "\n\
         records  {out}/runs/*/part-*.parquet\n\
         laws     {out}/laws.json, {out}/relative.json\n\
         report   {out}/report.html         relscale view {word}\n\
         \n\
         {more}models of your own:         relscale measure --help"
    )
}
