//! Which models and texts the arguments mean.

use std::path::{Path, PathBuf};

use relscale_corpus::CorpusSpec;
use relscale_corpus::loaders::reading::Reading;
use relscale_measure::engines::{EngineOptions, Provider};
use relscale_measure::hub::name::DatasetFiles;
use relscale_measure::hub::{Hub, ModelRequest};
use relscale_measure::{CorpusSource, ModelSource};

use crate::exit::Refusal;
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

/// Each argument is a model folder, `NAME=FOLDER`, a folder of model folders, or a name of the Hub.
/// Small models come first, so that the first results come soon and a mistake is noticed early.
///
/// # Errors
/// Those of [`ModelRequest::find`].
pub(crate) fn models(
    arguments: &[String],
    family: Option<&str>,
    engine: &Provider,
    hub: &Hub,
) -> anyhow::Result<Vec<Model>> {
    let mut models = Vec::new();
    for argument in arguments {
        let inside = folders_of_models(Path::new(argument));
        if inside.is_empty() {
            models.push(ModelRequest::find(argument, hub, engine.parts)?);
        }
        for folder in inside {
            models.push(ModelRequest::from_folder(&folder)?);
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

/// Bytes of the weights files in a folder, or of a file; 0 where there are none, which loading will
/// refuse.
fn bytes_of_weights(folder: &Path) -> u64 {
    if folder.is_file() {
        return std::fs::metadata(folder).map_or(0, |metadata| metadata.len());
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let paths = entries.flatten().map(|entry| entry.path());
    let weights = paths.filter(|path| {
        path.extension()
            .is_some_and(|ext| ["safetensors", "bin", "gguf"].iter().any(|one| ext == *one))
    });
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

/// A `--corpus` value that names files of this machine.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    /// The value.
    pub(crate) spec: String,
    /// Where the files were fetched from, if they were.
    origin: Option<String>,
}

impl Text {
    /// The values alone.
    pub(crate) fn specs(texts: &[Self]) -> Vec<String> {
        texts.iter().map(|text| text.spec.clone()).collect()
    }
}

/// The values of `--corpus`, with files put in place of what they name by `hf://`: [`CorpusSpec`]
/// knows files only.
///
/// # Errors
/// Those of [`Hub::dataset`].
pub(crate) fn texts(arguments: &[String], hub: &Hub) -> anyhow::Result<Vec<Text>> {
    arguments.iter().map(|argument| text(argument, hub)).collect()
}

fn text(argument: &str, hub: &Hub) -> anyhow::Result<Text> {
    let as_given = || Text { spec: argument.to_owned(), origin: None };
    let (name, rest) = match argument.split_once('=') {
        Some((name, rest)) if !name.contains(['/', '?']) => (Some(name), rest),
        _ => (None, argument),
    };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let Some(files) = DatasetFiles::parse(place) else { return Ok(as_given()) };
    let found = hub.dataset(&files.map_err(relscale_measure::Error::from)?)?;
    let path = found.path.to_str().ok_or_else(|| {
        let what = format!("{}: a path that is not UTF-8", found.path.display());
        Refusal::new(what, "give a cache with another path by HF_HUB_CACHE=FOLDER")
    })?;
    let name = name.map_or_else(String::new, |name| format!("{name}="));
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Ok(Text { spec: format!("{name}{path}{query}"), origin: Some(found.source) })
}

/// The texts. Files that are not there are noticed now, not after the first model was loaded.
///
/// # Errors
/// A value that does not follow the grammar, a file that is not there.
pub(crate) fn corpora(texts: &[Text]) -> anyhow::Result<Vec<CorpusSource<'static>>> {
    let specs = texts
        .iter()
        .map(|text| Ok(text.spec.parse()?))
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
    let corpus = |(spec, text): (CorpusSpec, &Text)| {
        spec.check()?;
        let source = CorpusSource::from_spec_with(spec, Reading::until(interrupt::flag()));
        Ok(CorpusSource { origin: text.origin.clone(), ..source })
    };
    specs.into_iter().zip(texts).map(corpus).collect()
}

/// The commands that look at what was measured: a fit of texts, the choices of questions.
///
/// # Errors
/// A value that does not follow the grammar.
pub(crate) fn next_commands(texts: &[Text]) -> anyhow::Result<Vec<&'static str>> {
    let mut commands = Vec::new();
    for text in texts {
        let command =
            if text.spec.parse::<CorpusSpec>()?.is_questions() { "choices" } else { "fit" };
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    Ok(commands)
}
