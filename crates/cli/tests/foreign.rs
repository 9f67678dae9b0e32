//! What others made, and what stands in the way: studies with links, names that a terminal obeys,
//! outputs that are inputs, several programs at once.

#![cfg(unix)]

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use common::{Outcome, Place, files};
use relscale_testkit::{MadeUpFamily, TinyModel, made_up_study};

fn fitted(place: &Place) {
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    let outcome = place.run(&["fit", "study", "--resamples", "50"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
}

/// A folder that must stay as it is, with a file in it.
fn precious(place: &Place) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    fs::create_dir(place.path("home")).unwrap();
    place.text("home/precious", "12345");
    files(&place.path("home"))
}

/// Every place of a study where something is written, taken by a link that leads out of it.
#[test]
fn links_in_a_received_study_lead_nowhere() {
    let place = Place::new();
    fitted(&place);
    made_up_study(
        &place.path("study"),
        &MadeUpFamily { corpus: "code".into(), alpha: 0.15, ..MadeUpFamily::default() },
    );
    let model = place.model("m", &TinyModel::default());
    let text = place.prose();
    let home = precious(&place);
    let (model, text) = (model.to_str().unwrap(), text.to_str().unwrap());
    let fit = ["fit", "study", "--resamples", "50"];
    let measure = ["measure", "--model", model, "--corpus", text, "--out", "study"];
    let report = ["report", "study"];
    let relative =
        ["relative", "study", "--baseline", "prose", "--family", "made-up", "--resamples", "50"];
    // What a run's folder is called is known once it was measured.
    assert_eq!(place.run(&measure).code, Some(0));
    let runs = fs::read_dir(place.path("study/runs")).unwrap();
    let run = runs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let run = run.into_iter().find(|name| name.starts_with("m--")).unwrap();
    let (run, done) = (format!("runs/{run}"), format!("runs/{run}/done.json"));
    // A link, to what, whether the command goes on, the command.
    let cases: [(&str, &str, bool, &[&str]); 13] = [
        ("laws.json.tmp", "home/precious", true, &fit),
        ("laws.json", "home/precious", false, &fit),
        ("laws.json", "home/new", false, &fit),
        ("relative.json", "home/precious", false, &relative),
        (".lock", "home/precious", false, &measure),
        ("study.json.tmp", "home/precious", true, &measure),
        ("vocabularies", "home", false, &measure),
        (&run, "home", false, &measure),
        (&done, "home/new", false, &measure),
        ("report.html.tmp", "home/precious", true, &report),
        ("report.html", "home/precious", false, &report),
        ("figures", "home", false, &report),
        ("runs", "home", false, &measure),
    ];
    for (name, to, goes_on, command) in cases {
        let (link, kept) = (place.path("study").join(name), place.path("kept"));
        let there = fs::rename(&link, &kept).is_ok();
        symlink(place.path(to), &link).unwrap();
        let outcome = place.run(command);
        if goes_on {
            assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.screen());
        } else {
            assert_eq!(outcome.code, Some(3), "{name}: {}", outcome.screen());
            assert!(
                outcome.err.contains("is a link") && outcome.err.contains("move it away"),
                "{}",
                outcome.screen()
            );
            let named = place.redact(format!("study/{name}: ").as_bytes());
            assert!(outcome.err.contains(&named), "{}", outcome.screen());
        }
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{name}");
        assert!(files(&place.path("home")) == home, "{name} was written through");
        fs::remove_file(&link).unwrap();
        if there {
            fs::rename(&kept, &link).unwrap();
        }
    }
}

#[test]
fn a_study_names_runs_of_its_own_only() {
    let place = Place::new();
    fitted(&place);
    let path = place.path("study/study.json");
    let study: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for name in ["../../x", "/tmp", "..", "a/b", ""] {
        let mut study = study.clone();
        study["current"]
            .as_object_mut()
            .unwrap()
            .values_mut()
            .for_each(|value| *value = name.into());
        fs::write(&path, study.to_string()).unwrap();
        place
            .run(&["fit", "study"])
            .refuses(3, &["study.json", &format!("{name:?}"), "no plain name"]);
    }
}

/// No byte that a terminal obeys, whatever the names are.
fn harmless(outcome: &Outcome) {
    for text in [&outcome.out, &outcome.err] {
        let obeyed = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2066}".contains(c));
        assert!(!text.contains(obeyed), "{text:?}");
    }
}

