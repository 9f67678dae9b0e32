//! Names of the Hub against a hub on this machine: fetched into the layout, found again without a
//! connection, resumed, checked, refused in words.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use relscale_measure::error::HubError;
use relscale_measure::http::{Retry, Secret};
use relscale_measure::hub::name::DatasetFiles;
use relscale_measure::hub::{Found, Hub, HubEvent, Parts, Repository, Settings};
use relscale_measure::{Error, ModelRequest, Result};
use relscale_testkit::hub::{StubHub, StubRepository, refusal};
use relscale_testkit::{Answer, Received};

/// A machine with a cache.
struct Machine {
    root: tempfile::TempDir,
    settings: Settings,
    told: Arc<Mutex<Vec<String>>>,
}

impl Machine {
    fn new(endpoint: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let settings = Settings {
            cache: root.path().join("hub"),
            endpoint: endpoint.to_owned(),
            offline: None,
            token: Some((Secret::new("hf_secret").unwrap(), "HF_TOKEN".into())),
            links: cfg!(unix),
        };
        Self { root, settings, told: Arc::default() }
    }

    fn hub(&self) -> Hub {
        let told = Arc::clone(&self.told);
        let tell = move |said: HubEvent<'_>| {
            let line = match said {
                HubEvent::Fetching { what, files, bytes, .. } => {
                    format!("fetching {what}: {files} files, {bytes} bytes")
                }
                HubEvent::Came { .. } => return,
                said => format!("{said:?}"),
            };
            told.lock().unwrap().push(line);
        };
        let retry = Retry { tries: 3, first: Duration::from_millis(2), ..Retry::default() };
        Hub::new(None, Arc::default(), Arc::new(tell)).with(self.settings.clone(), retry)
    }

    fn model(&self, name: &str) -> Result<Found> {
        self.hub().model(&Repository::model(name)?, Parts::All)
    }

    fn dataset(&self, place: &str) -> Result<Found> {
        self.hub().dataset(&DatasetFiles::parse(place).unwrap()?)
    }

    fn offline(&self) -> Self {
        Self {
            // Nobody listens there: whoever asks fails.
            settings: Settings {
                offline: Some("HF_HUB_OFFLINE is set"),
                endpoint: "http://127.0.0.1:1".into(),
                ..self.settings.clone()
            },
            root: tempfile::tempdir().unwrap(),
            told: Arc::default(),
        }
    }

    /// Files below the cache with what they hold, or where they lead.
    fn layout(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        walk(&self.settings.cache, &self.settings.cache, &mut found);
        found
    }
}

fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            walk(root, &path, found);
        } else if kind.is_symlink() {
            let to = std::fs::read_link(&path).unwrap();
            found.insert(name, format!("-> {}", to.display()));
        } else {
            found
                .insert(name, String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned());
        }
    }
}

const SHARDS: &str =
    r#"{"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}"#;

fn model() -> StubRepository {
    StubRepository::new(
        "models",
        "owner/tiny",
        &[
            ("README.md", b"not wanted"),
            ("config.json", b"{}"),
            ("tokenizer.json", b"{\"t\": 1}"),
            ("model.safetensors", b"the weights, which lie apart"),
            ("pytorch_model.bin", b"the same once more"),
            ("onnx/model.onnx", b"not wanted"),
        ],
    )
}

fn well(_: &Received) -> Option<Answer> {
    None
}

fn hub_error(error: Error) -> HubError {
    match error {
        Error::Hub(error) => *error,
        error => panic!("{error:?}"),
    }
}

