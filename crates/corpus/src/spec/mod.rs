//! The value of `--corpus`: which text, cut and named how.
//!
//! ```text
//! [name=]PATH[?key=value&key=value...]
//! [name=]crates:code|docs|markdown[?key=value&...]
//! [name=]ice:sample[?key=value&...]
//! ```
//!
//! `PATH` is a file, a folder (all files of one kind below it) or a pattern (`data/train-*.parquet`). The loader follows from extensions in
//! any case (`.gz` and `.zst` are looked through), where these do not say from the file's bytes, or from `kind=`:
//!
//! | extension | kind | keys |
//! |---|---|---|
//! | `.jsonl`, `.ndjson`, `.jl`, `.json` with an object a line | `jsonl` | `field` (repeatable; default `text`), `join`, `id`, `tag` (repeatable), `score` (repeatable), `null` (`skip`) |
//! | `.parquet` | `parquet` | the same; fields are columns |
//! | `.arrow`, `.feather` | `arrow` | the same |
//! | `.ids` | `ids` | `format` (`u16`, `u32` or `text`; needed), `separator` (an id) |
//! | any other | `text` | `split` (`file`, `lines`, `paragraphs`, `titles`), `title` (a regular expression), `folders` (tags) |
//! | none: `kind=mmlu` | `mmlu` | `format`, `shots`, `split`, `subject` (repeatable), `domains`, `questions` |
//! | none: `kind=anthropic` | `anthropic` | `format`, `clusters`, `questions` |
//! | none: `kind=ice`, or `ice:sample` | `ice` | `variety`, `pauses`, `extra` |
//! | `crates:...` | `crates` | `split` (`held-out`, `train`), `manifest` (a `Cargo.toml`) |
//!
//! Every kind knows `limit` (that many documents from the beginning, a question with all its options); all but `ids`, `mmlu` and `anthropic` also `concat` (all
//! documents joined to one, with the given text between them). In values `%XX` is a byte in hexadecimal: `join=%0A` joins with a newline.
//! A name consists of letters, digits, `.`, `_` and `-`; without one it is the file's name without extensions. A path that is there wins over
//! the cut at a `?` or a `=` in it; `%3F` in a path is a `?` where no file of that name is there.

mod evaluations;
mod files;
mod keys;
mod parse;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::document::{Document, check_length};
use crate::error::{CorpusError, Result};
use crate::loaders::anthropic::AnthropicOptions;
use crate::loaders::crates::{CrateNotice, CrateSources, Distribution, Split};
use crate::loaders::fields::Fields;
use crate::loaders::file_kind::FileKind;
use crate::loaders::ice::IceOptions;
use crate::loaders::mmlu::MmluOptions;
use crate::loaders::reading::Reading;
use crate::loaders::text::TextOptions;
use crate::loaders::token_ids::IdFormat;
use crate::loaders::{self, Documents};

/// The grammar in the words of `--help`.
pub const HELP: &str = "\
[name=]PATH[?key=value&...]: a file, a folder or a quoted pattern ('data/train-*.parquet'), or built in: crates:code,
crates:docs, crates:markdown, ice:sample. The kind follows from the extension, in any case, or from the file's bytes, or from kind=;
gzip and zstd are looked through. Of a folder all files of one kind are read, by name; what is left out is told.
  text     (.txt, .md, any other)  split=file|lines|paragraphs|titles  title=REGEX  folders=TAG,TAG (names of a folder's levels)
  jsonl    (.jsonl, .ndjson, .jl, .json with an object a line)  field=NAME (repeatable)  join=TEXT  id=NAME  tag=NAME (repeatable)
                        score=NAME (repeatable)  null=skip
  parquet  (.parquet)   as jsonl; fields are columns of text, ids and tags may be numbers
  arrow    (.arrow, .feather)  as parquet
  ids      (.ids)       format=u16|u32|text  separator=ID
  crates   (crates:...) split=held-out|train  manifest=PATH
  mmlu     (kind=mmlu)  folder with test/ and dev/  format=standard|text|modified|continuation  shots=0..5 (default 5)
                        split=test|val|dev  subject=NAME (repeatable)  domains=lm-eval|hendrycks|FILE  questions=N a subject
  anthropic (kind=anthropic)  JSONL file or folder  format=verbatim|modified  clusters=FILE  questions=N a behaviour
  ice      (kind=ice)   file or folder, or ice:sample (invented texts)  variety=NAME  pauses=comma|drop  extra=keep|drop
All kinds: limit=N documents; all but ids, mmlu, anthropic: concat=TEXT joins the documents to one. %XX is a byte: join=%0A.
A path that is there wins over the cut at a ? in it; %3F in a path is a ? as well. A document has at most 1 GiB.
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
        /// The file, folder or pattern.
        path: PathBuf,
        /// Where documents end, tags of folders.
        options: TextOptions,
    },
    /// JSONL.
    Jsonl {
        /// The file, folder or pattern.
        path: PathBuf,
        /// Which fields.
        fields: Fields,
    },
    /// Parquet.
    Parquet {
        /// The file, folder or pattern.
        path: PathBuf,
        /// Which columns.
        fields: Fields,
    },
    /// Arrow IPC.
    Arrow {
        /// The file, folder or pattern.
        path: PathBuf,
        /// Which columns.
        fields: Fields,
    },
    /// Token ids.
    TokenIds {
        /// The file, folder or pattern.
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

impl CorpusSource {
    /// The file, folder or pattern that it is read from; `None` for what the program carries or finds itself.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Text { path, .. }
            | Self::Jsonl { path, .. }
            | Self::Parquet { path, .. }
            | Self::Arrow { path, .. }
            | Self::TokenIds { path, .. }
            | Self::Mmlu { path, .. }
            | Self::Anthropic { path, .. } => Some(path),
            Self::Ice { path, .. } => path.as_deref(),
            Self::Crates { .. } => None,
        }
    }

    /// Which of a folder's files it reads, where that is by their kind.
    fn file_kind(&self) -> Option<FileKind> {
        match self {
            Self::Text { .. } => Some(FileKind::Text),
            Self::Jsonl { .. } => Some(FileKind::Jsonl),
            Self::Parquet { .. } => Some(FileKind::Parquet),
            Self::Arrow { .. } => Some(FileKind::Arrow),
            Self::TokenIds { .. } => Some(FileKind::Ids),
            _ => None,
        }
    }
}

