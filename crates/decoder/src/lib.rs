//! One decoder-only transformer described by a [`spec::Spec`], run on plain slices, with a head
//! that ranks.
//!
//! ```text
//! folder --families--> Spec ----------+
//!        --checkpoint-> Weights ------+--> Model --forward--> hidden rows --head--> rank, ties, nll, entropy
//! ```
//!
//! * [`spec`], [`mixer`]: the architecture as data; [`weights`]: its numbers; [`parts`]: which of
//!   them a spec has, for whoever reads, makes, counts or names them.
//! * [`families`], [`checkpoint`], [`count`]: from a Hugging Face folder to both, and the exact
//!   parameter count.
//! * [`model`]: a model ready to score; [`forward`]: its pass up to the head.
//! * [`ops`]: one file an operation: forward, backward where training needs it, and the naive
//!   version that judges both.
//! * [`mixers`]: blocks whose tokens are mixed by a recurrence.
//! * [`head`]: logits tile by tile, folded at once; no tokens x vocabulary matrix exists anywhere
//!   but in [`head::reference`].
//! * [`kernels`]: the only unsafe code of the workspace; [`processor`]: what they run on.
//!
//! Invariants: local folders only, no socket; results of a row do not depend on which other rows
//! share its batch.

pub mod checkpoint;
pub mod count;
pub mod error;
pub mod families;
pub mod forward;
pub mod head;
pub mod kernels;
pub mod lanes;
pub mod matrix;
pub mod mixer;
pub mod mixers;
pub mod model;
pub mod ops;
pub mod parts;
pub mod processor;
pub mod spec;
pub mod weights;

pub use error::{Error, Result};
pub use model::{Model, Sequence};

// What tests of the library and of its unlisted families share speaks of the crate by its name.
#[cfg(test)]
extern crate self as relscale_decoder;