/// What a second machine that has never heard of the Hub needs: nothing but the cache.
#[test]
fn a_model_is_fetched_into_the_layout_and_found_again_without_a_connection() {
    let repository = model();
    let server = StubHub::start(vec![repository.clone()], well);
    let machine = Machine::new(&server.hub.url());
    let found = machine.model("owner/tiny").unwrap();
    let commit = &repository.commit;
    assert_eq!(found.source, format!("hf:owner/tiny@{commit}"));
    let snapshot = machine.settings.cache.join(format!("models--owner--tiny/snapshots/{commit}"));
    assert_eq!(found.path, snapshot);

    let mut wanted = BTreeMap::new();
    let base = "models--owner--tiny";
    wanted.insert(format!("{base}/refs/main"), commit.clone());
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let etag = repository.etag(name);
        let bytes = String::from_utf8(repository.files[name].clone()).unwrap();
        wanted.insert(format!("{base}/blobs/{etag}"), bytes);
        wanted
            .insert(format!("{base}/snapshots/{commit}/{name}"), format!("-> ../../blobs/{etag}"));
        wanted.insert(format!(".locks/{base}/{etag}.lock"), String::new());
    }
    let mut layout = machine.layout();
    assert!(layout.remove("CACHEDIR.TAG").unwrap().starts_with("Signature: 8a477f597d28d172789f"));
    if cfg!(unix) {
        assert_eq!(layout, wanted);
    }
    let told = machine.told.lock().unwrap().clone();
    assert_eq!(told[0], format!("fetching hf:owner/tiny@{commit}: 3 files, 38 bytes"));

    // Again, with the Hub there and with nobody there.
    let asked = server.requests().len();
    assert_eq!(machine.model("owner/tiny").unwrap(), found);
    assert_eq!(machine.model(&format!("owner/tiny@{commit}")).unwrap(), found);
    assert_eq!(server.requests().len(), asked, "the cache has it all");
    let offline = machine.offline();
    assert_eq!(offline.model("owner/tiny").unwrap(), found);
    let request = ModelRequest::find("owner/tiny@main", &offline.hub(), Parts::All).unwrap();
    assert_eq!(request.name, "tiny@main");
    assert_eq!(request.source, Some(found.source));
}

/// What huggingface_hub 2.4.0 leaves, by `tools/goldens/hub_layout.py`: path, and where it leads or
/// what it holds.
fn by_python() -> BTreeMap<String, String> {
    let text = include_str!("data/hub_layout.txt");
    let lines = text.lines().map(|line| {
        let (path, holds) = line.split_once('\t').unwrap();
        (path.to_owned(), serde_json::from_str(holds).unwrap())
    });
    lines.collect()
}

/// The same repositories fetched by both leave the same files and links, but for words of the tag.
#[cfg(unix)]
#[test]
fn the_layout_is_that_of_huggingface_hub_itself() {
    let commit = "0123456789abcdef0123456789abcdef01234567".to_owned();
    let model = StubRepository { commit: commit.clone(), ..model() };
    let files: &[(&str, &[u8])] = &[("data/deep/prose.txt", b"Some prose.\n")];
    let texts = StubRepository { commit, ..StubRepository::new("datasets", "owner/texts", files) };
    let server = StubHub::start(vec![model, texts], well);
    let machine = Machine::new(&server.hub.url());
    machine.model("owner/tiny").unwrap();
    machine.dataset("hf://datasets/owner/texts/data/deep/prose.txt").unwrap();
    let (mut ours, mut python) = (machine.layout(), by_python());
    let tag = |layout: &mut BTreeMap<String, String>| {
        layout.remove("CACHEDIR.TAG").unwrap().lines().next().unwrap().to_owned()
    };
    assert_eq!(tag(&mut ours), tag(&mut python));
    assert_eq!(ours, python);
}

/// What huggingface_hub fetched is found, with nobody to ask.
#[cfg(unix)]
#[test]
fn what_huggingface_hub_fetched_is_found() {
    let machine = Machine::new("http://127.0.0.1:1").offline();
    let cache = &machine.settings.cache;
    for (path, holds) in by_python() {
        let path = cache.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        match holds.strip_prefix("-> ") {
            Some(to) => std::os::unix::fs::symlink(to, path).unwrap(),
            None => std::fs::write(path, holds).unwrap(),
        }
    }
    let found = machine.model("owner/tiny").unwrap();
    assert_eq!(found.source, "hf:owner/tiny@0123456789abcdef0123456789abcdef01234567");
    let weights = std::fs::read(found.path.join("model.safetensors")).unwrap();
    assert_eq!(weights, b"the weights, which lie apart");
    let found = machine.dataset("hf://datasets/owner/texts/data/deep/prose.txt").unwrap();
    assert_eq!(std::fs::read(found.path).unwrap(), b"Some prose.\n");
}

