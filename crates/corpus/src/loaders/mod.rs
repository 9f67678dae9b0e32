//! Where documents come from. A loader a file; [`crate::CorpusSpec`] picks one and opens it.
//!
//! | loader | file | one document is |
//! |---|---|---|
//! | text | [`mod@text`] | a file, a line, a paragraph or an article |
//! | JSONL | [`mod@jsonl`] | a line, one or several of its fields |
//! | Parquet, Arrow | [`mod@parquet`] | a row, one or several of its columns |
//! | token ids | [`mod@token_ids`] | a line, or what stands between two separators |
//! | crate sources | [`mod@crates`] | a source file |
//! | MMLU | [`mod@mmlu`] | an option of a question |
//! | evaluations of behaviour | [`mod@anthropic`] | an answer to a question |
//! | ICE | [`mod@ice`] | a text, without its markup |
//!
//! What they share: [`mod@file_kind`] (which loader a file is for), `listing` and `pattern` (the files of a folder or pattern), `open` and
//! `members` (a user's file, unpacked), `lines`, [`mod@fields`], `table`, [`mod@reading`] (the flag that ends a reading, and notices).
//!
//! All but the crate sources and MMLU (a subject at a time) stream: one row, or one file, is held at a time. All but Parquet and Arrow may
//! be compressed (gzip, zstd, told by their bytes). The first error ends a stream.

pub mod anthropic;
pub mod crates;
pub mod fields;
pub mod file_kind;
pub mod ice;
pub mod jsonl;
mod lines;
pub(crate) mod listing;
mod members;
pub mod mmlu;
mod open;
pub mod parquet;
mod pattern;
pub mod reading;
mod table;
pub mod text;
pub mod token_ids;

use crate::document::Document;
use crate::error::Result;

/// A stream of documents. After an error it ends.
pub type Documents = Box<dyn Iterator<Item = Result<Document>> + Send>;

/// Ends a stream after its first error, so that no loader has to.
pub(crate) fn until_error(documents: impl Iterator<Item = Result<Document>> + Send + 'static) -> Documents {
    let mut failed = false;
    Box::new(documents.take_while(move |item| {
        let go_on = !failed;
        failed |= item.is_err();
        go_on
    }))
}

/// The last part of a path, for ids and descriptions; the folders above differ between machines.
pub(crate) fn file_name(path: &std::path::Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