#[test]
fn names_reach_no_terminal_as_commands() {
    let place = Place::new();
    let (evil, family) = ("m\u{1b}[31m\u{202e}\u{9b}2J\r", "f\u{1b}]0;x\u{7}");
    let text = format!("c{evil}");
    for (number, width) in [8, 16, 24].into_iter().enumerate() {
        place.model(&format!("{number}{evil}"), &TinyModel { width, ..TinyModel::default() });
    }
    fs::rename(place.prose(), place.path(&text)).unwrap();
    let measure = [
        "measure",
        "--model",
        "models",
        "--corpus",
        &text,
        "--out",
        "s\u{1b}[1m",
        "--family",
        family,
    ];
    let outcome = place.run(&measure);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    harmless(&outcome);
    assert!(outcome.out.contains(r"m\u{1b}[31m\u{202e}\u{9b}2J\r"), "{}", outcome.out);
    // The next command is one that a shell understands.
    assert!(outcome.err.contains(r"next: relscale fit $'s\x1b[1m'"), "{}", outcome.err);

    for command in [
        &["fit", "s\u{1b}[1m", "--resamples", "20"][..],
        &["relative", "s\u{1b}[1m", "--baseline", "x\u{1b}[0m"],
        &["predict", "s\u{1b}[1m", "--family", "\u{1b}c"],
        &["report", "s\u{1b}[1m"],
        &["report", "none\u{1b}[1m"],
        &["view", "s\u{1b}[1m", "--print"],
        &["fit", "--table", "none\u{1b}[1m.csv", "--y", "rbp1"],
        &["measure", "--model", "none\u{1b}[1m", "--corpus", &text, "--out", "s\u{1b}[1m"],
        &["measure", "--model", "models", "--corpus", "none\u{1b}[1m", "--out", "s\u{1b}[1m"],
        &["sweep", "collect", "none\u{1b}[1m", "--out", "x.csv"],
        &["mesure\u{1b}[1m"],
        &["fit", "s", "--resamples", "\u{1b}[1m"],
        &["fit", "s", "--\u{1b}[1m"],
    ] {
        harmless(&place.run(command));
    }
    // JSON holds the name as it is, written as JSON writes it.
    let outcome = place.run(&[
        "measure",
        "--model",
        "models",
        "--corpus",
        &text,
        "--out",
        "s\u{1b}[1m",
        "--json",
        "-",
    ]);
    harmless(&outcome);
    let runs: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(runs[0]["model"], format!("0{evil}"));
}

