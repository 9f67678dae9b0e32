//! Whole studies by a server: its scores are the model's, and whatever happens on the way, nothing
//! is lost or counted twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use relscale_corpus::Document;
use relscale_records::provenance::{TieRule, VocabularyRule};
use relscale_records::{Provenance, ScoredToken, Study};
use relscale_testkit::Answer;

use super::super::probe::ids;
use super::fake::*;
use crate::engines::{EngineOptions, Listener, Share};
use crate::{CorpusSource, Error, Event, ModelSource, Settings, Warning, measure};

/// Documents of ids: short ones, one longer than a window, one of a single token.
fn corpus() -> CorpusSource<'static> {
    let lengths = [40, 1, 9, 150, 2, 63, 64, 30, 75, 12, 90];
    let documents: Vec<Document> = (0u64..)
        .zip(lengths)
        .map(|(number, length)| {
            let mut document = Document::new(format!("doc-{number}"), "");
            document.ids = Some(ids(100 + number, length, 300));
            document
        })
        .collect();
    CorpusSource {
        name: "ids".into(),
        description: "made up".into(),
        documents: Box::new(move || Ok(Box::new(documents.clone().into_iter().map(Ok)))),
        files: None,
        origin: None,
        reading: Default::default(),
    }
}

fn settings() -> Settings {
    Settings { part_tokens: 100, ..Settings::default() }
}

/// One session; its result, and what was told.
fn session(
    study: &Path,
    model: ModelSource<'_>,
    cancel: &AtomicBool,
) -> (Result<(), Error>, Vec<Event>) {
    let mut events = Vec::new();
    let mut study = Study::create_or_open(study).unwrap();
    let mut sink = |event| events.push(event);
    let result = measure(&mut study, &[model], &[corpus()], &settings(), &mut sink, cancel);
    (result.map(drop), events)
}

fn rows(study: &Path) -> (Provenance, Vec<ScoredToken>) {
    let run = Study::open(study).unwrap().current().unwrap().remove(0);
    let rows = run.rows().unwrap().collect::<Result<Vec<_>, _>>().unwrap().concat();
    (run.record().provenance.clone(), rows)
}

