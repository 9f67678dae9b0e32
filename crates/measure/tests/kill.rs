//! A real `kill -9`, again and again: the bytes at the end are those of a run that was left alone.
//!
//! The process that gets killed is this test program itself, started again with only `child` to
//! run.

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{assert_same, corpus, documents, files, mock, model, session, settings};
use relscale_measure::Settings;

/// Tells the child where to measure.
const FOLDER: &str = "RELSCALE_TEST_KILL_FOLDER";

/// With `text_memory` of 0 the text is in a file, which a kill must free and the next start must
/// not miss.
fn measure(folder: &Path, delay: Duration, text_memory: usize) {
    let slow = |name: &'static str| {
        model(move || {
            let mut engine = mock(name);
            engine.delay = delay;
            engine
        })
    };
    let corpora = [corpus("a", documents()), corpus("b", documents().split_off(4))];
    let settings = Settings { text_memory, ..settings() };
    session(folder, &[slow("small"), slow("large")], &corpora, &settings).0.unwrap();
}

/// Not a test: what the killed process does. Without its variable it passes at once.
#[test]
#[ignore = "only run as a child of the test beside it"]
fn child() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        measure(Path::new(&folder), Duration::from_millis(2), 0);
    }
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn killed_at_any_moment_and_started_again() {
    let reference = tempfile::tempdir().unwrap();
    measure(reference.path(), Duration::ZERO, 1 << 30);
    let folder = tempfile::tempdir().unwrap();
    let study = folder.path().join("study");

    // Lifetimes from a fixed generator, some too short to make the folder, some long enough for
    // several parts; longer in the end, for a machine on which even a start takes long.
    let mut state = 12_345u64;
    let mut killed = 0;
    let began = Instant::now();
    for attempt in 0.. {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let life = Duration::from_millis(3 + (state >> 33) % 60 + attempt + attempt.pow(3) / 4_000);
        let mut process = start(&study);
        std::thread::sleep(life);
        if let Some(status) = process.try_wait().unwrap() {
            assert!(status.success(), "the child failed by itself");
            break;
        }
        process.kill().unwrap();
        process.wait().unwrap();
        killed += 1;
        assert!(began.elapsed() < Duration::from_secs(300), "no end in sight");
    }
    assert!(killed >= 5, "killed only {killed} times: the test tests nothing");
    // Whatever a kill left beside the files is gone at the end, the note in the lock included.
    assert!(files(&study).keys().all(|name| !name.ends_with(".tmp")));
    assert_same(reference.path(), &study);
}
