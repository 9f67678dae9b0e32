//! Parquet in and out; the only place of the workspace that knows the format.
//!
//! **Actors.** [`tokens`] writes and streams the parts of a run, [`tally`] the sums of their rows
//! [`documents`] the table of its documents, [`vocabulary`] that of a tokenizer's entries,
//! [`curve`] the losses of a training run, [`columns`] reads text columns of foreign files for the
//! loaders, [`cells`] columns of numbers and text for tables of points; both walk rows by
//! `foreign`. [`table`] writes such tables. `guard` makes refusals of the library's panics.
//!
//! **Files.** zstd, row groups of a fixed number of rows. Key-value metadata: `relscale.kind`
//! (`tokens`, `tally`, `documents`, `vocabulary`, `curve`), `relscale.format`, `relscale` (the
//! run's [`crate::Provenance`] as canonical JSON; for a vocabulary `relscale.tokenizer`, the
//! tokenizer's hash; for a curve `relscale.run`, the run's name) and, in a part, `relscale.part`
//! ([`tokens::PartMeta`]). Any Parquet reader (DuckDB, Polars, Spark, pandas) reads them as they
//! are.
//!
//! **Invariants.** The bytes are a function of the rows and the metadata: no time, no host, and no
//! dependence on how the rows were handed to the writer.

pub mod cells;
pub mod columns;
pub mod curve;
pub mod documents;
mod foreign;
mod format;
mod guard;
mod lists;
pub mod table;
pub mod tally;
mod tally_text;
pub mod tokens;
pub mod vocabulary;

pub use cells::{Cell, cell_columns, column_names, read_cells};
pub use columns::read_text_columns;
pub use curve::{CurvePoint, read_curve, write_curve};
pub use documents::{
    DocumentRow, DocumentWriter, read_documents, stream_documents, write_documents,
};
pub use table::{TableColumn, write_table};
pub use tally::{TallyMeta, TallyReader, TallyWriter};
pub use tokens::{PartMeta, PartRange, TokenReader, TokenWriter, read_token_ids};
pub use vocabulary::{read_vocabulary, write_vocabulary};
