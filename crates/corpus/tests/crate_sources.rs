//! The crate sources of this very workspace: sizes, order, and the wall between training and measuring.

#![allow(clippy::print_stdout)] // says which tests were skipped

use std::collections::HashSet;
use std::path::Path;

use relscale_corpus::loaders::crates::find::{FoundBy, SourceCrate};
use relscale_corpus::loaders::crates::held_out::HeldOut;
use relscale_corpus::{CorpusError, CorpusSpec, CrateSources, Distribution, Document, Fingerprint, Split};

fn sources() -> Option<CrateSources> {
    let sources = CrateSources::find(Some(Path::new(env!("CARGO_MANIFEST_DIR")))).unwrap();
    if let FoundBy::LockFile { missing, .. } = sources.found_by()
        && !missing.is_empty()
    {
        println!("skipped: {}", sources.found_by());
        return None;
    }
    Some(sources)
}

#[test]
fn held_out_text_is_enough_and_unseen() {
    let Some(sources) = sources() else { return };
    assert!(sources.crates().len() > 100);
    assert!(sources.set_aside().values().any(|reason| reason.contains("newer version")));
    // Code is left to the example: it takes seconds in a debug build and runs through the same functions.
    for (distribution, least) in [(Distribution::Docs, 2_000_000), (Distribution::Markdown, 1_300_000)] {
        let held_out = sources.documents(distribution, Split::HeldOut).unwrap();
        let train = sources.documents(distribution, Split::Train).unwrap();
        let bytes: usize = held_out.iter().map(|d| d.text.len()).sum();
        assert!(bytes > least, "{distribution}: {bytes}");
        let texts = |documents: &[Document]| -> HashSet<String> {
            documents.iter().map(|d| d.text.clone()).collect()
        };
        let (unseen, seen) = (texts(&held_out), texts(&train));
        assert_eq!(unseen.len() + seen.len(), held_out.len() + train.len(), "a text occurs twice");
        assert!(unseen.is_disjoint(&seen));
        for document in held_out.iter().chain(&train) {
            let split = sources.split_of(&document.tags["crate"]);
            assert_eq!(split == Split::HeldOut, unseen.contains(&document.text));
            assert_eq!(document.tags["kind"], distribution.name());
            assert!(document.id.starts_with(&format!("{}-", document.tags["crate"])));
            assert!(document.text.len() >= 200);
        }
        // Any prefix is a sample over many crates.
        let crates: HashSet<&str> = held_out.iter().take(60).map(|d| d.tags["crate"].as_str()).collect();
        assert!(crates.len() > 12, "{distribution}: {crates:?}");
    }
}

/// What the shipped family was trained on and what it is measured on: a crate that enters the lock file must change neither
/// (it belongs to `[later]` of `assets/held-out.toml`), nor may a locked crate get another version. The hashes are those
/// that the example `crate_sources` printed when the family was trained.
#[test]
fn the_text_of_the_shipped_family_stays() {
    use Distribution::{Code, Docs, Markdown};
    let Some(sources) = sources() else { return };
    for (distribution, split, sha256) in [
        (Code, Split::Train, "e4328d17cbc393a1d3e777f8c9251503128ea67615be1669c8745da8f40833c4"),
        (Code, Split::HeldOut, "b430471b3e04a19c8695e2a820ed84f75aa54fe1a8d757374cb530d084eb50c9"),
        (Docs, Split::Train, "e020a642f7dba2fee7467e7ce9ff64cf27cc28d35d41d959ca81d08b6f02eea4"),
        (Docs, Split::HeldOut, "5a0d9aaaee337219ae7cee2987fbc63c99efa89902cfa1db37f8f61626ef8ee1"),
        (Markdown, Split::Train, "36a7550237914b6e848ed0e9c3fda45e74b45ea2f77b3feb42b61f3fa20b9b1f"),
        (Markdown, Split::HeldOut, "d6125770c8d0dcfe00198630415f058417745f7eb47dcffc55374475daa21e26"),
    ] {
        let documents = sources.documents(distribution, split).unwrap();
        assert_eq!(Fingerprint::of(&documents).sha256, sha256, "{distribution}, {split}");
    }
}

