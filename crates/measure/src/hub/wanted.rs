//! Which files of a repository are wanted: of a model what can be read of it, of a data set what
//! was named; and what of a model is missing in a folder.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// Which parts of a model are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// All that is needed to run it here.
    All,
    /// Configuration and tokenizer: somebody else runs it.
    WithoutWeights,
}

/// Small files that belong to a model: its configuration, and its tokenizer in all forms.
const SMALL: [&str; 9] = [
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
];

/// The tokenizer of a folder without `tokenizer.json`; read by transformers, not by us.
const SENTENCEPIECE: &str = "tokenizer.model";

/// Weights, the first that is there; with the second as an index of shards.
const WEIGHTS: [(&str, &str); 2] = [
    ("model.safetensors", "model.safetensors.index.json"),
    ("pytorch_model.bin", "pytorch_model.bin.index.json"),
];

/// The weights of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weights {
    /// One file.
    Whole(&'static str),
    /// An index, which names the files.
    Sharded(&'static str),
}

/// The weights that are taken of a repository's files.
pub fn weights(files: &[String]) -> Option<Weights> {
    let has = |name: &str| files.iter().any(|file| file == name);
    WEIGHTS.iter().find_map(|(whole, index)| match (has(whole), has(index)) {
        (true, _) => Some(Weights::Whole(whole)),
        (false, true) => Some(Weights::Sharded(index)),
        (false, false) => None,
    })
}

/// The small files that are taken of a repository's.
pub fn small(files: &[String]) -> Vec<String> {
    let has = |name: &str| files.iter().any(|file| file == name);
    let mut wanted: Vec<String> =
        SMALL.into_iter().filter(|name| has(name)).map(str::to_owned).collect();
    if !has("tokenizer.json") && has(SENTENCEPIECE) {
        wanted.push(SENTENCEPIECE.to_owned());
    }
    wanted
}

/// The shards that an index names.
///
/// # Errors
/// What is wrong with it.
pub fn shards(index: &[u8]) -> Result<Vec<String>, String> {
    let index: Value = serde_json::from_slice(index).map_err(|error| error.to_string())?;
    let map = index.get("weight_map").and_then(Value::as_object).ok_or("it has no weight_map")?;
    let names: BTreeSet<&str> = map.values().filter_map(Value::as_str).collect();
    match names.iter().find(|name| super::name::check_path(name).is_err()) {
        Some(odd) => Err(format!("its shard {odd:?} is no file name")),
        None => Ok(names.into_iter().map(str::to_owned).collect()),
    }
}

/// Files of models in other forms, to be named where there are none of ours.
pub fn other_weights(files: &[String]) -> Vec<String> {
    const ENDINGS: [&str; 9] =
        [".gguf", ".bin", ".safetensors", ".pt", ".pth", ".h5", ".msgpack", ".onnx", ".ckpt"];
    let weights = files.iter().filter(|file| ENDINGS.iter().any(|ending| file.ends_with(ending)));
    weights.cloned().collect()
}

/// What of a model is not in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Missing {
    /// Files without which it cannot be used.
    pub needed: Vec<String>,
    /// Whether there is no tokenizer, which some models do without.
    pub tokenizer: bool,
}

impl Missing {
    /// Whether all is there.
    pub fn is_nothing(&self) -> bool {
        self.needed.is_empty() && !self.tokenizer
    }
}

/// What of a model is not in a folder.
pub fn missing(folder: &Path, parts: Parts) -> Missing {
    let has = |name: &str| folder.join(name).is_file();
    let mut needed = Vec::new();
    if !has("config.json") {
        needed.push("config.json".to_owned());
    }
    if parts == Parts::All {
        needed.extend(missing_weights(folder));
    }
    let tokenizer = has("tokenizer.json") || has("vocab.json") && has("merges.txt");
    Missing { needed, tokenizer: !tokenizer }
}

fn missing_weights(folder: &Path) -> Vec<String> {
    let has = |name: &str| folder.join(name).is_file();
    let mut best = vec!["the weights".to_owned()];
    for (whole, index) in WEIGHTS {
        if has(whole) {
            return Vec::new();
        }
        let Ok(bytes) = std::fs::read(folder.join(index)) else { continue };
        let Ok(shards) = shards(&bytes) else { continue };
        let gone: Vec<String> = shards.into_iter().filter(|shard| !has(shard)).collect();
        if gone.is_empty() {
            return Vec::new();
        }
        best = gone;
    }
    best
}

/// The files that a path names: itself, all below it, or what a pattern matches (`*` within a
/// name, `**` for any folders, `[abc]` for a letter), as a `--corpus` value has them.
pub fn named<'a>(files: &'a [String], path: &str) -> Vec<&'a str> {
    let path = path.trim_end_matches('/');
    if let Some(file) = files.iter().find(|file| *file == path) {
        return vec![file];
    }
    let pattern: Vec<&str> = path.split('/').collect();
    let matched = files.iter().filter(|file| {
        let parts: Vec<&str> = file.split('/').collect();
        // A folder that is named, or that a pattern matches, means all below it.
        (1..=parts.len()).any(|end| is_match(&pattern, &parts[..end]))
    });
    matched.map(String::as_str).collect()
}

