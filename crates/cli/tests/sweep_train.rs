//! `relscale sweep train PLAN`: a plan trained on a text of one's own, killed on the way, and what
//! is refused.

mod common;

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Place, files};
use serde_json::Value;

/// A training text, a held-out text, and a plan of two runs of a few hundred small steps.
fn ready(place: &Place) {
    let words = [
        "rank", "token", "of", "the", "right", "model", "scale", "law", "is", "a", "gap", "closes",
    ];
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut paragraphs = |count: usize| {
        (0..count)
            .map(|_| (0..40).map(|_| words[next() % 3 + next() % 10]).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
            .join(".\n\n")
    };
    place.text("train.txt", &paragraphs(60));
    place.text("test.txt", &paragraphs(10));
    let outcome = place.run(&[
        "sweep",
        "plan",
        "--preset",
        "small",
        "--budgets",
        "2e8",
        "--widths",
        "8,16",
        "--vocabulary",
        "280",
        "--sequence",
        "16",
        "--out",
        "plan.json",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
}

const TRAIN: [&str; 10] = [
    "sweep",
    "train",
    "plan.json",
    "--corpus",
    "words=train.txt",
    "--held-out",
    "test.txt",
    "--held-out-tokens",
    "320",
    "--out",
];

fn train(out: &str) -> Vec<&str> {
    [&TRAIN[..], &[out]].concat()
}

fn all(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let name = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
    files(folder)
        .into_iter()
        .map(|(path, bytes)| (name(&path), bytes))
        .filter(|(name, _)| name != ".lock")
        .collect()
}

#[test]
fn a_plan_is_trained_and_measured() {
    let place = Place::new();
    ready(&place);
    let mut outcome = place.run(&train("sweep"));
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    // Another instruction set gives other last bits, and hundreds of steps make them visible.
    let loss = regex::Regex::new(r"\b\d\.\d{4}\b").unwrap();
    for text in [&mut outcome.out, &mut outcome.err] {
        *text = loss.replace_all(text, "[LOSS]").into_owned();
    }
    outcome.shows("sweep-train");
    let table = std::fs::read_to_string(place.path("sweep/runs.csv")).unwrap();
    assert!(table.lines().nth(1).unwrap().contains(",words,2e8,train,"), "{table}");
    let models: Vec<String> = all(&place.path("sweep")).into_iter().map(|(name, _)| name).collect();
    for part in [
        "config.json",
        "curve.parquet",
        "model.safetensors",
        "run.json",
        "tokenizer.json",
        "tokenizer_config.json",
    ] {
        assert_eq!(
            models.iter().filter(|name| name.ends_with(&format!("/{part}"))).count(),
            2,
            "{models:?}"
        );
    }
    // Again: kept, the same bytes; the folder stands for its plan.
    let before = all(&place.path("sweep"));
    let mut again = train("sweep");
    again[2] = "sweep";
    let again = place.run(&again);
    assert_eq!(again.code, Some(0), "{}", again.screen());
    assert!(again.err.contains("finished already, kept"), "{}", again.err);
    assert!(all(&place.path("sweep")) == before);
    // The loss that was written is the loss that is measured.
    let measured = place.run(&[
        "measure", "--model", "sweep", "--corpus", "test.txt", "--out", "study", "--length", "16",
    ]);
    assert_eq!(measured.code, Some(0), "{}", measured.screen());
    let run = &before.iter().find(|(name, _)| name.ends_with("run.json")).unwrap().1;
    let run: Value = serde_json::from_slice(run).unwrap();
    assert_eq!(
        (run["status"].as_str(), run["text"]["corpora"].as_str()),
        (Some("finished"), Some("words"))
    );
}

/// The program itself, killed with its checkpoints on the disk: the end is that of one that was
/// left alone.
#[test]
fn a_killed_command_goes_on_to_the_same_bytes() {
    let place = Place::new();
    ready(&place);
    assert_eq!(place.run(&train("alone")).code, Some(0));
    let arguments = [train("killed"), vec!["--checkpoint-every", "0"]].concat();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_relscale"));
    command
        .current_dir(place.path(""))
        .args(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let checkpoint = |run: &str| place.path("killed").join(run).join("checkpoint.safetensors");
    let runs: Vec<String> = {
        let plan: Value =
            serde_json::from_slice(&std::fs::read(place.path("plan.json")).unwrap()).unwrap();
        plan["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let under_way = |run: &String| {
        checkpoint(run).exists() && !place.path("killed").join(run).join("run.json").exists()
    };
    let began = Instant::now();
    loop {
        let mut child = command.spawn().unwrap();
        while !checkpoint(&runs[0]).exists() && child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(60), "no checkpoint came");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if runs.iter().any(under_way) {
            break;
        }
        // This process slept too long, and the run was over: once more.
        assert!(began.elapsed() < Duration::from_secs(60), "it is never in the middle of a run");
        std::fs::remove_dir_all(place.path("killed")).unwrap();
    }
    let end = place.run(&arguments);
    assert_eq!(end.code, Some(0), "{}", end.screen());
    assert!(end.err.contains("goes on after step"), "{}", end.err);
    assert!(all(&place.path("alone")) == all(&place.path("killed")));
}

#[test]
fn what_cannot_be_trained_is_refused() {
    let place = Place::new();
    ready(&place);
    let start = |more: &[&str]| place.run(&[&["sweep", "train"], more].concat());
    start(&["none.json", "--out", "sweep"])
        .refuses(3, &["there is no plan none.json", "relscale sweep plan"]);
    start(&["train.txt", "--out", "sweep"]).refuses(3, &["train.txt: not a plan"]);
    start(&["plan.json", "--size", "3k", "--out", "sweep"]).refuses(3, &["plan.json is a plan"]);
    start(&["small", "--evaluations", "3", "--out", "sweep"]).refuses(3, &["recipe of a family"]);
    start(&["plan.json", "--corpus", "train.txt", "--out", "sweep"]).refuses(2, &["--held-out"]);
    place.text("short.txt", "too short");
    start(&["plan.json", "--corpus", "train.txt", "--held-out", "short.txt", "--out", "sweep"])
        .refuses(3, &["held-out text has"]);
    start(&["plan.json", "--corpus", "short.txt", "--held-out", "test.txt", "--out", "sweep"])
        .refuses(3, &["plan with --vocabulary"]);
    place.run(&[
        "sweep",
        "plan",
        "--preset",
        "marin",
        "--budgets",
        "1e18",
        "--vocabulary",
        "280",
        "--out",
        "marin.json",
    ]);
    let mut marin = train("sweep");
    marin[2] = "marin.json";
    place.run(&marin).refuses(3, &["held-out text has", "4096"]);
    assert!(!place.path("sweep").exists());
}
