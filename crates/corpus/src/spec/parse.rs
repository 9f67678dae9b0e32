//! A `--corpus` value, read.

use std::path::PathBuf;
use std::str::FromStr;

use super::keys::{Keys, percent_decoded};
use super::{CorpusSource, CorpusSpec, ICE_SAMPLE, evaluations};
use crate::error::{CorpusError, Result};
use crate::loaders::crates::Split;
use crate::loaders::fields::Fields;
use crate::loaders::listing::kind_of;
use crate::loaders::text::{TextOptions, TextSplit, WIKITEXT_TITLE};
use crate::loaders::token_ids::IdFormat;

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
        let source = source(place, &mut keys).map_err(|error| match error {
            Refusal::Reason(reason) => wrong(reason),
            Refusal::Error(error) => error,
        })?;
        let limit = keys.number("limit", 1).map_err(wrong)?;
        let concat = keys.one("concat").map_err(wrong)?;
        if concat.is_some() && matches!(source, CorpusSource::TokenIds { .. }) {
            return Err(wrong("token ids have no text to concat".into()));
        }
        keys.none_left(place).map_err(wrong)?;
        let spec = Self {
            given: given.to_owned(),
            place: place.to_owned(),
            query: query.to_owned(),
            name,
            source,
            limit,
            concat,
        };
        if spec.concat.is_some() && spec.is_questions() {
            return Err(wrong("concat= would join options that are scored each by itself".into()));
        }
        Ok(spec)
    }
}

/// What was given, in its three parts.
struct Taken {
    name: Option<String>,
    place: String,
    query: String,
}

