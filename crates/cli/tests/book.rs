//! What the documents show is run: the blocks of `sh` of each chapter in order, in a folder of its
//! own, against stand-ins for what lies elsewhere (a Hub, a server, a text); and what a block of
//! `text` behind one shows is what it prints.
//!
//! `RELSCALE_BOOK=write` writes what is printed into the documents, for a person to look at.

#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use common::Place;
use regex::Regex;
use relscale_testkit::book::{blocks, documents, root};
use relscale_testkit::hub::{StubHub, StubRepository};
use relscale_testkit::vllm::FakeVllm;
use relscale_testkit::{StubServer, TinyModel};

/// What the commands of a chapter find, and the servers behind it.
struct StandIns {
    place: Place,
    hub: StubHub,
    server: StubServer,
}

impl StandIns {
    fn new() -> Self {
        let place = Place::new();
        for name in ["assets", "testdata", "examples"] {
            symlink(root().join(name), place.path(name)).unwrap();
        }
        // Models of the Hub: the shipped family under their names.
        let names =
            [("14m", "3k"), ("31m", "9k"), ("70m", "28k"), ("160m", "83k"), ("410m", "260k")];
        let repositories = names.map(|(name, size)| {
            let folder = root().join("assets/family").join(format!("small-{size}"));
            StubRepository::of_folder("models", &format!("EleutherAI/pythia-{name}"), &folder)
        });
        let hub = StubHub::start(repositories.into(), |_| None);
        // A served model, whose folder has no weights.
        let folder = place.path("served");
        relscale_testkit::tiny_model(&folder, &TinyModel::default());
        fs::remove_file(folder.join("model.safetensors")).unwrap();
        let rows = TinyModel::default().rows as u32;
        let server = FakeVllm { rows, ..FakeVllm::default() }.start();
        // A text: the first of the repository's own, shortened.
        let text = fs::read_to_string(root().join("assets/own-text/docs.jsonl")).unwrap();
        let mut lines = String::new();
        for line in text.lines().take(12) {
            let document: serde_json::Value = serde_json::from_str(line).unwrap();
            let text: String = document["text"].as_str().unwrap().chars().take(1500).collect();
            lines += &serde_json::json!({"id": document["id"], "text": text}).to_string();
            lines.push('\n');
        }
        place.text("wiki.jsonl", &lines);
        Self { place, hub, server }
    }

    /// Runs a block; what it prints.
    fn run(&self, shell: &str) -> Result<String, String> {
        let shell = shell.replace("http://host:8000", &self.server.url());
        let program = Path::new(env!("CARGO_BIN_EXE_relscale"));
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command.args(["-e", "-c", &shell]).current_dir(self.place.path(""));
        command.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
        command.env("HF_HOME", self.place.path("hf")).env("HF_ENDPOINT", self.hub.hub.url());
        for name in ["COLUMNS", "RUST_BACKTRACE", "HF_HUB_CACHE", "HF_TOKEN", "HF_HUB_OFFLINE"] {
            command.env_remove(name);
        }
        let output = command.output().unwrap();
        let (out, err) = (self.place.redact(&output.stdout), self.place.redact(&output.stderr));
        if output.status.success() { Ok(out) } else { Err(format!("{out}{err}")) }
    }
}