/// Whether a path is (or may be) more than one file.
pub fn is_open(path: &str) -> bool {
    path.ends_with('/') || path.contains(['*', '['])
}

fn is_match(pattern: &[&str], parts: &[&str]) -> bool {
    match pattern.split_first() {
        None => parts.is_empty(),
        Some((&"**", rest)) => (0..=parts.len()).any(|skip| is_match(rest, &parts[skip..])),
        Some((first, rest)) => parts
            .split_first()
            .is_some_and(|(part, others)| is_name(first, part) && is_match(rest, others)),
    }
}

fn is_name(pattern: &str, name: &str) -> bool {
    let mut letters = pattern.chars();
    match letters.next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = letters.as_str();
            (0..=name.len())
                .filter(|at| name.is_char_boundary(*at))
                .any(|at| is_name(rest, &name[at..]))
        }
        Some('[') if letters.as_str().contains(']') => {
            let (set, rest) = letters.as_str().split_once(']').unwrap_or_default();
            let mut behind = name.chars();
            behind.next().is_some_and(|letter| is_in(set, letter)) && is_name(rest, behind.as_str())
        }
        Some(letter) => {
            let mut behind = name.chars();
            behind.next() == Some(letter) && is_name(letters.as_str(), behind.as_str())
        }
    }
}

/// Whether a letter is one of `abc` or `0-3`.
fn is_in(set: &str, letter: char) -> bool {
    let set: Vec<char> = set.chars().collect();
    let mut at = 0;
    while at < set.len() {
        if at + 2 < set.len() && set[at + 1] == '-' {
            if (set[at]..=set[at + 2]).contains(&letter) {
                return true;
            }
            at += 3;
        } else if set[at] == letter {
            return true;
        } else {
            at += 1;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn of_weights_safetensors_come_first_and_one_form_is_enough() {
        let of = |names: &[&str]| weights(&owned(names));
        assert_eq!(
            of(&["pytorch_model.bin", "model.safetensors"]),
            Some(Weights::Whole("model.safetensors"))
        );
        assert_eq!(
            of(&["pytorch_model.bin", "model.safetensors.index.json"]),
            Some(Weights::Sharded("model.safetensors.index.json"))
        );
        assert_eq!(of(&["pytorch_model.bin", "x.h5"]), Some(Weights::Whole("pytorch_model.bin")));
        assert_eq!(of(&["model.Q4.gguf", "onnx/model.onnx"]), None);
        let files = owned(&["a.gguf", "onnx/model.onnx", "README.md"]);
        assert_eq!(other_weights(&files), ["a.gguf", "onnx/model.onnx"]);
        let files =
            owned(&["README.md", "tokenizer.json", "config.json", "tokenizer.model", "x.py"]);
        assert_eq!(small(&files), ["config.json", "tokenizer.json"]);
        assert_eq!(small(&owned(&["tokenizer.model"])), ["tokenizer.model"]);
    }

    #[test]
    fn shards_stay_in_their_folder() {
        let index = br#"{"weight_map": {"a": "m-2.bin", "b": "m-1.bin", "c": "m-2.bin"}}"#;
        assert_eq!(shards(index).unwrap(), ["m-1.bin", "m-2.bin"]);
        for index in [r#"{"weight_map": {"a": "../x"}}"#, "{}", "<html>"] {
            shards(index.as_bytes()).unwrap_err();
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let found = |parts| missing(folder.path(), parts);
        assert_eq!(found(Parts::All).needed, ["config.json", "the weights"]);
        write("config.json", "{}");
        write("tokenizer.json", "{}");
        assert!(found(Parts::WithoutWeights).is_nothing());
        write("model.safetensors.index.json", r#"{"weight_map": {"a": "m-1", "b": "m-2"}}"#);
        write("m-1", "");
        assert_eq!(found(Parts::All).needed, ["m-2"]);
        write("m-2", "");
        assert!(found(Parts::All).is_nothing());
        std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
        assert!(found(Parts::All).tokenizer && found(Parts::All).needed.is_empty());
    }

    #[test]
    fn paths_patterns_and_folders_name_files() {
        let files = owned(&[
            "README.md",
            "all/dev.csv",
            "all/test.csv",
            "d/train-0.parquet",
            "d/train-1.parquet",
            "d/test-0.parquet",
            "d/x/train-2.parquet",
        ]);
        for (path, names) in [
            ("README.md", &["README.md"][..]),
            ("all", &["all/dev.csv", "all/test.csv"]),
            ("all/", &["all/dev.csv", "all/test.csv"]),
            ("d/train-*.parquet", &["d/train-0.parquet", "d/train-1.parquet"]),
            ("d/train-[0-0].parquet", &["d/train-0.parquet"]),
            ("d/t[er]*-0.parquet", &["d/train-0.parquet", "d/test-0.parquet"]),
            ("**/train-2.parquet", &["d/x/train-2.parquet"]),
            ("*.md", &["README.md"]),
            ("a", &[]),
            ("d/train", &[]),
        ] {
            assert_eq!(named(&files, path), names, "{path}");
        }
    }
}
