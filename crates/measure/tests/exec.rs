//! Engines that are processes: the same rows as in this process, and every way to go wrong told
//! apart.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{corpus, documents, mock, model, session, settings, tokenizer_json};
use relscale_measure::engines::{EngineOptions, named};
use relscale_measure::{Draw, Event, ModelRequest, ModelSource, Result};
use relscale_records::{ScoredToken, Study};

fn engine(folder: &Path, text: &str, silence: Option<f64>) -> Result<ModelSource<'static>> {
    let (provider, argument) = named(text).unwrap();
    let asked = EngineOptions {
        argument,
        silence: silence.map(Duration::from_secs_f64),
        ..EngineOptions::default()
    };
    let request =
        ModelRequest { name: "m".into(), family: None, folder: folder.join("model"), source: None };
    provider.open(&request, &asked)
}

/// The mock process with a fault, for a folder that holds nothing but a tokenizer.
fn process(folder: &Path, fault: &str, silence: Option<f64>) -> ModelSource<'static> {
    let model = folder.join("model");
    std::fs::create_dir_all(&model).unwrap();
    std::fs::write(model.join("tokenizer.json"), tokenizer_json("null")).unwrap();
    let program = env!("CARGO_BIN_EXE_mock-engine");
    engine(folder, &format!("exec:NAME=value '{program}' 60 {fault}"), silence).unwrap()
}

fn rows(study: &Path) -> Vec<ScoredToken> {
    let run = Study::open(study).unwrap().current().unwrap().remove(0);
    run.rows().unwrap().collect::<Result<Vec<_>, _>>().unwrap().concat()
}

fn refusal(fault: &str, silence: Option<f64>) -> String {
    let root = tempfile::tempdir().unwrap();
    let source = process(root.path(), fault, silence);
    let corpora = [corpus("a", documents())];
    let study = root.path().join("study");
    session(&study, &[source], &corpora, &settings()).0.unwrap_err().to_string()
}

#[test]
fn a_process_gives_the_rows_of_this_process() {
    let root = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    let (here, there) = (root.path().join("here"), root.path().join("there"));
    let mut same = mock("mock");
    same.context = Some(32);
    session(
        &here,
        &[model(move || {
            let mut engine = mock("mock");
            engine.context = Some(32);
            engine
        })],
        &corpora,
        &settings(),
    )
    .0
    .unwrap();
    let (result, events) =
        session(&there, &[process(root.path(), "none", None)], &corpora, &settings());
    result.unwrap();
    assert_eq!(rows(&here), rows(&there));
    let scoring =
        Study::open(&there).unwrap().current().unwrap()[0].record().provenance.scoring.clone();
    assert_eq!(
        (scoring.engine.as_str(), scoring.engine_version.as_deref()),
        ("exec-mock", Some("0.1.0"))
    );
    let told = |event: &Event| matches!(event, Event::Warning(warning) if warning.to_string().contains("scores are made up"));
    assert_eq!(events.iter().filter(|event| told(event)).count(), 1);

    // Too little memory for a batch halves it, and changes nothing.
    let halved = root.path().join("halved");
    session(&halved, &[process(root.path(), "memory", None)], &corpora, &settings()).0.unwrap();
    assert_eq!(rows(&there), rows(&halved));
    // Slow is not silent.
    let slow = root.path().join("slow");
    let few = relscale_measure::Settings { tokens: Some(60), draw: Draw::First, ..settings() };
    session(&slow, &[process(root.path(), "slow", Some(0.9))], &corpora, &few).0.unwrap();
    assert_eq!(rows(&slow), rows(&there)[..60]);
}

