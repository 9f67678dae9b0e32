//! All models over all corpora, into one study.
//!
//! Each model is loaded once and run over every corpus; each corpus is tokenised once for all models that share a tokenizer.
//! Everything that can be refused cheaply (names, folders, tokenizers) is refused before the first token is scored.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use relscale_corpus::protocols::{self, Protocol};
use relscale_records::provenance::{PrefixProvenance, ProtocolProvenance, VocabularyRule};
use relscale_records::study::Done;
use relscale_records::{Provenance, Study};

use crate::engine::Vocabulary;
use crate::error::{Error, Result};
use crate::event::{Event, Warning};
use crate::layout::{Layout, ProtocolWindows};
use crate::plan::{Asked, plan};
use crate::run::{Job, carry_out};
use crate::settings::{Settings, choose_prefix};
use crate::source::{CorpusSource, LoadedModel, ModelSource};
use crate::text::TokenisedCorpus;

/// One finished run of a session.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Name of the model.
    pub model: String,
    /// Name of the corpus.
    pub corpus: String,
    /// What was counted.
    pub done: Done,
}

/// Measures every model on every corpus, or goes on where an earlier call was stopped.
///
/// # Errors
/// The first that occurs, in the order of models, then corpora: [`Error::SameName`], [`Error::SameCorpusName`], those of loading, of
/// [`plan`] and of [`carry_out`]. What was measured before it stays.
pub fn measure(
    study: &mut Study,
    models: &[ModelSource<'_>],
    corpora: &[CorpusSource<'_>],
    settings: &Settings,
    events: &mut dyn FnMut(Event),
    cancel: &AtomicBool,
) -> Result<Vec<Measured>> {
    check_names(models, corpora)?;
    warn_of_tokenizers(models, corpora, events);
    keep_vocabularies(study, models)?;
    let mut texts: BTreeMap<(String, usize), TokenisedCorpus> = BTreeMap::new();
    let mut weights = known_weights(study)?;
    let mut measured = Vec::new();
    for (number, source) in models.iter().enumerate() {
        let loaded = (source.load)()?;
        tell_of_model(&loaded, &mut weights, events);
        for (corpus_number, corpus) in corpora.iter().enumerate() {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            let key = (source.tokenizer_sha256().to_owned(), corpus_number);
            let text = match texts.entry(key) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(read_corpus(corpus, source, events)?),
            };
            let done = measure_one(study, source, &loaded, text, settings, events, cancel)?;
            let (model, corpus) = (source.name.clone(), corpus.name.clone());
            measured.push(Measured { model, corpus, done });
        }
        // Texts under a tokenizer that no later model has are not needed any more.
        let later = &models[number + 1..];
        texts.retain(|(sha256, _), _| later.iter().any(|m| m.tokenizer_sha256() == sha256));
    }
    for corpus in corpora {
        warn_of_mixture(study, &corpus.name, models, events)?;
    }
    Ok(measured)
}

/// What the ids in the parts stand for, for each tokenizer once: the laws tell classes of tokens apart by it.
fn keep_vocabularies(study: &mut Study, models: &[ModelSource<'_>]) -> Result<()> {
    let mut kept = BTreeSet::new();
    for tokenizer in models.iter().filter_map(|model| model.tokenizer.as_ref()) {
        if kept.insert(tokenizer.sha256()) {
            study.write_vocabulary(&tokenizer.vocabulary()?)?;
        }
    }
    Ok(())
}

fn measure_one(
    study: &mut Study,
    source: &ModelSource<'_>,
    loaded: &LoadedModel,
    text: &TokenisedCorpus,
    settings: &Settings,
    events: &mut dyn FnMut(Event),
    cancel: &AtomicBool,
) -> Result<Done> {
    let engine = loaded.engine.as_ref();
    let prefix = choose_prefix(settings, loaded, source.tokenizer.as_deref());
    let protocol = protocols::named(
        &settings.protocol,
        protocols::Settings {
            length: settings.length,
            stride: settings.stride,
            prefix: prefix.as_ref().map(|prefix| prefix.id),
            model_maximum: engine.context().unwrap_or(usize::MAX),
        },
    )?;
    let vocabulary = match settings.vocabulary {
        VocabularyRule::Rows => Vocabulary::Rows(engine.rows()),
        VocabularyRule::Tokens => source.known_rows(engine.rows())?,
    };
    let no_specials = BTreeSet::new();
    let specials = source.tokenizer.as_ref().map_or(&no_specials, |t| t.special_ids());
    let windows = ProtocolWindows { protocol: protocol.as_ref(), specials };
    let asked = Asked {
        protocol: protocol_provenance(protocol.as_ref(), prefix),
        tie_rule: settings.tie_rule,
        tokens: settings.tokens,
        part_tokens: settings.part_tokens,
    };
    let planned = plan(engine, text, &source.tokenizer_facts(), &windows, &vocabulary, &asked)?;
    warn_of_plan(&planned.layout, text, settings, events);
    let job = Job {
        planned: &planned,
        engine,
        corpus: text,
        windows: &windows,
        vocabulary: &vocabulary,
        batch_tokens: settings.batch_tokens,
    };
    carry_out(study, &job, events, cancel)
}

fn protocol_provenance(protocol: &dyn Protocol, prefix: Option<PrefixProvenance>) -> ProtocolProvenance {
    ProtocolProvenance { name: protocol.name().to_owned(), parameters: protocol.parameters(), prefix }
}

fn read_corpus(
    source: &CorpusSource<'_>,
    model: &ModelSource<'_>,
    events: &mut dyn FnMut(Event),
) -> Result<TokenisedCorpus> {
    let text = source.read(model)?;
    events(Event::CorpusRead {
        corpus: source.name.clone(),
        documents: text.provenance.documents,
        items: text.items(),
        bytes: text.provenance.bytes,
        tokens: text.tokens(),
    });
    if text.specials > 0 {
        events(Event::Warning(Warning::SpecialsInText {
            corpus: source.name.clone(),
            tokens: text.specials,
        }));
    }
    Ok(text)
}

/// Names are how people tell runs apart, so they must.
fn check_names(models: &[ModelSource<'_>], corpora: &[CorpusSource<'_>]) -> Result<()> {
    let mut seen: BTreeMap<&str, &PathBuf> = BTreeMap::new();
    for model in models {
        if let Some(first) = seen.insert(&model.name, &model.folder) {
            return Err(Error::SameName {
                name: model.name.clone(),
                first: first.clone(),
                second: model.folder.clone(),
            });
        }
    }
    let mut names: Vec<&str> = corpora.iter().map(|corpus| corpus.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::SameCorpusName { name: pair[0].to_owned() }),
        None => Ok(()),
    }
}

fn warn_of_tokenizers(
    models: &[ModelSource<'_>],
    corpora: &[CorpusSource<'_>],
    events: &mut dyn FnMut(Event),
) {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    for model in models {
        first.entry(model.tokenizer_sha256()).or_insert(&model.name);
    }
    if first.len() > 1 {
        let models: Vec<String> = first.into_values().map(str::to_owned).collect();
        for corpus in corpora {
            let (corpus, models) = (corpus.name.clone(), models.clone());
            events(Event::Warning(Warning::DifferentTokenizers { corpus, models }));
        }
    }
}

/// Hash of weights -> name of the model, for everything that the study holds already.
fn known_weights(study: &Study) -> Result<BTreeMap<String, String>> {
    let runs = study.runs()?.into_iter().filter(|run| run.current);
    Ok(runs
        .map(|run| {
            let model = run.record.provenance.model;
            (model.weights_sha256, model.name)
        })
        .collect())
}

fn tell_of_model(
    loaded: &LoadedModel,
    weights: &mut BTreeMap<String, String>,
    events: &mut dyn FnMut(Event),
) {
    let model = loaded.engine.model();
    events(Event::ModelLoaded {
        model: model.name.clone(),
        family: model.family.clone(),
        non_embedding: model.parameters.non_embedding,
        total: model.parameters.total,
        unused_tensors: loaded.unused_tensors.clone(),
        files_not_read: loaded.files_not_read.clone(),
    });
    let there = weights.entry(model.weights_sha256.clone()).or_insert_with(|| model.name.clone());
    if *there != model.name {
        let (model, other) = (model.name.clone(), there.clone());
        events(Event::Warning(Warning::SameWeights { model, other }));
    }
}

fn warn_of_plan(layout: &Layout, text: &TokenisedCorpus, settings: &Settings, events: &mut dyn FnMut(Event)) {
    let corpus = text.name().to_owned();
    if layout.unscored_documents() > 0 {
        events(Event::Warning(Warning::UnscoredDocuments {
            corpus: corpus.clone(),
            documents: layout.unscored_documents(),
            of: layout.documents() as u64,
        }));
    }
    let cut = layout.cut_prompts();
    if cut.cut > 0 {
        events(Event::Warning(Warning::PromptsCut {
            corpus: corpus.clone(),
            options: cut.cut,
            of: cut.options,
            longest: cut.longest,
        }));
    }
    if let (Some(wanted), false) = (settings.tokens, layout.reached_limit()) {
        let scored = layout.total();
        events(Event::Warning(Warning::ShortCorpus { corpus, scored, wanted }));
    }
}

/// A study may be added to, but a fit over runs that were not measured alike would compare apples with pears.
fn warn_of_mixture(
    study: &Study,
    corpus: &str,
    models: &[ModelSource<'_>],
    events: &mut dyn FnMut(Event),
) -> Result<()> {
    let runs = study.runs()?.into_iter().filter(|run| run.current);
    let (now, before): (Vec<Provenance>, Vec<Provenance>) = runs
        .map(|run| run.record.provenance)
        .filter(|provenance| provenance.corpus.name == corpus)
        .partition(|provenance| models.iter().any(|model| model.name == provenance.model.name));
    let Some(now) = now.first() else { return Ok(()) };
    let (mut differs, mut others) = (BTreeSet::new(), Vec::new());
    for before in before {
        let found = differences(now, &before);
        if !found.is_empty() {
            differs.extend(found);
            others.push(before.model.name);
        }
    }
    if !others.is_empty() {
        let (corpus, differs) = (corpus.to_owned(), differs.into_iter().collect());
        events(Event::Warning(Warning::Mixed { corpus, differs, models: others }));
    }
    Ok(())
}

/// In what two runs of a corpus were not measured alike. Window lengths are not compared: they follow each model's maximum.
fn differences(a: &Provenance, b: &Provenance) -> Vec<&'static str> {
    let (x, y) = (&a.scoring, &b.scoring);
    let all = [
        ("text", a.corpus.text_sha256 != b.corpus.text_sha256),
        ("protocol", a.protocol.name != b.protocol.name),
        ("limit", a.limit != b.limit),
        ("vocabulary rule", x.vocabulary_rule != y.vocabulary_rule),
        ("tie rule", x.tie_rule != y.tie_rule),
        ("engine", (&x.engine, x.engine_revision) != (&y.engine, y.engine_revision)),
        ("compute dtype", x.compute_dtype != y.compute_dtype),
    ];
    all.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| what).collect()
}
