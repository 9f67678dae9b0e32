//! The value of `--corpus`: which text, cut and named how.
//!
//! ```text
//! [name=]PATH[?key=value&key=value...]
//! [name=]crates:code|docs|markdown[?key=value&...]
//! [name=]ice:sample[?key=value&...]
//! ```
//!
//! The loader follows from the file's extension (`.gz` and `.zst` are looked through), or from `kind=`:
//!
//! | extension | kind | keys |
//! |---|---|---|
//! | `.jsonl` | `jsonl` | `field` (repeatable; default `text`), `join`, `id`, `tag` (repeatable), `score` (repeatable) |
//! | `.parquet` | `parquet` | the same; fields are columns |
//! | `.ids` | `ids` | `format` (`u16`, `u32` or `text`; needed), `separator` (an id) |
//! | any other, or a folder | `text` | `split` (`file`, `lines`, `paragraphs`, `titles`), `title` (a regular expression), `folders` (tags) |
//! | none: `kind=mmlu` | `mmlu` | `format`, `shots`, `split`, `subject` (repeatable), `domains`, `questions` |
//! | none: `kind=anthropic` | `anthropic` | `format`, `clusters`, `questions` |
//! | none: `kind=ice`, or `ice:sample` | `ice` | `variety`, `pauses`, `extra` |
//! | `crates:...` | `crates` | `split` (`held-out`, `train`), `manifest` (a `Cargo.toml`) |
//!
//! Every kind knows `limit` (that many documents from the beginning, a question with all its options); all but `ids`, `mmlu` and `anthropic` also `concat` (all
//! documents joined to one, with the given text between them). In values `%XX` is a byte in hexadecimal: `join=%0A` joins with a newline.
//! A name consists of letters, digits, `.`, `_` and `-`; without one it is the file's name without extensions.

mod evaluations;
mod files;
mod keys;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::document::Document;
use crate::error::{CorpusError, Result};
use crate::loaders::anthropic::AnthropicOptions;
use crate::loaders::crates::{CrateNotice, CrateSources, Distribution, Split};
use crate::loaders::fields::Fields;
use crate::loaders::ice::IceOptions;
use crate::loaders::mmlu::MmluOptions;
use crate::loaders::text::{TextSplit, WIKITEXT_TITLE};
use crate::loaders::token_ids::IdFormat;
use crate::loaders::{self, Documents};
use keys::Keys;

