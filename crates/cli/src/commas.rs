//! Several paths or texts in one word, with commas between them.
//!
//! Names of files may have commas: of paths, the longest that is there is taken, and of texts what
//! [`relscale_corpus::spec::separate`] says.

use std::path::{Path, PathBuf};

/// Models of words that may hold several: a path that is there with its comma, `NAME=` before it or
/// not, is one.
pub(crate) fn models(words: &[String]) -> Vec<String> {
    let is_there = |value: &str| match value.split_once('=') {
        Some((name, place)) if !Path::new(value).exists() => {
            !name.contains(',') && Path::new(place).exists()
        }
        _ => Path::new(value).exists(),
    };
    words.iter().flat_map(|word| separate(word, is_there)).collect()
}

/// Files and folders of words that may hold several.
pub(crate) fn paths(words: &[PathBuf]) -> Vec<PathBuf> {
    let of = |word: &PathBuf| match word.to_str() {
        Some(text) => {
            let paths = separate(text, |value| Path::new(value).exists());
            paths.into_iter().map(PathBuf::from).collect()
        }
        None => vec![word.clone()],
    };
    words.iter().flat_map(of).collect()
}

/// Texts of words that may hold several.
pub(crate) fn corpora(words: &[String]) -> Vec<String> {
    words.iter().flat_map(|word| relscale_corpus::spec::separate(word)).collect()
}

/// Cuts a word at its commas, but for those of values that are there with them.
fn separate(word: &str, is_there: impl Fn(&str) -> bool) -> Vec<String> {
    let pieces: Vec<&str> = word.split(',').collect();
    let (mut values, mut at) = (Vec::new(), 0);
    while at < pieces.len() {
        let longest =
            (at + 1..=pieces.len()).rev().find(|&end| is_there(&pieces[at..end].join(",")));
        let end = longest.unwrap_or(at + 1);
        let value = pieces[at..end].join(",");
        let value = if longest.is_some() { &value } else { value.trim() };
        if !value.is_empty() {
            values.push(value.to_owned());
        }
        at = end;
    }
    // An empty word is refused where it is read.
    if values.is_empty() { vec![word.to_owned()] } else { values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_commas_are_taken_whole_where_they_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        for name in ["a", "b", "a,b", "c=d,e"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        let (a, b, c) = (at("a"), at("b"), at("c=d,e"));
        for values in [
            vec![a.as_str(), &b],
            vec![&format!("{a},b"), &b],
            vec![&b, &c, &a],
            vec![&format!("x={a},b"), &format!("y={b}")],
            vec!["EleutherAI/pythia-14m", "EleutherAI/pythia-410m@step1000", &a],
            vec!["missing", "also"],
        ] {
            assert_eq!(models(&[values.join(",")]), values);
        }
        assert_eq!(models(&[format!("{a},"), b.clone()]), [a.as_str(), &b]);
        let paths: Vec<PathBuf> = paths(&[format!("{a},b,{c}").into()]);
        assert_eq!(paths, [PathBuf::from(format!("{a},b")), c.into()]);
    }
}
