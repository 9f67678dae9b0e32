//! The trainer: one pass of a stream of tokens through one Llama-like model.
//!
//! * [`step`]: loss and gradient of a few sequences, op by op; [`initial`]: fresh weights; [`schedule`]: the learning rate of
//!   each step; [`batches`]: which sequences a step sees; [`trainer`]: gradients into steps,
//!   `tensors`: what they walk over.
//! * [`run`]: one size of a family, [`curve`]: what is remembered of it; [`family`]: all its sizes.
//! * [`planned`]: what the trainer needs of a planned run; [`sweep`]: a whole plan.

pub mod batches;
pub mod curve;
pub mod family;
pub mod initial;
pub mod planned;
pub mod run;
pub mod schedule;
pub mod step;
pub mod sweep;
mod tensors;
pub mod trainer;
