//! Models and texts by their names on the Hub, through the program: fetched, measured, recorded,
//! and measured again with nobody there.

mod common;

use std::fs;

use common::{Outcome, Place, files};
use relscale_testkit::TinyModel;
use relscale_testkit::hub::{StubHub, StubRepository, refusal};

const TOKEN: &str = "hf_neverShown";

/// A hub with a model and a data set; the place still has the model's folder, and the text.
fn hub(place: &Place) -> (StubHub, [StubRepository; 2]) {
    let folder = place.model("tiny", &TinyModel::default());
    let prose = fs::read(place.prose()).unwrap();
    let mut model = StubRepository::of_folder("models", "owner/tiny", &folder);
    model.revisions.push("v1.0".into());
    let texts = StubRepository::new(
        "datasets",
        "owner/texts",
        &[
            ("README.md", b"# Texts"),
            ("data/prose.txt", &prose),
            ("data/train-0.txt", b"The first of the texts, which is short.\n"),
            ("data/train-1.txt", b"The second of the texts is short as well.\n"),
        ],
    );
    let repositories = [model, texts];
    (StubHub::start(repositories.to_vec(), |_| None), repositories)
}

/// Runs the program with a hub; without one nobody listens, and nobody is asked.
fn run(place: &Place, endpoint: Option<&str>, arguments: &[&str]) -> Outcome {
    let mut command = place.command(arguments);
    command.env("HF_TOKEN", TOKEN);
    match endpoint {
        Some(endpoint) => {
            command.env("HF_ENDPOINT", endpoint).env_remove("HF_HUB_OFFLINE");
            // A hub on this machine is asked without a proxy.
            command.env("HTTP_PROXY", "http://127.0.0.1:1");
        }
        None => {
            command.env("HF_ENDPOINT", "http://127.0.0.1:1");
        }
    }
    let output = command.output().unwrap();
    Outcome {
        code: output.status.code(),
        out: place.redact(&output.stdout),
        err: place.redact(&output.stderr),
    }
}

#[test]
fn a_model_and_a_text_by_name_twice_the_second_time_offline() {
    let place = Place::new();
    let (server, [model, texts]) = hub(&place);
    let corpus = "hf://datasets/owner/texts/data/prose.txt";
    let by_name = ["measure", "--model", "owner/tiny", "--corpus", corpus, "--out", "study"];
    let first = run(&place, Some(&server.hub.url()), &by_name);
    assert_eq!(first.code, Some(0), "{}", first.screen());
    let source = format!("hf:owner/tiny@{}", model.commit);
    let text_source = format!("hf:datasets/owner/texts@{}/data/prose.txt", texts.commit);
    for words in [
        format!("{source}: fetching 3 files ("),
        format!("datasets/owner/texts@{}: fetching 1 file (", texts.commit),
        "into [DIR]/hf/hub".to_owned(),
        format!("tiny: weights from model.safetensors of {source}"),
    ] {
        assert!(first.err.contains(&words), "{words}: {}", first.screen());
    }

    // The records say which commit it was, and the key does not: it is the folder's.
    let folder = "runs";
    let entry = fs::read_dir(place.path("study").join(folder)).unwrap().next().unwrap().unwrap();
    assert!(entry.file_name().to_string_lossy().starts_with("tiny--prose--"), "{entry:?}");
    let record: serde_json::Value =
        serde_json::from_slice(&fs::read(entry.path().join("run.json")).unwrap()).unwrap();
    assert_eq!(record["provenance"]["model"]["source"], source.as_str());
    assert_eq!(record["provenance"]["corpus"]["source"], text_source.as_str());
    let local = place.run(&[
        "measure",
        "--model",
        "models/tiny",
        "--corpus",
        "prose.txt",
        "--out",
        "other",
    ]);
    assert_eq!(local.code, Some(0), "{}", local.screen());
    let entry = fs::read_dir(place.path("other/runs")).unwrap().next().unwrap().unwrap();
    let of_folder: serde_json::Value =
        serde_json::from_slice(&fs::read(entry.path().join("run.json")).unwrap()).unwrap();
    assert_eq!(of_folder["key"], record["key"]);
    assert_eq!(of_folder["provenance"]["model"].get("source"), None);

    // Again, with nobody there.
    let asked = server.requests().len();
    let before = files(&place.path("study/runs"));
    let again = run(&place, None, &by_name);
    assert_eq!(again.code, Some(0), "{}", again.screen());
    assert!(again.err.contains("measured before"), "{}", again.screen());
    assert!(!again.err.contains("fetching"), "{}", again.screen());
    assert!(before == files(&place.path("study/runs")));
    drop(server);
    // A new study, from the cache alone.
    let fresh = [&by_name[..6], &["fresh", "--offline"]].concat();
    let outcome = run(&place, None, &fresh);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    assert!(asked > 0);

    // The token stands nowhere.
    for outcome in [&first, &again, &outcome] {
        assert!(!outcome.screen().contains(TOKEN), "{}", outcome.screen());
    }
    for (path, bytes) in [files(&place.path("study")), files(&place.path("hf"))].concat() {
        let there = bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
        assert!(!there, "{}", path.display());
    }
}

