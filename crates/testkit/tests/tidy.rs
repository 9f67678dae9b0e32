//! The rules of the house that a test can see: arrows between crates, where unsafe code, printing,
//! exiting, sockets and Parquet may stand, that every file opens with what it is for, and that no
//! room has grown past sense.

#[path = "tidy/modules.rs"]
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use modules::{Modules, circles, rooms};

/// The crates from left to right, and those of them that each may know. What is absent here is
/// impossible to use there.
const ARROWS: [(&str, &[&str]); 10] = [
    ("stats", &[]),
    ("records", &[]),
    ("corpus", &["records"]),
    ("decoder", &[]),
    ("measure", &["records", "corpus", "decoder"]),
    ("laws", &["stats", "records"]),
    ("sweep", &["records", "corpus", "decoder"]),
    ("report", &["records", "laws", "stats"]),
    ("cli", &["records", "corpus", "decoder", "measure", "laws", "sweep", "report"]),
    // Development only: it makes what tests of all crates need.
    ("testkit", &["records", "corpus", "decoder"]),
];

/// The one file of tests with unsafe code: it counts allocations, and an allocator cannot be
/// written without.
const COUNTER: &str = "crates/sweep/tests/allocation.rs";

/// Lines of a source file, its tests included, past which it holds two things.
const LONGEST: usize = 650;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// Rust files below `folder`, as paths from the workspace's root with their text.
fn sources(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path
                    .strip_prefix(root())
                    .expect("below the root")
                    .to_string_lossy()
                    .into_owned();
                found.insert(name, std::fs::read_to_string(&path).expect("a source file"));
            }
        }
    }
    found
}

fn all_sources() -> BTreeMap<String, String> {
    let found = sources(&root().join("crates"));
    assert!(found.len() > 100, "the sources were not found");
    found.into_iter().filter(|(name, _)| name.contains("/src/")).collect()
}

/// The dependencies of a crate, without those of its tests.
fn manifest(name: &str) -> toml::Table {
    let path = root().join("crates").join(name).join("Cargo.toml");
    let manifest: toml::Table =
        std::fs::read_to_string(path).expect("a manifest").parse().expect("TOML");
    manifest.get("dependencies").and_then(toml::Value::as_table).cloned().unwrap_or_default()
}

/// The part of a file before its tests, without comments and doc comments.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]").unwrap_or(text.len());
    text[..end]
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[track_caller]
fn none(what: &str, offenders: Vec<String>) {
    assert!(offenders.is_empty(), "{what}:\n  {}", offenders.join("\n  "));
}

#[test]
fn every_crate_knows_only_those_to_its_left() {
    let mut offenders = Vec::new();
    let folders = std::fs::read_dir(root().join("crates")).expect("crates").count();
    assert_eq!(folders, ARROWS.len(), "a crate is missing from the list of arrows");
    for (name, allowed) in ARROWS {
        let dependencies = manifest(name);
        for known in dependencies.keys().filter_map(|key| key.strip_prefix("relscale-")) {
            if !allowed.contains(&known) {
                offenders.push(format!("{name} -> {known}"));
            }
        }
    }
    none("arrows that point the wrong way", offenders);
}

#[test]
fn unsafe_code_stands_in_the_kernels_only() {
    let mut offenders = Vec::new();
    // This file names the words.
    let others = sources(&root().join("crates"))
        .into_iter()
        .filter(|(name, _)| !name.ends_with("/tests/tidy.rs"));
    for (name, text) in others {
        let may = name.starts_with("crates/decoder/src/kernels/") || name == COUNTER;
        let words = if name.contains("/src/") { code(&text) } else { text.clone() };
        let all = ["unsafe {", "unsafe fn", "unsafe impl", "allow(unsafe_code"];
        if !may && all.iter().any(|word| words.contains(word)) {
            offenders.push(name.clone());
        }
        if may && words.matches("unsafe {").count() > text.matches("// SAFETY:").count() {
            offenders.push(format!("{name}: an unsafe block without its reason"));
        }
        let crate_root = name.ends_with("/src/lib.rs") || name.ends_with("/src/main.rs");
        if crate_root
            && !name.starts_with("crates/decoder/")
            && !text.contains("#![forbid(unsafe_code)]")
        {
            offenders.push(format!("{name}: does not forbid unsafe code"));
        }
    }
    none("unsafe code where none may be", offenders);
}

