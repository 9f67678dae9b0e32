//! What a session is given: models that can be loaded, corpora that can be read.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use relscale_corpus::loaders::reading::Reading;
use relscale_corpus::{CorpusSpec, Document, Encoded, Tokenizer};
use relscale_records::provenance::{ModelProvenance, TokenizerProvenance};

use crate::engine::{Engine, EngineIdentity, Vocabulary};
use crate::error::{Error, Result};
use crate::known::{Files, Learned};
use crate::scratch::Place;
use crate::text::{Keep, TokenisedCorpus};

/// Loads a model; given what was learned of its files when they were the same, without hashing them
/// again.
pub type Load<'a> = dyn Fn(Option<&Learned>) -> Result<LoadedModel> + 'a;

/// Says what a model is by what was learned of its files when they were the same; `None` where that
/// does not say it.
pub type Recognise<'a> = dyn Fn(&Learned) -> Result<Option<ModelFacts>> + 'a;

/// A model, ready to be loaded.
pub struct ModelSource<'a> {
    /// Name shown and recorded.
    pub name: String,
    /// Where it comes from, for messages.
    pub folder: PathBuf,
    /// Its tokenizer; without one it can be measured on token ids only.
    pub tokenizer: Option<Arc<Tokenizer>>,
    /// Loads it.
    pub load: Box<Load<'a>>,
    /// Tells what it is without loading it, where that is possible.
    pub recognise: Option<Recognition<'a>>,
}

/// How a model is recognised by files that were read before.
pub struct Recognition<'a> {
    /// The files, and how they are read.
    pub files: Files<'a>,
    /// What the model is.
    pub facts: Box<Recognise<'a>>,
}

/// What a model is, loaded or not: what of it enters plans, keys and messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFacts {
    /// The engine that runs it.
    pub identity: EngineIdentity,
    /// The model.
    pub model: ModelProvenance,
    /// Rows of its output head, padding included.
    pub rows: u32,
    /// Longest window in tokens.
    pub context: Option<usize>,
    /// Length of a window where nobody says one, if it is not the longest.
    pub usual_length: Option<usize>,
    /// Tensors of its files that it does not use.
    pub unused_tensors: Vec<String>,
    /// Weights files of its folder that were not read, since others hold the same.
    pub files_not_read: Vec<String>,
    /// Beginning-of-text id of its configuration.
    pub bos: Option<u32>,
}

/// What the plan needs to know of a tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenizerFacts {
    /// Hash and origin.
    pub provenance: TokenizerProvenance,
    /// Entries of its own vocabulary.
    pub size: u32,
    /// The same with added tokens.
    pub with_added: u32,
    /// The largest id that it can give.
    pub largest_id: u32,
}

/// A model, loaded.
pub struct LoadedModel {
    /// The engine that runs it.
    pub engine: Box<dyn Engine>,
    /// Tensors of its files that it does not use.
    pub unused_tensors: Vec<String>,
    /// Weights files of its folder that were not read, since others hold the same.
    pub files_not_read: Vec<String>,
    /// Beginning-of-text id of its configuration.
    pub bos: Option<u32>,
    /// What was learned of its files, where it came from files.
    pub learned: Option<Learned>,
}

impl ModelFacts {
    /// What an engine says of its model; nothing of its files.
    pub fn from_engine(engine: &dyn Engine) -> Self {
        Self {
            identity: engine.identity(),
            model: engine.model().clone(),
            rows: engine.rows(),
            context: engine.context(),
            usual_length: None,
            unused_tensors: Vec::new(),
            files_not_read: Vec::new(),
            bos: None,
        }
    }
}

impl LoadedModel {
    /// What it is.
    pub fn facts(&self) -> ModelFacts {
        ModelFacts {
            unused_tensors: self.unused_tensors.clone(),
            files_not_read: self.files_not_read.clone(),
            bos: self.bos,
            ..ModelFacts::from_engine(self.engine.as_ref())
        }
    }
}

