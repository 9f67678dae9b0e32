//! `relscale measure`: models over texts, into a study.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use relscale_corpus::protocols;
use relscale_measure::engines::{self, ENGINES, Earlier, EngineOptions, Listener, Provider};
use relscale_measure::hub::Hub;
use relscale_measure::{CorpusSource, Draw, Measured, ModelSource, Prefix, Settings};
use relscale_records::Study;
use relscale_records::digits;
use relscale_records::provenance::VocabularyRule;
use relscale_records::study::{ComputedOn, RunFolder, SliceOf, Totals};
use relscale_records::tally::k_grid;
use serde::Serialize;

mod process;
mod server;

use process::ProcessArguments;
use server::ServerArguments;

use super::Threads;
use super::json::{self, AsJson, Json};
use crate::commas;
use crate::exit::Refusal;
use crate::inputs::{self, Text};
use crate::interrupt;
use crate::progress::measuring::Measuring;
use crate::progress::{self, fetching};
use crate::spare::{Input, spare};
use crate::terminal::{self, count, some_of};

/// Measure models on texts: the rank of every token, into a study folder.
///
/// Every model reads every corpus; each scored token becomes a row (rank, ties, nll, entropy) of a
/// Parquet file under STUDY/runs, with all that decided the numbers in its metadata. A run that was
/// stopped goes on where it was when the same command is given again; a finished one is kept;
/// changed weights, text or options make a new run.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples())]
pub(crate) struct Arguments {
    /// Hugging Face model folders, folders that contain model folders, GGUF files, or names of the
    /// Hugging Face Hub (OWNER/NAME, OWNER/NAME@REVISION); NAME=FOLDER calls one otherwise. Spaces
    /// or commas between them
    #[arg(long = "model", value_name = "FOLDER|OWNER/NAME", num_args = 1.., required = true)]
    models: Vec<String>,

    /// Texts, with spaces or commas between them; see the end of `relscale measure --help`
    #[arg(long = "corpus", value_name = "SPEC", num_args = 1.., required = true)]
    corpora: Vec<String>,

    /// Fetch nothing: what is named on the Hugging Face Hub must be in its cache (as with
    /// HF_HUB_OFFLINE=1)
    #[arg(long)]
    offline: bool,

    /// The study folder: new, empty, or of an earlier measurement
    #[arg(long, value_name = "STUDY")]
    out: PathBuf,

    /// How texts are cut into windows; all but `document` follow a tool and set --vocab rows as it
    /// does, `paper` counts ties in the model's favour besides
    #[arg(long, default_value = "document", value_parser = clap::builder::PossibleValuesParser::new(protocols::NAMES))]
    protocol: String,

    /// Length of a window in tokens [default: the model's maximum, or a recurrent model's length in
    /// training; 512 for `paper`]
    #[arg(long, value_name = "L")]
    length: Option<usize>,

    /// Tokens by which a window moves on (document, strided) [default: half the length]
    #[arg(long, value_name = "s")]
    stride: Option<usize>,

    /// Token put before a text: what the model was trained with, none, or an id
    #[arg(long, value_name = "auto|none|ID", default_value = "auto", value_parser = prefix)]
    bos: Prefix,

    /// Which rows of the output head take part in ranks: those of known tokens, or all
    /// [default: tokens; rows for a protocol that follows a tool]
    #[arg(long, value_name = "tokens|rows", value_parser = vocabulary)]
    vocab: Option<VocabularyRule>,

    /// Tokens to score in each corpus, of documents drawn from all of it [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    tokens: Option<u64>,

    /// Seed by which documents are drawn for --tokens, the same for all models and tokenizers
    /// [default: that of the study's runs, else 20387; crates: come in a drawn order already, of
    /// which the first are taken]
    #[arg(long, value_name = "N", requires = "tokens")]
    seed: Option<u64>,

    /// Take the first documents for --tokens, not drawn ones: as versions before did, or for a
    /// corpus that was shuffled already
    #[arg(long, requires = "tokens", conflicts_with = "seed")]
    first: bool,

    /// Measure the I-th of N slices of every corpus's documents, for N processes with a study each
    /// (`relscale merge` makes them one)
    #[arg(long, value_name = "I/N")]
    part: Option<SliceOf>,

    /// Tokens that go through a model at once; the results do not depend on it
    #[arg(long, value_name = "N")]
    batch_tokens: Option<usize>,

