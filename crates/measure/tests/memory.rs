//! Memory is flat in the length of a corpus: ten times the documents, the same peak.
//!
//! A peak belongs to a process, so each length is measured by this test program itself, started
//! again with only `child` to run.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::process::{Command, Stdio};

use common::{mock, model, session, settings};
use relscale_corpus::Document;
use relscale_measure::{CorpusSource, Settings};

/// Tells the child how many documents to measure.
const DOCUMENTS: &str = "RELSCALE_TEST_MEMORY_DOCUMENTS";

/// Tells it how many of them a limit draws, if any.
const DRAWN: &str = "RELSCALE_TEST_MEMORY_DRAWN";

/// Where it writes its peak.
const ANSWER: &str = "RELSCALE_TEST_MEMORY_ANSWER";

/// Tokens a document.
const TOKENS: u32 = 8;

/// Not a test: what is measured. Without its variable it passes at once.
#[test]
#[ignore = "only run as a child of the test beside it"]
fn child() {
    let Ok(documents) = std::env::var(DOCUMENTS) else { return };
    let count: u32 = documents.parse().unwrap();
    let drawn: Option<u32> = std::env::var(DRAWN).ok().map(|drawn| drawn.parse().unwrap());
    let document = |i: u32| {
        Document::new(format!("doc-{i}"), common::text(TOKENS, i))
            .with_tag("kind", (i % 9).to_string())
    };
    let corpus = CorpusSource {
        name: "long".into(),
        description: "made up as it is read".into(),
        origin: None,
        drawn: false,
        documents: Box::new(move || Ok(Box::new((0..count).map(move |i| Ok(document(i)))))),
        files: None,
        reading: Default::default(),
    };
    let settings = Settings {
        part_tokens: 50_000,
        batch_tokens: Some(4_096),
        text_memory: 1 << 20,
        tokens: drawn.map(|drawn| u64::from(drawn * (TOKENS - 1))),
        ..settings()
    };
    let folder = tempfile::tempdir().unwrap();
    let done = session(folder.path(), &[model(|| mock("m"))], &[corpus], &settings)
        .0
        .unwrap()
        .remove(0)
        .done;
    assert_eq!(done.totals.scored, u64::from(drawn.unwrap_or(count) * (TOKENS - 1)));
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    fs::write(std::env::var(ANSWER).unwrap(), peak.split_whitespace().next().unwrap()).unwrap();
}

/// Kilobytes that the child had at most.
fn peak(documents: u32, drawn: Option<u32>) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let answer = folder.path().join("peak");
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored"])
        .envs(drawn.map(|drawn| (DRAWN, drawn.to_string())))
        .env(DOCUMENTS, documents.to_string())
        .env(ANSWER, &answer)
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    fs::read_to_string(answer).unwrap().parse().unwrap()
}

#[test]
fn ten_times_the_documents_take_no_more_memory() {
    let (short, long) = (peak(15_000, None), peak(150_000, None));
    // Names and tags alone would be 90 MB. What is allowed for are the allocator and a row group of
    // the table of documents, which the short one does not fill: 10 MB were seen, and no more with
    // 600 000 documents.
    assert!(long < short + 25_000, "{short} kB for 15 000 documents, {long} kB for 150 000");
}

#[test]
fn drawing_from_twenty_times_the_documents_takes_no_more_memory() {
    let drawn = Some(10_000);
    let (short, long) = (peak(30_000, drawn), peak(600_000, drawn));
    assert!(long < short + 10_000, "{short} kB of 30 000 documents, {long} kB of 600 000");
}
