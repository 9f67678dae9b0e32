//! The decoder of this workspace, on this machine, in f32 or bf16: as a person says, or as is
//! faster here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use relscale_corpus::{CorpusError, Tokenizer};
use relscale_decoder::checkpoint::{self, Checkpoint};
use relscale_decoder::count::ParameterCount;
use relscale_decoder::families::{self, CheckpointInfo, LoadOptions, ReadWeights};
use relscale_decoder::kernels::{self, Format, Speeds};
use relscale_decoder::spec::Spec;
use relscale_decoder::{Model, Sequence, head, processor};
use relscale_records::Score;
use relscale_records::provenance::{ModelProvenance, ParameterCounts};
use relscale_records::study::ComputedOn;

use super::gguf;
use super::options::{Dtype, EngineOptions, Listener};
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
    takes: &["--dtype", "--dtype auto", "--tie-head"],
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
    /// Who is told that bf16 is no faster here, where a person asked for it.
    doubt: Option<Listener>,
}

impl LocalEngine {
    /// Loads a Hugging Face folder or a GGUF file; where its files are `known` to be those of which
    /// this was learned, without hashing them.
    ///
    /// # Errors
    /// [`Error::Model`], naming the model.
    pub fn load(
        request: &ModelRequest,
        asked: &EngineOptions,
        known: Option<&Learned>,
    ) -> Result<LoadedModel> {
        let failed = |source| Error::Model { model: request.name.clone(), source };
        let options = load_options(request, asked);
        let model = match known.and_then(Learned::get::<ReadWeights>) {
            Some(read) => Model::load_known(&request.folder, options, &read),
            None => Model::load(&request.folder, options),
        };
        let model = model.map_err(failed)?;
        let info = model.info().cloned().ok_or_else(|| Error::Engine {
            engine: name(model.format().dtype()),
            reason: format!("{} has no record of its files", request.folder.display()),
        })?;
        let read = ReadWeights {
            sha256: info.weights_sha256.clone(),
            stored: info.stored.clone(),
            unused: info.unused.clone(),
        };
        let facts = facts(request, model.spec(), model.format().dtype(), info);
        Ok(LoadedModel {
            engine: Box::new(Self {
                model,
                provenance: facts.model,
                doubt: (asked.dtype == Some(Dtype::Bf16)).then(|| asked.listener.clone()),
            }),
            unused_tensors: facts.unused_tensors,
            files_not_read: facts.files_not_read,
            bos: facts.bos,
            learned: Learned::new(&read),
        })
    }
}

/// What was said, as the decoder takes it.
fn load_options(request: &ModelRequest, asked: &EngineOptions) -> LoadOptions {
    LoadOptions {
        force_tied: asked.tie_head,
        dtype: match asked.dtype.unwrap_or_default() {
            Dtype::F32 => kernels::Dtype::F32,
            Dtype::Bf16 => kernels::Dtype::Bf16,
            Dtype::Auto => picked(request, asked),
        },
        kernels: kernels::Choice::Best,
    }
}

/// `--dtype auto`: the numbers in which the study has runs of this engine, without timing anything;
/// else the faster ones. The same whenever it is asked for in a session, and told.
fn picked(request: &ModelRequest, asked: &EngineOptions) -> kernels::Dtype {
    let dtypes = [kernels::Dtype::F32, kernels::Dtype::Bf16];
    let engines = dtypes.map(name);
    let engines = engines.each_ref().map(String::as_str);
    if let Some(engine) = asked.earlier.engine(&request.name, &engines) {
        let dtype = dtypes[usize::from(engine != engines[0])];
        let sentence = "the numbers in which the study has runs on these texts";
        asked.listener.notify_once(&format!("--dtype auto is {}: {sentence}", dtype.name()));
        return dtype;
    }
    let speeds = Speeds::here();
    let dtype = speeds.faster();
    let why = match dtype {
        kernels::Dtype::F32 if alike(speeds) => "bf16 is about as fast here",
        kernels::Dtype::F32 | kernels::Dtype::Bf16 => "the faster ones here",
    };
    let name = dtype.name();
    asked.listener.notify_once(&format!("--dtype auto is {name}: {why} ({})", timed(speeds)));
    dtype
}

/// What a short timing says of both kinds of numbers.
fn timed(speeds: Speeds) -> String {
    format!(
        "by a short timing {:.0} GFLOP/s in f32, {:.0} in bf16",
        speeds.f32 / 1e9,
        speeds.bf16 / 1e9
    )
}

/// Whether bf16, not being the faster one, is not slower to speak of either.
fn alike(speeds: Speeds) -> bool {
    speeds.bf16 > 0.9 * speeds.f32
}