    #[arg(long, value_name = "ENGINE", default_value = ENGINES[0].name, help = engines_there())]
    #[arg(value_parser = engines::named)]
    engine: (&'static Provider, Option<String>),

    /// Measure runs again whose rows (part-*.parquet) are not in the study any more; without this
    /// their kept sums do
    #[arg(long)]
    rows: bool,

    /// Family within which laws are fitted, of all models given here, measured before or now
    /// [default: the architecture's name (model_type), which models of other makers may share]
    #[arg(long, value_name = "NAME")]
    family: Option<String>,

    /// Take the token embedding for the output head, whatever config.json says
    #[arg(long)]
    tie_head: bool,

    /// Numbers in which weights are kept and products taken; bf16 halves the memory and moves some
    /// ranks (docs/performance.md); auto is the faster one here by a short timing, or what the
    /// study was begun in [default: f32]
    #[arg(long, value_enum)]
    dtype: Option<Dtype>,

    #[command(flatten)]
    json: AsJson,

    #[command(flatten)]
    threads: Threads,

    // Last, since their headings hold for all that follow.
    #[command(flatten)]
    process: ProcessArguments,

    #[command(flatten)]
    server: ServerArguments,
}

/// `--dtype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Dtype {
    /// 32 bits
    F32,
    /// 16 bits, summed in 32
    Bf16,
    /// The faster one
    Auto,
}

/// One run, for machines. What nothing was scored for is `null`.
#[derive(Serialize)]
struct RunSummary {
    model: String,
    corpus: String,
    /// Hash of all that decided the numbers.
    key: String,
    engine: Option<String>,
    compute_dtype: Option<String>,
    /// Kernels and processors, where the engine says.
    computed_on: Vec<ComputedOn>,
    totals: Totals,
    /// The k of `rbp`.
    k: Vec<u32>,
    rbp: Option<Vec<f64>>,
    /// Nats a token.
    cross_entropy: Option<f64>,
    bits_per_byte: Option<f64>,
    /// Two to the power of the bits per byte.
    byte_perplexity: Option<f64>,
    /// As lm-evaluation-harness has it; of texts of which every token was scored.
    word_perplexity: Option<f64>,
}

/// The engines that there are, each in a few words.
fn engines_there() -> String {
    let each = ENGINES.iter().map(|engine| format!("{} ({})", engine.spelling(), engine.about));
    format!("What runs the models: {}", each.collect::<Vec<_>>().join("; "))
}

/// Ends the help: examples, and the grammar of `--corpus` as its crate tells it.
fn examples() -> String {
    format!(
        "\
Examples:
  relscale measure --model gpt2 gpt2-medium --corpus wiki=test.txt?split=titles --out study
  relscale measure --model pythia-* --corpus crates:code crates:docs --tokens 500000 --out study
  relscale measure --model EleutherAI/pythia-160m EleutherAI/pythia-410m@step1000 --tokens 500000 \\
      --corpus hf://datasets/Salesforce/wikitext/wikitext-2-raw-v1/test-00000-of-00001.parquet --out study
  relscale measure --engine transformers --model mamba-130m --corpus wiki.jsonl --out study
  relscale measure --engine vllm --url http://host:8000 --model Qwen2.5-14B --corpus wiki.jsonl --out study

Names of the Hub: what is there as a path wins. A revision (branch, tag, commit, refs/pr/N) is pinned to its commit, which is
recorded. What the Hugging Face cache has (HF_HUB_CACHE, HF_HOME) is used without asking; what it has not is fetched into it: config,
tokenizer and safetensors (pytorch_model.bin where there are none), checked by size and hash. A token comes from HF_TOKEN or
`hf auth login`.

Corpora:
{}
hf://datasets/OWNER/NAME[@REVISION]/FILE stands for a PATH: a file, a folder or a pattern of a data set of the Hub.",
        relscale_corpus::spec::help()
    )
}

fn prefix(text: &str) -> Result<Prefix, String> {
    match text {
        "auto" => Ok(Prefix::Auto),
        "none" => Ok(Prefix::None),
        id => id.parse().map(Prefix::Id).map_err(|_| "it is auto, none or a token id".to_owned()),
    }
}

fn vocabulary(text: &str) -> Result<VocabularyRule, String> {
    match text {
        "tokens" => Ok(VocabularyRule::Tokens),
        "rows" => Ok(VocabularyRule::Rows),
        _ => Err("it is tokens or rows".to_owned()),
    }
}

