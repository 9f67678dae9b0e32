//! The trainer: one pass of a stream of tokens through one Llama-like model.
//!
//! * [`step`]: loss and gradient of a few sequences, op by op; [`schedule`]: the learning rate of each step;
//!   [`batches`]: which sequences a step sees; [`curve`]: what is remembered of a run; [`run`]: the loop.

pub mod batches;
pub mod curve;
pub mod family;
pub mod run;
pub mod schedule;
pub mod step;
