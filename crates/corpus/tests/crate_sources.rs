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
