//! A plan on this machine: its runs one after another, each resumable to the bit.
//!
//! ```text
//! OUT/.lock                          one process at a time
//! OUT/plan.json                      the plan as it was last given
//! OUT/runs.csv                       a row a run, written anew whenever one ends
//! OUT/NAME/checkpoint.safetensors    a run in the making: weights, both moments, step, curve so far
//! OUT/NAME/run.json                  a run that ended: finished or diverged, and why
//! OUT/NAME/curve.parquet             its losses
//! OUT/NAME/config.json, model.safetensors, tokenizer.json, tokenizer_config.json     a finished run's model, for transformers
//! ```
//!
//! * [`session`]: all runs of a plan; [`carry_out`]: one of them; [`text`]: what they are trained
//!   and evaluated on;
//!   [`evaluate`]: loss on held-out text; [`checkpoint`]; [`record`]: `run.json`;
//!   [`table`]: `runs.csv`.
//!
//! Invariants: a file appears whole or not at all, `run.json` last; a run's files depend on the
//! plan, the text and the settings, and not on threads or on how often it was stopped; a run whose
//! key is another's is refused, never mixed.

pub mod carry_out;
pub mod checkpoint;
pub mod evaluate;
pub mod record;
pub mod session;
pub mod table;
pub mod text;

pub use record::{RunRecord, Status};
pub use session::{Event, Options, train};
pub use text::SweepText;