/// An output that is an input, by whatever name, is refused before anything is done.
#[test]
fn outputs_spare_the_inputs() {
    let place = Place::new();
    fitted(&place);
    place.model("m", &TinyModel::default());
    fs::rename(place.prose(), place.path("text.txt")).unwrap();
    place.text("table.csv", "S,rbp1,rbp10\n1e6,0.1,0.2\n2e6,0.2,0.3\n4e6,0.3,0.4\n");
    place.text("log.csv", "step,train/loss,eval/loss\n1,3,3\n");
    fs::create_dir(place.path("books")).unwrap();
    place.text("books/a.txt", "A book of few words.\n");
    symlink("text.txt", place.path("link.json")).unwrap();
    symlink("link.json", place.path("linked.json")).unwrap();
    fs::hard_link(place.path("text.txt"), place.path("hard.json")).unwrap();
    let before = files(&place.path(""));
    let measure = |corpus: &'static str, json: &'static str| {
        vec!["measure", "--model", "models/m", "--corpus", corpus, "--out", "new", "--json", json]
    };
    let commands = [
        measure("text.txt", "text.txt"),
        measure("t=text.txt?split=paragraphs", "./books/../text.txt"),
        measure("text.txt", "link.json"),
        measure("text.txt", "linked.json"),
        measure("text.txt", "hard.json"),
        measure("books", "books/a.txt"),
        measure("text.txt", "models/m/config.json"),
        vec![
            "measure",
            "--model",
            "models/m",
            "--corpus",
            "text.txt",
            "--out",
            "study",
            "--json",
            "study/study.json",
        ],
        vec!["fit", "study", "--json", "study/study.json"],
        vec!["predict", "study", "--json", "study/laws.json"],
        vec!["report", "study", "--json", "study/laws.json"],
        vec!["relative", "study", "--baseline", "prose", "--json", "study/study.json"],
        vec!["fit", "--table", "table.csv", "--y", "rbp1", "--json", "table.csv"],
        vec!["sweep", "collect", "log.csv", "--out", "log.csv"],
        vec!["sweep", "plan", "--preset", "small", "--out", "p.json", "--json", "./p.json"],
        vec!["fit", "study", "--json", "books"],
    ];
    for command in commands {
        let outcome = place.run(&command);
        assert_eq!(outcome.code, Some(3), "{command:?}: {}", outcome.screen());
        assert!(
            outcome.out.is_empty() && outcome.err.contains("hint: give "),
            "{command:?}: {}",
            outcome.screen()
        );
        assert!(files(&place.path("")) == before, "{command:?} wrote something");
    }
    // What the command itself makes may be named.
    let outcome = place.run(&["fit", "study", "--json", "study/laws.json"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
}

/// Programs at one study at the same time, as a script starts them: all go through, and what they
/// leave is whole.
#[test]
fn several_fits_and_reports_at_once_leave_whole_files() {
    let place = Place::new();
    fitted(&place);
    let page = |place: &Place| {
        assert_eq!(place.run(&["report", "study"]).code, Some(0));
        files(&place.path("study"))
    };
    let alone = page(&place);
    let commands = [&["fit", "study", "--resamples", "50"][..], &["report", "study"]];
    for command in commands {
        let children: Vec<std::process::Child> = (0..4)
            .map(|_| {
                std::process::Command::new(env!("CARGO_BIN_EXE_relscale"))
                    .current_dir(place.path(""))
                    .args(command)
                    .stdout(std::process::Stdio::null())
                    .stderr(std::process::Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    assert!(files(&place.path("study")) == alone);
}

#[test]
fn a_study_need_not_be_utf_8() {
    let place = Place::new();
    fitted(&place);
    let name = OsStr::from_bytes(b"my st\xffudy");
    let study = Path::new(&place.path("")).join(name);
    fs::rename(place.path("study"), &study).unwrap();
    let run = |command: &str, more: &[&str]| {
        let output = place.command(&[command]).arg(name).args(more).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{command}: {said}");
        (String::from_utf8(output.stdout).unwrap(), said)
    };
    let (_, said) = run("fit", &["--resamples", "20"]);
    assert!(said.contains(r"next: relscale report $'my st\xffudy'"), "{said}");
    run("report", &[]);
    let (out, _) = run("report", &["--json", "-"]);
    serde_json::from_str::<serde_json::Value>(&out).unwrap();
    run("view", &["--print"]);
    let figures = files(&study.join("figures"));
    assert!(figures.len() > 10 && study.join("report.html").exists());
    // Nothing beside it under a name that was mended.
    let beside = fs::read_dir(place.path("")).unwrap().count();
    assert_eq!(beside, 1);
}

#[test]
fn next_commands_are_words_of_a_shell() {
    let place = Place::new();
    fitted(&place);
    fs::rename(place.path("study"), place.path("it's a study")).unwrap();
    let outcome = place.run(&["fit", "it's a study", "--resamples", "20"]);
    assert!(outcome.err.contains(r"next: relscale report 'it'\''s a study'"), "{}", outcome.err);
    place.run(&["view", "it's a study"]).refuses(3, &[r"`relscale report 'it'\''s a study'`"]);
}

/// A normaliser that the tokenizer library gives up on: refused in our words, without the library's
/// panic.
#[test]
fn a_library_that_gives_up_says_nothing_itself() {
    let place = Place::new();
    let model = place.model("m", &TinyModel::default());
    let path = model.join("tokenizer.json");
    let mut tokenizer: serde_json::Value =
        serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    tokenizer["normalizer"] =
        serde_json::json!({ "type": "Replace", "pattern": { "Regex": "a*" }, "content": "b" });
    fs::write(&path, tokenizer.to_string()).unwrap();
    place.prose();
    let outcome =
        place.run(&["measure", "--model", "models/m", "--corpus", "prose.txt", "--out", "study"]);
    assert!(!outcome.err.contains("panicked"), "{}", outcome.screen());
    assert!(matches!(outcome.code, Some(0 | 3)), "{}", outcome.screen());
}

/// Offline, by whatever word, means that no connection is opened, neither to the Hub nor to a
/// proxy; nothing gives up where the environment says little, and a local folder needs none of it.
#[test]
fn no_connection_is_opened_offline() {
    let place = Place::new();
    place.model("m", &TinyModel::default());
    place.prose();
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let everywhere = [
        ("HF_ENDPOINT", address.as_str()),
        ("HTTPS_PROXY", &address),
        ("HTTP_PROXY", &address),
        ("ALL_PROXY", &address),
    ];
    let fetch = "`hf download EleutherAI/pythia-70m`";
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], &'a str);
    let cases: [Case<'_>; 5] = [
        // Without a home there is no cache, and nothing is asked.
        (&[], &[], "give one by HF_HOME=FOLDER"),
        (&[("HF_HUB_OFFLINE", "1")], &[], "give one by HF_HOME=FOLDER"),
        (&[("HF_HUB_OFFLINE", "1"), ("HF_HOME", "nowhere")], &[], fetch),
        (&[("TRANSFORMERS_OFFLINE", "1"), ("HOME", "/nowhere")], &[], fetch),
        (&[("XDG_CACHE_HOME", "/nowhere")], &["--offline"], fetch),
    ];
    for (number, (environment, more, word)) in cases.into_iter().enumerate() {
        let out = format!("study{number}");
        for (model, corpus, code, word) in [
            ("models/m", "prose.txt", 0, "a law needs three sizes"),
            ("EleutherAI/pythia-70m", "prose.txt", 3, word),
            (
                "models/m",
                "hf://datasets/o/n/x.txt",
                3,
                if word == fetch { "`hf download o/n x.txt --repo-type dataset`" } else { word },
            ),
        ] {
            let arguments = ["measure", "--model", model, "--corpus", corpus, "--out", &out];
            let mut command = place.command(&[&arguments, more].concat());
            command.env_clear().envs(everywhere).envs(environment.iter().copied());
            let output = command.output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(code), "{environment:?}: {said}");
            assert!(said.contains(word) && !said.contains("panicked"), "{environment:?}: {said}");
        }
    }
    let asked = proxy.accept().map_err(|error| error.kind());
    assert!(matches!(asked, Err(std::io::ErrorKind::WouldBlock)), "{asked:?}");
}

/// Files that are no model folder, through the program: what they are and what to do.
#[test]
fn files_that_are_no_models_are_told_what_they_are() {
    let place = Place::new();
    place.prose();
    place.text("q8.gguf", "GGUF");
    let measure = |model: &str| {
        place.run(&["measure", "--model", model, "--corpus", "prose.txt", "--out", "study"])
    };
    measure("q8.gguf").refuses(3, &["q8.gguf: 4 bytes are no GGUF file", "hint: fetch it again"]);
    measure("/nope").refuses(3, &["/nope: there is nothing at this path", "hint: check the path"]);
    let model = place.model("m", &TinyModel::default());
    measure(model.join("model.safetensors").to_str().unwrap())
        .refuses(3, &["is a file", "hint: give its folder, [DIR]/models/m"]);
}

/// A quantised model in one file: measured with the tokenizer in it, its types recorded; other
/// engines do not read it.
#[test]
fn a_gguf_file_is_a_model() {
    let place = Place::new();
    place.text("prose.txt", "the other thing that they heard\n");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../decoder/tests/gguf/llama");
    fs::copy(golden.join("model.gguf"), place.path("tiny.Q4_1.gguf")).unwrap();
    let measure = |engine: &str| {
        let model = ["measure", "--model", "tiny.Q4_1.gguf", "--engine", engine];
        place.run(&[&model[..], &["--corpus", "prose.txt", "--out", "study"]].concat())
    };
    let outcome = measure("local");
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    let runs = files(&place.path("study/runs"));
    let (_, record) = runs.iter().find(|(path, _)| path.ends_with("run.json")).unwrap();
    let record = String::from_utf8(record.clone()).unwrap();
    for words in ["13 f32+6 q4_1+3 q8_0", "GGUF metadata", "\"tiny.Q4_1\"", "tiny.Q4_1.gguf"] {
        assert!(record.contains(words), "{words}: {record}");
    }
    measure("exec:true").refuses(3, &["--engine exec does not read", "hint: --engine local does"]);
}
