//! Documents with tags and scored spans, loaders, tokenisation, window protocols.

pub mod document;
pub mod error;
pub mod loaders;
pub mod protocols;
pub mod tokenizer;

pub use document::Document;
pub use error::{CorpusError, Result};
pub use loaders::crates::{CrateSources, Distribution, Split};
pub use protocols::{Protocol, TokenText, Window};
pub use tokenizer::{Encoded, Tokenizer};