/// Code of which the name of the crate tells whether it is old.
#[test]
fn a_later_crate_is_in_neither_split() {
    let folder = tempfile::tempdir().unwrap();
    let text = |name: &str| format!("fn {name}() {{}}\n{}", "fn more() {}\n".repeat(30));
    let crates = ["kept", "seen", "new"].map(|name| {
        let root = folder.path().join(name);
        std::fs::create_dir_all(root.join("src")).unwrap();
        // What the new crate has in common with an old one must not take it from that one.
        let shared = text("shared");
        std::fs::write(root.join("src/lib.rs"), text(name)).unwrap();
        if name != "kept" {
            std::fs::write(root.join("src/shared.rs"), shared).unwrap();
        }
        SourceCrate { name: name.to_owned(), version: "1.0.0".to_owned(), licence: "MIT".to_owned(), root }
    });
    let list = HeldOut::parse("[families]\none = ['kept']\n[later]\nimages = ['new']\n").unwrap();
    let sources = CrateSources::from_crates(crates.into(), FoundBy::CargoMetadata, list).unwrap();
    assert!(sources.set_aside()["new-1.0.0"].contains("after the shipped models were trained"));
    let ids = |split| -> HashSet<String> {
        let documents = sources.documents(Distribution::Code, split).unwrap();
        documents.into_iter().map(|document| document.id).collect()
    };
    assert_eq!(ids(Split::HeldOut), HashSet::from(["kept-1.0.0/src/lib.rs".to_owned()]));
    let train = ["seen-1.0.0/src/lib.rs", "seen-1.0.0/src/shared.rs"].map(str::to_owned);
    assert_eq!(ids(Split::Train), HashSet::from(train));
}

#[test]
fn the_corpus_value_reads_the_same_documents() {
    let Some(sources) = sources() else { return };
    let direct = sources.documents(Distribution::Markdown, Split::HeldOut).unwrap();
    let spec: CorpusSpec = "crates:markdown".parse().unwrap();
    let by_spec: Vec<Document> =
        spec.open(Some(Path::new(env!("CARGO_MANIFEST_DIR")))).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(Fingerprint::of(&by_spec), Fingerprint::of(&direct));
    let limited: CorpusSpec =
        format!("crates:markdown?limit=3&manifest={}", env!("CARGO_MANIFEST_DIR")).parse().unwrap();
    let limited: Vec<Document> = limited.open(None).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(limited, direct[..3]);
}

/// A registry of two crates, written here, with every kind of comment.
#[test]
fn three_distributions_of_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let source = format!(
        "//! Ranks of tokens.\n\n/// Counts\n{}fn f() -> &'static str {{ // said\n    \"// kept\"\n}}\n{}",
        "/// every entry that is at least as good,\n".repeat(8),
        "fn g() { f(); }\n".repeat(20)
    );
    let crates: Vec<SourceCrate> = ["kept", "seen"]
        .iter()
        .map(|name| {
            let root = folder.path().join(name);
            std::fs::create_dir_all(root.join("src")).unwrap();
            std::fs::write(root.join("src/lib.rs"), format!("{source}// {name}\nfn {name}() {{}}\n"))
                .unwrap();
            std::fs::write(root.join("README.md"), format!("# {name}\n\n{}", "Text. ".repeat(60))).unwrap();
            let (version, licence) = ("1.0.0".to_owned(), "MIT".to_owned());
            SourceCrate { name: (*name).to_owned(), version, licence, root }
        })
        .collect();
    let list = HeldOut::parse("[families]\none = ['kept', 'absent']\n").unwrap();
    let sources = CrateSources::from_crates(crates, FoundBy::CargoMetadata, list).unwrap();
    assert_eq!(sources.absent_held_out(), ["absent"]);
    assert!(sources.notices()[0].to_string().contains("absent"));

    let code = sources.documents(Distribution::Code, Split::HeldOut).unwrap();
    assert_eq!(code.iter().map(|d| d.id.as_str()).collect::<Vec<_>>(), ["kept-1.0.0/src/lib.rs"]);
    assert!(code[0].text.starts_with("fn f() -> &'static str {\n    \"// kept\"\n}\n"));
    assert!(!code[0].text.contains("said") && code[0].text.ends_with("fn kept() {}\n"));
    // The docs of both crates are the same text: it stays on the held-out side only.
    let docs = sources.documents(Distribution::Docs, Split::HeldOut).unwrap();
    assert!(docs[0].text.starts_with("Ranks of tokens.\n\nCounts\nevery entry"));
    let train = sources.documents(Distribution::Docs, Split::Train);
    assert!(matches!(train, Err(CorpusError::EmptyCorpus { .. })));
    let markdown = sources.documents(Distribution::Markdown, Split::Train).unwrap();
    assert_eq!(markdown[0].id, "seen-1.0.0/README.md");
}