#[test]
fn heavy_things_stop_at_their_wall() {
    // A dependency, and the one crate that may have it.
    let dependencies = [
        ("parquet", "records"),
        ("arrow-array", "records"),
        ("arrow-ipc", "records"),
        ("kuva", "report"),
        ("minijinja", "report"),
        ("gemm-f32", "decoder"),
        ("ureq", "measure"),
        ("clap", "cli"),
        ("indicatif", "cli"),
        ("statrs", "stats"),
    ];
    // A word of code, and the places that may say it. `cli` listens for `view`, on this machine
    // only, and calls nobody; the stub server of tests likewise. Whoever asks a server does so
    // through `measure/http`. The mock of an engine's process is a program of its own.
    let words: [(&str, &[&str]); 7] = [
        ("println!", &["cli/", "measure/src/bin/"]),
        ("eprintln!", &["cli/", "measure/src/bin/"]),
        ("process::exit", &["cli/"]),
        ("TcpStream", &["cli/", "testkit/"]),
        ("TcpStream::connect", &["testkit/"]),
        ("TcpListener", &["cli/", "testkit/"]),
        ("ureq::", &["measure/src/http/"]),
    ];
    let mut offenders = Vec::new();
    for (name, _) in ARROWS {
        for (dependency, owner) in dependencies {
            if name != owner && manifest(name).contains_key(dependency) {
                offenders.push(format!("{name} depends on {dependency}"));
            }
        }
    }
    for (name, text) in all_sources() {
        for line in code(&text).lines().map(str::trim) {
            for (word, owners) in words {
                let owned = owners.iter().any(|owner| name.starts_with(&format!("crates/{owner}")));
                if line.contains(word) && !owned {
                    offenders.push(format!("{name}: {line}"));
                }
            }
        }
    }
    none("things that only one crate may know", offenders);
}

/// A file that is written in place is half a file after a kill, and one that follows a link lies
/// elsewhere: `records/atomic` knows both.
#[test]
fn files_are_written_in_one_place() {
    let homes = ["crates/records/src/atomic", "crates/records/src/lock.rs", "crates/testkit/"];
    let words = [
        "File::create",
        "File::options",
        "OpenOptions",
        "fs::write(",
        "fs::rename",
        "fs::copy",
        "fs::create_dir",
        "fs::hard_link",
        "fs::symlink(",
        "set_len(",
    ];
    let mut offenders = Vec::new();
    for (name, text) in all_sources() {
        if homes.iter().any(|home| name.starts_with(home)) || name.ends_with("tests.rs") {
            continue;
        }
        for line in code(&text).lines().map(str::trim) {
            let line = line.replace("AtomicFile::create", "");
            if words.iter().any(|word| line.contains(word)) {
                offenders.push(format!("{name}: {line}"));
            }
        }
    }
    none("files written elsewhere than by records::atomic", offenders);
}

/// What people read passes through one place that makes it safe for a terminal.
#[test]
fn the_program_prints_in_one_place() {
    let words = ["println!", "print!(", "stdout()", "stderr()", "\\x1b"];
    let mut offenders = Vec::new();
    for (name, text) in all_sources() {
        let may = !name.starts_with("crates/cli/") || name.starts_with("crates/cli/src/terminal");
        for line in code(&text).lines().map(str::trim).filter(|_| !may) {
            if words.iter().any(|word| line.contains(word)) {
                offenders.push(format!("{name}: {line}"));
            }
        }
    }
    none("printing elsewhere than in `terminal`", offenders);
}

#[test]
fn every_file_says_what_it_is_for_and_holds_one_thing() {
    let mut offenders = Vec::new();
    for (name, text) in all_sources() {
        if !text.starts_with("//!") && !name.ends_with("tests.rs") {
            offenders.push(format!("{name}: does not open with its purpose"));
        }
        let lines = text.lines().count();
        if lines > LONGEST {
            offenders.push(format!("{name}: {lines} lines"));
        }
        for word in ["todo!(", "unimplemented!(", "dbg!(", "FIXME", "XXX"] {
            if code(&text).contains(word) {
                offenders.push(format!("{name}: {word}"));
            }
        }
    }
    none("files to look at", offenders);
}

