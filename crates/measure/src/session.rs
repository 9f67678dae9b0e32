//! All models over all corpora, into one study.
//!
//! Each model is loaded once and run over every corpus; each corpus is tokenised once for all
//! models that share a tokenizer. Everything that can be refused cheaply (names, folders,
//! tokenizers) is refused before the first token is scored, and so is what any of the texts has
//! wrong: all are read before the first is measured. What is known to be finished
//! ([`crate::known`]) is neither loaded nor read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use relscale_corpus::protocols::{self, Protocol};
use relscale_records::provenance::{PrefixProvenance, ProtocolProvenance, VocabularyRule};
use relscale_records::study::{Done, RunFolder};
use relscale_records::{DocumentTally, Provenance, Study};

use crate::begun::seed_for;
use crate::draw::by_seed;
use crate::engine::Vocabulary;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::known::{Known, RunFacts, Summary};
use crate::layout::ProtocolWindows;
use crate::notify::{self, Coverage};
use crate::plan::{Asked, plan, provenance};
use crate::run::{Job, carry_out, finished_before, keep_sums};
use crate::scratch::Place;
use crate::settings::{Settings, choose_prefix};
use crate::source::{CorpusSource, LoadedModel, ModelFacts, ModelSource};
use crate::text::{Keep, TextFacts, TokenisedCorpus};

/// One finished run of a session.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Name of the model.
    pub model: String,
    /// Name of the corpus.
    pub corpus: String,
    /// What was counted.
    pub done: Done,
    /// The run in three numbers.
    pub summary: Summary,
}

