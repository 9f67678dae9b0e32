//! The decoder of this workspace, on this machine, in f32 or bf16.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use relscale_corpus::{CorpusError, Tokenizer};
use relscale_decoder::checkpoint::Checkpoint;
use relscale_decoder::count::ParameterCount;
use relscale_decoder::families::{self, CheckpointInfo, LoadOptions, ReadWeights};
use relscale_decoder::kernels::{self, Format};
use relscale_decoder::spec::Spec;
use relscale_decoder::{Model, Sequence, head};
use relscale_records::Score;
use relscale_records::provenance::{ModelProvenance, ParameterCounts};

use super::options::{Dtype, EngineOptions};
use super::provider::Provider;
use crate::engine::{Engine, EngineIdentity, EngineWindow, Vocabulary};
use crate::error::{Error, Result};
use crate::hub::{ModelRequest, Parts};
use crate::known::{Files, Learned};
use crate::source::{LoadedModel, ModelFacts, ModelSource, Recognition};

/// The provider of this engine.
pub const PROVIDER: Provider = Provider {
    name: "local",
    argument: None,
    about: "the decoder of this program, on this machine's processor",
    takes: &["--dtype", "--tie-head"],
    parts: Parts::All,
    source,
};

/// Rises when the decoder's numbers change by more than rounding.
const REVISION: u32 = 1;

/// A model in memory, run by [`relscale_decoder`].
#[derive(Debug)]
pub struct LocalEngine {
    model: Model,
    provenance: ModelProvenance,
}

impl LocalEngine {
    /// Loads a Hugging Face folder; where its files are `known` to be those of which this was
    /// learned, without hashing them.
    ///
    /// # Errors
    /// [`Error::Model`], naming the model.
    pub fn load(
        request: &ModelRequest,
        asked: &EngineOptions,
        known: Option<&Learned>,
    ) -> Result<LoadedModel> {
        let failed = |source| Error::Model { model: request.name.clone(), source };
        let options = load_options(asked);
        let model = match known.and_then(Learned::get::<ReadWeights>) {
            Some(read) => Model::load_known(&request.folder, options, &read),
            None => Model::load(&request.folder, options),
        };
        let model = model.map_err(failed)?;
        let info = model.info().cloned().ok_or_else(|| Error::Engine {
            engine: identity(model.format().dtype()).name,
            reason: format!("{} has no record of its files", request.folder.display()),
        })?;
        let read = ReadWeights {
            sha256: info.weights_sha256.clone(),
            stored: info.stored.clone(),
            unused: info.unused.clone(),
        };
        let facts = facts(request, model.spec(), model.format().dtype(), info);
        Ok(LoadedModel {
            engine: Box::new(Self { model, provenance: facts.model }),
            unused_tensors: facts.unused_tensors,
            files_not_read: facts.files_not_read,
            bos: facts.bos,
            learned: Learned::new(&read),
        })
    }
}

/// What was said, as the decoder takes it.
fn load_options(asked: &EngineOptions) -> LoadOptions {
    LoadOptions {
        force_tied: asked.tie_head,
        dtype: match asked.dtype.unwrap_or_default() {
            Dtype::F32 => kernels::Dtype::F32,
            Dtype::Bf16 => kernels::Dtype::Bf16,
        },
        kernels: kernels::Choice::Best,
    }
}

/// `local-f32` or `local-bf16`: the numbers that products are taken in.
fn identity(dtype: kernels::Dtype) -> EngineIdentity {
    let dtype = dtype.name();
    EngineIdentity::new(format!("local-{dtype}"), REVISION, dtype)
}

fn rows(spec: &Spec) -> u32 {
    // Ids are u32, so a head with more rows could not be spoken of anyway.
    u32::try_from(spec.vocabulary).unwrap_or(u32::MAX)
}

/// What a folder is as a model, by its spec and what its files say.
fn facts(
    request: &ModelRequest,
    spec: &Spec,
    dtype: kernels::Dtype,
    info: CheckpointInfo,
) -> ModelFacts {
    let count = ParameterCount::from_spec(spec);
    ModelFacts {
        identity: identity(dtype),
        model: ModelProvenance {
            name: request.name.clone(),
            family: request.family.clone().unwrap_or_else(|| info.family.clone()),
            architecture: info.family,
            weights_sha256: info.weights_sha256,
            config_sha256: info.config_sha256,
            stored_dtype: info.stored.join("+"),
            files: info.files,
            source: request.source.clone(),
            parameters: ParameterCounts {
                non_embedding: count.non_embedding,
                token_embedding: count.token_embedding,
                position_embedding: count.position_embedding,
                head: count.head,
                total: count.total,
            },
        },
        rows: rows(spec),
        context: Some(spec.context),
        unused_tensors: info.unused,
        files_not_read: info.set_aside,
        bos: info.bos_token,
    }
}

