//! Whole studies by a server: its scores are the model's, and whatever happens on the way, nothing
//! is lost or counted twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use relscale_corpus::Document;
use relscale_records::provenance::{TieRule, VocabularyRule};
use relscale_records::{Provenance, ScoredToken, Study};
use relscale_testkit::{Answer, Received};

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
        drawn: false,
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
        let server = counting(move |request, before| {
            // Those of the probe, and then some.
            stop.fetch_or(before.completions >= 4 + 3 * after, Ordering::SeqCst);
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
    // More than can be under way at once, so that some ask whether it is back, and it is not.
    const REFUSED: usize = 3 * 4;
    let refusals = AtomicUsize::new(0);
    let server = counting(move |request, before| {
        if before.completions == 14 {
            refusals.store(REFUSED, Ordering::SeqCst);
        }
        let less = |left: usize| left.checked_sub(1);
        match refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less) {
            Ok(_) => Answer::nothing(),
            // One that breaks off in the middle of an answer, besides.
            Err(_) if before.completions == 9 => Fake::default().answer(request).cut_after(80),
            Err(_) => Fake::default().answer(request),
        }
    });
    let root = tempfile::tempdir().unwrap();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let keep = Arc::clone(&told);
    let listener = Listener::new(move |sentence| keep.lock().unwrap().push(sentence.to_owned()));
    let asked = EngineOptions { listener, ..options(&server.url()) };
    let source = opened(root.path(), &asked).unwrap();
    session(study.path(), source, &NEVER).0.unwrap();
    assert_eq!(parts(whole.path()), parts(study.path()));
    let told = told.lock().unwrap().clone();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("is away (") && told[1].contains("is back"), "{told:?}");
}

/// What comes back is another model: the run stops, and what was measured stays.
#[test]
fn a_server_that_comes_back_as_another() {
    let study = tempfile::tempdir().unwrap();
    let server = counting(|request, before| match before.completions {
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

/// 429, 500, 503 and broken connections: retried, fewer at once, said. Each prompt has its own kind
/// of failure, up to as often as is borne.
#[test]
fn a_server_in_trouble_is_borne() {
    let (whole, study) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    reference(&Fake::default(), whole.path());
    let trouble = Arc::new(AtomicBool::new(false));
    let seen: Arc<Mutex<BTreeSet<(usize, usize)>>> = Arc::default();
    let (begun, keep) = (Arc::clone(&trouble), Arc::clone(&seen));
    let borne = quick().tries as usize - 1;
    let server = counting(move |request, before| {
        let number = number_of(request).filter(|_| begun.load(Ordering::SeqCst));
        let Some(number) = number else { return Fake::default().answer(request) };
        let (kind, failures) = (number % 4, number / 4 % (borne + 1));
        if before.of_prompt >= failures {
            return Fake::default().answer(request);
        }
        keep.lock().unwrap().insert((kind, before.of_prompt + 1));
        match kind {
            0 => refusal(429, "slow down").header("Retry-After", "0"),
            1 => refusal(503, "overloaded"),
            2 => refusal(500, "CUDA out of memory"),
            _ => Answer::nothing(),
        }
    });
    let root = tempfile::tempdir().unwrap();
    let source = opened(root.path(), &options(&server.url())).unwrap();
    trouble.store(true, Ordering::SeqCst);
    let (result, events) = session(study.path(), source, &NEVER);
    result.unwrap();
    assert_eq!(parts(whole.path()), parts(study.path()));
    let told = notices(&events);
    assert!(told.iter().any(|notice| notice.contains("could not carry 4 requests")), "{told:?}");
    let seen = seen.lock().unwrap();
    assert!((0..4).all(|kind| seen.contains(&(kind, 1))), "a kind did not occur: {seen:?}");
    assert!(seen.iter().any(|&(_, failures)| failures == borne), "{seen:?}");
}

/// A list that is short now and then (evicted, from a cache) is asked again; one that stays short
/// stops the run.
#[test]
fn answers_that_are_wrong_in_the_middle() {
    let spoilt = |request: &Received| {
        let mut answer = Fake::default().completion(&body(request));
        let list = list(&mut answer);
        let last = list.len() - 1;
        list.truncate(last);
        Answer::new(200, answer.to_string())
    };
    let (whole, study) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    reference(&Fake::default(), whole.path());
    let begun = Arc::new(AtomicBool::new(false));
    let wrong = Arc::new(AtomicUsize::new(0));
    let (started, count) = (Arc::clone(&begun), Arc::clone(&wrong));
    let server = counting(move |request, before| {
        // Never, once or twice: three times is the end.
        let times = number_of(request).map_or(0, |number| number % 3);
        if !started.load(Ordering::SeqCst) || before.of_prompt >= times {
            return Fake::default().answer(request);
        }
        count.fetch_max(before.of_prompt + 1, Ordering::SeqCst);
        spoilt(request)
    });
    let root = tempfile::tempdir().unwrap();
    let source = opened(root.path(), &options(&server.url())).unwrap();
    begun.store(true, Ordering::SeqCst);
    session(study.path(), source, &NEVER).0.unwrap();
    assert_eq!(parts(whole.path()), parts(study.path()));
    assert_eq!(wrong.load(Ordering::SeqCst), 2, "no prompt was answered wrongly twice");

    let server = counting(move |request, before| match before.completions > 8 {
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
    let server = counting(|request, before| {
        match prompt(&body(request)).len() > 40 && before.completions > 8 {
            true => refusal(500, "EngineCore encountered an issue."),
            false => Fake::default().answer(request),
        }
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
    // Of a third of the prompts, the second answer is of another model; the probe asks its own
    // twice.
    let of_probe = ids(1, 48, 300);
    let server = counting(move |request, before| {
        let third = number_of(request).is_some_and(|number| number % 3 == 0);
        match third && before.of_prompt == 1 && prompt(&body(request)) != of_probe {
            true => Fake { seed: 3, ..Fake::default() }.answer(request),
            false => Fake::default().answer(request),
        }
    });
    let told = again(&server.url());
    assert!(told.starts_with("audit: of") && !told.contains(" 0 (0.00 %)"), "{told}");
}