#[test]
fn revisions_patterns_folders_and_names() {
    let place = Place::new();
    let (server, _) = hub(&place);
    let endpoint = server.hub.url();
    let outcome = run(
        &place,
        Some(&endpoint),
        &[
            "measure",
            "--model",
            "owner/tiny@v1.0",
            "--corpus",
            "train=hf://datasets/owner/texts@main/data/train-*.txt?split=lines",
            "all=hf://datasets/owner/texts/data",
            "--out",
            "study",
        ],
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    assert!(outcome.err.contains("train: 2 documents"), "{}", outcome.screen());
    assert!(outcome.err.contains("all: 3 documents"), "{}", outcome.screen());
    assert!(outcome.out.contains("tiny@v1.0"), "{}", outcome.screen());

    // What is there as a folder wins over a name.
    fs::create_dir_all(place.path("owner")).unwrap();
    fs::rename(place.path("models/tiny"), place.path("owner/tiny")).unwrap();
    let asked = server.requests().len();
    let outcome = run(
        &place,
        Some(&endpoint),
        &["measure", "--model", "mine=owner/tiny", "--corpus", "prose.txt", "--out", "other"],
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    assert!(!outcome.err.contains("hf:"), "{}", outcome.screen());
    assert_eq!(server.requests().len(), asked);
}

#[test]
fn refusals_tell_what_to_do() {
    let place = Place::new();
    let (server, _) = hub(&place);
    let endpoint = server.hub.url();
    let measure = |endpoint: &str, model: &str, corpus: &str| {
        let arguments = ["measure", "--model", model, "--corpus", corpus, "--out", "study"];
        run(&place, Some(endpoint), &arguments)
    };
    measure(&endpoint, "owner/tiny@nope", "prose.txt")
        .refuses(3, &["no revision `nope`", "hint: its branches, tags"]);
    measure(&endpoint, "owner/other", "prose.txt")
        .refuses(3, &["no such model, or it is private", "hint: check the name at"]);
    measure(&endpoint, "owner/tiny", "hf://datasets/owner/texts/data/nope.txt")
        .refuses(3, &["no file `data/nope.txt` (there are data/prose.txt"]);
    measure(&endpoint, "owner/tiny", "hf://owner/texts/x.txt")
        .refuses(3, &["texts are files of data sets", "hf://datasets/OWNER/NAME@REVISION/FILE"]);
    let gated = StubHub::start(Vec::new(), |_| Some(refusal(403, "GatedRepo", "")));
    measure(&gated.hub.url(), "meta/secret", "prose.txt").refuses(
        3,
        &["meta/secret@main: it is gated", "hint: sign in, accept them at", "/meta/secret, and"],
    );
    assert!(!place.path("study").exists());
}