impl Engine for LocalEngine {
    fn identity(&self) -> EngineIdentity {
        identity(self.model.format().dtype())
    }

    fn model(&self) -> &ModelProvenance {
        &self.provenance
    }

    fn rows(&self) -> u32 {
        rows(self.model.spec())
    }

    fn context(&self) -> Option<usize> {
        Some(self.model.spec().context)
    }

    fn score(
        &self,
        windows: &[EngineWindow<'_>],
        vocabulary: &Vocabulary,
    ) -> Result<Vec<Vec<Option<Score>>>> {
        let sequences: Vec<Sequence<'_>> = windows
            .iter()
            .map(|window| Sequence { tokens: window.tokens, scored: window.scored })
            .collect();
        let rows = self.model.spec().vocabulary;
        let vocabulary = match vocabulary {
            Vocabulary::Rows(_) => head::Vocabulary::all(rows),
            Vocabulary::Tokens(takes_part) => head::Vocabulary::only(rows, |row| {
                takes_part.get(row as usize).copied().unwrap_or(false)
            }),
        };
        let scored = self
            .model
            .score(&sequences, &vocabulary)
            .map_err(|source| Error::Model { model: self.provenance.name.clone(), source })?;
        let score = |scored: head::Scored| Score {
            rank: scored.rank,
            ties: Some(scored.ties),
            nll: scored.nll,
            entropy: Some(scored.entropy),
            argmax: Some(scored.argmax),
        };
        let window =
            |row: Vec<Option<head::Scored>>| row.into_iter().map(|s| s.map(score)).collect();
        Ok(scored.into_iter().map(window).collect())
    }
}

/// A local folder as a source for a session. Configuration, the list of tensors and the tokenizer
/// are read now, so that a broken folder is found before hours are spent on the others; the weights
/// are read when it is their turn.
///
/// # Errors
/// [`Error::Model`] and [`Error::Corpus`] (the tokenizer). A folder without a tokenizer is no
/// error: it can still be measured on a corpus of token ids.
pub fn source(request: &ModelRequest, asked: &EngineOptions) -> Result<ModelSource<'static>> {
    let options = load_options(asked);
    let failed = |source| Error::Model { model: request.name.clone(), source };
    families::spec(&request.folder).map_err(failed)?;
    Checkpoint::open(&request.folder).map_err(failed)?;
    let request = request.clone();
    let (again, folder, asked) = (request.clone(), request.folder.clone(), asked.clone());
    Ok(ModelSource {
        name: request.name.clone(),
        folder: folder.clone(),
        tokenizer: tokenizer(&folder)?,
        load: Box::new(move |known| LocalEngine::load(&request, &asked, known)),
        recognise: Some(Recognition {
            files: Files::new(format!("{options:?}"), move || files_of_a_model(&folder)),
            facts: Box::new(move |learned| {
                let Some(read) = learned.get::<ReadWeights>() else { return Ok(None) };
                let failed = |source| Error::Model { model: again.name.clone(), source };
                let (spec, info) =
                    families::recognise(&again.folder, options, read).map_err(failed)?;
                let dtype = Format::new(options.dtype, options.kernels).dtype();
                Ok(Some(facts(&again, &spec, dtype, info)))
            }),
        }),
    })
}

/// The files of a folder among which the decoder finds configuration and weights.
pub(super) fn files_of_a_model(folder: &Path) -> Option<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut files: Vec<PathBuf> =
        entries.map(|entry| Some(entry.ok()?.path())).collect::<Option<_>>()?;
    let ours = |path: &PathBuf| {
        path.extension().is_some_and(|ext| ext == "json" || ext == "safetensors" || ext == "bin")
    };
    files.retain(ours);
    files.sort();
    Some(files)
}

/// The tokenizer of a folder, where it has one that is read here.
///
/// # Errors
/// [`Error::Corpus`] for one that is broken.
pub(super) fn tokenizer(folder: &Path) -> Result<Option<Arc<Tokenizer>>> {
    match Tokenizer::from_folder(folder) {
        Ok(tokenizer) => Ok(Some(Arc::new(tokenizer))),
        Err(CorpusError::NoTokenizer { .. } | CorpusError::TokenizerForm { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