/// The token goes to the Hub, and not to the host of its large files; no message has it.
#[test]
fn the_token_stays_with_the_hub() {
    let server = StubHub::start(vec![model()], well);
    let machine = Machine::new(&server.hub.url());
    machine.model("owner/tiny").unwrap();
    let hub = server.hub.requests();
    assert!(hub.iter().all(|one| one.header("authorization") == Some("Bearer hf_secret")));
    let apart = server.apart.requests();
    assert!(!apart.is_empty() && apart.iter().all(|one| one.header("authorization").is_none()));
    let everything = format!("{:?} {:?} {:?}", machine.layout(), machine.told, machine.hub());
    assert!(!everything.contains("hf_secret"), "{everything}");
}

#[test]
fn shards_follow_from_the_index_and_pickles_are_taken_where_nothing_else_is() {
    let sharded = StubRepository::new(
        "models",
        "a/sharded",
        &[
            ("config.json", b"{}"),
            ("merges.txt", b"m"),
            ("model-1-of-2.safetensors", b"one"),
            ("model-2-of-2.safetensors", b"two"),
            ("model-9-of-9.safetensors", b"of another form"),
            ("model.safetensors.index.json", SHARDS.as_bytes()),
            ("pytorch_model.bin", b"the same"),
            ("vocab.json", b"{}"),
        ],
    );
    let pickled = StubRepository::new(
        "models",
        "old",
        &[
            ("config.json", b"{}"),
            ("pytorch_model.bin", b"pickled"),
            ("tf_model.h5", b"not wanted"),
        ],
    );
    let gguf =
        StubRepository::new("models", "a/gguf", &[("config.json", b"{}"), ("m.Q4.gguf", b"x")]);
    let server = StubHub::start(vec![sharded, pickled, gguf], well);
    let machine = Machine::new(&server.hub.url());
    let names = |found: Found| {
        let mut names: Vec<String> = std::fs::read_dir(found.path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        names(machine.model("a/sharded").unwrap()),
        [
            "config.json",
            "merges.txt",
            "model-1-of-2.safetensors",
            "model-2-of-2.safetensors",
            "model.safetensors.index.json",
            "vocab.json"
        ]
    );
    assert_eq!(names(machine.model("old").unwrap()), ["config.json", "pytorch_model.bin"]);
    // It has no tokenizer, which is asked for once only.
    let asked = server.requests().len();
    machine.model("old").unwrap();
    assert_eq!(server.requests().len(), asked);

    let error = machine.model("a/gguf").unwrap_err();
    assert!(error.to_string().contains("m.Q4.gguf"), "{error}");
    let repository = Repository::model("a/gguf").unwrap();
    let found = machine.hub().model(&repository, Parts::WithoutWeights).unwrap();
    assert_eq!(names(found), ["config.json"]);
}

/// What is in the cache stays what it was, though the branch moved on; by its own name the new
/// commit is had, and files that both share are not fetched twice.
#[test]
fn a_branch_that_moves_does_not_move_a_study() {
    let old = model();
    let first = StubHub::start(vec![old.clone()], well);
    let mut machine = Machine::new(&first.hub.url());
    machine.model("owner/tiny").unwrap();
    drop(first);
    let mut new = model();
    new.files.insert("config.json".into(), b"{\"new\": 1}".to_vec());
    new.commit = "f".repeat(40);
    new.revisions.push("refs/pr/7".into());
    let second = StubHub::start(vec![new.clone()], well);
    machine.settings.endpoint = second.hub.url();
    let source = |name: &str| machine.model(name).unwrap().source;
    assert_eq!(source("owner/tiny"), format!("hf:owner/tiny@{}", old.commit));
    assert!(second.requests().is_empty());
    assert_eq!(source("owner/tiny@refs/pr/7"), format!("hf:owner/tiny@{}", new.commit));
    assert!(second.apart.requests().is_empty(), "the weights are there already");
    let read = |path: &str| {
        let base = machine.settings.cache.join("models--owner--tiny");
        std::fs::read_to_string(base.join(path)).unwrap()
    };
    assert_eq!(read("refs/main"), old.commit);
    assert_eq!(read("refs/refs/pr/7"), new.commit);
    assert_eq!(read(&format!("snapshots/{}/config.json", new.commit)), "{\"new\": 1}");
}

#[test]
fn offline_says_what_is_missing_and_opens_nothing() {
    let server = StubHub::start(vec![model()], well);
    let machine = Machine::new(&server.hub.url());
    let offline = machine.offline();
    let message = offline.model("owner/tiny@v1").unwrap_err().to_string();
    for word in [
        "owner/tiny@v1",
        "HF_HUB_OFFLINE is set",
        "no connection was opened",
        "`hf download owner/tiny --revision v1`",
    ] {
        assert!(message.contains(word), "{word}: {message}");
    }
    // Without its weights it is not enough for us, and enough for a server.
    let repository = Repository::model("owner/tiny").unwrap();
    machine.hub().model(&repository, Parts::WithoutWeights).unwrap();
    let message = offline.model("owner/tiny").unwrap_err().to_string();
    assert!(message.contains("the weights are not in the cache"), "{message}");
    offline.hub().model(&repository, Parts::WithoutWeights).unwrap();

    let message = offline.dataset("hf://datasets/o/n/x-*.txt").unwrap_err().to_string();
    assert!(
        message.contains("hf download o/n --include 'x-*.txt' --repo-type dataset"),
        "{message}"
    );
}

/// The connection is cut after some bytes, twice, and again for good: what came is kept, and only
/// the rest is asked for.
#[test]
fn a_cut_download_goes_on_where_it_was() {
    let repository = model();
    let weights = repository.files["model.safetensors"].clone();
    let cuts = Arc::new(AtomicUsize::new(0));
    let (bytes, seen) = (weights.clone(), Arc::clone(&cuts));
    let server = StubHub::start(vec![repository.clone()], move |request| {
        let apart = request.path.contains("signature");
        let cut = apart && seen.fetch_add(1, Ordering::Relaxed) < 2;
        cut.then(|| Answer::bytes(request, &bytes).cut_after(5))
    });
    let machine = Machine::new(&server.hub.url());
    let found = machine.model("owner/tiny").unwrap();
    assert_eq!(std::fs::read(found.path.join("model.safetensors")).unwrap(), weights);
    let firsts: Vec<Option<usize>> =
        server.apart.requests().iter().map(Received::first_byte).collect();
    assert_eq!(firsts, [None, Some(5), Some(10)]);

    // A server that sends 5 bytes once and then nothing any more.
    let (bytes, seen) = (weights.clone(), Arc::new(AtomicUsize::new(0)));
    let server = StubHub::start(vec![repository.clone()], move |request| {
        request.path.contains("signature").then(|| {
            let first = seen.fetch_add(1, Ordering::Relaxed) == 0;
            Answer::bytes(request, &bytes).cut_after(if first { 5 } else { 0 })
        })
    });
    let mut machine = Machine::new(&server.hub.url());
    let error = hub_error(machine.model("owner/tiny").unwrap_err());
    assert!(matches!(error, HubError::Cut { done: 5, of: 28, .. }), "{error:?}");
    assert!(error.to_string().contains("it goes on there"), "{error}");
    let blobs = machine.settings.cache.join("models--owner--tiny/blobs");
    let etag = repository.etag("model.safetensors");
    assert_eq!(std::fs::read(blobs.join(format!("{etag}.incomplete"))).unwrap(), weights[..5]);
    assert!(!blobs.join(&etag).exists());

    // The next start asks for the rest.
    let server = StubHub::start(vec![repository], well);
    machine.settings.endpoint = server.hub.url();
    machine.model("owner/tiny").unwrap();
    assert_eq!(server.apart.requests()[0].first_byte(), Some(5));
    assert_eq!(std::fs::read(blobs.join(&etag)).unwrap(), weights);
    assert!(!blobs.join(format!("{etag}.incomplete")).exists());
}

/// A server that ignores ranges begins anew; what is left over from other bytes is thrown away.
#[test]
fn leftovers_that_do_not_fit_are_thrown_away() {
    for (left, ranges) in [
        (&b"the wei"[..], false),
        (b"something that is longer than the file itself", true),
        (b"THE WEI", true),
    ] {
        let repository = model();
        let weights = repository.files["model.safetensors"].clone();
        let bytes = weights.clone();
        let server = StubHub::start(vec![repository.clone()], move |request| {
            (!ranges && request.path.contains("signature"))
                .then(|| Answer::new(200, bytes.as_slice()))
        });
        let machine = Machine::new(&server.hub.url());
        let blobs = machine.settings.cache.join("models--owner--tiny/blobs");
        std::fs::create_dir_all(&blobs).unwrap();
        let etag = repository.etag("model.safetensors");
        std::fs::write(blobs.join(format!("{etag}.incomplete")), left).unwrap();
        let first = machine.model("owner/tiny");
        if left == b"THE WEI" {
            // Of the right length, and not the right bytes: the hash finds it, and it is gone.
            let error = hub_error(first.unwrap_err());
            assert!(matches!(error, HubError::Wrong { .. }), "{error:?}");
            assert!(!blobs.join(format!("{etag}.incomplete")).exists());
            machine.model("owner/tiny").unwrap();
        }
        assert_eq!(std::fs::read(blobs.join(&etag)).unwrap(), weights);
    }
}

/// Wrong bytes and wrong sizes never become a blob, of large files and small ones.
#[test]
fn what_is_not_what_the_hub_says_is_thrown_away() {
    for (name, bytes, words) in [
        ("model.safetensors", &b"THE WEIGHTS, which lie apart"[..], "sha256"),
        ("model.safetensors", b"and some bytes more than the Hub said", "37 came"),
        ("config.json", b"[]", "sha1"),
    ] {
        let repository = model();
        let (etag, size) = (repository.etag(name), repository.files[name].len());
        let server = StubHub::start(vec![repository], move |request| {
            let wrong = match name {
                "config.json" => request.path.ends_with(name) && request.method == "GET",
                _ => request.path.contains("signature"),
            };
            wrong.then(|| Answer::bytes(request, bytes))
        });
        let machine = Machine::new(&server.hub.url());
        let error = hub_error(machine.model("owner/tiny").unwrap_err());
        let message = error.to_string();
        assert!(matches!(error, HubError::Wrong { .. }), "{error:?}");
        assert!(message.contains(words) && message.contains(name), "{size} {message}");
        let base = machine.settings.cache.join("models--owner--tiny");
        assert!(!base.join("blobs").join(&etag).exists());
        assert!(!base.join("blobs").join(format!("{etag}.incomplete")).exists());
    }
}

/// Without links the snapshot holds the files; a file that two commits share is had for both.
#[test]
fn a_system_without_links_has_the_files_themselves() {
    let mut repository = model();
    let server = StubHub::start(vec![repository.clone()], well);
    let mut machine = Machine::new(&server.hub.url());
    machine.settings.links = false;
    let found = machine.model("owner/tiny").unwrap();
    let weights = found.path.join("model.safetensors");
    assert!(!std::fs::symlink_metadata(&weights).unwrap().is_symlink());
    assert_eq!(std::fs::read(&weights).unwrap(), repository.files["model.safetensors"]);
    assert_eq!(machine.offline().model("owner/tiny").unwrap(), found);
    repository.commit = "e".repeat(40);
    repository.revisions = vec!["next".into()];
    let server = StubHub::start(vec![repository.clone()], well);
    machine.settings.endpoint = server.hub.url();
    let next = machine.model("owner/tiny@next").unwrap();
    let weights = next.path.join("model.safetensors");
    assert_eq!(std::fs::read(&weights).unwrap(), repository.files["model.safetensors"]);
    assert!(found.path.join("model.safetensors").is_file());
}

#[test]
fn refusals_say_what_to_do() {
    type Case = (&'static str, u16, &'static str, &'static str, &'static [&'static str]);
    let cases: [Case; 8] = [
        (
            "HEAD",
            403,
            "GatedRepo",
            "",
            &["it is gated", "accept them at", "/owner/tiny,", "may read gated"],
        ),
        ("HEAD", 401, "GatedRepo", "", &["it is gated", "accept them at"]),
        ("GET", 401, "RepoNotFound", "", &["no such model, or it is private", "may read it"]),
        ("GET", 404, "RepoNotFound", "", &["no such model, or it is private"]),
        ("GET", 404, "RevisionNotFound", "", &["no revision `main`", "/owner/tiny/refs"]),
        (
            "GET",
            401,
            "",
            "Invalid credentials in Authorization header",
            &["does not accept the token (HF_TOKEN)"],
        ),
        ("HEAD", 404, "EntryNotFound", "", &["no file `config.json`"]),
        ("GET", 500, "", "oh no", &["the Hub answers 500 (oh no)"]),
    ];
    for (method, status, code, said, words) in cases {
        let server = StubHub::start(vec![model()], move |request| {
            (request.method == method).then(|| refusal(status, code, said))
        });
        let machine = Machine::new(&server.hub.url());
        let message = machine.model("owner/tiny").unwrap_err().to_string();
        for word in words {
            assert!(message.contains(word), "{status} {code}: `{word}` not in {message}");
        }
        assert!(!message.contains("hf_secret"), "{message}");
    }
    // Without a token, another thing is to be done.
    let server = StubHub::start(vec![model()], |request| {
        (request.method == "HEAD").then(|| refusal(401, "GatedRepo", ""))
    });
    let mut machine = Machine::new(&server.hub.url());
    machine.settings.token = None;
    let message = machine.model("owner/tiny").unwrap_err().to_string();
    assert!(message.contains("give a token of that account by HF_TOKEN"), "{message}");
    let message = machine.model("owner/none").unwrap_err().to_string();
    assert!(message.contains("for a private one, give a token by HF_TOKEN"), "{message}");
    assert!(server.requests().iter().all(|one| one.header("authorization").is_none()));

    for body in ["<html>sign in to the network</html>", "{}", r#"{"sha": "../../x"}"#] {
        let server = StubHub::start(Vec::new(), move |_| Some(Answer::new(200, body)));
        let message = Machine::new(&server.hub.url()).model("owner/tiny").unwrap_err().to_string();
        assert!(message.contains("HF_ENDPOINT"), "{message}");
    }
    let nobody = Machine::new("http://127.0.0.1:1");
    let error = hub_error(nobody.model("owner/tiny").unwrap_err());
    assert!(matches!(error, HubError::NoConnection { .. }), "{error:?}");
    assert!(error.to_string().contains("cannot be reached"), "{error}");
}

/// Names that would lead out of the cache are written nowhere.
#[test]
fn a_hub_that_means_harm_writes_nothing_outside() {
    let mut repository = model();
    repository.files.insert("../../../../evil.json".into(), b"x".to_vec());
    let server = StubHub::start(vec![repository], well);
    let machine = Machine::new(&server.hub.url());
    machine.model("owner/tiny").unwrap();
    assert!(!machine.root.path().join("evil.json").exists());
    let harm = StubHub::start(vec![model()], |request| {
        (request.method == "HEAD").then(|| Answer::new(200, "").header("ETag", "\"../../../x\""))
    });
    let machine = Machine::new(&harm.hub.url());
    let error = hub_error(machine.model("owner/tiny").unwrap_err());
    assert!(matches!(error, HubError::NoHub { .. }), "{error:?}");
}

#[test]
fn files_folders_and_patterns_of_data_sets_are_fetched() {
    let repository = StubRepository::new(
        "datasets",
        "o/texts",
        &[
            (".gitattributes", b"x"),
            ("all/dev.csv", b"d"),
            ("all/test.csv", b"t"),
            ("train-0.txt", b"zero"),
            ("train-1.txt", b"one"),
            ("deep/er/x@y.txt", b"deep"),
        ],
    );
    let commit = repository.commit.clone();
    let server = StubHub::start(vec![repository], well);
    let machine = Machine::new(&server.hub.url());
    let snapshot = machine.settings.cache.join(format!("datasets--o--texts/snapshots/{commit}"));
    let names = || {
        let mut names = BTreeMap::new();
        walk(&snapshot, &snapshot, &mut names);
        names.into_keys().collect::<Vec<_>>()
    };
    let found = machine.dataset("hf://datasets/o/texts/deep/er/x%40y.txt").unwrap();
    assert_eq!(found.path, snapshot.join("deep/er/x@y.txt"));
    assert_eq!(found.source, format!("hf:datasets/o/texts@{commit}/deep/er/x@y.txt"));
    assert_eq!(std::fs::read(&found.path).unwrap(), b"deep");
    assert_eq!(names(), ["deep/er/x@y.txt"]);
    machine.dataset("hf://datasets/o/texts@main/train-*.txt").unwrap();
    assert_eq!(names(), ["deep/er/x@y.txt", "train-0.txt", "train-1.txt"]);
    let found = machine.dataset("hf://datasets/o/texts/all").unwrap();
    assert_eq!(found.path, snapshot.join("all"));
    assert_eq!(names().len(), 5);

    // A file is used without asking; of a pattern the Hub is asked, or the user is told.
    let offline = machine.offline();
    assert_eq!(
        offline.dataset("hf://datasets/o/texts/train-1.txt").unwrap().path,
        snapshot.join("train-1.txt")
    );
    assert!(offline.told.lock().unwrap().is_empty());
    offline.dataset("hf://datasets/o/texts/train-*.txt").unwrap();
    let told = offline.told.lock().unwrap().join(" ");
    assert!(told.contains("Partial") && told.contains("files: 2"), "{told}");

    let message = machine.dataset("hf://datasets/o/texts/all/val.csv").unwrap_err().to_string();
    assert!(
        message.contains("no file `all/val.csv` (there are all/dev.csv, all/test.csv)"),
        "{message}"
    );
    assert!(message.contains(&format!("/datasets/o/texts/tree/{commit}")), "{message}");
}

/// Three fetch the same model: one fetches, the others wait, all have it.
#[test]
fn two_at_once_do_not_get_in_each_others_way() {
    let repository = model();
    let server = StubHub::start(vec![repository.clone()], |request| {
        // Long enough for the other to come to the lock.
        if request.path.contains("signature") {
            std::thread::sleep(Duration::from_millis(150));
        }
        None
    });
    let machine = Machine::new(&server.hub.url());
    std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..3).map(|_| scope.spawn(|| machine.model("owner/tiny").unwrap())).collect();
        for one in all {
            let found = one.join().unwrap();
            let weights = std::fs::read(found.path.join("model.safetensors")).unwrap();
            assert_eq!(weights, repository.files["model.safetensors"]);
        }
    });
    assert_eq!(server.apart.requests().len(), 1, "fetched more than once");
}