#[test]
fn each_way_to_go_wrong_is_told_apart() {
    for (fault, words) in [
        ("dies", vec!["ended with status 3", "CUDA error: device lost"]),
        ("short", vec!["scores for", "positions"]),
        ("other", vec!["for request"]),
        ("rubbish", vec!["`Loading checkpoint shards: 100%`", "standard error"]),
        ("prints", vec!["`epoch 1: loss 3.14`"]),
        ("cut", vec!["inside a frame"]),
        ("no-memory", vec!["not enough memory, even for one window"]),
        ("says", vec!["it says: the model gave up"]),
        ("newer", vec!["version 99 of the protocol"]),
        ("miscounts", vec!["do not add up"]),
        ("unknown", vec!["ended with status 2", "mock-engine [ROWS] [FAULT]"]),
    ] {
        let message = refusal(fault, None);
        assert!(message.contains("engine `exec"), "{fault}: {message}");
        for word in words {
            assert!(message.contains(word), "{fault}: `{word}` not in {message}");
        }
    }
}

#[test]
fn silence_is_noticed_and_ended() {
    let start = Instant::now();
    let message = refusal("hangs", Some(0.3));
    assert!(message.contains("silent for 300ms"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn what_was_finished_is_kept_and_gone_on_with() {
    let root = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    let study = root.path().join("study");
    session(&study, &[process(root.path(), "dies", None)], &corpora, &settings()).0.unwrap_err();
    let parts = || {
        let run = std::fs::read_dir(study.join("runs")).unwrap().next().unwrap().unwrap().path();
        let names = std::fs::read_dir(run).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().ends_with(".parquet")).count()
    };
    let before = parts();
    assert!(before >= 2, "documents and at least one part: {before}");
    session(&study, &[process(root.path(), "none", None)], &corpora, &settings()).0.unwrap();
    let whole = root.path().join("whole");
    session(&whole, &[process(root.path(), "none", None)], &corpora, &settings()).0.unwrap();
    assert_eq!(rows(&study), rows(&whole));
}

#[test]
fn an_engine_that_ranks_over_rows_alone_is_asked_for_no_more() {
    let root = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    let study = root.path().join("study");
    let (result, events) =
        session(&study, &[process(root.path(), "poor", None)], &corpora, &settings());
    result.unwrap();
    let scoring =
        Study::open(&study).unwrap().current().unwrap()[0].record().provenance.scoring.clone();
    assert_eq!(scoring.lacks.len(), 3);
    assert_eq!(scoring.vocabulary.scored, 60);
    assert!(scoring.cautions[0].contains("bf16"), "{:?}", scoring.cautions);
    assert!(events.iter().any(|event| {
        matches!(event, Event::Warning(warning) if warning.to_string().contains("bf16"))
    }));
    let tokens = relscale_measure::Settings {
        vocabulary: Some(relscale_records::provenance::VocabularyRule::Tokens),
        ..settings()
    };
    let asked = session(&study, &[process(root.path(), "poor", None)], &corpora, &tokens).0;
    assert!(asked.unwrap_err().to_string().contains("--vocab rows"));
}

/// A Python without the package, or none at all, is told what to install.
#[test]
fn transformers_without_its_package_says_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    process(root.path(), "none", None);
    let source = engine(root.path(), "transformers", None).unwrap();
    let corpora = [corpus("a", documents())];
    let error = session(&root.path().join("study"), &[source], &corpora, &settings()).0;
    let message = error.unwrap_err().to_string();
    // Where some Python has the package, it refuses the folder, which has no model.
    let told = ["pip install ./python/relscale_engine", "cannot be started", "it says"];
    assert!(told.iter().any(|words| message.contains(words)), "{message}");
}

#[test]
fn a_command_that_cannot_be_started_is_told() {
    let root = tempfile::tempdir().unwrap();
    process(root.path(), "none", None);
    let corpora = [corpus("a", documents())];
    let missing = engine(root.path(), "exec:/nowhere/at/all --fast", None).unwrap();
    let message =
        session(&root.path().join("study"), &[missing], &corpora, &settings()).0.unwrap_err();
    assert!(message.to_string().contains("/nowhere/at/all"), "{message}");
    assert!(message.to_string().contains("cannot be started"), "{message}");
    let quote = engine(root.path(), "exec:python 'x", None).err().unwrap().to_string();
    assert!(quote.contains("quote that does not end"), "{quote}");
    assert!(named("exec").unwrap_err().contains("COMMAND"));
}
