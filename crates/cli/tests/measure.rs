//! `relscale measure`: what it shows, what it refuses, how it stops.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Place, files};
use relscale_testkit::TinyModel;
use relscale_testkit::data::{MACHINE, skipped};

/// Two sizes of a family.
fn family(place: &Place) {
    place.model("tiny-a", &TinyModel::default());
    place.model("tiny-b", &TinyModel { width: 32, hidden: 48, seed: 2, ..TinyModel::default() });
}

#[test]
fn a_family_on_two_texts() {
    let place = Place::new();
    family(&place);
    place.prose();
    let second = "other=prose.txt?split=paragraphs";
    let arguments =
        ["measure", "--model", "models", "--corpus", "prose.txt", second, "--out", "study"];
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("measure");

    // The same again measures nothing and changes nothing.
    let before = files(&place.path("study/runs"));
    let again = place.run(&arguments);
    again.shows("measure-again");
    assert!(before == files(&place.path("study/runs")));

    // Changed weights are a new run, never a stale hit; the old one stays on disk.
    place.model("tiny-b", &TinyModel { width: 32, hidden: 48, seed: 3, ..TinyModel::default() });
    let changed = place.run(&arguments);
    assert_eq!(changed.code, Some(0), "{}", changed.screen());
    assert_eq!(changed.err.matches("measured before").count(), 2, "{}", changed.screen());
    let after = files(&place.path("study/runs"));
    assert_eq!(after.len(), before.len() * 3 / 2);
    assert!(before.iter().all(|file| after.contains(file)));
}

