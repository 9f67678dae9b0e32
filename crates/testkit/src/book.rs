//! The documents as a program sees them: chapters, their fenced blocks, the commands in these.
//!
//! A block of `sh` is run by a test, in the order of its chapter; one of `text` right behind it is
//! what it prints. A block that cannot be run says so, with the reason, where its language stands:
//! `sh not-run: needs the Hub`.

use std::path::{Path, PathBuf};

/// The root of the repository.
///
/// # Panics
/// It is not there.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Line of its fence, from 1.
    pub line: usize,
    /// `sh`, `text`, ...; empty where none is named.
    pub language: String,
    /// Why it is not run, where that is said.
    pub not_run: Option<String>,
    /// What stands between the fences, with the end of its last line.
    pub text: String,
}

/// The fenced blocks of a document, in order.
pub fn blocks(document: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut inside = false;
    for (number, line) in document.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            if !inside {
                let (language, mark) = info.split_once(' ').unwrap_or((info, ""));
                let not_run = mark.strip_prefix("not-run:").map(|why| why.trim().to_owned());
                let language = language.to_owned();
                found.push(Block { line: number + 1, language, not_run, text: String::new() });
            }
            inside = !inside;
        } else if inside && let Some(block) = found.last_mut() {
            block.text.push_str(line);
            block.text.push('\n');
        }
    }
    found
}

/// Documents for readers, by their paths from the root: README, CONTRIBUTING, and all of the book.
///
/// # Panics
/// One cannot be read.
pub fn documents() -> Vec<(String, String)> {
    let mut names = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for folder in ["docs", "docs/laws"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("the documents");
        let entries = entries.map(|entry| entry.expect("an entry").file_name());
        let entries = entries.map(|name| format!("{folder}/{}", name.to_string_lossy()));
        names.extend(entries.filter(|name| name.ends_with(".md")));
    }
    names.sort();
    names
        .into_iter()
        .map(|name| {
            let text = std::fs::read_to_string(root().join(&name)).expect("a document");
            (name, text)
        })
        .collect()
}

/// The calls of `relscale` in a shell's text, as words, the program's name among them. Knows
/// quotes, comments, lines that go on, pipes and redirections; not more.
pub fn commands(shell: &str) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    let (mut word, mut begun, mut quote) = (String::new(), false, None);
    let mut letters = shell.chars().chain(['\n']).peekable();
    // Where a redirection goes is no word of the command.
    let mut target = false;
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(mark), _) if letter == mark => quote = None,
            (Some(_), _) => word.push(letter),
            (None, '\'' | '"') => (quote, begun) = (Some(letter), true),
            (None, '\\') if letters.peek() == Some(&'\n') => {
                letters.next();
            }
            (None, '#') if !begun => while letters.next_if(|next| *next != '\n').is_some() {},
            (None, ' ' | '\t' | '\n' | '|' | ';' | '&' | '>' | '<') => {
                if begun && !std::mem::take(&mut target) {
                    all.last_mut().expect("one").push(std::mem::take(&mut word));
                }
                word.clear();
                begun = false;
                match letter {
                    '\n' | '|' | ';' | '&' => all.push(Vec::new()),
                    '>' | '<' => target = true,
                    _ => {}
                }
            }
            (None, _) => {
                word.push(letter);
                begun = true;
            }
        }
    }
    all.retain(|words| words.first().is_some_and(|first| first == "relscale"));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_their_marks_and_lines() {
        let found = blocks("a\n```sh not-run: a browser\nx\n```\n\n```text\ny\nz\n```\n");
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, &*found[0].language), (2, "sh"));
        assert_eq!(found[0].not_run.as_deref(), Some("a browser"));
        assert_eq!((found[1].line, &*found[1].text), (6, "y\nz\n"));
    }

    #[test]
    fn commands_are_the_words_of_a_shell() {
        let shell = "relscale fit 'a b' \\\n  --x \"6*n\"   # all\ncd x\n\
                     relscale predict s --json - > out.json | jq . && relscale view s\n";
        let words: Vec<String> = commands(shell).iter().map(|words| words.join("·")).collect();
        let wanted = ["relscale·fit·a b·--x·6*n", "relscale·predict·s·--json·-", "relscale·view·s"];
        assert_eq!(words, wanted);
    }
}
