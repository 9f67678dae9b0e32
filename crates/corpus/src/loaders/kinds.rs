//! Which kind a file is: by its name in any case, and where names do not say, by its bytes.

use std::path::{Path, PathBuf};

use super::json_shape::JsonShape;
use super::loader::{Kind, Kinds};
use super::open::{content, extension};
use super::pattern;
use super::place::{At, at};
use super::walk::walk;
use crate::error::{CorpusError, Result};

impl Kinds {
    /// The kind that `kind=` names.
    pub(crate) fn named(&self, name: &str) -> Option<&'static Kind> {
        self.of_paths().find(|kind| kind.name == name)
    }

    /// The kinds that read files.
    pub(crate) fn of_paths(&self) -> impl Iterator<Item = &'static Kind> {
        self.all.iter().copied().filter(|kind| kind.reads_paths)
    }

    /// What a file's name says; nothing of `.json`, whose lines must be looked at.
    pub(super) fn by_name(&self, path: &Path) -> Option<&'static Kind> {
        let extension = extension(path)?;
        self.all.iter().copied().find(|kind| kind.extensions.contains(&extension.as_str()))
    }

    /// What a file's bytes say, where its name does not.
    fn by_content(&self, path: &Path) -> Option<&'static Kind> {
        let content = content(path);
        let by_mark =
            self.all.iter().copied().find(|kind| kind.content.is_some() && kind.content == content);
        by_mark.or_else(|| match JsonShape::from_file(path) {
            JsonShape::Lines | JsonShape::OneLine => Some(self.rows_of_json),
            _ => None,
        })
    }

    /// The kinds of a folder's files. A `.json` file counts as rows when its lines are objects;
    /// with one line only, which may be settings as well, when nothing else in the folder is data.
    pub(super) fn of_files<'a>(
        &self,
        files: &'a [PathBuf],
    ) -> Vec<(&'a PathBuf, Option<&'static Kind>)> {
        let by_name: Vec<_> = files.iter().map(|path| self.by_name(path)).collect();
        let data = by_name.iter().flatten().any(|kind| *kind != self.any_text);
        let of = |path: &PathBuf, kind: Option<&'static Kind>| match kind {
            None if is_json(path) => match JsonShape::from_file(path) {
                JsonShape::Lines => Some(self.rows_of_json),
                JsonShape::OneLine if !data => Some(self.rows_of_json),
                _ => None,
            },
            kind => kind,
        };
        files.iter().zip(by_name).map(|(path, kind)| (path, of(path, kind))).collect()
    }

    /// The kind that a path's files say they are.
    ///
    /// # Errors
    /// [`CorpusError::BadLayout`]: a folder or pattern with several; JSON whose rows are not lines.
    pub(crate) fn of_path(&self, path: &Path) -> Result<&'static Kind> {
        let files = match at(path) {
            // Opening will say what is wrong with it.
            Err(_) if is_json(path) => return Ok(self.rows_of_json),
            Err(_) => return Ok(self.by_name(path).unwrap_or(self.any_text)),
            Ok(At::File) => return self.of_file(path),
            Ok(At::Folder) => walk(path)?.files,
            Ok(At::Pattern) => {
                // Each is meant, so each has a kind.
                let kinds = pattern::matches(path)?.files;
                let kinds =
                    kinds.iter().map(|file| self.of_file(file)).collect::<Result<Vec<_>>>()?;
                return self.the_only(path, &kinds);
            }
        };
        let kinds: Vec<_> =
            self.of_files(&files).into_iter().filter_map(|(_, kind)| kind).collect();
        self.the_only(path, &kinds)
    }

    fn the_only(&self, path: &Path, found: &[&'static Kind]) -> Result<&'static Kind> {
        let count = |kind: &&'static Kind| found.iter().filter(|one| *one == kind).count();
        let there: Vec<&Kind> = self.all.iter().copied().filter(|kind| count(kind) > 0).collect();
        if let [] | [_] = there.as_slice() {
            return Ok(found.first().copied().unwrap_or(self.any_text));
        }
        let each: Vec<String> = self
            .all
            .iter()
            .filter(|kind| count(kind) > 0)
            .map(|kind| format!("{} of {}", count(kind), kind.name))
            .collect();
        let says: Vec<String> = there.iter().map(|kind| format!("kind={}", kind.name)).collect();
        let reason = format!(
            "files of several kinds ({}); say which with {}",
            each.join(", "),
            says.join(" or ")
        );
        Err(CorpusError::BadLayout { path: path.to_owned(), reason })
    }

    fn of_file(&self, path: &Path) -> Result<&'static Kind> {
        if let Some(kind) = self.by_name(path) {
            return Ok(kind);
        }
        if !is_json(path) {
            return Ok(self.by_content(path).unwrap_or(self.any_text));
        }
        let wrong = |reason: &str| {
            Err(CorpusError::BadLayout { path: path.to_owned(), reason: reason.to_owned() })
        };
        match JsonShape::from_file(path) {
            JsonShape::Array => wrong(
                "a JSON array, and rows are read one a line; write it as JSONL with `jq -c '.[]' FILE > FILE.jsonl`, or read it as it stands with kind=text",
            ),
            JsonShape::Value => wrong(
                "one JSON value over several lines, and rows are read one a line; write its rows as JSONL with jq -c, or read it as it stands with kind=text",
            ),
            // What else it is, its first row will say.
            _ => Ok(self.by_content(path).unwrap_or(self.rows_of_json)),
        }
    }
}

fn is_json(path: &Path) -> bool {
    extension(path).as_deref() == Some("json")
}
