//! The trainer: one pass of a stream of tokens through one model of Llama's kind, or Qwen3's.
//!
//! * [`settings`]: what the trainer needs to know, of a family's size or of a planned run;
//!   [`initial`]: fresh weights;
//!   [`schedule`]: the learning rate of each step; [`batches`]: which sequences a step sees.
//! * [`step`]: loss and gradient of a few sequences, op by op, `heads` and [`cross_entropy`] among
//!   them; [`trainer`]: gradients into steps, by [`adamw`] or [`cautious`], over the `tensors` of a
//!   model.
//! * [`course`]: the loop from the first step to the last; [`divergence`]: when a run is given up;
//!   [`keep`]: models on the way; [`timing`]: how long one takes here.
//! * [`family`]: all sizes of a recipe, [`curve`]: what is remembered of each; [`sweep`]: all runs
//!   of a plan.

pub mod adamw;
pub mod batches;
pub mod cautious;
pub mod course;
pub mod cross_entropy;
pub mod curve;
pub mod divergence;
pub mod family;
mod heads;
pub mod initial;
pub mod keep;
pub mod schedule;
pub mod settings;
pub mod step;
pub mod sweep;
mod tensors;
pub mod timing;
pub mod trainer;
