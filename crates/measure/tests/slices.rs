//! Slices of a run, measured by themselves and merged: the very bytes of one process.

mod common;

use std::path::{Path, PathBuf};

use common::{assert_same, corpus, documents, files, mock, model, session, settings};
use relscale_measure::{Error, Settings};
use relscale_records::Study;
use relscale_records::study::{ComputedOn, MergedRun, SliceOf, merge};

fn part(folder: &Path, index: u32, of: u32) -> Settings {
    let slice = Some(SliceOf { index, of });
    let settings = Settings { slice, ..settings() };
    let corpora = [corpus("a", documents()), corpus("b", documents().split_off(4))];
    let models = [model(|| mock("small")), model(|| mock("large"))];
    session(folder, &models, &corpora, &settings).0.unwrap();
    settings
}

fn whole(folder: &Path) {
    let corpora = [corpus("a", documents()), corpus("b", documents().split_off(4))];
    let models = [model(|| mock("small")), model(|| mock("large"))];
    session(folder, &models, &corpora, &settings()).0.unwrap();
}

fn merged(into: &Path, from: &[PathBuf]) -> relscale_records::Result<Vec<MergedRun>> {
    let studies: Vec<Study> = from.iter().map(|path| Study::open(path).unwrap()).collect();
    merge(&mut Study::create_or_open(into).unwrap(), &studies)
}

#[test]
fn merged_slices_are_the_bytes_of_one_process_in_any_order() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    whole(&at("whole"));
    for of in [1, 2, 3, 7, 40] {
        let parts: Vec<PathBuf> = (1..=of).map(|index| at(&format!("{of}-{index}"))).collect();
        (1..=of).zip(&parts).for_each(|(index, path)| drop(part(path, index, of)));
        for (order, reversed) in [("forth", false), ("back", true)] {
            let mut parts = parts.clone();
            if reversed {
                parts.reverse();
            }
            let into = at(&format!("{of}-{order}"));
            let runs = merged(&into, &parts).unwrap();
            assert_eq!(runs.len(), 4);
            assert!(runs.iter().all(|run| run.slices == of && run.again.is_empty()));
            assert_same(&at("whole"), &into);
        }
    }
}

/// Slices from two machines: the run tells both, whichever came first.
#[test]
fn what_computed_the_slices_is_told_of_the_run() {
    let root = tempfile::tempdir().unwrap();
    let on = |processor: &str| ComputedOn { kernels: "gemm".into(), processor: processor.into() };
    let parts = [1, 2, 3].map(|index| root.path().join(format!("part-{index}")));
    for (index, (path, processor)) in (1..).zip(parts.iter().zip(["b", "a", "b"])) {
        part(path, index, 3);
        let study = Study::create_or_open(path).unwrap();
        for entry in study.runs().unwrap() {
            let mut run = study.run(&entry.folder).unwrap();
            run.add_computed_on(&on(processor)).unwrap();
            run.add_computed_on(&on(processor)).unwrap();
            assert_eq!(study.run(&entry.folder).unwrap().record().computed_on, [on(processor)]);
        }
    }
    let into = root.path().join("all");
    merged(&into, &parts).unwrap();
    let runs = Study::open(&into).unwrap().runs().unwrap();
    assert_eq!(runs.len(), 4);
    assert!(runs.iter().all(|run| run.record.computed_on == [on("a"), on("b")]), "{runs:?}");
}

#[test]
fn a_slice_is_no_run_by_itself_and_is_gone_on_with() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("part");
    let settings = part(&path, 2, 3);
    let study = Study::open(&path).unwrap();
    assert!(study.current().unwrap().is_empty(), "no law is fitted to a slice");
    let run = study.run(&study.runs().unwrap()[0].folder).unwrap();
    let before = files(&path);
    // Done: nothing is measured again; a lost part is.
    let corpora = [corpus("a", documents()), corpus("b", documents().split_off(4))];
    let models = || [model(|| mock("small")), model(|| mock("large"))];
    session(&path, &models(), &corpora, &settings).0.unwrap();
    assert!(before == files(&path), "something changed");
    std::fs::remove_file(run.part_path(0)).unwrap();
    session(&path, &models(), &corpora, &settings).0.unwrap();
    assert!(before == files(&path), "something changed");
}

