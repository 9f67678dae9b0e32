//! The value of `--corpus`: which text, cut and named how.
//!
//! ```text
//! [name=]PATH[?key=value&key=value...]
//! [name=]crates:code|docs|markdown[?key=value&...]
//! [name=]ice:sample[?key=value&...]
//! ```
//!
//! `PATH` is a file, a folder (all files of one kind below it) or a pattern
//! (`data/train-*.parquet`). The loader follows from extensions in any case (`.gz` and `.zst` are
//! looked through), where these do not say from the file's bytes, or from `kind=`. Which kinds
//! there are and which keys each knows stands in their files ([`mod@crate::loaders`]) and is
//! gathered by [`help`].
//!
//! Every kind knows `limit` (that many documents from the beginning, a question with all its
//! options); all but those whose documents must stay apart also `concat` (all documents joined to
//! one, with the given text between them). In values `%XX` is a byte in hexadecimal: `join=%0A`
//! joins with a newline. A name consists of letters, digits, `.`, `_` and `-`; without one it is
//! the file's name without extensions. A path that is there wins over the cut at a `?` or a `=` in
//! it; `%3F` in a path is a `?` where no file of that name is there.

mod list;
mod parse;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::{Document, check_length};
use crate::error::{CorpusError, Result};
use crate::loaders::loader::{Kind, Loader};
use crate::loaders::reading::Reading;
use crate::loaders::{Documents, KINDS};

pub use list::separate;

/// The grammar in the words of `--help`.
pub fn help() -> String {
    let kinds: Vec<&str> = KINDS.all.iter().map(|kind| kind.help).collect();
    let apart: Vec<&str> =
        KINDS.all.iter().filter(|kind| kind.not_joined.is_some()).map(|kind| kind.name).collect();
    format!(
        "\
[name=]PATH[?key=value&...]: a file, a folder or a quoted pattern ('data/train-*.parquet'), or built in: crates:code,
crates:docs, crates:markdown, ice:sample. The kind follows from the extension, in any case, or from the file's bytes, or from kind=;
gzip and zstd are looked through. Of a folder all files of one kind are read, by name; what is left out is told.
{}
All kinds: limit=N documents; all but {}: concat=TEXT joins the documents to one. %XX is a byte: join=%0A.
A path that is there wins over the cut at a ? or , in it; %3F in a path is a ? as well. A document has at most 1 GiB.
Examples:
  wiki=test.txt?split=titles
  humaneval=HumanEval.jsonl.gz?field=prompt&field=canonical_solution&id=task_id
  crates:docs?split=held-out&limit=200
  mmlu=data?kind=mmlu&format=modified&questions=20
  ice-sin=ICE-SIN?kind=ice&variety=SIN",
        kinds.join("\n"),
        apart.join(", ")
    )
}

/// A parsed `--corpus` value.
#[derive(Debug, Clone)]
pub struct CorpusSpec {
    given: String,
    /// Of what was given: the place, and the keys behind it.
    place: String,
    query: String,
    name: String,
    kind: &'static Kind,
    loader: Arc<dyn Loader>,
    limit: Option<usize>,
    concat: Option<String>,
}

impl CorpusSpec {
    /// The name shown in tables and used for folders.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of its kind, as in `kind=`.
    pub fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// Whether its documents are options of questions, as far as the value says: by its kind, or by
    /// a tag `item`.
    pub fn is_questions(&self) -> bool {
        self.loader.questions()
    }

    /// Whether its documents come in a drawn order already, so that any prefix is a sample of all.
    pub fn is_drawn(&self) -> bool {
        self.loader.drawn()
    }

    /// The loader and its options without the folders of paths, which differ between machines.
    pub fn description(&self) -> String {
        let what = self.place.trim_end_matches(['/', '\\']);
        let what = what.rsplit(['/', '\\']).next().unwrap_or(what);
        let options = self.query.split('&');
        let options: Vec<&str> =
            options.filter(|pair| !pair.is_empty() && !pair.starts_with("manifest=")).collect();
        [&[self.kind.described, what], options.as_slice()].concat().join(" ")
    }

    /// Every file on which the documents depend, sorted; of folders all files below them, also
    /// those that the loader passes over, so that a file that comes or goes is seen. While none of
    /// them changes (and the program does not), [`CorpusSpec::open`] gives the same documents.
    /// Empty for the texts that the program carries.
    ///
    /// # Errors
    /// A file or folder that is not there or cannot be listed; the crates cannot be found.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = self.loader.files()?;
        files.sort();
        Ok(files)
    }

    /// Refuses, before any work, a file, folder or pattern that names nothing that could be read.
    ///
    /// # Errors
    /// It is not there; it is a pipe or a device; it has no file of its kind.
    pub fn check(&self) -> Result<()> {
        self.loader.check()
    }

    /// What the user should be told about this corpus before its documents are read.
    ///
    /// # Errors
    /// The crates cannot be found.
    pub fn notices(&self) -> Result<Vec<String>> {
        self.loader.notices()
    }

    /// Opens the stream of documents.
    ///
    /// # Errors
    /// The loader's own, and [`CorpusError::EmptyCorpus`] when there is not a single document.
    pub fn open(&self) -> Result<Documents> {
        self.open_with(&Reading::default())
    }

    /// As [`CorpusSpec::open`], with a flag that ends the reading and with notices of what was read
    /// and what was not.
    ///
    /// # Errors
    /// [`CorpusError::Stopped`], besides.
    pub fn open_with(&self, reading: &Reading) -> Result<Documents> {
        let documents = self.loader.open(reading)?;
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

/// All documents as one, with `between` between them; `None` of none. Spans keep their place; a
/// document that is scored as a whole beside one that is not becomes a span, and what stands
/// between is then context.
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
