//! What a session says on the way: events and warnings, the same whether something was done now or
//! is known from before.

use std::collections::{BTreeMap, BTreeSet};

use relscale_records::study::{Done, RunFolder};
use relscale_records::{Provenance, Study};

use crate::error::Result;
use crate::event::{Event, Warning};
use crate::known::RunFacts;
use crate::layout::{CutPrompts, Layout};
use crate::source::{CorpusSource, ModelFacts, ModelSource};
use crate::text::TextFacts;

/// What a run covers of its corpus, planned or finished.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coverage {
    documents: u64,
    unscored_documents: u64,
    scored: u64,
    pub(crate) reached_limit: bool,
    pub(crate) cut_prompts: CutPrompts,
}

impl Coverage {
    pub(crate) fn from_layout(layout: &Layout) -> Self {
        Self {
            documents: u64::from(layout.documents()),
            unscored_documents: layout.unscored_documents(),
            scored: layout.total(),
            reached_limit: layout.reached_limit(),
            cut_prompts: layout.cut_prompts(),
        }
    }

    pub(crate) fn from_run(done: &Done, facts: &RunFacts) -> Self {
        Self {
            documents: done.totals.documents,
            unscored_documents: done.totals.unscored_documents,
            scored: done.totals.scored + done.totals.nonfinite,
            reached_limit: facts.reached_limit,
            cut_prompts: facts.cut_prompts,
        }
    }
}

/// What the plan of a run leaves out.
pub(crate) fn plan(
    corpus: &str,
    covered: &Coverage,
    wanted: Option<u64>,
    events: &mut dyn FnMut(Event),
) {
    let corpus = corpus.to_owned();
    if covered.unscored_documents > 0 {
        events(Event::Warning(Warning::UnscoredDocuments {
            corpus: corpus.clone(),
            documents: covered.unscored_documents,
            of: covered.documents,
        }));
    }
    let cut = covered.cut_prompts;
    if cut.cut > 0 {
        events(Event::Warning(Warning::PromptsCut {
            corpus: corpus.clone(),
            options: cut.cut,
            of: cut.options,
            longest: cut.longest,
        }));
    }
    if let (Some(wanted), false) = (wanted, covered.reached_limit) {
        events(Event::Warning(Warning::ShortCorpus { corpus, scored: covered.scored, wanted }));
    }
}

/// What a finished run has to say, the same whether it was finished now or before.
pub(crate) fn run_finished(
    run: &RunFolder,
    done: &Done,
    reused: bool,
    events: &mut dyn FnMut(Event),
) {
    let provenance = &run.record().provenance;
    let (model, corpus) = (provenance.model.name.clone(), provenance.corpus.name.clone());
    let totals = done.totals;
    if totals.nonfinite > 0 {
        events(Event::Warning(Warning::NonFinite {
            model: model.clone(),
            corpus: corpus.clone(),
            rows: totals.nonfinite,
            of: totals.scored + totals.nonfinite,
        }));
    }
    events(Event::RunFinished { model, corpus, folder: run.path().to_path_buf(), totals, reused });
}

/// A text, by what is known of it. `drawing`: the seed by which documents are drawn, and the limit
/// that they are drawn for.
pub(crate) fn corpus_read(
    corpus: &str,
    facts: &TextFacts,
    drawing: Option<(u64, u64)>,
    events: &mut dyn FnMut(Event),
) {
    let drawn = drawing.filter(|&(_, limit)| facts.draws(limit) == Some(true));
    events(Event::CorpusRead {
        corpus: corpus.to_owned(),
        documents: facts.documents,
        items: facts.items,
        bytes: facts.bytes,
        tokens: facts.tokens,
        whole: facts.whole,
        drawn: drawn.map(|(seed, _)| seed),
    });
    if drawing.is_some_and(|(_, limit)| facts.documents == 1 && facts.tokens > limit) {
        events(Event::Warning(Warning::OneDocument { corpus: corpus.to_owned() }));
    }
    for notice in &facts.notices {
        let (corpus, notice) = (corpus.to_owned(), notice.clone());
        events(Event::Warning(Warning::OfFiles { corpus, notice }));
    }
    if facts.specials > 0 {
        events(Event::Warning(Warning::SpecialsInText {
            corpus: corpus.to_owned(),
            tokens: facts.specials,
        }));
    }
}

/// Models that cut texts into other tokens.
pub(crate) fn tokenizers(
    models: &[ModelSource<'_>],
    corpora: &[CorpusSource<'_>],
    events: &mut dyn FnMut(Event),
) {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    for model in models {
        let seen = first.entry(model.tokenizer_sha256()).or_insert(&model.name);
        if let Some(tokenizer) = model.tokenizer.as_ref().filter(|_| *seen == model.name) {
            for note in tokenizer.notes() {
                let (model, note) = (model.name.clone(), note.clone());
                events(Event::Warning(Warning::Tokenizer { model, note }));
            }
        }
    }
    if first.len() > 1 {
        let models: Vec<String> = first.into_values().map(str::to_owned).collect();
        for corpus in corpora {
            let (corpus, models) = (corpus.name.clone(), models.clone());
            events(Event::Warning(Warning::DifferentTokenizers { corpus, models }));
        }
    }
}

/// A model, and whether the study has the same weights under another name. `weights`: hash -> name.
pub(crate) fn model_loaded(
    facts: &ModelFacts,
    source: &ModelSource<'_>,
    weights: &mut BTreeMap<String, String>,
    events: &mut dyn FnMut(Event),
) {
    let model = &facts.model;
    events(Event::ModelLoaded {
        model: model.name.clone(),
        family: model.family.clone(),
        non_embedding: model.parameters.non_embedding,
        total: model.parameters.total,
        unused_tensors: facts.unused_tensors.clone(),
        files_not_read: facts.files_not_read.clone(),
    });
    for caution in &facts.identity.cautions {
        let (model, notice) = (model.name.clone(), caution.clone());
        events(Event::Warning(Warning::OfEngine { model, notice }));
    }
    let beyond = source
        .tokenizer
        .as_ref()
        .map_or(&[][..], |tokenizer| tokenizer.beyond(facts.rows as usize));
    if let Some(&largest) = beyond.last() {
        let (model, ids) = (model.name.clone(), beyond.len());
        events(Event::Warning(Warning::TokensBeyond { model, ids, largest, rows: facts.rows }));
    }
    let there = weights.entry(model.weights_sha256.clone()).or_insert_with(|| model.name.clone());
    if *there != model.name {
        let (model, other) = (model.name.clone(), there.clone());
        events(Event::Warning(Warning::SameWeights { model, other }));
    }
}

/// A study may be added to, but a fit over runs that were not measured alike would compare apples
/// with pears.
pub(crate) fn mixed_runs(
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

/// In what two runs of a corpus were not measured alike. Window lengths are not compared: they
/// follow each model's maximum.
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
