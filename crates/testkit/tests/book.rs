//! The book of `docs/`: its contents list every chapter, and every link leads somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use relscale_testkit::book::{blocks, documents, root};

/// Files below a folder with one of these endings, without what is built or hidden.
fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            if !name.to_string_lossy().starts_with('.') && name != "target" {
                files(&path, endings, found);
            }
        } else if path
            .extension()
            .is_some_and(|end| endings.iter().any(|one| end.to_string_lossy() == *one))
        {
            found.push(path);
        }
    }
}

/// The text without its blocks of code.
fn prose(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if !inside && !line.starts_with("    ") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The anchors of a document's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(text);
    let headings = headings.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|heading| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
            let times = seen.entry(anchor.clone()).or_default();
            *times += 1;
            if *times == 1 { anchor } else { format!("{anchor}-{}", *times - 1) }
        })
        .collect()
}

/// Targets of links, images among them.
fn links(text: &str) -> Vec<String> {
    let text = prose(text);
    let targets = text.match_indices("](").filter_map(|(at, _)| {
        let rest = &text[at + 2..];
        Some(rest[..rest.find(')')?].to_owned())
    });
    targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:")).collect()
}

/// A path from the root with its `..` resolved; `None` above the root.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut all = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => all.pop().then_some(())?,
            Component::CurDir => {}
            other => all.push(other),
        }
    }
    Some(all)
}

fn none(what: &str, offenders: &[String]) {
    assert!(offenders.is_empty(), "{what}:\n  {}", offenders.join("\n  "));
}

#[test]
fn the_contents_list_every_chapter_once() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the contents");
    let mut listed = links(&summary);
    listed.sort();
    let chapters = documents().into_iter().filter_map(|(name, _)| {
        let name = name.strip_prefix("docs/")?.to_owned();
        (name != "SUMMARY.md").then_some(name)
    });
    let mut chapters: Vec<String> = chapters.collect();
    chapters.sort();
    assert_eq!(listed, chapters, "docs/SUMMARY.md (left) and the files of docs (right)");
    let book = std::fs::read_to_string(root().join("docs/book.toml")).expect("the book");
    assert!(book.contains("src = \".\""), "{book}");
}

#[test]
fn every_link_between_documents_leads_to_a_file_and_to_an_anchor() {
    let mut all = Vec::new();
    files(&root(), &["md"], &mut all);
    let mut offenders = Vec::new();
    let mut count = 0;
    for path in all {
        let name = path.strip_prefix(root()).expect("below the root").to_owned();
        let text = std::fs::read_to_string(&path).expect("a document");
        for link in links(&text) {
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let place = name.parent().expect("a folder").join(file);
            let target = if file.is_empty() { Some(name.clone()) } else { plain(&place) };
            let Some(target) = target else {
                offenders.push(format!("{}: {link} leads out of the repository", name.display()));
                continue;
            };
            // A page of the book has no way to what is no part of it.
            if name.starts_with("docs") && !target.starts_with("docs") {
                offenders.push(format!("{}: {link} leads out of the book", name.display()));
            }
            if !root().join(&target).exists() {
                offenders.push(format!("{}: {link} is not there", name.display()));
            } else if !anchor.is_empty() {
                let text = std::fs::read_to_string(root().join(&target)).expect("a document");
                if !anchors(&text).contains(anchor) {
                    offenders.push(format!("{}: {link} has no such heading", name.display()));
                }
            }
        }
    }
    assert!(count > 150, "only {count} links were found");
    none("links that lead nowhere", &offenders);
}

/// What code, help and messages say of the documents.
#[test]
fn documents_that_the_code_names_are_there() {
    // Documents of others, and names that a test makes up.
    let others = ["docs/gguf.md", "docs/source/en/perplexity.md", "docs/COPY.md"];
    let mut all = Vec::new();
    files(&root().join("crates"), &["rs", "html", "js"], &mut all);
    files(&root().join("python"), &["py"], &mut all);
    files(&root().join("tools"), &["py"], &mut all);
    let mut offenders = Vec::new();
    let mut count = 0;
    for path in all {
        let text = std::fs::read_to_string(&path).expect("a source file");
        for folder in ["docs/", "record/"] {
            for (at, _) in text.match_indices(folder) {
                let part = |c: char| c.is_ascii_alphanumeric() || "/-_.#".contains(c);
                let rest = &text[at..];
                let name = &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())];
                let Some((file, anchor)) = name.split_once(".md") else { continue };
                let (file, anchor) = (format!("{file}.md"), anchor.strip_prefix('#').unwrap_or(""));
                if others.contains(&&*file) {
                    continue;
                }
                count += 1;
                let known = std::fs::read_to_string(root().join(&file))
                    .is_ok_and(|text| anchor.is_empty() || anchors(&text).contains(anchor));
                if !known {
                    offenders.push(format!("{}: {name}", path.display()));
                }
            }
        }
    }
    assert!(count > 20, "only {count} were found");
    none("documents that are not there", &offenders);
}

/// Blocks without a language are neither run nor read by anyone: commands stand in `sh`.
#[test]
fn commands_stand_in_blocks_of_sh() {
    let mut offenders = Vec::new();
    for (name, text) in documents() {
        let mut inside = false;
        for (number, line) in text.lines().enumerate() {
            inside ^= line.starts_with("```");
            let command = line.starts_with("    relscale ") || line.starts_with("    cargo ");
            if command && !inside {
                offenders.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
        for block in blocks(&text) {
            if block.language != "sh" && block.text.starts_with("relscale ") {
                offenders.push(format!("{name}:{}: a command in a block of no shell", block.line));
            }
            if block.not_run.as_deref() == Some("") {
                offenders.push(format!("{name}:{}: not run, and no reason", block.line));
            }
        }
    }
    none("commands outside blocks of sh", &offenders);
}