#[test]
fn every_protocol_prefix_and_vocabulary() {
    let place = Place::new();
    let model = place.model("tiny", &TinyModel::default());
    place.prose();
    for protocol in ["document", "paper", "rolling", "strided", "half-window"] {
        let study = format!("study-{protocol}");
        let outcome = place.run(&[
            "measure",
            "--model",
            &model.to_string_lossy(),
            "--corpus",
            "prose.txt",
            "--out",
            &study,
            "--protocol",
            protocol,
            "--length",
            "32",
            "--bos",
            "280",
            "--vocab",
            "rows",
            "--batch-tokens",
            "100",
            "--threads",
            "1",
        ]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    }
}

#[test]
fn a_limit_beyond_the_text_is_told() {
    let place = Place::new();
    place.model("tiny", &TinyModel::default());
    place.prose();
    let outcome = place.run(&[
        "measure",
        "--model",
        "models",
        "--corpus",
        "prose.txt",
        "--out",
        "study",
        "--tokens",
        "100000",
    ]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.err.contains("warning: prose: "), "{}", outcome.screen());
    assert!(outcome.err.contains("100000"), "{}", outcome.screen());
}

#[test]
fn special_tokens_in_the_text_and_twins_are_told() {
    let place = Place::new();
    place.model("tiny", &TinyModel::default());
    place.model("twin", &TinyModel::default());
    place.text("page.txt", "One page.<|endoftext|>Another page.");
    let outcome =
        place.run(&["measure", "--model", "models", "--corpus", "page.txt", "--out", "study"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.err.contains("spells out 1 special token"), "{}", outcome.screen());
    assert!(outcome.err.contains("same weights"), "{}", outcome.screen());
    // And a fit must not take them for two models.
    place.run(&["fit", "study"]).refuses(3, &["same weights"]);
}

#[test]
fn bad_texts_are_refused() {
    let place = Place::new();
    place.model("tiny", &TinyModel::default());
    place.text("empty.txt", "");
    place.text("one.txt", "a");
    fs::write(place.path("latin.txt"), b"caf\xe9").unwrap();
    place.text("broken.jsonl", "{\"text\": \"fine\"}\n{\"text\": ");
    place.text("field.jsonl", "{\"content\": \"fine\"}\n");
    let refusals: [(&str, &[&str]); 8] = [
        ("empty.txt", &["empty"]),
        ("one.txt", &["one", "hint: "]),
        ("latin.txt", &["latin.txt", "not UTF-8", "hint: convert the file"]),
        ("broken.jsonl", &["broken.jsonl, row 2", "not a JSON object"]),
        ("field.jsonl", &["row 1", "no field `text`", "content"]),
        ("missing.txt", &["cannot read missing.txt", "hint: see that the path is right"]),
        ("prose.txt?split=verses", &["split=verses", "file, lines, paragraphs or titles"]),
        ("crates:poems", &["crates:poems", "crates:code"]),
    ];
    for (corpus, words) in refusals {
        place
            .run(&["measure", "--model", "models", "--corpus", corpus, "--out", "study"])
            .refuses(3, words);
    }
}

#[test]
fn bad_models_are_refused() {
    let place = Place::new();
    place.prose();
    let small = place.model("small", &TinyModel { rows: 100, ..TinyModel::default() });
    let spoilt = place.model("spoilt", &TinyModel { spoilt: true, ..TinyModel::default() });
    let cut = place.model("cut", &TinyModel::default());
    let weights = fs::read(cut.join("model.safetensors")).unwrap();
    fs::write(cut.join("model.safetensors"), &weights[..weights.len() / 2]).unwrap();
    let bare = place.model("bare", &TinyModel::default());
    fs::remove_file(bare.join("model.safetensors")).unwrap();
    fs::create_dir(place.path("void")).unwrap();
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    let refusals: [(String, &[&str]); 7] = [
        (text(small), &["tokenizer does not fit", "280", "100", "hint: "]),
        (text(spoilt), &["spoilt", "non-finite", "check the checkpoint"]),
        (text(cut), &["model.safetensors"]),
        (text(bare), &["bare", "hint: "]),
        ("void".into(), &["void", "no config.json", "hint: give the folder that holds"]),
        (
            "EleutherAI/pythia-70m".into(),
            &["it is not in the cache", "HF_HUB_OFFLINE", "hf download EleutherAI/pythia-70m"],
        ),
        ("models/nowhere".into(), &["models/nowhere: there is nothing", "check the path"]),
    ];
    for (model, words) in refusals {
        place
            .run(&["measure", "--model", &model, "--corpus", "prose.txt", "--out", "study"])
            .refuses(3, words);
    }
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let place = Place::new();
    place.model("tiny", &TinyModel::default());
    place.prose();
    let run = |extra: &[&str]| {
        let arguments = ["measure", "--model", "models", "--corpus", "prose.txt", "--out", "study"];
        place.run(&[&arguments, extra].concat())
    };
    run(&["--protocol", "perplexity"]).refuses(2, &["perplexity", "half-window"]);
    run(&["--vocab", "all"]).refuses(2, &["tokens or rows"]);
    run(&["--bos", "yes"]).refuses(2, &["auto, none or a token id"]);
    run(&["--tokens", "0"]).refuses(2, &["0 is not in 1.."]);
    run(&["--length", "32", "--stride", "33"]).refuses(3, &["protocol `document`", "stride"]);
    run(&["--length", "65"]).refuses(3, &["65", "64"]);
    run(&["--protocol", "rolling"]).refuses(3, &["rolling", "prefix"]);
    run(&["--bos", "100000"]).refuses(3, &["100000"]);
    place.run(&["measure", "--model", "models", "--corpus", "prose.txt"]).refuses(2, &["--out"]);
}

#[test]
fn a_folder_of_something_else_is_not_written_into() {
    let place = Place::new();
    place.model("tiny", &TinyModel::default());
    place.prose();
    fs::create_dir(place.path("photos")).unwrap();
    place.text("photos/beach.jpg", "sand");
    let outcome =
        place.run(&["measure", "--model", "models", "--corpus", "prose.txt", "--out", "photos"]);
    outcome.refuses(3, &["photos", "not a relscale study", "beach.jpg", "hint: "]);
    outcome.shows("measure-refused");
    assert_eq!(files(&place.path("photos")).len(), 1);
}

/// Ctrl-C: what is finished stays, the same command goes on, and nothing tells the end from an
/// unbroken run.
#[test]
#[cfg(unix)]
fn ctrl_c_stops_well_and_the_same_command_goes_on() {
    let place = Place::new();
    place.model("tiny", &TinyModel { layers: 3, ..TinyModel::default() });
    let sentence = "All that was measured before the stop is kept, and the rest is done later. ";
    place.text("long.txt", &format!("{}\n\n", sentence.repeat(20)).repeat(200));
    let corpus = "long.txt?split=paragraphs";
    let arguments = ["measure", "--model", "models", "--corpus", corpus, "--out", "study"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_relscale"))
        .current_dir(place.path(""))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first finished part shows that the work is under way.
    let deadline = Instant::now() + Duration::from_secs(60);
    let part = |name: &str| {
        let runs = fs::read_dir(place.path("study/runs")).ok()?;
        runs.flatten().map(|run| run.path().join(name)).find(|path| path.exists())
    };
    let first = loop {
        if let Some(first) = part("part-00000.parquet") {
            break first;
        }
        assert!(
            Instant::now() < deadline && child.try_wait().unwrap().is_none(),
            "no part appears"
        );
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
    let output = child.wait_with_output().unwrap();
    let err = place.redact(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("stopped: ") && err.contains("run the same command again"), "{err}");
    assert!(output.stdout.is_empty());
    let kept = fs::read(&first).unwrap();

    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    assert!(outcome.err.contains("goes on after"), "{}", outcome.screen());
    assert_eq!(fs::read(&first).unwrap(), kept);
    let unbroken =
        place.run(&["measure", "--model", "models", "--corpus", corpus, "--out", "unbroken"]);
    assert_eq!(outcome.out, unbroken.out);
    let bytes = |study: &str| {
        files(&place.path(study)).into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>()
    };
    assert!(bytes("study/runs") == bytes("unbroken/runs"));
}

/// Ctrl-C while a long text is tokenised: nothing was scored yet, and the program ends all the
/// same.
#[test]
#[cfg(unix)]
fn ctrl_c_is_seen_while_a_text_is_read() {
    let place = Place::new();
    place.model("tiny", &TinyModel::default());
    let line = "A long text takes a while to read, and nobody should have to wait for its end. ";
    place.text("long.txt", &line.repeat(600_000));
    let mut child = Command::new(env!("CARGO_BIN_EXE_relscale"))
        .current_dir(place.path(""))
        .args([
            "measure",
            "--model",
            "models",
            "--corpus",
            "long.txt",
            "--out",
            "study",
            "--threads",
            "1",
        ])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The study folder is there before the first text is opened.
    let deadline = Instant::now() + Duration::from_secs(60);
    while !place.path("study/vocabularies").exists() {
        assert!(
            Instant::now() < deadline && child.try_wait().unwrap().is_none(),
            "no study appears"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
    let asked = Instant::now();
    let output = child.wait_with_output().unwrap();
    let err = place.redact(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{err}");
    // Far less than the minute that all of it would take.
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    assert!(!err.contains("long: "), "it was not read to its end: {err}");
}

/// The shipped family on the crate sources: the second call finds everything finished. With
/// `--tokens 500000` in place of 2000 it takes as long, but the first call takes minutes.
///
///     cargo test --release -p relscale --test measure -- --ignored
#[test]
#[cfg(unix)]
#[ignore = "about speed, so for a release build on a machine that has nothing else to do"]
fn a_finished_study_of_the_shipped_family_returns_within_a_second() {
    let place = Place::new();
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/family");
    let mut arguments =
        vec!["measure", "--model", assets.to_str().unwrap(), "--tokens", "2000", "--out", "study"];
    arguments.extend(["--corpus", "crates:code", "crates:docs", "crates:markdown"]);
    let first = place.run(&arguments);
    assert_eq!(first.code, Some(0), "{}", first.screen());
    let before = files(&place.path("study"));
    let start = Instant::now();
    let again = place.run(&arguments);
    let taken = start.elapsed();
    assert_eq!(again.err.matches("measured before").count(), 21, "{}", again.screen());
    assert_eq!(again.out, first.out);
    assert!(files(&place.path("study")) == before);
    assert!(taken < Duration::from_secs(1), "{taken:?}");
}

/// A disk without room: the error says so, and when there is room the same command goes on.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_loses_nothing() {
    let place = Place::new();
    place.model("tiny", &TinyModel::default());
    place.text(
        "long.txt",
        &"Words that take room on the disk, one after another.\n\n".repeat(6_000),
    );
    let disk = place.path("disk");
    fs::create_dir(&disk).unwrap();
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=96k", "tmpfs"]).arg(&disk).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        skipped(MACHINE, "a small disk cannot be mounted here");
        return;
    }
    let study = disk.join("study");
    let arguments = [
        "measure",
        "--model",
        "models",
        "--corpus",
        "long.txt?split=paragraphs",
        "--out",
        &study.to_string_lossy(),
    ];
    let full = place.run(&arguments);
    let left = fs::read_dir(&study).map(|entries| entries.count());
    let grown = Command::new("mount").args(["-o", "remount,size=64m"]).arg(&disk).status();
    let outcome = place.run(&arguments);
    let unmounted = Command::new("umount").arg(&disk).status();
    full.refuses(1, &["No space left on device", "hint: ", "run the same command again"]);
    assert!(left.is_ok_and(|left| left > 0));
    assert!(
        grown.is_ok_and(|status| status.success())
            && unmounted.is_ok_and(|status| status.success())
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
}
