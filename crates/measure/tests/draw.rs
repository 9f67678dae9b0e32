//! Documents that a limit draws: a sample of the whole corpus, the same for all models and after
//! any interruption, and never mixed with runs that took others.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{assert_same, corpus, documents, files, mock, model, session, settings, tokenizer};
use relscale_corpus::{Document, Tokenizer};
use relscale_measure::draw::SEED;
use relscale_measure::engine::{EngineIdentity, Vocabulary};
use relscale_measure::engines::MockEngine;
use relscale_measure::known::Learned;
use relscale_measure::{
    CorpusSource, Draw, Engine, EngineWindow, Error, Event, LoadedModel, ModelSource, Result,
    Settings, Warning, measure,
};
use relscale_records::provenance::ModelProvenance;
use relscale_records::study::{SliceOf, merge};
use relscale_records::{Score, Study};

/// A model that has the common words right and no others.
struct KnowsCommonWords(MockEngine);

impl Engine for KnowsCommonWords {
    fn identity(&self) -> EngineIdentity {
        self.0.identity()
    }
    fn model(&self) -> &ModelProvenance {
        self.0.model()
    }
    fn rows(&self) -> u32 {
        self.0.rows()
    }
    fn context(&self) -> Option<usize> {
        self.0.context()
    }
    fn score(
        &self,
        windows: &[EngineWindow<'_>],
        vocabulary: &Vocabulary,
    ) -> Result<Vec<Vec<Option<Score>>>> {
        let mut scores = self.0.score(windows, vocabulary)?;
        for (window, scores) in windows.iter().zip(&mut scores) {
            for (&at, score) in window.scored.iter().zip(scores) {
                let Some(score) = score else { continue };
                let common = window.tokens[at as usize] <= 25;
                (score.rank, score.ties) = (if common { 1 } else { 2 }, Some(0));
            }
        }
        Ok(scores)
    }
}

/// A model that loads another engine in its place.
fn loading(model: ModelSource<'_>, make: fn(MockEngine) -> Box<dyn Engine>) -> ModelSource<'_> {
    let name: &'static str = Box::leak(model.name.clone().into_boxed_str());
    let load = move |_: Option<&Learned>| {
        let engine = make(mock(name));
        let (unused_tensors, files_not_read) = (Vec::new(), Vec::new());
        Ok(LoadedModel { engine, unused_tensors, files_not_read, bos: None, learned: None })
    };
    ModelSource { load: Box::new(load), ..model }
}

/// A corpus that begins with a tenth of rare words alone; a third of the rest is common.
fn uneven() -> Vec<Document> {
    let word = |document: u32, at: u32| {
        let random = (document * 131 + at).wrapping_mul(2_654_435_761) >> 16;
        let common = document >= 40 && random.is_multiple_of(3);
        format!("w{}", if common { 1 + random % 25 } else { 26 + random % 24 })
    };
    let text = |document| (0..50).map(|at| word(document, at)).collect::<Vec<_>>().join(" ");
    (0..400).map(|i| Document::new(format!("{i}"), text(i))).collect()
}

fn limited(tokens: u64, draw: Draw) -> Settings {
    Settings { tokens: Some(tokens), draw, ..settings() }
}

/// RBP_1 of one model on one corpus.
fn rbp_1(documents: Vec<Document>, settings: &Settings) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let knows = loading(model(|| mock("m")), |mock| Box::new(KnowsCommonWords(mock)));
    let measured = session(folder.path(), &[knows], &[corpus("a", documents)], settings).0.unwrap();
    measured[0].summary.rbp_1.unwrap()
}

#[test]
fn a_corpus_that_begins_otherwise_is_estimated_as_a_whole() {
    let whole = rbp_1(uneven(), &settings());
    assert!((0.25..0.35).contains(&whole), "{whole}");
    assert_eq!(rbp_1(uneven(), &limited(1_500, Draw::First)), 0.0);
    // Thirty documents of four hundred: the standard deviation is about 0.02.
    let drawn: Vec<f64> =
        (0..8).map(|seed| rbp_1(uneven(), &limited(1_500, Draw::Seed(seed)))).collect();
    assert!(drawn.iter().all(|drawn| (drawn - whole).abs() < 0.08), "{whole} {drawn:?}");
    assert!(drawn.iter().any(|other| *other != drawn[0]), "every seed draws the same");
    let usual = rbp_1(uneven(), &limited(1_500, Draw::AsBegun));
    assert_eq!(usual, rbp_1(uneven(), &limited(1_500, Draw::Seed(SEED))));
}

fn measured(folder: &Path, settings: &Settings) {
    let models = [model(|| mock("small")), model(|| mock("large"))];
    session(folder, &models, &[corpus("a", documents())], settings).0.unwrap();
}

#[test]
fn the_same_seed_gives_the_same_bytes_in_any_batches_and_slices_and_after_any_stop() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let drawn = limited(600, Draw::Seed(5));
    measured(&at("one"), &drawn);
    measured(
        &at("other"),
        &Settings { batch_tokens: Some(1_000), text_memory: 0, ..drawn.clone() },
    );
    assert_same(&at("one"), &at("other"));
    measured(&at("another"), &limited(600, Draw::Seed(6)));
    assert!(files(&at("one")) != files(&at("another")));

