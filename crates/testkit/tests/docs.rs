//! What documents name exists: files, items of the code, tests, members of results.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// Files below a folder, as paths from it, without what is built.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "corpus", "artifacts"].contains(&&*name)
                || path.ends_with("crates/corpus")
                || path.ends_with("src/corpus")
            {
                files(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

/// The documents that a reader is sent to: their names from the root, and their texts. Records of
/// earlier measurements and the list of changes tell of what was, and may name what is gone.
fn documents() -> Vec<(String, String)> {
    let mut found = Vec::new();
    files(&root().join("docs"), &mut found);
    found.extend(
        ["README.md", "CONTRIBUTING.md", "testdata/README.md"].map(|name| root().join(name)),
    );
    let documents =
        found.into_iter().filter(|path| path.extension().is_some_and(|end| end == "md"));
    let text = |path: PathBuf| {
        let name =
            path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).expect("a document"))
    };
    documents.map(text).collect()
}

/// What stands in backticks in a text, outside its blocks of code.
fn quoted(text: &str) -> BTreeSet<String> {
    let mut block = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            block = !block;
        }
        if !block && !line.starts_with("    ") {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

/// All code and scripts, a text a file.
fn code() -> Vec<String> {
    let mut found = Vec::new();
    files(&root().join("crates"), &mut found);
    files(&root().join("tools"), &mut found);
    files(&root().join("fuzz"), &mut found);
    let kinds = ["rs", "py", "toml", "css", "js", "html"];
    let wanted =
        |path: &PathBuf| path.extension().is_some_and(|end| kinds.iter().any(|kind| end == *kind));
    // Not this file, in which the names to look for would be found.
    let texts =
        found.iter().filter(|path| wanted(path) && !path.ends_with("testkit/tests/docs.rs"));
    texts.map(|path| std::fs::read_to_string(path).expect("a source file")).collect()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a word stands in a text by itself.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(part)
            && !text[at + word.len()..].chars().next().is_some_and(part)
    })
}

/// `few_misses` as `FewMisses`.
fn variant(name: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').filter(|word| !word.is_empty()).map(capital).collect()
}

/// Whether this could be the name of a file of the project.
fn is_file(name: &str) -> bool {
    let ends = [".rs", ".py", ".md", ".toml", ".css", ".js"];
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    // A name in capitals stands for any, as in `loaders/NAME.rs`.
    let placeholder =
        name.split(['/', '.']).any(|part| part.len() > 2 && part == part.to_uppercase());
    // A folder with a version is a crate's of others, in an example.
    let others = name.split('/').next().is_some_and(|first| first.contains('.'));
    name.contains('/')
        && !others
        && ends.iter().any(|end| name.ends_with(end))
        && name.chars().all(plain)
        && !placeholder
}

#[test]
fn every_file_and_folder_that_a_document_names_exists() {
    let crates: Vec<PathBuf> = std::fs::read_dir(root().join("crates"))
        .expect("crates")
        .flatten()
        .map(|e| e.path())
        .collect();
    let mut places = vec![root(), root().join("crates"), root().join("docs")];
    places.extend(crates.iter().flat_map(|one| [one.clone(), one.join("src")]));
    let names: Vec<String> = crates
        .iter()
        .map(|one| one.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    let mut missing = Vec::new();
    for (document, text) in documents() {
        for name in quoted(&text) {
            // A folder of a crate, or a file anywhere.
            let folder = names.iter().any(|one| name.starts_with(&format!("{one}/src/")));
            if (is_file(&name) || folder && is_file(&format!("{name}.rs")))
                && !places.iter().any(|place| place.join(&name).exists())
                && !places.iter().any(|place| place.join(format!("{name}.rs")).exists())
            {
                missing.push(format!("{document}: `{name}`"));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "documents name files that are not there:\n  {}",
        missing.join("\n  ")
    );
}

#[test]
fn every_item_and_member_that_a_document_names_is_in_the_code() {
    let code = code();
    let mut missing = Vec::new();
    for (document, text) in documents() {
        for name in quoted(&text) {
            let known = match name.split_once("::") {
                // An item of a type, in a file that defines the type or adds to it:
                // `FitOptions::seed`.
                Some((owner, item))
                    if is_name(owner) && owner != owner.to_lowercase() && is_name(item) =>
                {
                    code.iter().any(|text| {
                        let defined = ["struct", "enum", "trait", "type", "impl", "mod", "use"];
                        has_word(text, item)
                            && (defined
                                .iter()
                                .any(|word| has_word(text, &format!("{word} {owner}")))
                                || has_word(text, &format!("for {owner}")))
                    })
                }
                Some(_) => true,
                // A name of the code by its look: a test, a member, a function; or a variant as
                // results spell it.
                None if is_name(&name)
                    && name.matches('_').count() > 1
                    && name == name.to_lowercase() =>
                {
                    code.iter().any(|text| has_word(text, &name) || has_word(text, &variant(&name)))
                }
                None => true,
            };
            if !known {
                missing.push(format!("{document}: `{name}`"));
            }
        }
    }
    assert!(missing.is_empty(), "documents name what no code has:\n  {}", missing.join("\n  "));
}
