//! Where tests find the numbers, texts and models of others.
//!
//! *Numbers* that somebody published are facts, and stand in the repository: [`published`]. *Texts,
//! questions and models* of others are not ours to pass on: [`of_others`] finds them where a person
//! has put them, and says on the terminal, past the test runner's own capture, what was not
//! checked. Whatever such a test asks is asked of text made for the purpose as well.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The variable that names what must not be absent, with commas between: [`DATA`], [`BROWSER`],
/// [`MACHINE`]. A test that would be skipped for want of it fails.
pub const REQUIRE: &str = "RELSCALE_REQUIRE";

/// Texts, questions and models of others.
pub const DATA: &str = "data";

/// A Chromium.
pub const BROWSER: &str = "browser";

/// What a machine may lack: instructions of the processor, a program, the right to mount a disk.
pub const MACHINE: &str = "machine";

/// The repository's own folder of test data.
fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// A file of published numbers, by its path below `testdata/published`.
///
/// # Panics
/// When it is not there: it belongs to the repository.
#[track_caller]
pub fn published(name: &str) -> PathBuf {
    let path = testdata().join("published").join(name);
    assert!(path.exists(), "{} belongs to the repository and is not there", path.display());
    path
}

/// Texts, questions or a model of others below `../shared/data` (beside the checkout), or `None`
/// with a line on the terminal.
///
/// # Panics
/// When they are absent and [`REQUIRE`] names [`DATA`].
#[track_caller]
pub fn of_others(name: &str) -> Option<PathBuf> {
    let path = testdata().join("../../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    skipped(DATA, &format!("no {name} in ../shared/data"));
    None
}

/// Says that the running test leaves something unchecked for want of `what`, and why, where a
/// person sees it: the runner captures what `println!` writes in a test that passes, but not what
/// is written to the stream itself.
///
/// # Panics
/// When [`REQUIRE`] names `what`.
#[track_caller]
pub fn skipped(what: &str, why: &str) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let required = std::env::var(REQUIRE).unwrap_or_default();
    let required = required.split(',').any(|word| word.trim() == what);
    assert!(!required, "{test} would be skipped, and {REQUIRE} names {what}: {why}");
    let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    // One write, so that lines of tests that run at once do not mix; a closed terminal is no fault.
    let line = format!("\nskipped ({what}): {test}: {why} [{count} in this program]\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}
