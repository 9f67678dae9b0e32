//! What the tests of the commands share: the program, things for it to work on, and what it shows.

#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use regex::Regex;
use relscale_testkit::{TinyModel, tiny_model};

/// A place to work in; gone at the end.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// What the program did.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Exit code; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output, redacted.
    pub(crate) out: String,
    /// Standard error, redacted.
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A text file; its path.
    pub(crate) fn text(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The same few sentences in every test: five paragraphs.
    pub(crate) fn prose(&self) -> PathBuf {
        let text = "The rank of the right token is the number of entries that are at least as likely.\n\n\
                    A rank of one is a hit for greedy decoding; ties count against the model.\n\n\
                    And in the end the hits are counted, for each document on its own.\n\n\
                    Documents are the sampling unit: the tokens inside one are not independent.\n\n\
                    So the errors come from drawing documents again and again.\n";
        self.text("prose.txt", text)
    }

    /// A tiny model under `models/<name>`; its path.
    pub(crate) fn model(&self, name: &str, model: &TinyModel) -> PathBuf {
        let path = self.path("models").join(name);
        tiny_model(&path, model);
        path
    }

    /// The program, in this place, as a script would run it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relscale"));
        command.current_dir(self.folder.path()).args(arguments).env_remove("RUST_BACKTRACE");
        // Neither the network nor the user's own cache, but where a test wants a hub of its own.
        command.env("HF_HUB_OFFLINE", "1").env("HF_HOME", self.path("hf"));
        for name in ["HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN", "HF_ENDPOINT"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        let output = self.command(arguments).output().unwrap();
        Outcome {
            code: output.status.code(),
            out: self.redact(&output.stdout),
            err: self.redact(&output.stderr),
        }
    }

    /// Takes out what differs from run to run and from machine to machine: this place, times,
    /// rates, the version.
    pub(crate) fn redact(&self, text: &[u8]) -> String {
        let mut text = String::from_utf8(text.to_vec()).unwrap();
        let folder = self.folder.path().canonicalize().unwrap();
        for folder in [folder.as_path(), self.folder.path()] {
            text = text.replace(&*folder.to_string_lossy(), "[DIR]");
        }
        for (pattern, name) in [
            (r"\b\d+(:\d\d)+\b|\b\d+ s\b", "[TIME]"),
            (r"\b[\d.]+[kM]? tokens/s", "[RATE] tokens/s"),
            (concat!("relscale ", env!("CARGO_PKG_VERSION")), "relscale [VERSION]"),
            (r"--[0-9a-f]{12}\b", "--[KEY]"),
        ] {
            text = Regex::new(pattern).unwrap().replace_all(&text, name).into_owned();
        }
        text
    }
}

impl Outcome {
    /// Standard output and error as one screen, each under its name.
    pub(crate) fn screen(&self) -> String {
        let code = self.code.map_or("a signal".to_owned(), |code| code.to_string());
        format!("-- out\n{}-- err\n{}-- exit code {code}\n", self.out, self.err)
    }

    /// Compares the screen with `tests/screens/<name>.txt`. `RELSCALE_SCREENS=write` writes that
    /// file instead, for a person to look at before it is committed.
    ///
    /// Plain files on purpose: no library for so little.
    pub(crate) fn shows(&self, name: &str) {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens").join(format!("{name}.txt"));
        let screen = self.screen();
        if std::env::var_os("RELSCALE_SCREENS").is_some_and(|value| value == "write") {
            fs::write(&path, screen).unwrap();
            return;
        }
        let wanted = fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}\n{screen}", path.display()));
        assert!(wanted == screen, "{} differs; the program shows:\n{screen}", path.display());
    }

    /// Failed with this word in the message, after what it had to show.
    pub(crate) fn refuses_after_showing(&self, code: i32, word: &str) {
        assert_eq!(self.code, Some(code), "{}", self.screen());
        assert!(self.err.contains("error: ") && self.err.contains(word), "{}", self.screen());
    }

    /// Refused with these words in the message and a hint or none, and nothing on standard output.
    pub(crate) fn refuses(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.screen());
        assert!(self.err.contains("error: "), "{}", self.screen());
        assert!(self.out.is_empty(), "{}", self.screen());
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in\n{}", self.screen());
        }
    }
}

/// A study of nine tiny models, three sizes after three amounts of training as their names
/// `w<width>-<step>` say, on two texts, and a manifest of them. The weights are random: what is
/// measured means nothing, how it goes through does.
pub(crate) fn checkpoints(place: &Place) {
    let mut manifest = "params_convention = \"non-embedding\"\n".to_owned();
    for width in [8, 16, 24] {
        for step in [1, 2, 4] {
            let name = format!("w{width}-{step}");
            let model =
                TinyModel { width, seed: (10 * width + step) as u64, ..TinyModel::default() };
            place.model(&name, &model);
            manifest += &format!(
                "\n[[model]]\nmodel = \"{name}\"\nrun = \"w{width}\"\ntokens = {step}_000_000\n"
            );
        }
    }
    place.text("models.toml", &manifest);
    place.prose();
    place.text(
        "code.txt",
        "fn rank(row: &[f32], target: usize) -> usize {\n    row.len()\n}\n\nlet k = 10;\n\nlet s = 3;\n",
    );
    let outcome = place.run(&[
        "measure",
        "--model",
        "models",
        "--corpus",
        "prose.txt",
        "code.txt",
        "--out",
        "study",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
}

/// Three sizes on questions of three subjects of different domains.
pub(crate) fn quiz(place: &Place) {
    for (name, width, seed) in [("tiny-a", 8, 1), ("tiny-b", 16, 2), ("tiny-c", 32, 3)] {
        place.model(name, &TinyModel { width, hidden: 2 * width, seed, ..TinyModel::default() });
    }
    fs::create_dir_all(place.path("quiz/test")).unwrap();
    let questions = |subject: &str, count: usize| -> String {
        (0..count)
            .map(|at| {
                let gold = ["A", "B", "C", "D"][at * 7 % 4];
                format!("{subject} {at}: which?,rank {at},hit,a miss of {at},none,{gold}\n")
            })
            .collect()
    };
    place.text("quiz/test/astronomy_test.csv", &questions("stars", 24));
    place.text("quiz/test/sociology_test.csv", &questions("people", 12));
    place.text("quiz/test/virology_test.csv", &questions("germs", 20));
    let outcome = place.run(&[
        "measure",
        "--model",
        "models",
        "--corpus",
        "quiz?kind=mmlu&shots=0",
        "--out",
        "study",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
}

/// All files under a folder with their bytes, by path.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                all.push((path, bytes));
            }
        }
    }
    all.sort();
    all
}