    let mut stops = 0;
    loop {
        let cancel = AtomicBool::new(false);
        let mut batches = 0;
        let mut events = |event| {
            if matches!(event, Event::Progress { .. }) {
                batches += 1;
                cancel.store(batches > stops / 2, Ordering::Relaxed);
            }
        };
        let models = [model(|| mock("small")), model(|| mock("large"))];
        let mut study = Study::create_or_open(&at("stopped")).unwrap();
        let corpora = [corpus("a", documents())];
        match measure(&mut study, &models, &corpora, &drawn, &mut events, &cancel) {
            Err(Error::Cancelled) => stops += 1,
            Ok(_) => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(stops > 5, "{stops}");
    assert_same(&at("one"), &at("stopped"));

    let parts = [1, 2, 3].map(|index| at(&format!("part-{index}")));
    for (index, part) in (1..).zip(&parts) {
        measured(part, &Settings { slice: Some(SliceOf { index, of: 3 }), ..drawn.clone() });
    }
    let parts = parts.map(|part| Study::open(&part).unwrap());
    merge(&mut Study::create_or_open(&at("merged")).unwrap(), &parts).unwrap();
    assert_same(&at("one"), &at("merged"));
}

/// Models with other tokenizers take the same documents, as far as the limit goes.
#[test]
fn the_draw_does_not_depend_on_the_tokenizer() {
    let folder = tempfile::tempdir().unwrap();
    // Without white space as a boundary a document is one unknown word, cut at every w.
    let json = String::from_utf8(serde_json::to_vec(&serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "post_processor": null, "decoder": null,
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "[w ]"}, "behavior": "Isolated", "invert": false},
        "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "w": 1, " ": 2}, "unk_token": "<unk>"},
    })).unwrap()).unwrap();
    let other = Arc::new(Tokenizer::from_json(&json).unwrap());
    assert_ne!(other.sha256(), tokenizer().sha256());
    let models = [
        model(|| mock("words")),
        ModelSource { tokenizer: Some(other), ..model(|| mock("letters")) },
    ];
    let drawn = limited(1_000, Draw::Seed(5));
    session(folder.path(), &models, &[corpus("a", uneven())], &drawn).0.unwrap();
    let runs = Study::open(folder.path()).unwrap().current().unwrap();
    let taken: Vec<Vec<String>> = runs
        .iter()
        .map(|run| run.documents().unwrap().into_iter().map(|document| document.id).collect())
        .collect();
    assert_eq!(runs.len(), 2);
    let (letters, words) = (&taken[0], &taken[1]);
    assert!(letters.len() < words.len() && words.len() < 30, "{letters:?} {words:?}");
    assert_eq!(letters[..], words[..letters.len()]);
    assert_eq!(
        runs[0].record().provenance.documents_key(),
        runs[1].record().provenance.documents_key()
    );
}

#[test]
fn questions_stay_whole() {
    let folder = tempfile::tempdir().unwrap();
    // The four options of a question stand apart.
    let option = |i: u32| {
        let text = common::text(12, i);
        let (from, to) = (text.rfind(' ').unwrap(), text.len());
        let (item, gold) = ((i % 50).to_string(), (i < 50).to_string());
        Document::new(format!("q{i}"), text)
            .with_tag("item", item)
            .with_tag("gold", gold)
            .with_span(from..to)
    };
    let questions = corpus("q", (0..200).map(option).collect());
    let drawn = limited(21, Draw::AsBegun);
    session(folder.path(), &[model(|| mock("m"))], &[questions], &drawn).0.unwrap();
    let run = Study::open(folder.path()).unwrap().current().unwrap().remove(0);
    let mut options: BTreeMap<String, u32> = BTreeMap::new();
    for document in run.documents().unwrap() {
        assert_eq!(document.scored, 1);
        *options.entry(document.tags["item"].clone()).or_default() += 1;
    }
    assert_eq!(options.len(), 6);
    assert!(options.values().all(|&count| count == 4), "{options:?}");
    assert!(options.keys().any(|item| item.parse::<u32>().unwrap() > 6), "{options:?}");
}

