//! Which models and texts the arguments mean.

use std::path::{Path, PathBuf};

use relscale_corpus::CorpusSpec;
use relscale_corpus::loaders::crates::{CrateNotice, CrateSources};
use relscale_corpus::loaders::reading::Reading;
use relscale_corpus::spec::CorpusSource as Source;
use relscale_decoder::families::LoadOptions;
use relscale_measure::engines::local;
use relscale_measure::hub::ModelRequest;
use relscale_measure::{CorpusSource, ModelSource};

use crate::interrupt;
use crate::terminal::{self, Style};

/// The workspace that this program was built from, where it is still there: its lock file pins the crate sources corpus, and its
/// `assets` hold the shipped family.
pub(crate) fn workspace() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    root.join("Cargo.lock").is_file().then(|| root.to_path_buf())
}

/// The crates whose sources are the crate sources corpus; says so when some of them are not on this machine.
///
/// # Errors
/// Those of [`CrateSources::find`].
pub(crate) fn crate_sources() -> anyhow::Result<CrateSources> {
    let manifest = workspace().map(|root| root.join("Cargo.toml"));
    let sources = CrateSources::find(manifest.as_deref())?;
    warn(&sources.notices());
    Ok(sources)
}

/// Tells what makes the crate sources another text than elsewhere.
fn warn(notices: &[CrateNotice]) {
    notices.iter().for_each(|notice| terminal::titled("warning:", Style::Warning, &notice.to_string()));
}

/// What a token costs beside the products with the weights, as bytes of weights that would cost the same: read off the times of
/// the shipped family, f16, where a model of no size at all would take as long as one of a million bytes more.
const BESIDE_WEIGHTS: u64 = 1_000_000;

/// A model folder that was asked for, and what reading its weights will cost.
pub(crate) struct Model {
    /// Name and folder.
    pub(crate) request: ModelRequest,
    /// What a token costs, in no unit: bytes of the weights files, and what attention, norms and softmax cost beside them.
    pub(crate) weight: u64,
}

/// Each argument is a model folder, `NAME=FOLDER`, or a folder of model folders. Small models come first, so that the first results
/// come soon and a mistake is noticed early.
///
/// # Errors
/// Those of [`ModelRequest::parse`].
pub(crate) fn models(arguments: &[String], family: Option<&str>) -> anyhow::Result<Vec<Model>> {
    let mut models = Vec::new();
    for argument in arguments {
        let inside = folders_of_models(Path::new(argument));
        if inside.is_empty() {
            models.push(ModelRequest::parse(argument)?);
        }
        for folder in inside {
            models.push(ModelRequest::of_folder(&folder)?);
        }
    }
    let mut models: Vec<Model> = models
        .into_iter()
        .map(|mut request| {
            request.family = family.map(str::to_owned);
            Model { weight: BESIDE_WEIGHTS + bytes_of_weights(&request.folder), request }
        })
        .collect();
    models.sort_by(|a, b| (a.weight, &a.request.name).cmp(&(b.weight, &b.request.name)));
    Ok(models)
}

/// The folders in `folder` that hold a `config.json`; none when it holds one itself.
fn folders_of_models(folder: &Path) -> Vec<PathBuf> {
    if folder.join("config.json").is_file() {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let folders = entries.flatten().map(|entry| entry.path());
    folders.filter(|path| path.join("config.json").is_file()).collect()
}

/// Bytes of the weights files in a folder; 0 where there are none, which loading will refuse.
fn bytes_of_weights(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let paths = entries.flatten().map(|entry| entry.path());
    let weights =
        paths.filter(|path| path.extension().is_some_and(|ext| ext == "safetensors" || ext == "bin"));
    // Through links, of which the folders of the Hugging Face cache consist.
    weights.filter_map(|path| std::fs::metadata(path).ok()).map(|metadata| metadata.len()).sum()
}

/// Opens the models far enough to know that they can be read.
///
/// # Errors
/// Those of [`local::source`].
pub(crate) fn sources(models: &[Model], options: LoadOptions) -> anyhow::Result<Vec<ModelSource<'static>>> {
    models.iter().map(|model| Ok(local::source(&model.request, options)?)).collect()
}

/// The texts. Files that are not there are noticed now, not after the first model was loaded.
///
/// # Errors
/// A value that does not follow the grammar, a file that is not there.
pub(crate) fn corpora(arguments: &[String]) -> anyhow::Result<Vec<CorpusSource<'static>>> {
    let manifest = workspace().map(|root| root.join("Cargo.toml"));
    let specs = arguments
        .iter()
        .map(|argument| Ok(argument.parse()?))
        .collect::<anyhow::Result<Vec<CorpusSpec>>>()?;
    // One look at the crates serves all their distributions.
    let of_crates = specs.iter().find(|spec| matches!(spec.source(), Source::Crates { .. }));
    if let Some(spec) = of_crates {
        warn(&spec.notices(manifest.as_deref())?);
    }
    let corpus = |spec: CorpusSpec| {
        spec.check()?;
        Ok(CorpusSource::of_spec_with(spec, manifest.clone(), Reading::until(interrupt::flag())))
    };
    specs.into_iter().map(corpus).collect()
}

/// The commands that look at what was measured: a fit of texts, the choices of questions.
///
/// # Errors
/// A value that does not follow the grammar.
pub(crate) fn next_commands(arguments: &[String]) -> anyhow::Result<Vec<&'static str>> {
    let mut commands = Vec::new();
    for argument in arguments {
        let command = if argument.parse::<CorpusSpec>()?.is_questions() { "choices" } else { "fit" };
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    Ok(commands)
}
