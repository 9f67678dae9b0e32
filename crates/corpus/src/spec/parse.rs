//! A `--corpus` value, read.

use std::str::FromStr;
use std::sync::Arc;

use super::CorpusSpec;
use crate::error::{CorpusError, Result};
use crate::loaders::KINDS;
use crate::loaders::keys::{Keys, Refusal, percent_decoded};
use crate::loaders::loader::{Kind, Loader, OPTIONS_STAY_APART, Place};

impl FromStr for CorpusSpec {
    type Err = CorpusError;

    fn from_str(given: &str) -> Result<Self> {
        let wrong = |reason: String| CorpusError::Spec { spec: given.to_owned(), reason };
        let Taken { name, place, query } = taken_apart(given);
        let (place, query) = (place.as_str(), query.as_str());
        if place.is_empty() {
            return Err(wrong("it names no file".into()));
        }
        let name = name.unwrap_or_else(|| default_name(place));
        if name.is_empty() {
            return Err(wrong("it has no name of its own; give it one, as in `name=/`".into()));
        }
        let mut keys = Keys::parse(query).map_err(wrong)?;
        let (kind, loader) = loader(place, &mut keys).map_err(|refusal| match refusal {
            Refusal::Reason(reason) => wrong(reason),
            Refusal::Error(error) => error,
        })?;
        let limit = keys.number("limit", 1).map_err(wrong)?;
        let concat = keys.one("concat").map_err(wrong)?;
        keys.none_left(place).map_err(wrong)?;
        let apart = kind.not_joined.or_else(|| loader.questions().then_some(OPTIONS_STAY_APART));
        if let (Some(_), Some(reason)) = (&concat, apart) {
            return Err(wrong(reason.to_owned()));
        }
        Ok(Self {
            given: given.to_owned(),
            place: place.to_owned(),
            query: query.to_owned(),
            name,
            kind,
            loader: Arc::from(loader),
            limit,
            concat,
        })
    }
}

/// What was given, in its three parts.
pub(super) struct Taken {
    name: Option<String>,
    pub(super) place: String,
    pub(super) query: String,
}

/// Cuts at the first `?` that leaves a path that is there, from the last on, so that a file's name
/// may have one; else at the first.
pub(super) fn taken_apart(given: &str) -> Taken {
    let there = |place: &str| !place.is_empty() && std::fs::symlink_metadata(place).is_ok();
    let cuts = given.rmatch_indices('?').map(|(at, _)| (&given[..at], &given[at + 1..]));
    let first = given.split_once('?').unwrap_or((given, ""));
    for (head, query) in [(given, "")].into_iter().chain(cuts) {
        for (name, place) in [(None, head)].into_iter().chain(named(head)) {
            if there(place) {
                return Taken { name, place: place.to_owned(), query: query.to_owned() };
            }
        }
    }
    let (name, place) = named(first.0).unwrap_or((None, first.0));
    // Bytes in hexadecimal, where they name a file.
    let decoded = percent_decoded(place).ok().filter(|decoded| there(decoded));
    Taken { name, place: decoded.unwrap_or_else(|| place.to_owned()), query: first.1.to_owned() }
}

/// `name=place`.
fn named(head: &str) -> Option<(Option<String>, &str)> {
    let (name, place) = head.split_once('=')?;
    is_name(name).then(|| (Some(name.to_owned()), place))
}

/// The loader of a place: that of what is built in, else that of its files' kind.
fn loader(
    place: &str,
    keys: &mut Keys,
) -> std::result::Result<(&'static Kind, Box<dyn Loader>), Refusal> {
    let built_in =
        |kind: &&&'static Kind| kind.built_in.is_some_and(|prefix| place.starts_with(prefix));
    let mut place = Place { text: place, kind_said: false, kinds: &KINDS };
    let kind = match KINDS.all.iter().find(built_in) {
        Some(kind) => kind,
        None => match keys.one("kind")? {
            Some(said) => {
                place.kind_said = true;
                KINDS.named(&said).ok_or_else(|| unknown_kind(&said))?
            }
            None => KINDS.of_path(&place.path())?,
        },
    };
    Ok((kind, (kind.loader)(place, keys)?))
}

