//! One run by hand: engines and protocols that do what they must not.

mod common;

use std::sync::atomic::AtomicBool;

use common::{documents, tokenizer};
use relscale_corpus::{Document, Window};
use relscale_measure::engine::{Engine, EngineIdentity, EngineWindow, Vocabulary};
use relscale_measure::engines::MockEngine;
use relscale_measure::plan::{Asked, plan};
use relscale_measure::run::{Job, carry_out};
use relscale_measure::scratch::Place;
use relscale_measure::source::ModelFacts;
use relscale_measure::source::TokenizerFacts;
use relscale_measure::text::{Keep, TokenisedCorpus, TokenisedDocument};
use relscale_measure::{Error, Result};
use relscale_records::provenance::{ModelProvenance, Provenance, TieRule};
use relscale_records::study::Done;
use relscale_records::{Score, Study};

/// An engine that does something to the scores of a good one.
struct Bent<F>(MockEngine, F);

impl<F: Fn(&mut Vec<Vec<Option<Score>>>)> Engine for Bent<F> {
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
        v: &Vocabulary,
    ) -> Result<Vec<Vec<Option<Score>>>> {
        let mut scores = self.0.score(windows, v)?;
        (self.1)(&mut scores);
        Ok(scores)
    }
}

/// The whole document as one window.
fn whole(document: &TokenisedDocument) -> Result<Vec<Window>> {
    let end = document.encoded.ids.len();
    Ok(vec![Window { prefix: None, start: 0, end, scored: (1..end as u32).collect() }])
}

fn text() -> TokenisedCorpus {
    let tokenizer = tokenizer();
    let documents = documents().into_iter().map(Ok::<_, Error>);
    let encode = |block: &[Document]| Ok(tokenizer.encode_all(block)?);
    let place = Place::new(&std::env::temp_dir());
    TokenisedCorpus::read("c", "", documents, encode, Keep::All, &place, &AtomicBool::new(false))
        .unwrap()
}

fn run(
    engine: &dyn Engine,
    windows: impl Fn(&TokenisedDocument) -> Result<Vec<Window>>,
) -> (Result<Done>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let text = text();
    let example = Provenance::example();
    let facts =
        TokenizerFacts { provenance: example.tokenizer, size: 50, with_added: 51, largest_id: 50 };
    let asked = Asked {
        protocol: example.protocol,
        tie_rule: TieRule::AtLeast,
        slice: None,
        tokens: None,
        part_tokens: 100,
    };
    let vocabulary = Vocabulary::Rows(60);
    let planned =
        plan(&ModelFacts::from_engine(engine), &text, &facts, &windows, &vocabulary, &asked)
            .unwrap();
    let job = Job {
        planned: &planned,
        engine,
        corpus: &text,
        windows: &windows,
        vocabulary: &vocabulary,
        batch_tokens: Some(64),
        rows: false,
    };
    let mut study = Study::create_or_open(folder.path()).unwrap();
    let done = carry_out(&mut study, &job, &mut |_| (), &AtomicBool::new(false));
    (done, folder)
}

fn bent(bend: impl Fn(&mut Vec<Vec<Option<Score>>>)) -> Result<Done> {
    run(&Bent(MockEngine::new("m", 1_000, 60), bend), whole).0
}

#[test]
fn an_engine_that_answers_wrongly_is_caught() {
    bent(|_| ()).expect("unbent, it is right");
    type Bend = fn(&mut Vec<Vec<Option<Score>>>);
    let wrong: [(&str, Bend); 5] = [
        ("windows for", |scores| drop(scores.pop())),
        ("scores for", |scores| scores[0].clear()),
        ("rank 0", |scores| scores.iter_mut().flatten().flatten().for_each(|s| s.rank = 0)),
        ("rank 61", |scores| scores.iter_mut().flatten().flatten().for_each(|s| s.rank = 61)),
        ("with 60 ties", |scores| {
            scores.iter_mut().flatten().flatten().for_each(|s| s.ties = Some(60))
        }),
    ];
    for (words, bend) in wrong {
        let error = bent(bend).unwrap_err();
        assert!(matches!(error, Error::BadAnswer { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_nan_that_an_engine_lets_through_becomes_a_counted_null() {
    let done = bent(|scores| {
        for score in scores.iter_mut().flatten().flatten().step_by(2) {
            score.nll = f32::NAN;
        }
    })
    .unwrap();
    assert!(done.totals.nonfinite > 100 && done.totals.scored > 100, "{:?}", done.totals);
    assert!(matches!(
        bent(|scores| scores
            .iter_mut()
            .flatten()
            .flatten()
            .for_each(|s| s.entropy = Some(f32::INFINITY))),
        Err(Error::AllNonFinite { .. })
    ));
}

#[test]
fn a_protocol_that_scores_twice_or_without_context_is_caught() {
    let engine = MockEngine::new("m", 1_000, 60);
    let twice = |document: &TokenisedDocument| Ok([whole(document)?, whole(document)?].concat());
    let backwards = |document: &TokenisedDocument| {
        let mut windows = whole(document)?;
        windows[0].scored.reverse();
        Ok(windows)
    };
    let first = |document: &TokenisedDocument| {
        let mut windows = whole(document)?;
        windows[0].scored.insert(0, 0);
        Ok(windows)
    };
    let beyond = |document: &TokenisedDocument| {
        let mut windows = whole(document)?;
        windows[0].end += 1;
        Ok(windows)
    };
    let errors = [
        ("twice", run(&engine, twice).0),
        ("too late", run(&engine, backwards).0),
        ("no context", run(&engine, first).0),
        ("is not in it", run(&engine, beyond).0),
    ];
    for (words, result) in errors {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::BadWindows { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn nothing_is_left_of_a_part_that_failed() {
    let engine = Bent(MockEngine::new("m", 1_000, 60), |scores: &mut Vec<Vec<Option<Score>>>| {
        if scores.iter().flatten().count() > 300 {
            scores.clear();
        }
    });
    let (result, folder) = run(&engine, whole);
    assert!(result.is_err());
    let names: Vec<String> = common::files(folder.path()).into_keys().collect();
    assert!(
        names.iter().all(|name| !name.ends_with(".tmp") && !name.ends_with("done.json")),
        "{names:?}"
    );
    // What was finished before it stays.
    assert!(names.iter().any(|name| name.ends_with("part-00000.parquet")), "{names:?}");
}