/// `docs/field-notes.md` says of each report which test sees it; a test that is renamed or removed
/// is missed here.
#[test]
fn the_tests_of_the_field_notes_exist() {
    let notes =
        std::fs::read_to_string(root().join("docs/field-notes.md")).expect("the field notes");
    let (mut file, mut text, mut named) = (String::new(), String::new(), 0);
    let mut missing = Vec::new();
    let rows = notes.lines().filter(|line| line.starts_with("| ") && !line.starts_with("|---"));
    for row in rows {
        let Some(cell) = row.trim_end_matches(" |").rsplit(" | ").next() else { continue };
        for word in cell.split('`').skip(1).step_by(2) {
            if word.starts_with("crates/") {
                file = word.to_owned();
                text = std::fs::read_to_string(root().join(word)).unwrap_or_default();
            } else {
                named += 1;
                if !text.contains(&format!("fn {word}(")) {
                    missing.push(format!("{file}: {word}"));
                }
            }
        }
    }
    assert!(named > 100, "only {named} tests are named");
    none("named in docs/field-notes.md and not there", missing);
}

/// Circles that stand for now; each goes when its room is rebuilt.
const KNOWN_CIRCLES: [&str; 0] = [];

/// A file may use the door of its own folder and the door its members; apart from that whoever is
/// used knows nothing of who uses it, neither files nor the folders that they are in.
#[test]
fn no_circles_of_modules() {
    let sources = all_sources();
    let mut found = BTreeSet::new();
    for (krate, _) in ARROWS {
        let files = Modules::read(&sources, krate).uses();
        assert!(files.values().any(|targets| !targets.is_empty()), "{krate}: no file uses another");
        for ring in circles(&files).into_iter().chain(circles(&rooms(&files))) {
            let names: Vec<String> = ring.iter().map(|path| path.join("/")).collect();
            found.insert(format!("{krate}: {}", names.join(" -> ")));
        }
    }
    let known: BTreeSet<String> = KNOWN_CIRCLES.iter().map(|ring| (*ring).to_owned()).collect();
    let new = found.difference(&known).cloned();
    let gone =
        known.difference(&found).map(|ring| format!("{ring}: is no more, take it off the list"));
    none("modules that use one another in a circle", new.chain(gone).collect());
}

/// Crates whose comments wrap.
const WRAPPED: [&str; 10] = [
    "stats", "records", "corpus", "decoder", "measure", "laws", "sweep", "report", "cli", "testkit",
];

/// Columns of a line of comment; tables, formulas and examples, which cannot be broken, may be
/// longer.
const COLUMNS: usize = 100;

/// Lines of comment that are too long, in a file.
fn too_long(text: &str) -> Vec<usize> {
    let mut fenced = false;
    let comment = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("//")
            .map(|rest| rest.trim_start_matches(['/', '!']).trim_start().to_owned())
    };
    let lines = text.lines().enumerate().filter(|(_, line)| {
        let Some(said) = comment(line) else { return false };
        // Four columns in: an example, which stands as it is typed.
        let text = line.trim_start().trim_start_matches(['/', '!']);
        if text.starts_with("     ") {
            return false;
        }
        fenced ^= said.starts_with("```");
        let one_word = !said.contains(' ');
        !fenced && !said.starts_with('|') && !one_word && line.chars().count() > COLUMNS
    });
    lines.map(|(at, _)| at + 1).collect()
}

#[test]
fn comments_wrap_at_100_columns() {
    let mut offenders = Vec::new();
    for (name, text) in sources(&root().join("crates")) {
        if WRAPPED.iter().any(|krate| name.starts_with(&format!("crates/{krate}/"))) {
            offenders.extend(too_long(&text).into_iter().map(|line| format!("{name}:{line}")));
        }
    }
    none("comments beyond column 100", offenders);
}
