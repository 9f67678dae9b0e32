//! A run that was interrupted, in whatever way, ends with the same bytes as one that was not.

mod common;

use std::cell::Cell;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{assert_same, corpus, documents, files, mock, model, session, settings};
use relscale_measure::{Error, Event, Prefix, Settings, Warning, measure};
use relscale_records::Study;

/// Two models over two corpora.
fn whole(folder: &std::path::Path, settings: &Settings) {
    let models = [model(|| mock("small")), model(|| mock("large"))];
    let corpora = [corpus("a", documents()), corpus("b", documents().split_off(5))];
    session(folder, &models, &corpora, settings).0.unwrap();
}

#[test]
fn an_engine_that_fails_again_and_again() {
    let reference = tempfile::tempdir().unwrap();
    whole(reference.path(), &settings());
    let folder = tempfile::tempdir().unwrap();
    // Fails at a later window each time it is started; windows of finished parts are not asked for
    // again.
    let starts = Cell::new(0);
    let failing = |name: &'static str| {
        model({
            let starts = &starts;
            move || {
                let mut engine = mock(name);
                engine.fail_at_window = Some(starts.get() * 7 % 61);
                engine
            }
        })
    };
    let corpora = [corpus("a", documents()), corpus("b", documents().split_off(5))];
    let mut failures = 0;
    loop {
        starts.set(starts.get() + 1);
        let models = [failing("small"), failing("large")];
        match session(folder.path(), &models, &corpora, &settings()).0 {
            Ok(_) => break,
            Err(Error::Engine { .. }) => failures += 1,
            Err(error) => panic!("{error}"),
        }
        assert!(starts.get() < 200, "no end in sight");
        // Nothing half done is left under a final name or otherwise.
        assert!(files(folder.path()).keys().all(|name| !name.ends_with(".tmp")));
    }
    assert!(failures >= 10, "only {failures} failures: the test tests nothing");
    assert_same(reference.path(), folder.path());
}

#[test]
fn the_size_of_a_batch_changes_nothing() {
    let reference = tempfile::tempdir().unwrap();
    whole(reference.path(), &settings());
    for batch_tokens in [0, 1, 33, 10_000_000] {
        let folder = tempfile::tempdir().unwrap();
        whole(folder.path(), &Settings { batch_tokens: Some(batch_tokens), ..settings() });
        assert_same(reference.path(), folder.path());
    }
}

#[test]
fn cancelled_between_batches_and_gone_on_with() {
    let reference = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    session(reference.path(), &[model(|| mock("small"))], &corpora, &settings()).0.unwrap();

    let folder = tempfile::tempdir().unwrap();
    for batches in 1..=30 {
        let cancel = AtomicBool::new(false);
        let mut seen = 0;
        let mut events = |event| {
            if matches!(event, Event::Progress { .. }) {
                seen += 1;
                cancel.store(seen >= batches, Ordering::Relaxed);
            }
        };
        let mut study = Study::create_or_open(folder.path()).unwrap();
        let models = [model(|| mock("small"))];
        match measure(&mut study, &models, &corpora, &settings(), &mut events, &cancel) {
            Ok(_) => break,
            Err(error @ Error::Cancelled) => {
                assert!(error.to_string().contains("run the same command again"));
            }
            Err(error) => panic!("{error}"),
        }
        assert!(batches < 30, "no end in sight");
    }
    assert_same(reference.path(), folder.path());
}

#[test]
fn a_finished_run_is_not_measured_again() {
    let folder = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    session(folder.path(), &[model(|| mock("small"))], &corpora, &settings()).0.unwrap();
    let before = files(folder.path());
    // An engine that would fail at once is not even asked.
    let refusing = model(|| {
        let mut engine = mock("small");
        engine.fail_at_window = Some(0);
        engine
    });
    let (result, events) = session(folder.path(), &[refusing], &corpora, &settings());
    result.unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::RunFinished { reused: true, .. })));
    assert_eq!(before, files(folder.path()));
}

#[test]
fn a_damaged_or_lost_part_is_measured_again_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    let again = || session(folder.path(), &[model(|| mock("small"))], &corpora, &settings());
    again().0.unwrap();
    let before = files(folder.path());
    let part = before.keys().find(|name| name.ends_with("part-00001.parquet")).unwrap();
    let path = folder.path().join(part);

    fs::write(&path, &before[part][..before[part].len() / 2]).unwrap();
    let (result, events) = again();
    result.unwrap();
    let damaged = |event: &Event| matches!(event, Event::Warning(Warning::DamagedPart { file, .. }) if *file == path);
    assert!(events.iter().any(damaged), "{events:?}");
    assert_eq!(before, files(folder.path()));

    fs::remove_file(&path).unwrap();
    again().0.unwrap();
    assert_eq!(before, files(folder.path()));
}

