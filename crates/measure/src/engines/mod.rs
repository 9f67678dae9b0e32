//! Engines: ways of running a model, a file each.
//!
//! * [`local`]: the decoder of this workspace, on this machine, in f32.
//! * [`mock`]: no model at all; pseudo-scores for tests and dry runs.

pub mod local;
pub mod mock;

pub use local::LocalEngine;
pub use mock::MockEngine;
