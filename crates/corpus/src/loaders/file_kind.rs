//! Which loader a file is for: by its name in any case, and where names do not say, by its bytes.

use std::path::Path;

use relscale_records::content::Content;

use super::members::Packing;
use super::open::{content, first_bytes};

/// Bytes in which the first line of a file is looked for.
const SNIFFED: u64 = 1 << 20;

/// What the files of a corpus are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// Plain text.
    Text,
    /// A JSON object a line.
    Jsonl,
    /// Parquet.
    Parquet,
    /// Arrow IPC, Feather.
    Arrow,
    /// Token ids.
    Ids,
}

impl FileKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Text, Self::Jsonl, Self::Parquet, Self::Arrow, Self::Ids];

    /// Its name in `kind=`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Ids => "ids",
        }
    }

    /// Extensions, in lower case, of its files in a folder; those of compressed files are looked through.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["txt", "text", "md", "markdown", "rst"],
            Self::Jsonl => &["jsonl", "ndjson", "jl", "jsonlines", "ldjson"],
            Self::Parquet => &["parquet", "parq", "pq"],
            Self::Arrow => &["arrow", "feather", "ipc", "arrows"],
            Self::Ids => &["ids"],
        }
    }

    /// What a file's name says; nothing of `.json`, whose lines must be looked at.
    pub fn by_name(path: &Path) -> Option<Self> {
        let extension = extension(path)?;
        Self::ALL.into_iter().find(|kind| kind.extensions().contains(&extension.as_str()))
    }
}

/// A file's extension in lower case, that of its compression looked through.
pub(super) fn extension(path: &Path) -> Option<String> {
    let name = bare_name(path);
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty() && !extension.is_empty()).then(|| extension.to_lowercase())
}

/// A file's name without the extension of its compression, of those too that are not undone here (which opening will say).
pub(super) fn bare_name(path: &Path) -> String {
    let name = super::file_name(path);
    let packed = ["xz", "bz2", "lzma", "lz4", "lz", "br", "z"];
    match name.rsplit_once('.') {
        Some((stem, extension))
            if !stem.is_empty()
                && (Packing::by_name(path).is_some()
                    || packed.contains(&extension.to_lowercase().as_str())) =>
        {
            stem.to_owned()
        }
        _ => name,
    }
}

/// What the lines of a JSON file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonShape {
    /// Objects, one a line.
    Lines,
    /// One line with one object: a row, or a file of settings.
    OneLine,
    /// An array.
    Array,
    /// One value over several lines.
    Value,
    /// No JSON.
    None,
}

impl JsonShape {
    /// What the first lines of a file say.
    pub fn of(path: &Path) -> Self {
        first_bytes(path, SNIFFED).map_or(Self::None, |bytes| Self::of_bytes(&bytes))
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let cut = bytes.len() as u64 == SNIFFED;
        let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let Some(first) = lines.next() else { return Self::None };
        match first.trim_ascii() {
            [b'[', rest @ ..] if rest.is_empty() || rest.trim_ascii_start().starts_with(b"{") => Self::Array,
            // A line longer than what was read: whatever it is, it begins as a row does.
            [b'{', rest @ ..] if cut && first.len() as u64 >= SNIFFED - 3 => {
                if rest.trim_ascii_start().starts_with(b"\"") { Self::Lines } else { Self::None }
            }
            line if is_object(line) => match lines.next().map(|next| next.trim_ascii()) {
                None => Self::OneLine,
                Some(next) if is_object(next) || (cut && next.starts_with(b"{")) => Self::Lines,
                Some(_) => Self::OneLine,
            },
            [b'{', rest @ ..] if rest.is_empty() || rest.trim_ascii_start().starts_with(b"\"") => Self::Value,
            _ => Self::None,
        }
    }

    /// Whether a line is a JSON object, to its end. One with half of a surrogate pair is an object all the same.
    pub(super) fn is_row(line: &str) -> bool {
        is_object(line.trim().as_bytes())
    }
}

fn is_object(line: &[u8]) -> bool {
    line.starts_with(b"{")
        && match serde_json::from_slice::<serde::de::IgnoredAny>(line) {
            Ok(_) => true,
            Err(error) => error.to_string().contains("surrogate"),
        }
}

/// What a file's bytes say, where its name does not.
pub(super) fn by_content(path: &Path) -> Option<FileKind> {
    match content(path) {
        Some(Content::Parquet) => Some(FileKind::Parquet),
        Some(Content::Arrow) => Some(FileKind::Arrow),
        _ => match JsonShape::of(path) {
            JsonShape::Lines | JsonShape::OneLine => Some(FileKind::Jsonl),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_kinds_in_any_case() {
        for (name, kind) in [
            ("a.JSONL", Some(FileKind::Jsonl)),
            ("a.jsonl.GZ", Some(FileKind::Jsonl)),
            ("a.ndjson.zstd", Some(FileKind::Jsonl)),
            ("a.jsonl.xz", Some(FileKind::Jsonl)),
            ("a.TXT", Some(FileKind::Text)),
            ("a.Parquet", Some(FileKind::Parquet)),
            ("a.json", None),
            ("a", None),
            (".txt", None),
        ] {
            assert_eq!(FileKind::by_name(Path::new(name)), kind, "{name}");
        }
    }

    #[test]
    fn shapes_of_json() {
        for (text, shape) in [
            ("{\"a\": 1}\n{\"b\": 2}\n", JsonShape::Lines),
            ("\u{FEFF}\n{\"a\": 1}\n\n{\"a\": 1", JsonShape::OneLine),
            ("{\"a\": \"\\ud83d\"}\n{}\n", JsonShape::Lines),
            ("{}", JsonShape::OneLine),
            ("[\n{\"a\": 1}]", JsonShape::Array),
            ("[{\"a\": 1}]", JsonShape::Array),
            ("{\n \"a\": 1\n}", JsonShape::Value),
            ("{ x", JsonShape::None),
            ("[1] a footnote", JsonShape::None),
            ("plain", JsonShape::None),
        ] {
            assert_eq!(JsonShape::of_bytes(text.as_bytes()), shape, "{text}");
        }
    }
}