/// Cuts at the first `?` that leaves a path that is there, from the last on, so that a file's name may have one; else at the first.
fn taken_apart(given: &str) -> Taken {
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

enum Refusal {
    Reason(String),
    Error(CorpusError),
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

fn source(place: &str, keys: &mut Keys) -> std::result::Result<CorpusSource, Refusal> {
    if let Some(distribution) = place.strip_prefix("crates:") {
        let distribution = distribution.parse().map_err(Refusal::Error)?;
        let split = match keys.one("split")?.as_deref() {
            None | Some("held-out") => Split::HeldOut,
            Some("train") => Split::Train,
            Some(other) => return Err(format!("split={other} is not held-out or train").into()),
        };
        return Ok(CorpusSource::Crates {
            distribution,
            split,
            manifest: keys.one("manifest")?.map(PathBuf::from),
        });
    }
    if let Some(other) = place.strip_prefix("ice:").filter(|_| place != ICE_SAMPLE) {
        return Err(format!(
            "there is no `ice:{other}`; the texts in ICE's markup that are built in are {ICE_SAMPLE}"
        )
        .into());
    }
    if place == ICE_SAMPLE {
        return Ok(CorpusSource::Ice { path: None, options: evaluations::ice(keys)? });
    }
    let path = PathBuf::from(place);
    let kind = keys.one("kind")?;
    let found = match kind.as_deref() {
        Some(said) => said,
        None => kind_of(&path).map_err(Refusal::Error)?.name(),
    };
    Ok(match found {
        "text" => {
            let options =
                TextOptions { split: text_split(keys)?, folders: folders(keys)?, said: kind.is_some() };
            CorpusSource::Text { path, options }
        }
        "mmlu" => CorpusSource::Mmlu { path, options: evaluations::mmlu(keys)? },
        "anthropic" => CorpusSource::Anthropic { path, options: evaluations::anthropic(keys)? },
        "ice" => CorpusSource::Ice { path: Some(path), options: evaluations::ice(keys)? },
        "jsonl" => CorpusSource::Jsonl { path, fields: fields(keys)? },
        "parquet" => CorpusSource::Parquet { path, fields: fields(keys)? },
        "arrow" => CorpusSource::Arrow { path, fields: fields(keys)? },
        "ids" => {
            let format = match keys.one("format")?.as_deref() {
                Some("u16") => IdFormat::U16,
                Some("u32") => IdFormat::U32,
                Some("text") => IdFormat::Text,
                Some(other) => return Err(format!("format={other} is not u16, u32 or text").into()),
                None => {
                    return Err("a file of token ids needs format=u16, format=u32 or format=text"
                        .to_owned()
                        .into());
                }
            };
            let separator = match keys.one("separator")? {
                Some(text) => Some(text.parse().map_err(|_| format!("separator={text} is not a token id"))?),
                None => None,
            };
            if separator.is_some() && format == IdFormat::Text {
                return Err("separator= is for u16 and u32; in format=text a line is a document"
                    .to_owned()
                    .into());
            }
            CorpusSource::TokenIds { path, format, separator }
        }
        other => {
            return Err(format!(
                "kind={other} is not text, jsonl, parquet, arrow, ids, mmlu, anthropic or ice"
            )
            .into());
        }
    })
}

fn text_split(keys: &mut Keys) -> std::result::Result<TextSplit, String> {
    let split = keys.one("split")?;
    let title = keys.one("title")?;
    match (split.as_deref(), title) {
        (None | Some("titles"), Some(pattern)) => TextSplit::at_titles(&pattern)
            .map_err(|error| format!("title= is no regular expression: {error}")),
        (Some(_), Some(_)) => Err("title= goes with split=titles only".into()),
        (None | Some("file"), None) => Ok(TextSplit::File),
        (Some("lines"), None) => Ok(TextSplit::Lines),
        (Some("paragraphs"), None) => Ok(TextSplit::Paragraphs),
        (Some("titles"), None) => TextSplit::at_titles(WIKITEXT_TITLE),
        (Some(other), None) => Err(format!("split={other} is not file, lines, paragraphs or titles")),
    }
}

/// The tags that a folder's levels are.
fn folders(keys: &mut Keys) -> std::result::Result<Vec<String>, String> {
    let Some(given) = keys.one("folders")? else { return Ok(Vec::new()) };
    let names: Vec<String> = given.split(',').map(|name| name.trim().to_owned()).collect();
    match names.iter().any(String::is_empty) {
        true => Err(format!("folders={given} has an empty name; it is TAG or TAG,TAG")),
        false => Ok(names),
    }
}

fn fields(keys: &mut Keys) -> std::result::Result<Fields, String> {
    let mut fields = Fields::default();
    let text = keys.all("field");
    if !text.is_empty() {
        fields.text = text;
    }
    fields.join = keys.one("join")?.unwrap_or_default();
    fields.id = keys.one("id")?;
    fields.tags = keys.all("tag");
    fields.scored = keys.all("score");
    fields.skip_null = match keys.one("null")?.as_deref() {
        None => false,
        Some("skip") => true,
        Some(other) => return Err(format!("null={other} is not skip")),
    };
    match fields.scored.iter().find(|name| !fields.text.contains(name)) {
        Some(name) => Err(format!("score={name} names no field= of the text")),
        None => Ok(fields),
    }
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
    stem.chars().map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_kinds_and_keys() {
        let spec: CorpusSpec =
            "he=data/HumanEval.jsonl.gz?field=prompt&field=canonical_solution&join=%0A&id=task_id&limit=3"
                .parse()
                .unwrap();
        assert_eq!(spec.name(), "he");
        let CorpusSource::Jsonl { path, fields } = spec.source() else { panic!("{spec:?}") };
        assert_eq!(path, Path::new("data/HumanEval.jsonl.gz"));
        assert_eq!(fields.text, ["prompt", "canonical_solution"]);
        assert_eq!((fields.join.as_str(), fields.id.as_deref()), ("\n", Some("task_id")));
        let description = spec.description();
        assert!(description.starts_with("jsonl HumanEval.jsonl.gz field=prompt"), "{description}");

        let named = |text: &str| text.parse::<CorpusSpec>().unwrap().name().to_owned();
        assert_eq!(named("a/b c.test.txt"), "b-c");
        assert_eq!(named("crates:code"), "crates-code");
        assert_eq!(named("./a=b.txt"), "a-b");
        assert!(matches!("x.txt.zst".parse::<CorpusSpec>().unwrap().source(), CorpusSource::Text { .. }));
        assert!(matches!(
            "x.log?kind=jsonl".parse::<CorpusSpec>().unwrap().source(),
            CorpusSource::Jsonl { .. }
        ));
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
            ("x.txt?kind=xml", "text, jsonl"),
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