/// Measures every model on every corpus, or goes on where an earlier call was stopped.
///
/// # Errors
/// The first that occurs, in the order of models, then corpora: [`Error::SameName`],
/// [`Error::SameCorpusName`], those of loading, of [`plan`] and of [`carry_out`]. What was measured
/// before it stays.
pub fn measure(
    study: &mut Study,
    models: &[ModelSource<'_>],
    corpora: &[CorpusSource<'_>],
    settings: &Settings,
    events: &mut dyn FnMut(Event),
    cancel: &AtomicBool,
) -> Result<Vec<Measured>> {
    check_names(models, corpora)?;
    notify::tokenizers(models, corpora, events);
    keep_vocabularies(study, models)?;
    let mut weights = known_weights(study)?;
    let seeds = corpora
        .iter()
        .map(|corpus| seed_for(study, corpus, settings, events))
        .collect::<Result<Vec<_>>>()?;
    let known = Known::read(study);
    let mut session = Session { study, settings, events, cancel, known };
    let mut texts: BTreeMap<(String, usize), Text<'_, '_>> = BTreeMap::new();
    let mut measured = Vec::new();
    for (number, source) in models.iter().enumerate() {
        let mut model = session.model(source)?;
        notify::model_loaded(&model.facts, source, &mut weights, session.events);
        if number == 0 {
            // What is wrong with any text is said before the first is measured.
            for (corpus_number, corpus) in corpora.iter().enumerate() {
                let key = (source.tokenizer_sha256().to_owned(), corpus_number);
                let text = || Text::new(corpus, seeds[corpus_number]);
                session.text_facts(source, texts.entry(key).or_insert_with(text))?;
            }
        }
        for (corpus_number, corpus) in corpora.iter().enumerate() {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            let key = (source.tokenizer_sha256().to_owned(), corpus_number);
            let text = || Text::new(corpus, seeds[corpus_number]);
            let text = texts.entry(key).or_insert_with(text);
            measured.push(session.one(&mut model, text)?);
        }
        // Texts under a tokenizer that no later model has are not needed any more.
        let later = &models[number + 1..];
        texts.retain(|(sha256, _), _| later.iter().any(|m| m.tokenizer_sha256() == sha256));
    }
    for corpus in corpora {
        notify::mixed_runs(session.study, &corpus.name, models, session.events)?;
    }
    Ok(measured)
}

/// What the ids in the parts stand for, for each tokenizer once: the laws tell classes of tokens
/// apart by it.
fn keep_vocabularies(study: &mut Study, models: &[ModelSource<'_>]) -> Result<()> {
    let mut kept = BTreeSet::new();
    for tokenizer in models.iter().filter_map(|model| model.tokenizer.as_ref()) {
        if kept.insert(tokenizer.sha256()) {
            study.write_vocabulary(&tokenizer.vocabulary()?)?;
        }
    }
    Ok(())
}

/// A model of the session; loaded when it is first needed.
struct Model<'a, 'm> {
    source: &'a ModelSource<'m>,
    facts: ModelFacts,
    loaded: Option<LoadedModel>,
}

/// A corpus under one tokenizer; read when it is first needed.
struct Text<'a, 'c> {
    source: &'a CorpusSource<'c>,
    /// By which documents are drawn, where a limit leaves some out.
    seed: Option<u64>,
    facts: Option<TextFacts>,
    read: Option<TokenisedCorpus>,
}

impl<'a, 'c> Text<'a, 'c> {
    fn new(source: &'a CorpusSource<'c>, seed: Option<u64>) -> Self {
        Self { source, seed, facts: None, read: None }
    }

    /// What is kept of it at first: more tokens than any protocol but an odd one needs to score as
    /// many positions as asked for.
    fn first_look(&self, limit: Option<u64>) -> Keep {
        let Some(limit) = limit else { return Keep::All };
        let tokens = limit.saturating_mul(2).saturating_add(1 << 16);
        self.seed.map_or(Keep::First(tokens), |seed| Keep::Drawn { tokens, limit, seed })
    }
}

/// What every step of a session needs.
struct Session<'a> {
    study: &'a mut Study,
    settings: &'a Settings,
    events: &'a mut dyn FnMut(Event),
    cancel: &'a AtomicBool,
    known: Known,
}

impl Session<'_> {
    /// A model by its files, where they are known; else loaded.
    fn model<'s, 'm>(&mut self, source: &'s ModelSource<'m>) -> Result<Model<'s, 'm>> {
        if let Some(recognition) = &source.recognise
            && let Some(learned) = self.known.weights(recognition.files.stamp().as_ref())
            && let Some(facts) = (recognition.facts)(learned)?
        {
            return Ok(Model { source, facts, loaded: None });
        }
        let loaded = self.load(source)?;
        Ok(Model { source, facts: loaded.facts(), loaded: Some(loaded) })
    }

    fn load(&mut self, source: &ModelSource<'_>) -> Result<LoadedModel> {
        let files = source.recognise.as_ref().map(|recognition| &recognition.files);
        let mut stamp = files.and_then(|files| files.stamp());
        if let (Some(files), Some(learned)) = (files, self.known.weights(stamp.as_ref())) {
            let loaded = (source.load)(Some(learned))?;
            let before = std::mem::replace(&mut stamp, files.stamp());
            if stamp == before {
                return Ok(loaded);
            }
            // Touched while they were read: what is known of them need not hold.
        }
        let loaded = (source.load)(None)?;
        if let Some(learned) = &loaded.learned {
            self.known.keep_weights(files, stamp, learned.clone());
        }
        Ok(loaded)
    }

    /// What a text is, by its files, where they are known; else by reading it.
    fn text_facts(
        &mut self,
        model: &ModelSource<'_>,
        text: &mut Text<'_, '_>,
    ) -> Result<TextFacts> {
        if let Some(facts) = &text.facts {
            return Ok(facts.clone());
        }
        let stamp = text.source.files.as_ref().and_then(|files| files.stamp());
        let limit = self.settings.tokens;
        // What is known may be of a beginning that does not say whether this limit goes beyond it.
        let enough = |facts: &&TextFacts| {
            text.seed.and(limit).is_none_or(|limit| facts.draws(limit).is_some())
        };
        let known = self.known.text(stamp.as_ref(), model.tokenizer_sha256());
        let facts = match known.filter(enough) {
            Some(facts) => facts.clone(),
            None => {
                let read = self.read(model, text.source, text.first_look(limit))?;
                let facts = read.facts();
                text.read = Some(read);
                facts
            }
        };
        notify::corpus_read(&text.source.name, &facts, text.seed.zip(limit), self.events);
        text.facts = Some(facts.clone());
        Ok(facts)
    }

    fn read(
        &mut self,
        model: &ModelSource<'_>,
        source: &CorpusSource<'_>,
        keep: Keep,
    ) -> Result<TokenisedCorpus> {
        let files = source.files.as_ref();
        let stamp = files.and_then(|files| files.stamp());
        let place =
            Place { folder: self.study.path().to_path_buf(), memory: self.settings.text_memory };
        let text = source.read(model, keep, &place, self.cancel)?;
        self.known.keep_text(files, stamp, model.tokenizer_sha256(), text.facts());
        Ok(text)
    }

    /// One model on one text.
    fn one(&mut self, model: &mut Model<'_, '_>, text: &mut Text<'_, '_>) -> Result<Measured> {
        let source = model.source;
        let facts = self.text_facts(source, text)?;
        let question = Question::new(self.settings, &model.facts, source)?;
        let corpus = facts.provenance(
            &text.source.name,
            &text.source.description,
            text.source.origin.as_deref(),
        );
        let draws = self.settings.tokens.and_then(|limit| facts.draws(limit)) == Some(true);
        let drawn = text.seed.filter(|_| draws).map(by_seed);
        let wanted = provenance(
            &model.facts,
            (corpus, drawn),
            &source.tokenizer_facts(),
            &question.vocabulary,
            &question.asked,
        );
        if let Some(finished) = self.finished(&wanted, model.loaded.as_ref())? {
            return Ok(finished);
        }
        let loaded = match &mut model.loaded {
            Some(loaded) => loaded,
            none => {
                let loaded = self.load(source)?;
                model.facts = loaded.facts();
                none.insert(loaded)
            }
        };
        let look = text.first_look(self.settings.tokens);
        let read = match &mut text.read {
            Some(read) => read,
            none => none.insert(self.read(source, text.source, look)?),
        };
        loop {
            match self.carry_out(&model.facts, loaded, source, read, &question)? {
                Some(measured) => return Ok(measured),
                // Few of its tokens are scored: more of them.
                None => {
                    let more = look.of(read.tokens().saturating_mul(4));
                    *read = self.read(source, text.source, more)?;
                }
            }
        }
    }

    /// The run, if it is known to be finished and its parts are there; told as it was told when it
    /// was measured.
    fn finished(
        &mut self,
        wanted: &Provenance,
        loaded: Option<&LoadedModel>,
    ) -> Result<Option<Measured>> {
        // What is remembered of a key is about the whole run.
        if self.settings.slice.is_some() {
            return Ok(None);
        }
        let key = wanted.key();
        let Some(facts) = self.known.run(&key) else { return Ok(None) };
        // What is wrong with the folder, the long way will tell.
        let Ok(run) = self.study.run(&Study::run_name(wanted)) else { return Ok(None) };
        if run.record().key != key {
            return Ok(None);
        }
        if let Some(loaded) = loaded {
            loaded.engine.check_earlier(&run.record().provenance.scoring)?;
        }
        let Some(done) = finished_before(&run, self.settings.rows)? else { return Ok(None) };
        if !run.tally_path().exists() {
            keep_sums(self.study, &run, &done)?;
        }
        self.study.set_current(&run)?;
        let covered = Coverage::from_run(&done, &facts);
        notify::plan(&wanted.corpus.name, &covered, self.settings.tokens, self.events);
        notify::run_finished(&run, &done, true, self.events);
        Ok(Some(measured(&run, done, facts.summary)))
    }

    /// Plans a run, carries out what is left of it, and remembers what it was. `None` when too
    /// little of the text was tokenised.
    fn carry_out(
        &mut self,
        facts: &ModelFacts,
        loaded: &LoadedModel,
        source: &ModelSource<'_>,
        text: &TokenisedCorpus,
        question: &Question,
    ) -> Result<Option<Measured>> {
        let no_specials = BTreeSet::new();
        let specials = source.tokenizer.as_ref().map_or(&no_specials, |t| t.role_ids());
        let windows = ProtocolWindows { protocol: question.protocol.as_ref(), specials };
        let (asked, vocabulary) = (&question.asked, &question.vocabulary);
        let planned = plan(facts, text, &source.tokenizer_facts(), &windows, vocabulary, asked)?;
        if !text.whole && !planned.layout.reached_limit() {
            return Ok(None);
        }
        let covered = Coverage::from_layout(&planned.layout);
        notify::plan(text.name(), &covered, self.settings.tokens, self.events);
        let job = Job {
            planned: &planned,
            engine: loaded.engine.as_ref(),
            corpus: text,
            windows: &windows,
            vocabulary,
            batch_tokens: self.settings.batch_tokens.or(loaded.engine.batch_tokens()),
            rows: self.settings.rows,
        };
        let done = carry_out(self.study, &job, self.events, self.cancel)?;
        let run = self.study.run(&planned.record.folder_name())?;
        let summary = summary(&self.study.totals(&run)?);
        let facts = RunFacts {
            reached_limit: covered.reached_limit,
            cut_prompts: covered.cut_prompts,
            summary,
        };
        if planned.record.slice.is_none() {
            self.known.keep_run(&done.key, facts);
        }
        self.known.save();
        Ok(Some(measured(&run, done, summary)))
    }
}

/// How a model is asked: what of the settings depends on it.
struct Question {
    asked: Asked,
    vocabulary: Vocabulary,
    protocol: Box<dyn Protocol>,
}

impl Question {
    fn new(settings: &Settings, facts: &ModelFacts, source: &ModelSource<'_>) -> Result<Self> {
        let prefix = choose_prefix(settings, facts, source.tokenizer.as_deref());
        let protocol = protocols::named(
            &settings.protocol,
            protocols::Settings {
                length: settings.length,
                stride: settings.stride,
                prefix: prefix.as_ref().map(|prefix| prefix.id),
                usual_length: facts.usual_length.or(facts.context).unwrap_or(usize::MAX),
                model_maximum: facts.context.unwrap_or(usize::MAX),
            },
        )?;
        if let Some(prefix) = prefix.as_ref().filter(|prefix| prefix.id >= facts.rows) {
            let (model, reason) = (facts.model.name.clone(), prefix.reason.clone());
            return Err(Error::PrefixTooLarge { model, id: prefix.id, reason, rows: facts.rows });
        }
        let vocabulary = match settings.vocabulary_of(&facts.identity)? {
            VocabularyRule::Rows => Vocabulary::Rows(facts.rows),
            VocabularyRule::Tokens => source.known_rows(facts.rows)?,
        };
        let asked = Asked {
            protocol: protocol_provenance(protocol.as_ref(), prefix, source),
            tie_rule: settings.tie_rule_of(&facts.identity)?,
            tokens: settings.tokens,
            slice: settings.slice,
            part_tokens: settings.part_tokens,
        };
        Ok(Self { asked, vocabulary, protocol })
    }
}

/// All that decides which positions are scored, the special ids included where the protocol looks
/// at them.
fn protocol_provenance(
    protocol: &dyn Protocol,
    prefix: Option<PrefixProvenance>,
    source: &ModelSource<'_>,
) -> ProtocolProvenance {
    let mut parameters = protocol.parameters();
    if let Some(tokenizer) = source.tokenizer.as_ref().filter(|_| protocol.knows_specials()) {
        parameters.insert("special_ids".to_owned(), serde_json::json!(tokenizer.role_ids()));
    }
    ProtocolProvenance { name: protocol.name().to_owned(), parameters, prefix }
}

fn measured(run: &RunFolder, done: Done, summary: Summary) -> Measured {
    let provenance = &run.record().provenance;
    Measured {
        model: provenance.model.name.clone(),
        corpus: provenance.corpus.name.clone(),
        done,
        summary,
    }
}

fn summary(totals: &DocumentTally) -> Summary {
    Summary {
        rbp_1: totals.rbp().and_then(|rbp| rbp.first().copied()),
        cross_entropy: totals.cross_entropy(),
        bits_per_byte: totals.bits_per_byte(),
    }
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