/// The grammar in the words of `--help`.
pub const HELP: &str = "\
[name=]PATH[?key=value&...]: a file or folder of text, or built in: crates:code, crates:docs, crates:markdown, ice:sample.
The kind follows from the extension (.gz and .zst are looked through) or from kind=:
  text     (any other)  split=file|lines|paragraphs|titles  title=REGEX  folders=TAG,TAG (names of a folder's levels)
  jsonl    (.jsonl)     field=NAME (repeatable)  join=TEXT  id=NAME  tag=NAME (repeatable)  score=NAME (repeatable)
  parquet  (.parquet)   as jsonl; fields are columns of text
  ids      (.ids)       format=u16|u32|text  separator=ID
  crates   (crates:...) split=held-out|train  manifest=PATH
  mmlu     (kind=mmlu)  folder with test/ and dev/  format=standard|text|modified|continuation  shots=0..5 (default 5)
                        split=test|val|dev  subject=NAME (repeatable)  domains=lm-eval|hendrycks|FILE  questions=N a subject
  anthropic (kind=anthropic)  JSONL file or folder  format=verbatim|modified  clusters=FILE  questions=N a behaviour
  ice      (kind=ice)   file or folder, or ice:sample (invented texts)  variety=NAME  pauses=comma|drop  extra=keep|drop
All kinds: limit=N documents; all but ids, mmlu, anthropic: concat=TEXT joins the documents to one. %XX is a byte: join=%0A.
Examples:
  wiki=test.txt?split=titles
  humaneval=HumanEval.jsonl.gz?field=prompt&field=canonical_solution&id=task_id
  crates:docs?split=held-out&limit=200
  mmlu=data?kind=mmlu&format=modified&questions=20
  ice-sin=ICE-SIN?kind=ice&variety=SIN";

/// The place that stands for the texts in ICE markup that the program carries.
const ICE_SAMPLE: &str = "ice:sample";

/// Where the documents come from, with the options of its loader.
#[derive(Debug, Clone)]
pub enum CorpusSource {
    /// Plain text: a file or a folder.
    Text {
        /// The file or folder.
        path: PathBuf,
        /// Where documents end.
        split: TextSplit,
        /// Tags that the names of the folder's levels are, outermost first.
        folders: Vec<String>,
    },
    /// JSONL.
    Jsonl {
        /// The file.
        path: PathBuf,
        /// Which fields.
        fields: Fields,
    },
    /// Parquet.
    Parquet {
        /// The file.
        path: PathBuf,
        /// Which columns.
        fields: Fields,
    },
    /// Token ids.
    TokenIds {
        /// The file.
        path: PathBuf,
        /// How they are written.
        format: IdFormat,
        /// The id at which documents end.
        separator: Option<u32>,
    },
    /// Options of MMLU's questions.
    Mmlu {
        /// The folder with `test` and `dev`.
        path: PathBuf,
        /// Prompt, shots, domains.
        options: MmluOptions,
    },
    /// Answers to questions about behaviour.
    Anthropic {
        /// The file or folder.
        path: PathBuf,
        /// Prompt, clusters.
        options: AnthropicOptions,
    },
    /// ICE texts.
    Ice {
        /// The file or folder; `None`: the texts that the program carries.
        path: Option<PathBuf>,
        /// Variety, what the markup leaves.
        options: IceOptions,
    },
    /// The sources of the locked crates.
    Crates {
        /// Which of the three kinds of text.
        distribution: Distribution,
        /// Which side of the split.
        split: Split,
        /// The workspace; `None`: the caller's default.
        manifest: Option<PathBuf>,
    },
}

/// A parsed `--corpus` value.
#[derive(Debug, Clone)]
pub struct CorpusSpec {
    given: String,
    name: String,
    source: CorpusSource,
    limit: Option<usize>,
    concat: Option<String>,
}

impl CorpusSpec {
    /// The name shown in tables and used for folders.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the documents come from.
    pub fn source(&self) -> &CorpusSource {
        &self.source
    }

    /// Whether its documents are options of questions, as far as the value says: by its kind, or by a tag `item`.
    pub fn is_questions(&self) -> bool {
        match &self.source {
            CorpusSource::Mmlu { .. } | CorpusSource::Anthropic { .. } => true,
            CorpusSource::Jsonl { fields, .. } | CorpusSource::Parquet { fields, .. } => {
                fields.tags.iter().any(|tag| tag == "item")
            }
            _ => false,
        }
    }

    /// The loader and its options without the folders of paths, which differ between machines.
    pub fn description(&self) -> String {
        let (what, options) = self.given.split_once('?').unwrap_or((&self.given, ""));
        let what = what.rsplit(['/', '\\']).next().unwrap_or(what);
        let options: Vec<&str> =
            options.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("manifest=")).collect();
        let kind = match self.source {
            CorpusSource::Text { .. } => "text",
            CorpusSource::Jsonl { .. } => "jsonl",
            CorpusSource::Parquet { .. } => "parquet",
            CorpusSource::TokenIds { .. } => "token ids",
            CorpusSource::Crates { .. } => "crate sources",
            CorpusSource::Mmlu { .. } => "mmlu",
            CorpusSource::Anthropic { .. } => "anthropic",
            CorpusSource::Ice { .. } => "ice",
        };
        let what = if what.starts_with("crates:") { what } else { what.rsplit('=').next().unwrap_or(what) };
        [&[kind, what], options.as_slice()].concat().join(" ")
    }

    /// What the user should be told about this corpus besides its documents; only the crate sources have such notices.
    ///
    /// # Errors
    /// The crates cannot be found.
    pub fn notices(&self, manifest: Option<&Path>) -> Result<Vec<CrateNotice>> {
        match &self.source {
            CorpusSource::Crates { manifest: own, .. } => {
                Ok(CrateSources::find(own.as_deref().or(manifest))?.notices())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Opens the stream of documents. `manifest` is the workspace whose crates are meant where the value names none.
    ///
    /// # Errors
    /// The loader's own, and [`CorpusError::EmptyCorpus`] when there is not a single document.
    pub fn open(&self, manifest: Option<&Path>) -> Result<Documents> {
        let documents: Documents = match &self.source {
            CorpusSource::Text { path, split, folders } => loaders::text::read(path, split, folders)?,
            CorpusSource::Mmlu { path, options } => loaders::mmlu::read(path, options.clone())?,
            CorpusSource::Anthropic { path, options } => loaders::anthropic::read(path, options.clone())?,
            CorpusSource::Ice { path: Some(path), options } => loaders::ice::read(path, options.clone())?,
            CorpusSource::Ice { path: None, options } => loaders::ice::sample(options)?,
            CorpusSource::Jsonl { path, fields } => loaders::jsonl::read(path, fields.clone())?,
            CorpusSource::Parquet { path, fields } => loaders::parquet::read(path, fields.clone())?,
            CorpusSource::TokenIds { path, format, separator } => {
                loaders::token_ids::read(path, *format, *separator)?
            }
            CorpusSource::Crates { distribution, split, manifest: own } => {
                let sources = CrateSources::find(own.as_deref().or(manifest))?;
                Box::new(sources.documents(*distribution, *split)?.into_iter().map(Ok))
            }
        };
        let documents: Documents = match self.limit {
            Some(limit) => limited(documents, limit),
            None => documents,
        };
        let mut documents: Documents = match &self.concat {
            Some(between) => {
                let all: Vec<Document> = documents.collect::<Result<_>>()?;
                Box::new(concatenate(&self.name, all, between).into_iter().map(Ok))
            }
            None => documents,
        };
        match documents.next() {
            None => Err(CorpusError::EmptyCorpus { corpus: self.given.clone() }),
            Some(first) => Ok(Box::new(std::iter::once(Ok(first?)).chain(documents))),
        }
    }
}

impl fmt::Display for CorpusSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.given)
    }
}