/// A parsed `--corpus` value.
#[derive(Debug, Clone)]
pub struct CorpusSpec {
    given: String,
    /// Of what was given: the place, and the keys behind it.
    place: String,
    query: String,
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
            CorpusSource::Jsonl { fields, .. }
            | CorpusSource::Parquet { fields, .. }
            | CorpusSource::Arrow { fields, .. } => fields.tags.iter().any(|tag| tag == "item"),
            _ => false,
        }
    }

    /// The loader and its options without the folders of paths, which differ between machines.
    pub fn description(&self) -> String {
        let what = self.place.trim_end_matches(['/', '\\']);
        let what = what.rsplit(['/', '\\']).next().unwrap_or(what);
        let options = self.query.split('&');
        let options: Vec<&str> =
            options.filter(|pair| !pair.is_empty() && !pair.starts_with("manifest=")).collect();
        let kind = match self.source {
            CorpusSource::Text { .. } => "text",
            CorpusSource::Jsonl { .. } => "jsonl",
            CorpusSource::Parquet { .. } => "parquet",
            CorpusSource::Arrow { .. } => "arrow",
            CorpusSource::TokenIds { .. } => "token ids",
            CorpusSource::Crates { .. } => "crate sources",
            CorpusSource::Mmlu { .. } => "mmlu",
            CorpusSource::Anthropic { .. } => "anthropic",
            CorpusSource::Ice { .. } => "ice",
        };
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
        self.open_with(manifest, &Reading::default())
    }

    /// As [`CorpusSpec::open`], with a flag that ends the reading and with notices of what was read and what was not.
    ///
    /// # Errors
    /// [`CorpusError::Stopped`], besides.
    pub fn open_with(&self, manifest: Option<&Path>, reading: &Reading) -> Result<Documents> {
        let documents: Documents = match &self.source {
            CorpusSource::Text { path, options } => loaders::text::read(path, options.clone(), reading)?,
            CorpusSource::Mmlu { path, options } => loaders::mmlu::read(path, options.clone(), reading)?,
            CorpusSource::Anthropic { path, options } => {
                loaders::anthropic::read(path, options.clone(), reading)?
            }
            CorpusSource::Ice { path: Some(path), options } => {
                loaders::ice::read(path, options.clone(), reading)?
            }
            CorpusSource::Ice { path: None, options } => loaders::ice::sample(options)?,
            CorpusSource::Jsonl { path, fields } => loaders::jsonl::read(path, fields.clone(), reading)?,
            CorpusSource::Parquet { path, fields } => {
                loaders::parquet::read(path, FileKind::Parquet, fields.clone(), reading)?
            }
            CorpusSource::Arrow { path, fields } => {
                loaders::parquet::read(path, FileKind::Arrow, fields.clone(), reading)?
            }
            CorpusSource::TokenIds { path, format, separator } => {
                loaders::token_ids::read(path, *format, *separator, reading)?
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
                let joined = concatenate(&self.name, documents, between)?;
                Box::new(joined.into_iter().map(Ok))
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
fn concatenate(
    name: &str,
    documents: impl Iterator<Item = Result<Document>>,
    between: &str,
) -> Result<Option<Document>> {
    let mut joined: Option<Document> = None;
    let mut any_spans = false;
    for (number, document) in (0..).zip(documents) {
        let document = document?;
        let all = joined.get_or_insert_with(|| Document::new(name, ""));
        // Also after an empty document, as any `join` does: WikiText's rows begin with one.
        if number > 0 {
            all.text.push_str(between);
        }
        let at = all.text.len();
        check_length(Path::new(name), number + 1, at.saturating_add(document.text.len()))?;
        all.text.push_str(&document.text);
        any_spans |= !document.spans.is_empty();
        if document.spans.is_empty() {
            all.spans.push(at..all.text.len());
        }
        all.spans.extend(document.spans.iter().map(|span| at + span.start..at + span.end));
    }
    if let (false, Some(all)) = (any_spans, &mut joined) {
        all.spans.clear();
    }
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concatenation_keeps_spans() {
        let documents = vec![Document::new("a", "ab").with_span(1..2), Document::new("b", "cd")];
        let joined = |documents: Vec<Document>, between| {
            concatenate("all", documents.into_iter().map(Ok), between).unwrap()
        };
        let all = joined(documents, "--").unwrap();
        assert_eq!(all.text, "ab--cd");
        assert_eq!(all.spans, [1..2, 4..6]);
        assert_eq!(joined(vec![], ""), None);
        let whole = vec![Document::new("a", "ab"), Document::new("b", "cd")];
        assert!(joined(whole, "").unwrap().spans.is_empty());
    }
}
