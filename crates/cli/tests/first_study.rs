//! How a first study goes: a limit draws documents, lists have commas, families are named.

mod common;

use std::fs;

use common::{Place, files};
use relscale_testkit::TinyModel;
use serde_json::Value;

/// Documents of a few words each.
fn documents(place: &Place, name: &str, count: usize) {
    let line =
        |i: usize| format!("{{\"text\": \"the rank of token {i} is the number of {}\"}}\n", i * 7);
    place.text(name, &(0..count).map(line).collect::<String>());
}

/// The provenance of the one current run.
fn limit(place: &Place, study: &str) -> Value {
    let study_file: Value =
        serde_json::from_slice(&fs::read(place.path(study).join("study.json")).unwrap()).unwrap();
    let folder = study_file["current"].as_object().unwrap().values().next().unwrap().clone();
    let run = place.path(study).join("runs").join(folder.as_str().unwrap()).join("run.json");
    let run: Value = serde_json::from_slice(&fs::read(run).unwrap()).unwrap();
    run["provenance"]["limit"].clone()
}

#[test]
fn a_limit_draws_documents_and_first_takes_the_first() {
    let place = Place::new();
    place.model("tiny", &TinyModel::default());
    documents(&place, "texts.jsonl", 200);
    let measure = |study: &str, more: &[&str]| {
        let arguments =
            ["measure", "--model", "models/tiny", "--corpus", "texts.jsonl", "--out", study];
        place.run(&[&arguments[..], more].concat())
    };
    let drawn = measure("drawn", &["--tokens", "300"]);
    assert_eq!(drawn.code, Some(0), "{}", drawn.screen());
    assert!(drawn.err.contains("drawn by seed 20387"), "{}", drawn.screen());
    let recorded = serde_json::json!({"tokens": 300, "drawn": {"by": "sha256", "seed": 20387}});
    assert_eq!(limit(&place, "drawn"), recorded);
    measure("again", &["--tokens", "300", "--seed", "20387"]);
    let bytes = |study: &str| -> Vec<Vec<u8>> {
        files(&place.path(study).join("runs")).into_iter().map(|(_, bytes)| bytes).collect()
    };
    assert!(bytes("drawn") == bytes("again"));

    // A study of first tokens, as all were: found finished with and without the option.
    assert_eq!(measure("first", &["--tokens", "300", "--first"]).code, Some(0));
    assert_eq!(limit(&place, "first"), serde_json::json!({"tokens": 300}));
    let before = bytes("first");
    let again = measure("first", &["--tokens", "300", "--first"]);
    assert!(again.err.contains("measured before") && !again.err.contains("warning"), "{again:?}");
    let unsaid = measure("first", &["--tokens", "300"]);
    assert!(unsaid.err.contains("measured before"), "{}", unsaid.screen());
    assert!(unsaid.err.contains("its first 300 tokens are measured"), "{}", unsaid.screen());
    assert!(before == bytes("first"));
    // What is to be pasted does the same without the study.
    let commands = fs::read_to_string(place.path("first/commands.txt")).unwrap();
    assert!(commands.lines().all(|line| line.ends_with("--first")), "{commands}");

    for (more, word) in [
        (&["--seed", "3"][..], "--tokens"),
        (&["--first"], "--tokens"),
        (&["--tokens", "300", "--first", "--seed", "3"], "cannot be used with"),
    ] {
        measure("refused", more).refuses(2, &[word]);
    }
}

#[test]
fn models_and_texts_take_commas_and_names_with_commas() {
    let place = Place::new();
    place.model("a", &TinyModel::default());
    place.model("b", &TinyModel { seed: 2, ..TinyModel::default() });
    place.model("c,1", &TinyModel { seed: 3, ..TinyModel::default() });
    place.prose();
    place.text("x,y.txt", "A text whose name has a comma in it.\n");
    let outcome = place.run(&[
        "measure",
        "--model",
        "models/a,models/c,1",
        "models/b",
        "--corpus",
        "prose.txt?split=paragraphs,other=x,y.txt",
        "--out",
        "study",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    let study = fs::read_to_string(place.path("study/study.json")).unwrap();
    for pair in ["a x prose", "b x prose", "c,1 x prose", "a x other", "b x other", "c,1 x other"] {
        assert!(study.contains(&format!("\"{pair}\"")), "{pair}: {study}");
    }
}

#[test]
fn models_of_two_families_are_told_and_named_without_measuring_them_again() {
    let place = Place::new();
    let shape =
        |width, layers| TinyModel { width, layers, hidden: width * 3 / 2, ..TinyModel::default() };
    place.model("deep", &shape(8, 24));
    place.model("deeper", &shape(12, 30));
    place.model("wide", &shape(64, 1));
    place.prose();
    let measure =
        ["measure", "--corpus", "prose.txt?split=paragraphs", "--out", "study", "--model"];
    let outcome = place.run(&[&measure[..], &["models"]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    let fit = || {
        let outcome = place.run(&["fit", "study", "--resamples", "50", "--verbose"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
        outcome.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let screen = fit();
    let told = "times as wide for its depth as deep";
    assert!(screen.contains(told) && screen.contains("--family NAME"), "{screen}");
    let page = |place: &Place| {
        assert_eq!(place.run(&["report", "study"]).code, Some(0));
        fs::read_to_string(place.path("study/report.html")).unwrap()
    };
    assert!(page(&place).contains("as wide for its depth as"));

    let named =
        place.run(&[&measure[..], &["models/deep", "models/deeper", "--family", "deep"]].concat());
    assert_eq!(named.code, Some(0), "{}", named.screen());
    assert_eq!(named.err.matches("measured before").count(), 2, "{}", named.screen());
    let study = fs::read_to_string(place.path("study/study.json")).unwrap();
    assert!(
        study.contains("\"deeper\": \"deep\"") && !study.contains("\"wide\": \"deep\""),
        "{study}"
    );
    assert!(!fit().contains(told));
}