impl ModelSource<'_> {
    /// sha256 of the tokenizer; the word `none` without one.
    pub fn tokenizer_sha256(&self) -> &str {
        self.tokenizer.as_ref().map_or("none", |tokenizer| tokenizer.sha256())
    }

    /// What a plan needs to know of the tokenizer.
    pub(crate) fn tokenizer_facts(&self) -> TokenizerFacts {
        let (source, size, with_added, largest_id) = match &self.tokenizer {
            None => ("token ids".to_owned(), 0, 0, 0),
            Some(tokenizer) => {
                let sizes = tokenizer.sizes();
                let largest = tokenizer.known_ids().last().copied().unwrap_or(0);
                (tokenizer.source().to_string(), sizes.tokenizer, sizes.with_added, largest)
            }
        };
        let provenance = TokenizerProvenance { sha256: self.tokenizer_sha256().to_owned(), source };
        TokenizerFacts { provenance, size, with_added, largest_id }
    }

    /// The rows of a head of `rows` rows that some token maps to.
    ///
    /// # Errors
    /// [`Error::NoTokenizer`] without one.
    pub(crate) fn known_rows(&self, rows: u32) -> Result<Vocabulary> {
        match &self.tokenizer {
            Some(tokenizer) => Ok(Vocabulary::Tokens(tokenizer.known_rows(rows as usize))),
            None => Err(Error::NoTokenizer { model: self.name.clone() }),
        }
    }

    /// Encodes a block of documents.
    fn encode(&self, block: &[Document], cancel: &AtomicBool) -> Result<Vec<Encoded>> {
        match &self.tokenizer {
            Some(tokenizer) => Ok(tokenizer.encode_all_until(block, cancel)?),
            None => block
                .iter()
                .map(|document| match &document.ids {
                    Some(ids) => Ok(Encoded::from_ids(ids.clone())),
                    None => Err(Error::NoTokenizer { model: self.name.clone() }),
                })
                .collect(),
        }
    }
}

/// The documents of a corpus, one by one.
pub type Documents<'a> = Box<dyn Iterator<Item = Result<Document>> + 'a>;

/// A corpus, ready to be read; it is read once for each tokenizer.
pub struct CorpusSource<'a> {
    /// Name shown and recorded.
    pub name: String,
    /// The loader and its options, without paths.
    pub description: String,
    /// Where its files were fetched from, if they were.
    pub origin: Option<String>,
    /// Starts to read it.
    pub documents: Box<dyn Fn() -> Result<Documents<'a>> + 'a>,
    /// Whether its documents come in a drawn order already, so that a limit takes the first.
    pub drawn: bool,
    /// The files that it is read from, where it is read from files.
    pub files: Option<Files<'a>>,
    /// What its documents are read with: a flag that ends it, and notices.
    pub reading: Reading,
}

impl CorpusSource<'static> {
    /// The corpus that a `--corpus` value names.
    pub fn from_spec(spec: CorpusSpec) -> Self {
        Self::from_spec_with(spec, Reading::default())
    }

    /// As [`CorpusSource::from_spec`], with a flag that ends the reading of a file in its middle.
    pub fn from_spec_with(spec: CorpusSpec, reading: Reading) -> Self {
        let (listed, with) = (spec.clone(), reading.clone());
        Self {
            files: Some(Files::new(spec.to_string(), move || listed.files().ok())),
            name: spec.name().to_owned(),
            description: spec.description(),
            origin: None,
            drawn: spec.is_drawn(),
            documents: Box::new(move || {
                let documents = spec.open_with(&with)?;
                Ok(Box::new(documents.map(|document| Ok(document?))))
            }),
            reading,
        }
    }
}

impl CorpusSource<'_> {
    /// Reads and tokenises the corpus for a model (and all others with its tokenizer): all of it,
    /// or the documents that `keep` asks for. What does not fit into memory goes to `place`.
    ///
    /// # Errors
    /// As [`TokenisedCorpus::read`]; [`Error::NoTokenizer`] for text without a tokenizer.
    pub fn read(
        &self,
        model: &ModelSource<'_>,
        keep: Keep,
        place: &Place,
        cancel: &AtomicBool,
    ) -> Result<TokenisedCorpus> {
        let encode = |block: &[Document]| model.encode(block, cancel);
        // What an earlier reading had to say will be said again.
        self.reading.take();
        let documents = (self.documents)()?;
        let mut text = TokenisedCorpus::read(
            &self.name,
            &self.description,
            documents,
            encode,
            keep,
            place,
            cancel,
        )?;
        text.noted(self.reading.take());
        text.provenance.source.clone_from(&self.origin);
        Ok(text)
    }
}
