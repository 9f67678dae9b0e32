//! Families of models: which sizes, how they are trained, and the folders they become.
//!
//! ```text
//! budgets --> plan --> runs --+
//! recipes --> sizes ----------+
//! corpus  --> tokenizer, stream of ids --> train (steps, schedule) --> weights --> export (Hugging Face folder)
//! ```
//!
//! * [`plan`]: IsoFLOP sweeps: from budgets and a recipe to exact runs, which are trained here or
//!   exported.
//! * [`collect`]: runs read back, ours or others', into one table.
//! * [`recipes`]: families by name; `small` is the one that the repository ships.
//! * [`tokenizer`]: one byte-pair vocabulary for a whole family.
//! * [`train`]: the trainer, of Llama's blocks and Qwen3's; its operations and their backward
//!   passes are the decoder's.
//! * [`export`]: a Hugging Face folder that any tool reads, with the record of its training beside
//!   it.
//!
//! Everything random comes from one seed, and sums of gradients run in a fixed order: the same
//! command on the same text gives the same bytes, whatever the number of threads.

#![forbid(unsafe_code)]

pub mod collect;
pub mod error;
pub mod export;
pub mod plan;
pub mod recipes;
pub mod tokenizer;
pub mod train;

pub use error::{Error, Result};
