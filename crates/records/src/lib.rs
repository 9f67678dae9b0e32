//! What a measurement *is*, and how it is kept.
//!
//! **Purpose.** An engine gives, for each scored position of a text, the rank of the right token,
//! its ties, its negative log-likelihood and the entropy of the prediction. This crate owns the
//! types for that, the account of where the numbers come from (provenance), the files they are kept
//! in, and the sums from which every law can be fitted without ever going back to the tokens.
//!
//! **Actors.**
//!
//! | module | what it holds |
//! |---|---|
//! | [`token`] | one scored position ([`token::ScoredToken`]) |
//! | [`units`] | nats, bits, bytes; conventions of parameter and FLOP counts |
//! | [`provenance`] | everything that decided the numbers, and its hash: the run's key |
//! | [`tally`] | sufficient statistics per document; they merge exactly |
//! | [`sequences`] | tokens in a row: windows of hits, pairs at a lag, runs; per document as well |
//! | [`ranks`] | positions and their nll by exact rank, of a whole run |
//! | [`words`] | hits by byte, by word and by span of words, which compare across tokenizers; per document |
//! | [`count`] | all of these in one pass over the rows |
//! | [`vocabulary`] | a tokenizer's entries: id, text, kind |
//! | [`classes`] | positions and misses by class of token, per document |
//! | [`parquet`] | token parts, tables of documents and vocabularies, text columns of foreign files |
//! | [`written`] | tables and logs that others wrote: encodings, delimiters, numbers, states of runs |
//! | [`study`] | the study folder: its lock, runs, parts, resumption, totals |
//! | [`atomic`], [`lock`] | files that appear whole; one writer at a time in a folder |
//! | [`guard`] | a library's panics as refusals |
//! | [`shell`], [`spreadsheet`] | a path as a word of a command; a text as a cell that is no formula |
//! | [`digits`] | numbers as people read them |
//! | [`version`] | the version of the formats on disk |
//!
//! **Files on disk** (all of them inside one *study* folder):
//!
//! ```text
//! study/study.json                                 format, tool, which run is current for a model x corpus
//! study/.lock                                      held while a program writes; freed by the system when it dies
//! study/vocabularies/<sha12>.parquet               a tokenizer's entries: id, text, kind
//! study/runs/<model>--<corpus>--<key12>/run.json   full provenance, plan of the run
//!                                       documents.parquet     ordinal, id, tags, tokens, bytes, scored
//!                                       part-00000.parquet    scored tokens of whole documents
//!                                       done.json             totals, size and sha256 of each part
//!                                       tally.parquet         the sums of all rows, so that laws need none
//! ```
//!
//! **Invariants.**
//! * A file appears under its final name only when it is whole: written aside as `*.tmp`, synced,
//!   renamed.
//! * A finished part is never modified. The same inputs give the same bytes, so a run that was
//!   killed and started again cannot be told from one that was not.
//! * A changed input changes [`provenance::Provenance::key`], hence the folder: there is no stale
//!   hit.
//! * Sums that are kept are believed only if they were counted in the very rows that `done.json`
//!   lists.
//! * A position with a non-finite logit is a row with nulls: counted, and never part of a sum.
//! * This crate knows no model and no tokenizer, and opens no socket. It alone knows Parquet.

#![forbid(unsafe_code)]

pub mod atomic;
pub mod classes;
pub mod content;
pub mod count;
pub mod digits;
pub mod error;
pub mod guard;
pub mod lock;
pub mod options;
pub mod parquet;
pub mod provenance;
pub mod ranks;
pub mod sequences;
pub mod shell;
pub mod spreadsheet;
pub mod study;
pub mod tally;
pub mod token;
pub mod units;
pub mod version;
pub mod vocabulary;
pub mod words;
pub mod written;

pub use error::{Error, Result};
pub use provenance::Provenance;

pub use classes::{ClassTally, TokenClass};
pub use count::{DocumentSums, RunCounter, RunSums};
pub use ranks::{RankCount, RankHistogram};
pub use sequences::{SequenceGrid, SequenceTally};
pub use study::Study;
pub use tally::{DocumentTally, RunTally, TallyOptions};
pub use token::{Score, ScoredToken};
pub use vocabulary::Vocabulary;
pub use words::{TextTally, WordTally};
pub use written::status::Status;