/// Bytes of the parts and sums of a study, by name.
fn parts(study: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![study.join("runs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(study).unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".parquet") {
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn notices(events: &[Event]) -> Vec<&str> {
    fn of_engine(event: &Event) -> Option<&str> {
        match event {
            Event::Warning(Warning::OfEngine { notice, .. }) => Some(notice),
            _ => None,
        }
    }
    events.iter().filter_map(of_engine).collect()
}

static NEVER: AtomicBool = AtomicBool::new(false);

/// A study by a server that is well, for comparison.
fn reference(fake: &Fake, study: &Path) {
    let root = tempfile::tempdir().unwrap();
    let server = fake.clone().start();
    let source = opened(root.path(), &options(&server.url())).unwrap();
    session(study, source, &NEVER).0.unwrap();
}

#[test]
fn what_is_recorded_is_what_the_model_says() {
    let study = tempfile::tempdir().unwrap();
    let fake = Fake::default();
    reference(&fake, study.path());
    let (provenance, rows) = rows(study.path());
    assert!(rows.len() > 400, "{}", rows.len());
    let documents: Vec<Vec<u32>> =
        (corpus().documents)().unwrap().map(|document| document.unwrap().ids.unwrap()).collect();
    for row in &rows {
        let document = &documents[row.document as usize];
        let position = row.position as usize;
        assert_eq!(document[position], row.token);
        let truth = fake.after(&document[position - row.context as usize..position]);
        let score = row.score.unwrap();
        assert_eq!(u64::from(score.rank), truth.rank(row.token, true));
        assert!((f64::from(score.nll) + truth.logprob(row.token)).abs() < 1e-5);
        assert_eq!((score.ties, score.entropy, score.argmax), (None, None, None));
    }
    let scoring = &provenance.scoring;
    assert_eq!((scoring.engine.as_str(), scoring.rank_rule), ("vllm", TieRule::AtLeast));
    assert_eq!(scoring.vocabulary_rule, VocabularyRule::Rows);
    assert_eq!((scoring.vocabulary.rows, scoring.vocabulary.scored), (300, 300));
    assert_eq!(scoring.lacks.len(), 3);
    assert!(provenance.model.weights_sha256.starts_with("served:"), "{:?}", provenance.model);
    assert_eq!(provenance.protocol.parameters["length"], 63);
    assert!(rows.iter().all(|row| row.context < 63));
}

/// Stopped at any request, and gone on with: the same bytes.
#[test]
fn stopped_and_gone_on_with() {
    let (whole, study) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    reference(&Fake::default(), whole.path());
    let root = tempfile::tempdir().unwrap();
    let mut stops = 0;
    for after in 1.. {
        let cancel = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&cancel);
        let (server, _) = Switch::start(move |request, number| {
            // Those of the probe, and then some.
            stop.fetch_or(number >= 4 + 3 * after, Ordering::SeqCst);
            Fake::default().answer(request)
        });
        let asked = EngineOptions { cancel: Arc::clone(&cancel), ..options(&server.url()) };
        let source = opened(root.path(), &asked).unwrap();
        match session(study.path(), source, &cancel).0 {
            Ok(()) => break,
            Err(Error::Cancelled) => stops += 1,
            Err(error) => panic!("{error}"),
        }
        assert!(after < 50, "no end in sight");
    }
    assert!(stops >= 2, "{stops}");
    assert_eq!(parts(whole.path()), parts(study.path()));
}

/// The server goes away in the middle and comes back: nothing lost, nothing twice.
#[test]
fn a_server_that_is_started_again() {
    let (whole, study) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    reference(&Fake::default(), whole.path());
    let (server, switch) = Switch::start(|request, number| match number {
        // One that breaks off in the middle of an answer, besides.
        9 => Fake::default().answer(request).cut_after(80),
        _ => Fake::default().answer(request),
    });
    let root = tempfile::tempdir().unwrap();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let keep = Arc::clone(&told);
    let listener = Listener::new(move |sentence| keep.lock().unwrap().push(sentence.to_owned()));
    let asked = EngineOptions { listener, ..options(&server.url()) };
    let source = opened(root.path(), &asked).unwrap();
    let watch = std::thread::spawn(move || {
        while switch.completions.load(Ordering::SeqCst) < 14 {
            std::thread::sleep(Duration::from_millis(1));
        }
        switch.up.store(false, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(120));
        switch.up.store(true, Ordering::SeqCst);
    });
    session(study.path(), source, &NEVER).0.unwrap();
    watch.join().unwrap();
    assert_eq!(parts(whole.path()), parts(study.path()));
    let told = told.lock().unwrap().clone();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("is away (") && told[1].contains("is back"), "{told:?}");
}

/// What comes back is another model: the run stops, and what was measured stays.
#[test]
fn a_server_that_comes_back_as_another() {
    let study = tempfile::tempdir().unwrap();
    let (server, _) = Switch::start(|request, number| match number {
        0..12 => Fake::default().answer(request),
        12 => Answer::nothing(),
        _ => Fake { seed: 2, ..Fake::default() }.answer(request),
    });
    let root = tempfile::tempdir().unwrap();
    let source = opened(root.path(), &options(&server.url())).unwrap();
    let error = session(study.path(), source, &NEVER).0.unwrap_err().to_string();
    assert!(error.contains("what answers now is another"), "{error}");
    assert!(error.contains("run the same command again"), "{error}");
}

/// Another checkpoint under the same name, when a run is gone on with or looked at again.
#[test]
fn other_weights_under_the_same_name() {
    let study = tempfile::tempdir().unwrap();
    reference(&Fake::default(), study.path());
    let before = parts(study.path());
    let root = tempfile::tempdir().unwrap();
    let again = |fake: Fake| {
        let server = fake.start();
        let source = opened(root.path(), &options(&server.url())).unwrap();
        session(study.path(), source, &NEVER).0
    };
    again(Fake::default()).unwrap();
    let error = again(Fake { seed: 5, ..Fake::default() }).unwrap_err().to_string();
    assert!(error.contains("other weights under the same name"), "{error}");
    assert_eq!(parts(study.path()), before);
}

/// 429, 500, 503 and broken connections by turns: retried, fewer at once, said.
#[test]
fn a_server_in_trouble_is_borne() {
    let (whole, study) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    reference(&Fake::default(), whole.path());
    let (server, _) = Switch::start(|request, number| match number {
        n if n > 6 && n % 5 == 0 => refusal(429, "slow down").header("Retry-After", "0"),
        n if n > 6 && n % 7 == 0 => refusal(503, "overloaded"),
        n if n > 6 && n % 11 == 0 => refusal(500, "CUDA out of memory"),
        n if n > 6 && n % 13 == 0 => Answer::nothing(),
        _ => Fake::default().answer(request),
    });
    let root = tempfile::tempdir().unwrap();
    let source = opened(root.path(), &options(&server.url())).unwrap();
    let (result, events) = session(study.path(), source, &NEVER);
    result.unwrap();
    assert_eq!(parts(whole.path()), parts(study.path()));
    let told = notices(&events);
    assert!(told.iter().any(|notice| notice.contains("could not carry 4 requests")), "{told:?}");
}

/// A list that is short now and then (evicted, from a cache) is asked again; one that stays short
/// stops the run.
#[test]
fn answers_that_are_wrong_in_the_middle() {
    let spoilt = |request: &relscale_testkit::Received| {
        let mut answer = Fake::default().completion(&body(request));
        let list = list(&mut answer);
        let last = list.len() - 1;
        list.truncate(last);
        Answer::new(200, answer.to_string())
    };
    let (whole, study) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    reference(&Fake::default(), whole.path());
    let (server, _) = Switch::start(move |request, number| match number > 6 && number % 4 == 0 {
        true => spoilt(request),
        false => Fake::default().answer(request),
    });
    let root = tempfile::tempdir().unwrap();
    let source = opened(root.path(), &options(&server.url())).unwrap();
    session(study.path(), source, &NEVER).0.unwrap();
    assert_eq!(parts(whole.path()), parts(study.path()));

    let (server, _) = Switch::start(move |request, number| match number > 8 {
        true => spoilt(request),
        false => Fake::default().answer(request),
    });
    let source = opened(root.path(), &options(&server.url())).unwrap();
    let study = tempfile::tempdir().unwrap();
    let error = session(study.path(), source, &NEVER).0.unwrap_err().to_string();
    assert!(error.contains("prompt tokens") && error.contains("each time"), "{error}");
}

/// One prompt that no number of tries gets through: the length that does is told.
#[test]
fn a_prompt_that_is_too_much_for_the_server() {
    let (server, _) =
        Switch::start(|request, number| match prompt(&body(request)).len() > 40 && number > 8 {
            true => refusal(500, "EngineCore encountered an issue."),
            false => Fake::default().answer(request),
        });
    let root = tempfile::tempdir().unwrap();
    let source = opened(root.path(), &options(&server.url())).unwrap();
    let study = tempfile::tempdir().unwrap();
    let error = session(study.path(), source, &NEVER).0.unwrap_err().to_string();
    assert!(error.contains("fails even alone (HTTP 500: EngineCore"), "{error}");
    assert!(error.contains("--length 31"), "{error}");
}

#[test]
fn an_audit_tells_what_differs() {
    let root = tempfile::tempdir().unwrap();
    let again = |server_url: &str| {
        let audit = Some(Share { share: 1.0, local: false });
        let asked = EngineOptions { audit, ..options(server_url) };
        let study = tempfile::tempdir().unwrap();
        let source = opened(root.path(), &asked).unwrap();
        let (result, events) = session(study.path(), source, &NEVER);
        result.unwrap();
        notices(&events).last().unwrap().to_string()
    };
    let server = Fake::default().start();
    let told = again(&server.url());
    assert!(told.contains("tokens sent again, 0 (0.00 %) have another rank"), "{told}");
    // Every third answer is of another model.
    let (server, _) = Switch::start(|request, number| match number > 6 && number % 3 == 0 {
        true => Fake { seed: 3, ..Fake::default() }.answer(request),
        false => Fake::default().answer(request),
    });
    let told = again(&server.url());
    assert!(told.starts_with("audit: of") && !told.contains(" 0 (0.00 %)"), "{told}");
}