/// Why bf16 may not be worth its coarser numbers here; none where it is faster.
fn doubt(speeds: Speeds) -> Option<String> {
    if speeds.faster() == kernels::Dtype::Bf16 {
        return None;
    }
    let (than, instead) = match alike(speeds) {
        true => ("about as fast as", "as good"),
        false => ("slower than", "faster here"),
    };
    Some(format!(
        "bf16 is {than} f32 on this processor: {}; it takes half the memory, and where that is not \
         needed --dtype f32 (or --dtype auto, in a new study) is {instead}, with finer numbers",
        timed(speeds)
    ))
}

/// `local-f32` or `local-bf16`.
fn name(dtype: kernels::Dtype) -> String {
    format!("local-{}", dtype.name())
}

/// By the numbers that products are taken in.
fn identity(dtype: kernels::Dtype) -> EngineIdentity {
    EngineIdentity::new(name(dtype), REVISION, dtype.name())
}

/// Which kernels, and where.
fn computed_on(format: Format) -> ComputedOn {
    let kernels = format.kernels().name().to_owned();
    ComputedOn { kernels, processor: processor::name().to_owned() }
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
        context: spec.longest(),
        // That of its training, where a recurrence can read any number.
        usual_length: Some(spec.context),
        unused_tensors: info.unused,
        files_not_read: info.set_aside,
        bos: info.bos_token,
    }
}

impl Engine for LocalEngine {
    fn identity(&self) -> EngineIdentity {
        let format = self.model.format();
        EngineIdentity { computed_on: Some(computed_on(format)), ..identity(format.dtype()) }
    }

    fn model(&self) -> &ModelProvenance {
        &self.provenance
    }

    fn rows(&self) -> u32 {
        rows(self.model.spec())
    }

    fn context(&self) -> Option<usize> {
        self.model.spec().longest()
    }

    fn score(
        &self,
        windows: &[EngineWindow<'_>],
        vocabulary: &Vocabulary,
    ) -> Result<Vec<Vec<Option<Score>>>> {
        // Not when it is loaded: what is finished is not told what would be faster.
        if let Some(listener) = &self.doubt
            && let Some(sentence) = doubt(Speeds::here())
        {
            listener.notify_once(&sentence);
        }
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

/// A local folder or GGUF file as a source for a session. Configuration, the list of tensors and
/// the tokenizer are read now, so that a broken folder is found before hours are spent on the
/// others; the weights are read when it is their turn.
///
/// # Errors
/// [`Error::Model`] and [`Error::Corpus`] (the tokenizer). A folder without a tokenizer is no
/// error: it can still be measured on a corpus of token ids.
pub fn source(request: &ModelRequest, asked: &EngineOptions) -> Result<ModelSource<'static>> {
    let failed = |source| Error::Model { model: request.name.clone(), source };
    families::spec(&request.folder).map_err(failed)?;
    Checkpoint::open(&request.folder).map_err(failed)?;
    let options = load_options(request, asked);
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
                // Which kernels it would get is not asked: that may take a timing.
                Ok(Some(facts(&again, &spec, options.dtype, info)))
            }),
        }),
    })
}

/// The files of a folder among which the decoder finds configuration and weights; of a GGUF file
/// itself and its fellows.
pub(super) fn files_of_a_model(folder: &Path) -> Option<Vec<PathBuf>> {
    if let Some(files) = checkpoint::gguf::find(folder).ok()? {
        return Some(files);
    }
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

/// The tokenizer of a folder or a GGUF file, where it has one that is read here.
///
/// # Errors
/// [`Error::Corpus`] for one that is broken.
pub(super) fn tokenizer(folder: &Path) -> Result<Option<Arc<Tokenizer>>> {
    if let Some(tokenizer) = gguf::tokenizer(folder)? {
        return Ok(Some(Arc::new(tokenizer)));
    }
    match Tokenizer::from_folder(folder) {
        Ok(tokenizer) => Ok(Some(Arc::new(tokenizer))),
        Err(CorpusError::NoTokenizer { .. } | CorpusError::TokenizerForm { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_that_is_no_gain_is_said_with_both_speeds() {
        let said = |f32, bf16| doubt(Speeds { f32, bf16 });
        assert_eq!(said(200e9, 400e9), None);
        let slower = said(262e9, 205e9).unwrap();
        for words in ["slower than f32", "262 GFLOP/s in f32, 205 in bf16", "half the memory"] {
            assert!(slower.contains(words), "{slower}");
        }
        assert!(slower.contains("--dtype auto"), "{slower}");
        for bf16 in [190e9, 220e9] {
            assert!(said(200e9, bf16).unwrap().contains("about as fast as f32"));
        }
    }
}