fn unknown_kind(said: &str) -> String {
    let names: Vec<&str> = KINDS.of_paths().map(|kind| kind.name).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("kind={said} is not {} or {last}", others.join(", "))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// `dir/HumanEval.jsonl.gz` -> `HumanEval`; `crates:code` -> `crates-code`.
fn default_name(place: &str) -> String {
    let file = place.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(place);
    let stem = match file.split_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => file,
    };
    stem.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '-' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_kinds_and_keys() {
        let spec: CorpusSpec =
            "he=data/HumanEval.jsonl.gz?field=prompt&field=canonical_solution&join=%0A&id=task_id&limit=3"
                .parse()
                .unwrap();
        assert_eq!(spec.name(), "he");
        assert_eq!(spec.kind(), "jsonl");
        let description = spec.description();
        assert!(description.starts_with("jsonl HumanEval.jsonl.gz field=prompt"), "{description}");

        let named = |text: &str| text.parse::<CorpusSpec>().unwrap().name().to_owned();
        assert_eq!(named("a/b c.test.txt"), "b-c");
        assert_eq!(named("crates:code"), "crates-code");
        assert_eq!(named("./a=b.txt"), "a-b");
        let kind = |text: &str| text.parse::<CorpusSpec>().unwrap().kind();
        assert_eq!((kind("x.txt.zst"), kind("x.log?kind=jsonl")), ("text", "jsonl"));
        let crates: CorpusSpec = "crates:docs?split=train&manifest=/a/b".parse().unwrap();
        assert_eq!(crates.description(), "crate sources crates:docs split=train");
    }

    #[test]
    fn refusals_say_what_is_allowed() {
        let cases = [
            ("", "no file"),
            ("x=", "no file"),
            ("/", "no name of its own"),
            ("x.txt?split", "key=value"),
            ("x.txt?split=chapters", "paragraphs"),
            (
                "x.txt?field=a",
                "no key `field` for `x.txt`; there are kind, split, title, folders, limit, concat",
            ),
            ("ice:simple", "ice:sample"),
            ("x.txt?title=(", "regular expression"),
            ("x.txt?split=lines&title=a", "split=titles"),
            ("x.jsonl?join=%G1", "hexadecimal"),
            ("x.jsonl?join=%FF", "UTF-8"),
            ("x.jsonl?id=a&id=b", "2 times"),
            ("x.jsonl?score=b", "names no field"),
            ("x.ids", "format="),
            ("x.ids?format=u8", "u16"),
            ("x.ids?format=text&separator=0", "a line is a document"),
            ("x.ids?format=u16&concat=a", "no text"),
            ("x.txt?limit=0", "at least 1"),
            (
                "x.txt?kind=xml",
                "kind=xml is not text, jsonl, parquet, arrow, ids, mmlu, anthropic or ice",
            ),
            ("x.txt?kind=crates", "is not text"),
            ("x.jsonl?null=drop", "null=drop is not skip"),
            ("x?kind=mmlu&shots=6", "more than the 5"),
            ("x?kind=mmlu&shots=few", "at least 0"),
            ("x?kind=mmlu&format=letters", "modified"),
            ("x?kind=mmlu&split=dev", "shots=0"),
            ("x?kind=mmlu&concat=a", "each by itself"),
            ("x.jsonl?tag=item&concat=a", "each by itself"),
            ("x?kind=anthropic&format=standard", "verbatim or modified"),
            ("x?kind=ice&pauses=keep", "comma or drop"),
            ("x?folders=a,,b", "empty name"),
            ("crates:rust", "crates:code"),
            ("crates:code?split=test", "held-out or train"),
        ];
        for (spec, reason) in cases {
            let message = spec.parse::<CorpusSpec>().unwrap_err().to_string();
            assert!(message.contains(reason), "{spec}: {message}");
        }
    }
}