/// A line with its numbers taken out, and the numbers. Rules of a table are as long as its numbers
/// make them, and spaces as many.
fn taken_apart(line: &str) -> (String, Vec<f64>) {
    let line = Regex::new("-{3,}").unwrap().replace_all(line, "---");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let number = Regex::new(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?").unwrap();
    let read =
        |found: regex::Match<'_>| found.as_str().replace(',', "").parse().unwrap_or(f64::NAN);
    (number.replace_all(&line, "#").into_owned(), number.find_iter(&line).map(read).collect())
}

/// Numbers of another processor's kernels differ in their last digits, and what is computed of
/// them by more.
fn alike(shown: f64, printed: f64) -> bool {
    (shown - printed).abs() <= 0.1 * shown.abs().max(printed.abs()) + 0.002
}

/// Whether what is shown is what is printed; `...` on a line stands for any lines.
fn shows(shown: &str, printed: &str) -> Result<(), String> {
    let mut lines = printed.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let mut skipping = false;
    for wanted in shown.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if wanted == "..." {
            skipping = true;
            continue;
        }
        let (words, numbers) = taken_apart(wanted);
        loop {
            let Some(line) = lines.next() else { return Err(format!("not printed: {wanted}")) };
            let (found, values) = taken_apart(line);
            let equal = found == words
                && numbers.len() == values.len()
                && numbers.iter().zip(&values).all(|(shown, printed)| alike(*shown, *printed));
            if equal {
                break;
            }
            if !skipping {
                return Err(format!("shown:   {wanted}\nprinted: {line}"));
            }
        }
        skipping = false;
    }
    match lines.next() {
        Some(line) if !skipping => Err(format!("printed and not shown: {line}")),
        _ => Ok(()),
    }
}

/// Runs a chapter; how many blocks it ran.
fn chapter(name: &str, text: &str) -> usize {
    let write = std::env::var_os("RELSCALE_BOOK").is_some_and(|value| value == "write");
    let stand_ins = StandIns::new();
    let (mut count, mut printed) = (0, None);
    let mut written = text.to_owned();
    // What is shown in part is no matter of writing: a person mends it.
    let mut wrong = Vec::new();
    for block in blocks(text) {
        let at = format!("{name}:{}", block.line);
        match (&*block.language, &block.not_run) {
            ("sh", None) => {
                count += 1;
                let out = stand_ins.run(&block.text);
                printed = Some(out.unwrap_or_else(|told| panic!("{at}: {}\n{told}", block.text)));
            }
            ("text", None) => {
                let Some(out) = printed.take() else { continue };
                if write && !block.text.contains("...\n") {
                    let out: Vec<&str> = out.trim_end().lines().map(str::trim_end).collect();
                    let fence = |text: &str| format!("```text\n{text}```\n");
                    let new = fence(&format!("{}\n", out.join("\n")));
                    written = written.replacen(&fence(&block.text), &new, 1);
                } else if let Err(difference) = shows(&block.text, &out) {
                    wrong.push(format!(
                        "{at} shows what is not printed\n{difference}\n\nall of it:\n{out}"
                    ));
                }
            }
            _ => printed = None,
        }
    }
    if write && written != text {
        fs::write(root().join(name), written).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    count
}

fn one(name: &str) -> usize {
    let (_, text) = documents().into_iter().find(|(one, _)| one == name).unwrap();
    chapter(name, &text)
}

#[test]
fn the_tutorial_prints_what_it_shows() {
    assert!(one("docs/tutorial.md") >= 5);
}

#[test]
fn the_recipes_can_be_followed() {
    assert!(one("docs/recipes.md") >= 10);
}

#[test]
fn all_other_documents_can_be_followed() {
    let apart = ["docs/tutorial.md", "docs/recipes.md"];
    let others = documents().into_iter().filter(|(name, _)| !apart.contains(&&**name));
    let mut count = 0;
    for (name, text) in others {
        let to_run = |block: &relscale_testkit::book::Block| {
            block.language == "sh" && block.not_run.is_none()
        };
        if blocks(&text).iter().any(to_run) {
            count += chapter(&name, &text);
        }
    }
    assert!(count >= 1, "nothing was run");
}

#[test]
fn what_differs_is_seen() {
    assert!(shows("a 1.00 [2, 3]\n", "a   1.01   [2, 3]\n\n").is_ok());
    assert!(shows("a 1.00\n", "a 1.50\n").unwrap_err().contains("1.50"));
    assert!(shows("a 1\n", "b 1\n").is_err() && shows("a\nb\n", "a\n").is_err());
    assert!(shows("a\n", "a\nb\n").unwrap_err().contains("not shown"));
    assert!(shows("...\nc 3\n...\n", "a\nb\nc 3\nd\n").is_ok());
    assert!(shows("---\n", "--------\n").is_ok());
}
