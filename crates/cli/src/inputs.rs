//! Which models and texts the arguments mean.

use std::path::{Path, PathBuf};

use relscale_corpus::CorpusSpec;
use relscale_corpus::loaders::reading::Reading;
use relscale_measure::engines::{EngineOptions, Provider};
use relscale_measure::hub::ModelRequest;
use relscale_measure::{CorpusSource, ModelSource};

use crate::interrupt;
use crate::terminal::{self, Style};

/// The `assets` of the checkout that this program was built from; where that is gone, those of the
/// current folder.
pub(crate) fn assets() -> PathBuf {
    let built_from =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(""));
    let built_from = built_from.join("assets");
    if built_from.is_dir() { built_from } else { PathBuf::from("assets") }
}

/// Tells what a user should know before the texts are read.
pub(crate) fn warn(notices: &[String]) {
    notices.iter().for_each(|notice| terminal::titled("warning:", Style::Warning, notice));
}

/// What a token costs beside the products with the weights, as bytes of weights that would cost the
/// same: read off the times of the shipped family, f16, where a model of no size at all would take
/// as long as one of a million bytes more.
const BESIDE_WEIGHTS: u64 = 1_000_000;

/// A model folder that was asked for, and what reading its weights will cost.
pub(crate) struct Model {
    /// Name and folder.
    pub(crate) request: ModelRequest,
    /// What a token costs, in no unit: bytes of the weights files, and what attention, norms and
    /// softmax cost beside them.
    pub(crate) weight: u64,
}

/// Each argument is a model folder, `NAME=FOLDER`, or a folder of model folders. Small models come
/// first, so that the first results come soon and a mistake is noticed early.
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
    let weights = paths
        .filter(|path| path.extension().is_some_and(|ext| ext == "safetensors" || ext == "bin"));
    // Through links, of which the folders of the Hugging Face cache consist.
    weights.filter_map(|path| std::fs::metadata(path).ok()).map(|metadata| metadata.len()).sum()
}

/// Opens the models far enough to know that they can be read.
///
/// # Errors
/// Those of the engine.
pub(crate) fn sources(
    models: &[Model],
    engine: &Provider,
    options: &EngineOptions,
) -> anyhow::Result<Vec<ModelSource<'static>>> {
    models.iter().map(|model| Ok(engine.open(&model.request, options)?)).collect()
}

/// The texts. Files that are not there are noticed now, not after the first model was loaded.
///
/// # Errors
/// A value that does not follow the grammar, a file that is not there.
pub(crate) fn corpora(arguments: &[String]) -> anyhow::Result<Vec<CorpusSource<'static>>> {
    let specs = arguments
        .iter()
        .map(|argument| Ok(argument.parse()?))
        .collect::<anyhow::Result<Vec<CorpusSpec>>>()?;
    let mut notices: Vec<String> = Vec::new();
    for spec in &specs {
        // Several texts of the same crates have the same to say.
        let more = spec
            .notices()?
            .into_iter()
            .filter(|notice| !notices.contains(notice))
            .collect::<Vec<_>>();
        notices.extend(more);
    }
    warn(&notices);
    let corpus = |spec: CorpusSpec| {
        spec.check()?;
        Ok(CorpusSource::of_spec_with(spec, Reading::until(interrupt::flag())))
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
        let command =
            if argument.parse::<CorpusSpec>()?.is_questions() { "choices" } else { "fit" };
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    Ok(commands)
}