#[test]
fn every_changed_input_is_a_new_run() {
    let folder = tempfile::tempdir().unwrap();
    let base = settings();
    let runs = || Study::open(folder.path()).unwrap().runs().unwrap();
    let mut expected = 0;
    let mut measured = |model, documents, settings: &Settings| {
        let corpora = [corpus("a", documents)];
        session(folder.path(), &[model], &corpora, settings).0.unwrap();
        expected += 1;
        let runs = runs();
        assert_eq!(runs.len(), expected);
        assert_eq!(runs.iter().filter(|run| run.current).count(), 1);
    };
    measured(model(|| mock("m")), documents(), &base);
    let other_weights = model(|| {
        let mut engine = mock("m");
        engine.model_mut().weights_sha256.replace_range(..1, "x");
        engine
    });
    measured(other_weights, documents(), &base);
    let mut other_text = documents();
    other_text[3].text.push_str(" w1");
    measured(model(|| mock("m")), other_text, &base);
    measured(model(|| mock("m")), documents(), &Settings { stride: Some(8), ..base.clone() });
    measured(model(|| mock("m")), documents(), &Settings { tokens: Some(300), ..base.clone() });
    let rows = relscale_records::provenance::VocabularyRule::Rows;
    measured(
        model(|| mock("m")),
        documents(),
        &Settings { vocabulary: Some(rows), ..base.clone() },
    );
    let prefix = Prefix::Id(common::WORDS);
    measured(model(|| mock("m")), documents(), &Settings { prefix, ..base.clone() });

    // And back again: the first run is still there, is taken, and is current once more.
    let (result, events) =
        session(folder.path(), &[model(|| mock("m"))], &[corpus("a", documents())], &base);
    result.unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::RunFinished { reused: true, .. })));
    assert_eq!(runs().len(), 7);
    let current: Vec<_> = runs().into_iter().filter(|run| run.current).collect();
    assert_eq!(current.len(), 1);
    assert_eq!(current[0].record.provenance.limit, None);
}

#[test]
fn the_first_starts_parts_are_kept_when_another_size_is_asked_for() {
    let reference = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    session(reference.path(), &[model(|| mock("m"))], &corpora, &settings()).0.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let failing = model(|| {
        let mut engine = mock("m");
        engine.fail_at_window = Some(20);
        engine
    });
    session(folder.path(), &[failing], &corpora, &settings()).0.unwrap_err();
    let other = Settings { part_tokens: 7, ..settings() };
    session(folder.path(), &[model(|| mock("m"))], &corpora, &other).0.unwrap();
    assert_same(reference.path(), folder.path());
}

/// A disk that fills up under a part while others are scored: `/dev/full` stands where the part
/// would be written.
#[cfg(target_os = "linux")]
#[test]
fn a_part_that_cannot_be_written_stops_the_run_with_the_reason() {
    let reference = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    session(reference.path(), &[model(|| mock("m"))], &corpora, &settings()).0.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create_or_open(folder.path()).unwrap();
    let (mut finished, mut full) = (Vec::new(), None);
    let mut events = |event| match event {
        Event::RunStarted { folder, .. } => {
            full = Some(relscale_records::atomic::faults::full(&folder.join("part-00002.parquet")));
        }
        Event::PartFinished { file, .. } => {
            assert!(file.exists(), "{} was told to be finished", file.display());
            finished.push(file);
        }
        _ => {}
    };
    let models = [model(|| mock("m"))];
    let stop = AtomicBool::new(false);
    let error =
        measure(&mut study, &models, &corpora, &settings(), &mut events, &stop).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("part-00002.parquet") && message.contains("the disk is full"),
        "{message}"
    );
    assert_eq!(finished.len(), 2);
    drop((study, full));
    // Neither the part nor any after it, and nothing half done.
    let names = files(folder.path());
    let parts: Vec<&String> = names.keys().filter(|name| name.contains("part-")).collect();
    assert_eq!(parts.len(), 2, "{parts:?}");

    session(folder.path(), &[model(|| mock("m"))], &corpora, &settings()).0.unwrap();
    assert_same(reference.path(), folder.path());
}

/// What was measured: every file but the parts.
fn without_parts(folder: &std::path::Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    files(folder).into_iter().filter(|(name, _)| !name.contains("part-")).collect()
}

fn remove(folder: &std::path::Path, which: &str) {
    for name in files(folder).keys().filter(|name| name.contains(which)) {
        fs::remove_file(folder.join(name)).unwrap();
    }
}

fn reused(events: &[Event]) -> Vec<bool> {
    let reused = |event: &Event| match event {
        Event::RunFinished { reused, .. } => Some(*reused),
        _ => None,
    };
    events.iter().filter_map(reused).collect()
}

