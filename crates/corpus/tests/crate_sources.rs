//! The crate sources: what the list gives, whatever a lock file says; sizes, order, and the wall
//! between training and measuring.

use std::collections::HashSet;
use std::path::Path;

use relscale_corpus::loaders::crates::find::{Found, SourceCrate};
use relscale_corpus::loaders::crates::held_out::HeldOut;
use relscale_corpus::loaders::crates::pinned::Pinned;
use relscale_corpus::{
    CorpusError, CorpusSpec, CrateSources, Distribution, Document, Fingerprint, Split,
};
use relscale_testkit::data::{MACHINE, skipped};

/// The crates of one side, all of them; `None` where cargo could not fetch them.
fn sources(split: Split) -> Option<CrateSources> {
    match CrateSources::shipped(split) {
        Ok(sources) if sources.missing().is_none() => return Some(sources),
        Ok(sources) => skipped(MACHINE, &sources.notices()[0]),
        Err(error) => skipped(MACHINE, &error.to_string()),
    }
    None
}

/// Made-up crates, all that there are.
fn made_up(crates: Vec<SourceCrate>, list: &str, split: Split) -> CrateSources {
    CrateSources::new(Found { crates, missing: None }, HeldOut::parse(list).unwrap(), split)
        .unwrap()
}

#[test]
fn held_out_text_is_enough_and_unseen() {
    let (Some(kept), Some(all)) = (sources(Split::HeldOut), sources(Split::Train)) else { return };
    assert!(all.crates().len() > 200);
    assert_eq!((kept.absent_held_out(), all.set_aside().len()), (vec![], 0));
    // Code is left to the example: it takes seconds in a debug build and runs through the same
    // functions.
    for (distribution, least) in
        [(Distribution::Docs, 2_000_000), (Distribution::Markdown, 1_300_000)]
    {
        let held_out = kept.documents(distribution).unwrap();
        let train = all.documents(distribution).unwrap();
        let bytes: usize = held_out.iter().map(|d| d.text.len()).sum();
        assert!(bytes > least, "{distribution}: {bytes}");
        let texts = |documents: &[Document]| -> HashSet<String> {
            documents.iter().map(|d| d.text.clone()).collect()
        };
        let (unseen, seen) = (texts(&held_out), texts(&train));
        assert_eq!(unseen.len() + seen.len(), held_out.len() + train.len(), "a text occurs twice");
        assert!(unseen.is_disjoint(&seen));
        for document in held_out.iter().chain(&train) {
            let split = all.split_of(&document.tags["crate"]);
            assert_eq!(split == Split::HeldOut, unseen.contains(&document.text));
            assert_eq!(document.tags["kind"], distribution.name());
            assert!(document.id.starts_with(&format!("{}-", document.tags["crate"])));
            assert!(document.text.len() >= 200);
        }
        // What is measured where the crates are not to be had was not trained on either.
        let own = format!(
            "{}/../../assets/own-text/{distribution}.jsonl?id=id&tag=crate",
            env!("CARGO_MANIFEST_DIR")
        );
        let own: Vec<Document> =
            own.parse::<CorpusSpec>().unwrap().open().unwrap().collect::<Result<_, _>>().unwrap();
        assert!(own.iter().map(|d| d.text.len()).sum::<usize>() > 250_000);
        assert!(texts(&own).is_disjoint(&seen) && texts(&own).is_disjoint(&unseen));
        // Any prefix is a sample over many crates.
        let crates: HashSet<&str> =
            held_out.iter().take(60).map(|d| d.tags["crate"].as_str()).collect();
        assert!(crates.len() > 12, "{distribution}: {crates:?}");
    }
}

/// What the shipped family was trained on and what it is measured on. The hashes are those that the
/// example `crate_sources` printed when the family was trained.
#[test]
fn the_text_of_the_shipped_family_stays() {
    use Distribution::{Code, Docs, Markdown};
    for (distribution, split, sha256) in [
        (Code, Split::Train, "e4328d17cbc393a1d3e777f8c9251503128ea67615be1669c8745da8f40833c4"),
        (Code, Split::HeldOut, "b430471b3e04a19c8695e2a820ed84f75aa54fe1a8d757374cb530d084eb50c9"),
        (Docs, Split::Train, "e020a642f7dba2fee7467e7ce9ff64cf27cc28d35d41d959ca81d08b6f02eea4"),
        (Docs, Split::HeldOut, "5a0d9aaaee337219ae7cee2987fbc63c99efa89902cfa1db37f8f61626ef8ee1"),
        (
            Markdown,
            Split::Train,
            "36a7550237914b6e848ed0e9c3fda45e74b45ea2f77b3feb42b61f3fa20b9b1f",
        ),
        (
            Markdown,
            Split::HeldOut,
            "d6125770c8d0dcfe00198630415f058417745f7eb47dcffc55374475daa21e26",
        ),
    ] {
        let Some(sources) = sources(split) else { return };
        let documents = sources.documents(distribution).unwrap();
        assert_eq!(Fingerprint::summarise(&documents).sha256, sha256, "{distribution}, {split}");
    }
}

