//! From a file of text to windows of token ids: what a model is fed, and which positions of it are
//! scored.
//!
//! The actors, in the order of the data:
//!
//! | what | where | |
//! |---|---|---|
//! | [`CorpusSpec`] | [`mod@spec`] | the value of `--corpus`: which text, cut and named how |
//! | a loader | [`mod@loaders`] | streams [`Document`]s: text, JSONL, Parquet, token ids, crate sources, evaluations |
//! | an item | [`mod@choices`] | a question with options as scored documents: prompt formats, spans, tags |
//! | [`Document`] | [`mod@document`] | id, text, tags, scored spans; the sampling unit of every interval |
//! | a place | [`mod@draw`] | the order in which documents are drawn, where not all are wanted |
//! | [`Fingerprint`] | [`mod@fingerprint`] | the hash by which two corpora are the same text |
//! | [`Tokenizer`] | [`mod@tokenizer`] | ids, and the source bytes that each token covers |
//! | a [`Protocol`] | [`mod@protocols`] | cuts ids into [`Window`]s and picks the scored positions |
//!
//! ```
//! use relscale_corpus::protocols::{DocumentWindows, Protocol, TokenText};
//! # fn read(folder: &std::path::Path) -> relscale_corpus::Result<()> {
//! let spec: relscale_corpus::CorpusSpec = "wiki=test.txt?split=titles".parse()?;
//! let tokenizer = relscale_corpus::Tokenizer::from_folder(folder)?;
//! let protocol = DocumentWindows::new(1024, 512, None)?;
//! for document in spec.open()? {
//!     let document = document?;
//!     let encoded = tokenizer.encode_document(&document)?;
//!     let text = TokenText::of_document(&document, &encoded, tokenizer.special_ids());
//!     for window in protocol.windows(&text)? {
//!         let _fed: Vec<u32> = window.tokens(&encoded.ids);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Files read: those that a `--corpus` value names, the tokenizer files of a model folder, and the
//! sources of published crates. Nothing is written but a manifest in a temporary folder, and no
//! socket is opened (`cargo metadata`, which is asked where crate sources are, may fetch what the
//! machine lacks).
//!
//! Invariants: the text of a file is not changed but for byte-order marks at its beginning (crate
//! sources are taken apart into code and prose, ICE texts lose their markup); the bytes of a
//! document's tokens sum to the bytes of its text; a position is scored at most once; what a file
//! has wrong is an error with the file and the row, never a shorter corpus; nothing depends on the
//! number of threads or on the machine.

#![forbid(unsafe_code)]

pub mod choices;
pub mod document;
pub mod draw;
pub mod error;
pub mod fingerprint;
pub mod loaders;
pub mod protocols;
pub mod spec;
pub mod tokenizer;

pub use document::Document;
pub use error::{CorpusError, Result};
pub use fingerprint::{CorpusSummary, Fingerprint};
pub use loaders::Documents;
pub use loaders::crates::{CrateSources, Distribution, Split};
pub use protocols::{Protocol, TokenText, Window};
pub use spec::CorpusSpec;
pub use tokenizer::{Encoded, Tokenizer};
