//! Documents with tags and scored spans, loaders, tokenisation, window protocols.

pub mod document;
pub mod error;
pub mod loaders;

pub use document::Document;
pub use error::CorpusError;
pub use loaders::crates::{CrateSources, Distribution, Split};