#[test]
fn a_stop_ends_a_download_and_keeps_it() {
    let repository = StubRepository::new(
        "models",
        "owner/tiny",
        &[("config.json", b"{}"), ("model.safetensors", &[7; 3_000_000])],
    );
    let server = StubHub::start(vec![repository.clone()], well);
    let machine = Machine::new(&server.hub.url());
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let tell = move |event: HubEvent<'_>| {
        if matches!(event, HubEvent::Came { file: "model.safetensors", done, .. } if done > 0) {
            flag.store(true, Ordering::Relaxed);
        }
    };
    let hub = Hub::new(None, cancel, Arc::new(tell)).with(machine.settings.clone(), Retry::NEVER);
    let error = hub.model(&Repository::model("owner/tiny").unwrap(), Parts::All).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error:?}");
    let etag = repository.etag("model.safetensors");
    let aside = format!("models--owner--tiny/blobs/{etag}.incomplete");
    let kept = std::fs::metadata(machine.settings.cache.join(aside)).unwrap().len();
    assert!(kept > 0 && kept < 3_000_000, "{kept}");
}

/// A disk that is really full, as the kernel plays it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_says_how_much_is_missing() {
    let repository = model();
    let server = StubHub::start(vec![repository.clone()], well);
    let machine = Machine::new(&server.hub.url());
    let etag = repository.etag("model.safetensors");
    let base = machine.settings.cache.join("models--owner--tiny/blobs");
    let _full = relscale_records::atomic::faults::full(&base.join(format!("{etag}.incomplete")));
    let error = hub_error(machine.model("owner/tiny").unwrap_err());
    assert!(matches!(error, HubError::Keep { missing: 28, .. }), "{error:?}");
    let message = error.to_string();
    assert!(
        message.contains("28 bytes are still to come") && message.contains("HF_HUB_CACHE"),
        "{message}"
    );
}