fn reused(events: &[Event]) -> Vec<bool> {
    let of = |event: &Event| match event {
        Event::RunFinished { reused, .. } => Some(*reused),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

fn begun(events: &[Event]) -> Option<Option<u64>> {
    events.iter().find_map(|event| match event {
        Event::Warning(Warning::AsBegun { seed, .. }) => Some(*seed),
        _ => None,
    })
}

/// A study that took first tokens is found finished, with and without saying so; what is added to
/// it is measured as it was, and told. Another draw is other runs.
#[test]
fn a_study_is_gone_on_with_as_it_was_begun() {
    let folder = tempfile::tempdir().unwrap();
    let start = |names: &[&'static str], draw| {
        let models: Vec<_> = names.iter().map(|name| model(|| mock(name))).collect();
        let corpora = [corpus("a", documents())];
        let (result, events) = session(folder.path(), &models, &corpora, &limited(300, draw));
        let said = result.map(|_| (reused(&events), begun(&events)));
        said.map_err(|error| error.to_string())
    };
    assert_eq!(start(&["x"], Draw::First), Ok((vec![false], None)));
    let before = files(folder.path());
    // The record is that of the version before, of which the key was made.
    let run = Study::open(folder.path()).unwrap().current().unwrap().remove(0);
    let record = run.record().provenance.to_canonical_json().unwrap();
    assert!(record.contains(r#""limit":{"tokens":300},"#), "{record}");
    assert_eq!(start(&["x"], Draw::First), Ok((vec![true], None)));
    assert_eq!(start(&["x"], Draw::AsBegun), Ok((vec![true], Some(None))));
    assert!(files(folder.path()) == before);
    assert_eq!(start(&["x", "y"], Draw::AsBegun), Ok((vec![true, false], Some(None))));

    // Drawn ones are new runs; the old ones stay, and come back.
    assert_eq!(start(&["x"], Draw::Seed(5)), Ok((vec![false], None)));
    let refused = start(&["x", "y"], Draw::AsBegun).unwrap_err();
    assert!(refused.contains("--first, --seed=5"), "{refused}");
    assert_eq!(start(&["x", "y"], Draw::Seed(5)), Ok((vec![true, false], None)));
    assert_eq!(start(&["x", "y"], Draw::AsBegun), Ok((vec![true, true], Some(Some(5)))));
    assert_eq!(start(&["x", "y"], Draw::First), Ok((vec![true, true], None)));
    assert!(before.keys().all(|name| files(folder.path()).contains_key(name)));

    // Another limit is another question.
    let models = [model(|| mock("x"))];
    let corpora = [corpus("a", documents())];
    let other = limited(200, Draw::AsBegun);
    let (result, events) = session(folder.path(), &models, &corpora, &other);
    assert!(result.is_ok() && begun(&events).is_none());
    let run = Study::open(folder.path()).unwrap().current().unwrap().remove(0);
    assert_eq!(run.record().provenance.limit.unwrap().drawn.unwrap().seed, SEED);
}

/// A corpus in a drawn order, one that the limit does not cut, and one of a single document are
/// what they were before anything was drawn.
#[test]
fn where_there_is_nothing_to_draw_from_nothing_changes() {
    let one = || vec![Document::new("one", common::text(400, 1))];
    let of =
        |drawn: bool, documents: Vec<Document>| CorpusSource { drawn, ..corpus("a", documents) };
    for (ordered, documents, tokens) in
        [(true, documents(), 300), (false, documents(), 10_000), (false, one(), 300)]
    {
        let (first, drawn) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let run = |folder: &Path, draw| {
            let corpora = [of(ordered, documents.clone())];
            let (result, events) =
                session(folder, &[model(|| mock("m"))], &corpora, &limited(tokens, draw));
            result.unwrap();
            events
        };
        run(first.path(), Draw::First);
        let events = run(drawn.path(), Draw::AsBegun);
        assert_same(first.path(), drawn.path());
        let told = Event::Warning(Warning::OneDocument { corpus: "a".into() });
        assert_eq!(events.contains(&told), documents.len() == 1);
        assert_eq!(begun(&run(first.path(), Draw::AsBegun)), None);
    }
}