#[test]
fn what_is_missing_is_named_and_what_comes_twice_is_found() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let parts: Vec<PathBuf> = (1..=3).map(|index| at(&index.to_string())).collect();
    (1..=3).zip(&parts).for_each(|(index, path)| drop(part(path, index, 3)));
    let message = merged(&at("few"), &[parts[0].clone(), parts[2].clone()]).unwrap_err();
    assert!(message.to_string().contains("lacks 2/3"), "{message}");
    assert!(Study::open(&at("few")).unwrap().current().unwrap().is_empty());

    let copy = at("copy");
    part(&copy, 2, 3);
    let mut twice = parts.clone();
    twice.insert(1, copy.clone());
    let runs = merged(&at("twice"), &twice).unwrap();
    assert!(runs.iter().all(|run| run.again.len() == 1), "{runs:?}");
    whole(&at("whole"));
    assert_same(&at("whole"), &at("twice"));
    // Once more, into what is there: nothing changes.
    let before = files(&at("twice"));
    merged(&at("twice"), &parts).unwrap();
    assert!(before == files(&at("twice")), "something changed");
    // A whole run wins over slices of it, and other cuts over nothing.
    let runs = merged(&at("both"), &[parts[0].clone(), at("whole")]).unwrap();
    assert!(runs.iter().all(|run| run.slices == 0));
    assert_same(&at("whole"), &at("both"));
}

#[test]
fn studies_of_other_models_and_texts_become_one() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let measure = |folder: &Path, name: &'static str, text: &str, settings: &Settings| {
        let corpora = [corpus(text, documents())];
        session(folder, &[model(move || mock(name))], &corpora, settings).0.unwrap();
    };
    measure(&at("one"), "small", "a", &settings());
    measure(&at("two"), "large", "a", &settings());
    measure(&at("three"), "large", "b", &settings());
    let all = [at("three"), at("one"), at("two")];
    let names: Vec<(String, String)> =
        merged(&at("all"), &all).unwrap().into_iter().map(|run| (run.model, run.corpus)).collect();
    let expected = [("large", "a"), ("large", "b"), ("small", "a")];
    assert_eq!(names, expected.map(|(model, text)| (model.to_owned(), text.to_owned())));
    assert_eq!(Study::open(&at("all")).unwrap().tallies().unwrap().len(), 3);

    // The same pair in two ways cannot be one study.
    let limited = Settings { tokens: Some(50), ..settings() };
    measure(&at("other"), "small", "a", &limited);
    let message = merged(&at("refused"), &[at("one"), at("other")]).unwrap_err().to_string();
    assert!(message.contains("small x a was measured in two ways"), "{message}");

    // What the study has begun of a run, with parts of another size, gives way to the whole run.
    let begun = Settings { part_tokens: 300, ..settings() };
    let failing = model(move || {
        let mut engine = mock("small");
        engine.fail_at_window = Some(30);
        engine
    });
    session(&at("begun"), &[failing], &[corpus("a", documents())], &begun).0.unwrap_err();
    merged(&at("begun"), &[at("one")]).unwrap();
    assert_same(&at("one"), &at("begun"));

    // The same rows in parts of another size are the same run.
    let coarse = Settings { part_tokens: 1_000, ..settings() };
    measure(&at("coarse"), "small", "a", &coarse);
    let runs = merged(&at("sizes"), &[at("coarse"), at("one")]).unwrap();
    assert!(runs.len() == 1 && runs[0].again.len() == 1, "{runs:?}");

    // The same run with other rows is a fault that must be seen.
    let bent = model(move || {
        let mut engine = mock("small");
        engine.skill = 0.9;
        engine
    });
    session(&at("bent"), &[bent], &[corpus("a", documents())], &settings()).0.unwrap();
    let message = merged(&at("refused-2"), &[at("one"), at("bent")]).unwrap_err().to_string();
    assert!(message.contains("with other rows"), "{message}");
}

#[test]
fn a_part_that_is_not_finished_is_named() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    part(&at("1"), 1, 2);
    let slice = Some(SliceOf { index: 2, of: 2 });
    let settings = Settings { slice, ..settings() };
    let corpora = [corpus("a", documents()), corpus("b", documents().split_off(4))];
    let failing = || {
        let mut engine = mock("small");
        engine.fail_at_window = Some(3);
        engine
    };
    let error = session(&at("2"), &[model(failing)], &corpora, &settings).0.unwrap_err();
    assert!(matches!(error, Error::Engine { .. }), "{error}");
    let message = merged(&at("all"), &[at("1"), at("2")]).unwrap_err().to_string();
    assert!(message.contains("lacks 2/2") && message.contains("not finished"), "{message}");
}
