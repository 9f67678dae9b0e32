//! Where documents come from. A loader a file: its `Kind` says how `--corpus` asks for it, its
//! `Loader` which files it reads, how it opens them, whether it asks questions,
//! and what the user should know.
//!
//! | loader | file | one document is |
//! |---|---|---|
//! | text | `text` | a file, a line, a paragraph or an article |
//! | JSONL | `jsonl` | a line, one or several of its fields |
//! | Parquet, Arrow | `parquet` | a row, one or several of its columns |
//! | token ids | `token_ids` | a line, or what stands between two separators |
//! | crate sources | [`mod@crates`] | a source file |
//! | MMLU | [`mod@mmlu`] | an option of a question |
//! | evaluations of behaviour | `anthropic` | an answer to a question |
//! | ICE | [`mod@ice`] | a text, without its markup |
//!
//! What they share: `kinds` and `json_shape` (which kind a file is), `place`, `pattern`, `walk` and
//! `listing` (the files of a folder or pattern), `open` and `members` (a user's file, unpacked),
//! `lines`, `fields`, `table`, `keys`, `stream`, [`mod@reading`] (the flag that ends a reading, and
//! notices).
//!
//! All but the crate sources and MMLU (a subject at a time) stream: one row, or one file, is held
//! at a time. All but Parquet and Arrow may be compressed (gzip, zstd, told by their bytes). The
//! first error ends a stream.

mod anthropic;
pub mod crates;
mod fields;
pub mod ice;
mod json_shape;
mod jsonl;
pub(crate) mod keys;
mod kinds;
mod lines;
mod listing;
pub(crate) mod loader;
mod members;
pub mod mmlu;
mod open;
mod parquet;
mod pattern;
mod place;
pub mod reading;
mod stream;
mod table;
mod text;
mod token_ids;
mod walk;

use loader::{Kind, Kinds};
pub(crate) use pattern::is_there;
pub use stream::Documents;

/// All loaders, in the order of the help.
static LOADERS: &[&Kind] = &[
    &text::TEXT,
    &jsonl::JSONL,
    &parquet::PARQUET,
    &parquet::ARROW,
    &token_ids::IDS,
    &crates::CRATES,
    &mmlu::MMLU,
    &anthropic::ANTHROPIC,
    &ice::ICE,
];

/// All loaders, and those for files whose names say nothing.
pub(crate) static KINDS: Kinds =
    Kinds { all: LOADERS, rows_of_json: &jsonl::JSONL, any_text: &text::TEXT };

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::KINDS;

    #[test]
    fn names_say_kinds_in_any_case() {
        for (name, kind) in [
            ("a.JSONL", Some("jsonl")),
            ("a.jsonl.GZ", Some("jsonl")),
            ("a.ndjson.zstd", Some("jsonl")),
            ("a.jsonl.xz", Some("jsonl")),
            ("a.TXT", Some("text")),
            ("a.Parquet", Some("parquet")),
            ("a.json", None),
            ("a", None),
            (".txt", None),
        ] {
            assert_eq!(KINDS.by_name(Path::new(name)).map(|kind| kind.name), kind, "{name}");
        }
    }

    #[test]
    fn kinds_are_told_apart() {
        for (at, kind) in KINDS.all.iter().enumerate() {
            assert!(kind.help.starts_with(&format!("  {} ", kind.name)), "{}", kind.help);
            assert!(
                kind.reads_paths || kind.built_in.is_some(),
                "{} is read from nowhere",
                kind.name
            );
            for other in &KINDS.all[..at] {
                assert_ne!(kind.name, other.name);
                assert!(
                    !kind.extensions.iter().any(|extension| other.extensions.contains(extension))
                );
                assert!(kind.built_in.is_none() || kind.built_in != other.built_in);
            }
        }
    }
}