/// Carries the command out.
///
/// # Errors
/// Arguments that name nothing usable, and all that can stop a measurement.
pub(super) fn run(arguments: &Arguments, cancel: &AtomicBool) -> anyhow::Result<()> {
    arguments.threads.set()?;
    let hub = hub(arguments.offline);
    let texts = inputs::texts(&commas::corpora(&arguments.corpora), &hub)?;
    let (engine, argument) = &arguments.engine;
    let models = commas::models(&arguments.models);
    let models = inputs::models(&models, arguments.family.as_deref(), engine, &hub)?;
    let mut read = Input::models(&models);
    read.extend(Input::corpora(&Text::specs(&texts)));
    read.push(Input::Study(arguments.out.clone()));
    spare(&[Json::file(arguments.json.destination())], &read)?;
    let corpora = inputs::corpora(&texts)?;
    let options = EngineOptions {
        argument: argument.clone(),
        earlier: earlier(arguments, &corpora)?,
        ..options(arguments)
    };
    let sources = inputs::sources(&models, engine, &options)?;
    let mut progress = Measuring::new(&models, corpora.len());
    let settings = settings(arguments);
    let measured = measure(&arguments.out, &sources, &corpora, &settings, &mut progress, cancel)?;
    super::remember_with(&arguments.out, false, &progress.begun());
    drop(progress);
    if let Some(family) = &arguments.family {
        name_family(&arguments.out, &measured, family)?;
    }
    let study = Study::open(&arguments.out)?;
    match arguments.json.destination() {
        Some(destination) => {
            let runs = runs(&study, &measured)?;
            json::hand_over(&runs, Some(destination), || terminal::print(&summary(&measured)))?;
        }
        None => terminal::print(&summary(&measured))?,
    }
    for line in weights_read(&study, &measured)? {
        terminal::message(&line);
    }
    if let Some(part) = arguments.part {
        terminal::message(&format!(
            "when all {} parts are measured, `relscale merge` makes one study of their folders",
            part.of
        ));
        return Ok(());
    }
    for command in inputs::next_commands(&texts)? {
        if command == "fit" && !can_be_fitted(&study)? {
            terminal::message(
                "a law needs three sizes of one family: measure more models into the same folder",
            );
            continue;
        }
        terminal::next(&format!("{command} {}", terminal::quoted(&arguments.out)));
    }
    Ok(())
}

/// Whether some family has enough sizes on a text for a law.
fn can_be_fitted(study: &Study) -> anyhow::Result<bool> {
    let mut sizes = BTreeMap::<_, BTreeSet<u64>>::new();
    for run in study.current()? {
        let of = &run.record().provenance;
        let line = (of.model.family.clone(), of.corpus.name.clone());
        sizes.entry(line).or_default().insert(of.model.parameters.non_embedding);
    }
    Ok(sizes.values().any(|sizes| sizes.len() > 2))
}