/// A lock file with another version of a crate, and one crate more: the crates of its workspace are
/// others, those of the list are not.
#[test]
fn no_lock_file_changes_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let own = std::fs::read_to_string(own).unwrap();
    let with = |lock: &str| {
        std::fs::write(
            folder.path().join("Cargo.toml"),
            "[package]\nname = 'other'\nversion = '0.0.0'\n",
        )
        .unwrap();
        std::fs::write(folder.path().join("Cargo.lock"), lock).unwrap();
        let locked = Pinned::locked(&folder.path().join("Cargo.toml")).unwrap();
        (locked, Pinned::shipped())
    };
    let (before, shipped) = with(&own);
    let at = own.find("name = \"regex\"\n").unwrap();
    let changed = own[at..].replacen("version = \"", "version = \"9", 1);
    let more = "[[package]]\nname = \"later\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n\n";
    let at = own[..at].rfind("[[package]]").unwrap();
    let changed = [&own[..at], more, "[[package]]\n", &changed].concat();
    let (after, still) = with(&changed);
    assert_eq!((after.len(), &still), (before.len() + 1, &shipped));
    let other = after.iter().find(|one| one.name == "regex").unwrap();
    assert!(!before.contains(other) && !shipped.contains(other));

    // The corpus value, in a process that stands in that workspace, would read the same files.
    let spec = |value: &str| value.parse::<CorpusSpec>().unwrap();
    if sources(Split::HeldOut).is_some() {
        let files = spec("crates:docs").files().unwrap();
        assert!(
            !files
                .iter()
                .any(|path| path.ends_with("Cargo.lock") && path.starts_with(folder.path()))
        );
        let theirs = CrateSources::locked(folder.path(), Split::HeldOut).unwrap();
        assert!(
            theirs.missing().unwrap().crates.contains(&other.folder()),
            "{:?}",
            theirs.missing()
        );
        let named = format!("crates:docs?manifest={}", folder.path().display());
        assert_eq!(spec(&named).notices().unwrap(), theirs.notices());
    }
}

/// A document of the crate sources comes from a listed file.
#[test]
fn the_files_of_the_crate_sources_are_all_there() {
    let Some(sources) = sources(Split::HeldOut) else { return };
    let spec: CorpusSpec = "crates:markdown".parse().unwrap();
    let listed = spec.files().unwrap();
    for document in spec.open().unwrap() {
        let document = document.unwrap();
        let one = sources.crates().iter().find(|one| one.name == document.tags["crate"]).unwrap();
        let path = document.id.split_once('/').unwrap().1;
        assert!(listed.binary_search(&one.root.join(path)).is_ok(), "{}", document.id);
    }
}

#[test]
fn a_manifest_that_is_not_there_is_named() {
    let error = CrateSources::locked(Path::new("/nowhere/Cargo.toml"), Split::Train).unwrap_err();
    assert!(error.to_string().contains("/nowhere/Cargo.toml"), "{error}");
}

#[test]
fn the_corpus_value_reads_the_same_documents() {
    let Some(sources) = sources(Split::HeldOut) else { return };
    let direct = sources.documents(Distribution::Markdown).unwrap();
    let spec: CorpusSpec = "crates:markdown".parse().unwrap();
    let by_spec: Vec<Document> = spec.open().unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(Fingerprint::summarise(&by_spec), Fingerprint::summarise(&direct));
    let limited: CorpusSpec = "crates:markdown?limit=3".parse().unwrap();
    let limited: Vec<Document> = limited.open().unwrap().collect::<Result<_, _>>().unwrap();
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
            std::fs::write(
                root.join("src/lib.rs"),
                format!("{source}// {name}\nfn {name}() {{}}\n"),
            )
            .unwrap();
            std::fs::write(root.join("README.md"), format!("# {name}\n\n{}", "Text. ".repeat(60)))
                .unwrap();
            let (version, licence) = ("1.0.0".to_owned(), "MIT".to_owned());
            SourceCrate { name: (*name).to_owned(), version, licence, root }
        })
        .collect();
    let side = |split| made_up(crates.clone(), "[families]\none = ['kept', 'absent']\n", split);
    let (sources, all) = (side(Split::HeldOut), side(Split::Train));
    assert_eq!(sources.absent_held_out(), ["absent"]);
    assert!(sources.notices()[0].contains("absent"));

    let code = sources.documents(Distribution::Code).unwrap();
    assert_eq!(code.iter().map(|d| d.id.as_str()).collect::<Vec<_>>(), ["kept-1.0.0/src/lib.rs"]);
    assert!(code[0].text.starts_with("fn f() -> &'static str {\n    \"// kept\"\n}\n"));
    assert!(!code[0].text.contains("said") && code[0].text.ends_with("fn kept() {}\n"));
    // The docs of both crates are the same text: it stays on the held-out side only.
    let docs = sources.documents(Distribution::Docs).unwrap();
    assert!(docs[0].text.starts_with("Ranks of tokens.\n\nCounts\nevery entry"));
    let train = all.documents(Distribution::Docs);
    assert!(matches!(train, Err(CorpusError::EmptyCorpus { .. })));
    let markdown = all.documents(Distribution::Markdown).unwrap();
    assert_eq!(markdown[0].id, "seen-1.0.0/README.md");
}
