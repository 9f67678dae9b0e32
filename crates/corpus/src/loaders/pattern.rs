//! Patterns that name files: `data/train-*.parquet`, `data/**/*.txt`, `part-[0-3].jsonl`.
//!
//! `*` stands for any letters within a name, `**` alone for any number of folders, `[...]` for one
//! of its letters. (`?` begins the keys of a `--corpus` value.) A path that is there is itself,
//! whatever letters it has.

use std::path::{Component, Path, PathBuf};

use regex::Regex;

use super::open::file_name;
use super::walk::{Walked, entries};
use crate::error::{CorpusError, Result};

/// Whether a path has letters of a pattern.
pub(super) fn is_pattern(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.contains(['*', '[']))
}

/// Whether a path is there, or is a pattern that matches something.
pub(crate) fn is_there(path: &Path) -> bool {
    let named = !path.as_os_str().is_empty() && std::fs::symlink_metadata(path).is_ok();
    named || (is_pattern(path) && matches(path).is_ok())
}

/// The folders before the first part that is a pattern.
pub(super) fn root(path: &Path) -> PathBuf {
    path.components().take_while(|part| !is_pattern(Path::new(part))).collect()
}

/// The files that a pattern names, and all below the folders that it names, sorted.
///
/// # Errors
/// A folder that cannot be listed; a pattern that names nothing, or is none.
pub(super) fn matches(path: &Path) -> Result<Walked> {
    let wrong =
        |reason: &str| CorpusError::BadLayout { path: path.to_owned(), reason: reason.to_owned() };
    let parts: Vec<Component<'_>> = path.components().collect();
    let fixed = root(path);
    let mut steps = Vec::new();
    for part in parts.iter().skip(fixed.components().count()) {
        let Some(text) = part.as_os_str().to_str() else {
            return Err(wrong("a pattern must be UTF-8"));
        };
        steps.push(match text {
            "**" => Step::AnyDepth,
            text => Step::Name(expression(text).ok_or_else(|| wrong("a [ in it has no ]"))?),
        });
    }
    let mut found = Vec::new();
    let start = if fixed.as_os_str().is_empty() { PathBuf::from(".") } else { fixed.clone() };
    descend(&start, fixed.as_os_str().is_empty(), &steps, &mut found)?;
    found.sort();
    found.dedup();
    let mut walked = Walked::default();
    for path in found {
        if path.is_dir() {
            walked.enter(&path)?;
        } else {
            walked.files.push(path);
        }
    }
    walked.files.sort();
    walked.files.dedup();
    match walked.files.is_empty() {
        true => Err(wrong("no file matches this pattern; check it, and quote it in a shell")),
        false => Ok(walked),
    }
}

enum Step {
    AnyDepth,
    Name(Regex),
}

/// What the steps lead to from a folder; `bare`: the folder is the current one, and is not named.
fn descend(folder: &Path, bare: bool, steps: &[Step], found: &mut Vec<PathBuf>) -> Result<()> {
    let Some((step, rest)) = steps.split_first() else {
        found.push(folder.to_owned());
        return Ok(());
    };
    if !folder.is_dir() {
        return Ok(());
    }
    let below = || -> Result<Vec<PathBuf>> {
        let paths = entries(folder)?;
        let strip = |path: PathBuf| path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
        Ok(if bare { paths.into_iter().map(strip).collect() } else { paths })
    };
    match step {
        Step::Name(name) => {
            for path in below()? {
                if name.is_match(&file_name(&path)) {
                    descend(&path, false, rest, found)?;
                }
            }
        }
        Step::AnyDepth => {
            // No link is followed here, so it ends.
            let mut open = vec![(folder.to_owned(), bare)];
            while let Some((folder, bare)) = open.pop() {
                descend(&folder, bare, rest, found)?;
                let paths = entries(&folder)?;
                let real = |path: &PathBuf| path.is_dir() && !path.is_symlink();
                open.extend(paths.into_iter().filter(real).map(|path| {
                    let path = path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
                    (path, false)
                }));
            }
        }
    }
    Ok(())
}

/// A name's pattern as an expression; `None` for a bracket that does not close.
fn expression(pattern: &str) -> Option<Regex> {
    let mut expression = String::from("^(?s:");
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        match letter {
            '*' => expression.push_str(".*"),
            '[' => {
                // A bracket right behind the first is one of the letters.
                let from = rest.chars().next()?.len_utf8();
                let end = from + rest.get(from..)?.find(']')?;
                let set = rest[..end].replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]");
                let set = set.replace("&&", "&\\&").replace("~~", "~\\~");
                expression.push('[');
                match set.strip_prefix('!') {
                    Some(others) => expression.extend(["^", others]),
                    None => expression.push_str(&set),
                }
                expression.push(']');
                rest = &rest[end + 1..];
            }
            other => expression.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    expression.push_str(")$");
    Regex::new(&expression).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_brackets() {
        for (pattern, name, fits) in [
            ("train-*.parquet", "train-00000-of-00002.parquet", true),
            ("train-*.parquet", "train-1.parquet.crc", false),
            ("*", ".hidden", true),
            ("part-[0-3].jsonl", "part-2.jsonl", true),
            ("part-[0-3].jsonl", "part-4.jsonl", false),
            ("part-[!0-3].jsonl", "part-4.jsonl", true),
            ("a[]]b", "a]b", true),
            ("a.b*", "axb", false),
        ] {
            assert_eq!(expression(pattern).unwrap().is_match(name), fits, "{pattern} {name}");
        }
        assert!(expression("a[b").is_none());
    }

    #[test]
    fn files_of_a_pattern_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b/2.txt", "b/1.txt", "a/3.txt", "a/x.rs", "4.txt"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let names = |pattern: &str| -> Vec<String> {
            let found = matches(&folder.path().join(pattern)).unwrap().files;
            found
                .iter()
                .map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string())
                .collect()
        };
        assert_eq!(names("*/*.txt"), ["a/3.txt", "b/1.txt", "b/2.txt"]);
        assert_eq!(names("**/*.txt"), ["4.txt", "a/3.txt", "b/1.txt", "b/2.txt"]);
        assert_eq!(names("[ab]"), ["a/3.txt", "a/x.rs", "b/1.txt", "b/2.txt"]);
        assert_eq!(root(Path::new("/x/y/*.txt")), Path::new("/x/y"));
        assert!(
            matches(&folder.path().join("*.md"))
                .unwrap_err()
                .to_string()
                .contains("no file matches")
        );
    }
}