/// The first documents; a question that they begin is taken with all its options.
fn limited(documents: Documents, limit: usize) -> Documents {
    let (mut taken, mut item) = (0, None);
    Box::new(documents.take_while(move |document| {
        let of = document.as_ref().ok().and_then(|document| document.tags.get("item").cloned());
        let goes_on = of.is_some() && of == item;
        taken += 1;
        item = of;
        taken <= limit || goes_on
    }))
}

/// All documents as one, with `between` between them; `None` of none. Spans keep their place; a document that is scored as a
/// whole beside one that is not becomes a span, and what stands between is then context.
fn concatenate(name: &str, documents: Vec<Document>, between: &str) -> Option<Document> {
    let any_spans = documents.iter().any(|document| !document.spans.is_empty());
    let mut joined: Option<Document> = None;
    for (number, document) in documents.into_iter().enumerate() {
        let all = joined.get_or_insert_with(|| Document::new(name, ""));
        // Also after an empty document, as any `join` does: WikiText's rows begin with one.
        if number > 0 {
            all.text.push_str(between);
        }
        let at = all.text.len();
        all.text.push_str(&document.text);
        if document.spans.is_empty() && any_spans {
            all.spans.push(at..all.text.len());
        }
        all.spans.extend(document.spans.iter().map(|span| at + span.start..at + span.end));
    }
    joined
}

impl FromStr for CorpusSpec {
    type Err = CorpusError;

    fn from_str(given: &str) -> Result<Self> {
        let wrong = |reason: String| CorpusError::Spec { spec: given.to_owned(), reason };
        let (head, query) = given.split_once('?').unwrap_or((given, ""));
        let (name, place) = match head.split_once('=') {
            Some((name, place)) if is_name(name) => (Some(name.to_owned()), place),
            _ => (None, head),
        };
        if place.is_empty() {
            return Err(wrong("it names no file".into()));
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
        let name = name.unwrap_or_else(|| default_name(place));
        if name.is_empty() {
            return Err(wrong("it has no name of its own; give it one, as in `name=/`".into()));
        }
        let spec = Self { given: given.to_owned(), name, source, limit, concat };
        if spec.concat.is_some() && spec.is_questions() {
            return Err(wrong("concat= would join options that are scored each by itself".into()));
        }
        Ok(spec)
    }
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
    Ok(match kind.as_deref().unwrap_or(kind_of(place)) {
        "text" => CorpusSource::Text { path, split: text_split(keys)?, folders: folders(keys)? },
        "mmlu" => CorpusSource::Mmlu { path, options: evaluations::mmlu(keys)? },
        "anthropic" => CorpusSource::Anthropic { path, options: evaluations::anthropic(keys)? },
        "ice" => CorpusSource::Ice { path: Some(path), options: evaluations::ice(keys)? },
        "jsonl" => CorpusSource::Jsonl { path, fields: fields(keys)? },
        "parquet" => CorpusSource::Parquet { path, fields: fields(keys)? },
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
            return Err(
                format!("kind={other} is not text, jsonl, parquet, ids, mmlu, anthropic or ice").into()
            );
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

fn kind_of(place: &str) -> &'static str {
    let bare = place.strip_suffix(".gz").or_else(|| place.strip_suffix(".zst")).unwrap_or(place);
    match bare.rsplit_once('.').map(|(_, extension)| extension) {
        Some("jsonl") => "jsonl",
        Some("parquet") => "parquet",
        Some("ids") => "ids",
        _ => "text",
    }
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

    #[test]
    fn concatenation_keeps_spans() {
        let documents = vec![Document::new("a", "ab").with_span(1..2), Document::new("b", "cd")];
        let joined = concatenate("all", documents, "--").unwrap();
        assert_eq!(joined.text, "ab--cd");
        assert_eq!(joined.spans, [1..2, 4..6]);
        assert_eq!(concatenate("all", vec![], ""), None);
    }
}