#[test]
fn a_study_that_came_without_its_rows_stays_finished_unless_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    let start = |settings: &Settings| {
        let (result, events) = session(folder.path(), &[model(|| mock("m"))], &corpora, settings);
        (result.unwrap().remove(0), reused(&events))
    };
    let (first, _) = start(&settings());
    let (whole, rest) = (files(folder.path()), without_parts(folder.path()));
    let tallies = || Study::open(folder.path()).unwrap().tallies().unwrap();
    let sums = tallies();
    remove(folder.path(), "part-");

    // With and without the memory of what was read.
    for _ in 0..2 {
        let (again, reused) = start(&settings());
        assert_eq!(
            (again.done, again.summary, reused),
            (first.done.clone(), first.summary, vec![true])
        );
        assert_eq!(files(folder.path()), rest);
        assert_eq!(tallies(), sums);
        let _ = fs::remove_file(folder.path().join(relscale_measure::known::FILE));
    }
    assert_eq!(start(&Settings { rows: true, ..settings() }).1, [false]);
    assert_eq!(files(folder.path()), whole);
    assert_eq!(start(&Settings { rows: true, ..settings() }).1, [true]);

    // Some of the parts are no study without rows.
    remove(folder.path(), "part-00001");
    assert_eq!(start(&settings()).1, [false]);
    assert_eq!(files(folder.path()), whole);
}

#[test]
fn rows_asked_for_and_interrupted_are_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    let with = |fail_at_window, rows| {
        let engine = model(move || {
            let mut engine = mock("m");
            engine.fail_at_window = fail_at_window;
            engine
        });
        session(folder.path(), &[engine], &corpora, &Settings { rows, ..settings() })
    };
    with(None, false).0.unwrap();
    let whole = files(folder.path());
    remove(folder.path(), "part-");
    with(Some(40), true).0.unwrap_err();
    let some = files(folder.path());
    assert!(some.len() < whole.len() && some.keys().any(|name| name.contains("part-")));
    // The sums hold as ever, and the next start finishes the rows, asked for or not.
    Study::open(folder.path()).unwrap().tallies().unwrap();
    let (result, events) = with(None, false);
    result.unwrap();
    assert_eq!(reused(&events), [false]);
    assert_eq!(files(folder.path()), whole);
}

#[test]
fn sums_that_are_lost_or_wrong_are_written_by_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents()), corpus("b", documents().split_off(4))];
    let start = || {
        let _ = fs::remove_file(folder.path().join(relscale_measure::known::FILE));
        let (result, events) =
            session(folder.path(), &[model(|| mock("m"))], &corpora, &settings());
        result.unwrap();
        reused(&events)
    };
    start();
    let whole = files(folder.path());
    let tallies: Vec<&String> =
        whole.keys().filter(|name| name.ends_with("tally.parquet")).collect();
    assert_eq!(tallies.len(), 2);
    let path = folder.path().join(tallies[0]);
    let (mine, other) = (&whole[tallies[0]], &whole[tallies[1]]);
    for wrong in [None, Some(&mine[..mine.len() / 2]), Some(&other[..])] {
        match wrong {
            None => fs::remove_file(&path).unwrap(),
            Some(bytes) => fs::write(&path, bytes).unwrap(),
        }
        assert_eq!(start(), [true, true]);
        assert_eq!(files(folder.path()), whole);
    }
    // With nothing but wrong sums a run is not finished.
    remove(folder.path(), "part-");
    fs::write(&path, other).unwrap();
    let reused = start();
    assert_eq!(reused.iter().filter(|reused| !**reused).count(), 1);
    assert!(files(folder.path())[tallies[0]] == *mine);
}

/// Killed between the last part and the sums: a disk that is full then leaves the same.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_ended_before_its_sums_were_written_ends_with_the_same_bytes() {
    let reference = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    session(reference.path(), &[model(|| mock("m"))], &corpora, &settings()).0.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create_or_open(folder.path()).unwrap();
    let mut full = None;
    let mut events = |event| {
        if let Event::RunStarted { folder, .. } = event {
            full = Some(relscale_records::atomic::faults::full(&folder.join("tally.parquet")));
        }
    };
    let stop = AtomicBool::new(false);
    let models = [model(|| mock("m"))];
    let error =
        measure(&mut study, &models, &corpora, &settings(), &mut events, &stop).unwrap_err();
    assert!(error.to_string().contains("tally.parquet: cannot write"), "{error}");
    drop((study, full));
    let names = files(folder.path());
    assert!(names.keys().any(|name| name.ends_with("done.json")));
    assert!(!names.keys().any(|name| name.contains("tally.parquet")), "{names:?}");

    let (result, events) = session(folder.path(), &[model(|| mock("m"))], &corpora, &settings());
    result.unwrap();
    assert_eq!(reused(&events), [true]);
    assert_same(reference.path(), folder.path());
}