/// What the study holds already, for an engine that is to pick its numbers.
fn earlier(arguments: &Arguments, corpora: &[CorpusSource<'_>]) -> anyhow::Result<Earlier> {
    if arguments.dtype != Some(Dtype::Auto) {
        return Ok(Earlier::default());
    }
    if arguments.part.is_some() {
        let what = "--part with --dtype auto: each process would pick by its own machine, and \
                    slices in other numbers do not merge";
        return Err(Refusal::new(what, "say --dtype f32 or --dtype bf16").into());
    }
    let names: Vec<&str> = corpora.iter().map(|corpus| corpus.name.as_str()).collect();
    Ok(Earlier::read(&arguments.out, &names)?)
}

/// What was said to the engine.
fn options(arguments: &Arguments) -> EngineOptions {
    let said = EngineOptions {
        length: arguments.length,
        dtype: arguments.dtype.map(|dtype| match dtype {
            Dtype::F32 => engines::Dtype::F32,
            Dtype::Bf16 => engines::Dtype::Bf16,
            Dtype::Auto => engines::Dtype::Auto,
        }),
        tie_head: arguments.tie_head,
        cancel: interrupt::flag(),
        listener: Listener::new(progress::warn),
        ..EngineOptions::default()
    };
    arguments.server.add(arguments.process.add(said))
}

/// The Hub, by which names become files; offline nothing is fetched.
pub(super) fn hub(offline: bool) -> Hub {
    Hub::new(offline.then_some("--offline was given"), interrupt::flag(), fetching::listener())
}

fn settings(arguments: &Arguments) -> Settings {
    let base = Settings::for_protocol(&arguments.protocol);
    Settings {
        length: arguments.length,
        stride: arguments.stride,
        prefix: arguments.bos,
        vocabulary: arguments.vocab.or(base.vocabulary),
        tokens: arguments.tokens,
        draw: match (arguments.seed, arguments.first) {
            (Some(seed), _) => Draw::Seed(seed),
            (None, true) => Draw::First,
            (None, false) => Draw::AsBegun,
        },
        slice: arguments.part,
        batch_tokens: arguments.batch_tokens,
        rows: arguments.rows,
        ..base
    }
}

/// Measures with progress; for `demo` as well.
///
/// # Errors
/// As [`relscale_measure::measure`], and those of opening the study.
pub(super) fn measure(
    out: &Path,
    sources: &[ModelSource<'_>],
    corpora: &[CorpusSource<'_>],
    settings: &Settings,
    progress: &mut Measuring,
    cancel: &AtomicBool,
) -> anyhow::Result<Vec<Measured>> {
    let mut study = Study::create_or_open(out)?;
    let mut events = |event| progress.on_event(event);
    Ok(relscale_measure::measure(&mut study, sources, corpora, settings, &mut events, cancel)?)
}

/// Gives runs that were measured before under another family the one that is asked for now.
fn name_family(out: &Path, measured: &[Measured], family: &str) -> anyhow::Result<()> {
    let mut study = Study::create_or_open(out)?;
    let current = study.current()?;
    let provenances = current.iter().map(|run| &run.record().provenance);
    let renamed: BTreeSet<&str> = provenances
        .filter(|provenance| study.family_of(provenance) != family)
        .map(|provenance| provenance.model.name.as_str())
        .filter(|name| measured.iter().any(|one| one.model == *name))
        .collect();
    for model in renamed {
        study.set_family(model, family)?;
    }
    Ok(())
}

/// What came out.
fn runs(study: &Study, measured: &[Measured]) -> anyhow::Result<Vec<RunSummary>> {
    let folders = study.runs()?.into_iter().filter(|run| run.current || run.record.slice.is_some());
    let folders = folders.map(|run| study.run(&run.folder)).collect::<Result<Vec<_>, _>>()?;
    let runs = measured.iter().map(|one| {
        let folder = folders.iter().find(|folder| {
            let record = folder.record();
            record.key == one.done.key && record.provenance.model.name == one.model
        });
        let totals = folder.map(|folder| study.totals(folder)).transpose()?;
        let word_perplexity = match (&totals, folder) {
            (Some(totals), Some(folder)) => folder.word_perplexity(totals)?,
            _ => None,
        };
        let grid =
            |folder: &RunFolder| k_grid(folder.record().provenance.scoring.vocabulary.scored);
        let scoring = folder.map(|folder| &folder.record().provenance.scoring);
        let bits_per_byte = totals.as_ref().and_then(|totals| totals.bits_per_byte());
        Ok(RunSummary {
            model: one.model.clone(),
            corpus: one.corpus.clone(),
            key: one.done.key.clone(),
            engine: scoring.map(|scoring| scoring.engine.clone()),
            compute_dtype: scoring.map(|scoring| scoring.compute_dtype.clone()),
            computed_on: folder.map(|run| run.record().computed_on.clone()).unwrap_or_default(),
            totals: one.done.totals,
            k: folder.map(grid).unwrap_or_default(),
            rbp: totals.as_ref().and_then(|totals| totals.rbp()),
            cross_entropy: totals.as_ref().and_then(|totals| totals.cross_entropy()),
            bits_per_byte,
            byte_perplexity: bits_per_byte.map(f64::exp2),
            word_perplexity,
        })
    });
    runs.collect()
}

/// What came out, a line a model and corpus.
fn summary(measured: &[Measured]) -> String {
    let mut groups: Vec<Vec<Vec<String>>> = Vec::new();
    let number = |value: Option<f64>| value.map_or("-".to_owned(), digits::number);
    let mut last = None;
    for one in measured {
        let row = vec![
            one.model.clone(),
            one.corpus.clone(),
            count(one.done.totals.scored),
            count(one.done.totals.nonfinite),
            number(one.summary.rbp_1),
            number(one.summary.cross_entropy),
            number(one.summary.bits_per_byte),
        ];
        if last != Some(&one.model) {
            groups.push(Vec::new());
        }
        last = Some(&one.model);
        if let Some(group) = groups.last_mut() {
            group.push(row);
        }
    }
    let header = ["model", "corpus", "tokens", "non-finite", "RBP_1", "nll (nats)", "bits/byte"];
    terminal::table(&header, 2, &groups)
}

/// Which files the weights came from, a line a model: a folder may hold them in more than one form.
fn weights_read(study: &Study, measured: &[Measured]) -> anyhow::Result<Vec<String>> {
    let runs = study.runs()?;
    let mut lines: Vec<String> = Vec::new();
    for one in measured {
        let Some(run) = runs.iter().find(|run| {
            run.current
                && run.record.key == one.done.key
                && run.record.provenance.model.name == one.model
        }) else {
            continue;
        };
        let model = &run.record.provenance.model;
        let source = model.source.as_ref().map(|source| format!(" of {source}"));
        let line = match model.files.is_empty() {
            true => format!("{}: its folder has no weights; those of the engine count", one.model),
            false => format!(
                "{}: weights from {}{} ({})",
                one.model,
                some_of(&model.files, 3),
                source.unwrap_or_default(),
                model.stored_dtype
            ),
        };
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    Ok(lines)
}
