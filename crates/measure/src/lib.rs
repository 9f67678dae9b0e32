//! A resumable run of models over corpora: where text, models and records meet.
//!
//! **Purpose.** Given models, corpora and a window protocol, score every position that the protocol
//! names, once, and keep the result as parts of a study, so that nothing measured is ever lost and
//! nothing stale is ever taken for new.
//!
//! **Actors.**
//!
//! | module | what it does |
//! |---|---|
//! | [`engine`] | the trait: windows of token ids in, scores out; [`engines`] are its members |
//! | [`text`] | a corpus under one tokenizer: token ids and source bytes, once for all models that share it |
//! | [`scratch`] | bytes that live as long as a session: in memory up to a bound, beyond it in a file without a name |
//! | [`draw`], `begun` | which documents a limit on tokens takes: as asked, or as the study was begun |
//! | [`layout`] | windows of each document, the limit on tokens, the partition into parts |
//! | [`plan`] | a model x a corpus x a protocol becomes a run with its provenance and key |
//! | [`run`] | carries a run out, or goes on with it; `writing` writes its parts while the next are scored |
//! | [`source`], [`settings`] | what a session is given: models, corpora, how to measure |
//! | [`session`], `notify` | all models over all corpora; what is said on the way |
//! | [`known`] | what earlier starts learned of the inputs, so that a finished study returns at once |
//! | [`hub`] | a model's name becomes a local folder: here and nowhere else |
//! | [`http`] | the one place where a socket is opened |
//! | [`event`] | what a caller is told on the way |
//!
//! **Files on disk.** Those of [`relscale_records::study`], and beside them the memory of
//! [`known`], which may be deleted.
//!
//! **Invariants.**
//! * What is in a part is a function of text, tokenizer, protocol and model alone: not of batch
//!   size, threads, time, or of how often the run was interrupted. A run that was killed and
//!   started again ends with the same bytes.
//! * A part holds whole documents, so that the statistics of a document are never summed in two
//!   orders.
//! * Memory is flat in the length of a corpus: what grows with it goes through [`scratch`].
//! * Nothing here prints; a caller hears of everything through [`event::Event`].

#![forbid(unsafe_code)]

mod begun;
pub mod draw;
pub mod engine;
pub mod engines;
pub mod error;
pub mod event;
pub mod http;
pub mod hub;
pub mod known;
pub mod layout;
mod notify;
pub mod plan;
pub mod run;
pub mod scratch;
pub mod session;
pub mod settings;
pub mod source;
pub mod text;
mod writing;

pub use draw::Draw;
pub use engine::{Engine, EngineWindow};
pub use error::{Error, Result};
pub use event::{Event, Warning};
pub use hub::ModelRequest;
pub use session::{Measured, measure};
pub use settings::{Prefix, Settings};
pub use source::{CorpusSource, LoadedModel, ModelFacts, ModelSource};
